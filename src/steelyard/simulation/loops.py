"""Simulation of robots with loops: closed states at the start, what drives give in the place of all joints, the adaptive method."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..algebra.scalar import Scalar, Scalars
from ..errors import ProblemError
from ..kernels.loops import as_drive_torques
from ..robot import Robot

Array = NDArray[np.float64]
PIECE = 50  # samples between which the adaptive method is not interrupted


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


def integrated_closed(
    robot: Robot, torque: Callable[[float, Array, Array], Array], q0: Array, qd0: Array, t: Array, tolerance: float = 1e-11
) -> tuple[Array, Array, Array]:
    """q, qd (T, n), and work and heat [J] (T, 2) at times t [s], by DOP853; samples are the nearest closed states.

    Hairer, Lubich and Wanner, "Geometric Numerical Integration", 2nd ed., section IV.4 (projection methods).
    """
    from scipy.integrate import solve_ivp

    n = robot.n

    def rate(s: float, y: Array) -> Array:
        q, qd = y[:n], y[n : 2 * n]
        tau = torque(s, q, qd)
        qdd = robot.constrained_forward_dynamics(q, qd, tau)[0]
        return np.concatenate([qd, qdd, [tau @ qd, robot.friction_torque(qd, q) @ qd]])

    out = np.full((len(t), 2 * n + 2), np.nan)
    out[0] = np.concatenate([q0, qd0, [0.0, 0.0]])
    for first in range(0, len(t) - 1, PIECE):
        last = min(first + PIECE, len(t) - 1)
        span, wanted = (float(t[first]), float(t[last])), t[first + 1 : last + 1]
        solved = solve_ivp(rate, span, out[first], "DOP853", wanted, rtol=tolerance, atol=tolerance)
        if solved.status < 0 or not np.all(np.isfinite(solved.y)):
            raise ProblemError(f"simulate: the adaptive method stopped at {t[first]:g} s: {solved.message}")
        rows = out[first + 1 : last + 1]
        rows[:] = solved.y.T
        rows[:, :n] = robot.assemble(rows[:, :n])
        rows[:, n : 2 * n] = robot.consistent_velocity(rows[:, :n], rows[:, n : 2 * n])
    return out[:, :n], out[:, n : 2 * n], out[:, 2 * n :]
