"""Simulation of robots with loops: states at the start that are closed, and what drives give in the place of all joints."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..algebra.scalar import Scalar, Scalars
from ..errors import ProblemError
from ..kernels.loops import as_drive_torques
from ..robot import Robot

Array = NDArray[np.float64]


def by_drives(robot: Robot, q: Scalars, tau: list[Scalar]) -> list[Scalar]:
    """A controller's torques as the drives can give them: with loops those of all joints have their equal at the drives."""
    if len(robot.tree.driven) == robot.n:
        return tau
    tree = robot.closed_tree if robot.tree.loops else robot.tree
    return as_drive_torques(tree, q, tau, bool(tree.loops) and robot.loop_structure.case != "underactuated")


def closed_start(robot: Robot, state: tuple[Array, ...]) -> tuple[Array, ...]:
    """The state with the nearest closed positions and velocities. Runs that cannot be closed are not finite; if none can, ProblemError."""
    found = robot.assembly(state[0])
    if not np.any(found.closed):
        raise ProblemError(f"simulate: q0: {found.status}")
    q, qd = np.where(found.closed[..., None], found.q, np.nan), np.array(state[1])
    if np.any(qd):
        qd[found.closed] = robot.consistent_velocity(q[found.closed], qd[found.closed])
    return (q, qd, *state[2:])
