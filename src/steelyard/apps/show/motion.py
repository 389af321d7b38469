"""A motion on a terminal: how far, how fast, at what torque."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from .card import UNITS
from .console import number, table

if TYPE_CHECKING:
    from ...motion import Trajectory
    from ...robot import Robot


def motion_table(title: str, robot: Robot, motion: Trajectory, tau: NDArray[np.float64]) -> Table:
    """Range of each joint's motion and of a torque (N, n) along it."""
    made = table(title, ["joint", ">q", ">|qd|", ">|qdd|", ">min tau", ">max tau", ">rms tau", "unit"])
    for i, name in enumerate(robot.joint_names):
        q, qd, qdd, effort = motion.q[:, i], motion.qd[:, i], motion.qdd[:, i], tau[:, i]
        rates = (number(float(np.abs(x).max()), 3) for x in (qd, qdd))
        efforts = (number(float(x)) for x in (effort.min(), effort.max(), np.sqrt(np.mean(effort**2))))
        made.add_row(name, f"{q.min():.2f} … {q.max():.2f}", *rates, *efforts, UNITS[robot.mechanism.joint(name).kind])
    return made
