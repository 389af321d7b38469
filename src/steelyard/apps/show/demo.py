"""What only the demo shows: a motion's torques in short, and what compiling buys."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from .card import UNITS
from .console import number, table

if TYPE_CHECKING:
    from ...bench import Machine, Yardstick
    from ...robot import Robot
    from ...states import States


def motion_table(robot: Robot, states: States, tau: NDArray[np.float64], seconds: float) -> Table:
    """Range of each joint's motion and of the torque it takes."""
    title = f"Torques of a {seconds:g} s swing, {len(tau)} samples: tau = M qdd + C qd + g + friction"
    made = table(title, ["joint", ">q", ">|qd|", ">|qdd|", ">min tau", ">max tau", ">rms tau", "unit"])
    for i, name in enumerate(robot.joint_names):
        q, qd, qdd, effort = states.q[:, i], states.qd[:, i], states.qdd[:, i], tau[:, i]
        rates = (number(float(np.abs(x).max()), 3) for x in (qd, qdd))
        efforts = (number(float(x)) for x in (effort.min(), effort.max(), np.sqrt(np.mean(effort**2))))
        made.add_row(name, f"{q.min():.2f} … {q.max():.2f}", *rates, *efforts, UNITS[robot.mechanism.joint(name).kind])
    return made


def speed_lines(yardstick: Yardstick, machine: Machine) -> RenderableType:
    """The compiled kernel against plain Python and plain NumPy, and where that was."""
    made = table("Speed of inverse dynamics, one thread", ["", ">ns a sample", ">times slower"])
    rows = (
        ("compiled kernel", yardstick.kernel),
        ("the same algorithm on NumPy arrays", yardstick.arrays),
        ("... in a Python loop", yardstick.loop),
    )
    for name, nanoseconds in rows:
        made.add_row(name, f"{nanoseconds:,.1f}", "" if nanoseconds == yardstick.kernel else f"{nanoseconds / yardstick.kernel:,.0f}")
    agreement = f"All three give the same torques to {yardstick.difference:.0e}."
    return Group(made, Text(agreement), Text(str(machine), style="dim"))
