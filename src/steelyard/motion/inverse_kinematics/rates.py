"""Inverse kinematics of velocities and accelerations: linear equations in the Jacobian and its rate, damped near singularities.

Lecture "Special methods for dynamics in robotics": inverse kinematics for velocities and for accelerations are linear equations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arguments import numbers
from ...errors import CallError, refuse_loops, require_robot
from ...floating_point import default_errstate

if TYPE_CHECKING:
    from ...robot import Robot

Array = NDArray[np.float64]
SINGULAR = 0.02  # [m|rad per rad|m] below this singular value of the Jacobian the damping sets in
DAMPING = 0.05  # the most, at the singularity itself


@default_errstate
def joint_velocity(
    robot: Robot,
    q: ArrayLike,
    twist: ArrayLike,
    frame: str | None = None,
    preferred: ArrayLike | None = None,
    singular: float = SINGULAR,
    damping: float = DAMPING,
) -> Array:
    """Joint velocities that give a frame a twist, (..., n) [rad/s|m/s]: J(q) qd = twist, of least square where several do.

    q (..., n) [rad|m]; twist (..., 6): linear velocity of the frame's origin [m/s], then angular velocity [rad/s], in the base frame. What
    is free (redundancy) follows `preferred` (..., n). Directions in which a singular value of J is below `singular` are damped by up to
    `damping`, so that no joint runs away; all others are exact. Nakamura and Hanafusa 1986; Maciejewski and Klein 1988.

    Returns:
        (..., n) [rad/s|m/s].
    Example:
        >>> robot = sy.load("elbow_6r")
        >>> sy.joint_velocity(robot, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [0.1, 0, 0, 0, 0, 0]).shape
        (6,)
    """
    require_robot(robot, "joint_velocity", known_function=True)
    refuse_loops(robot, "joint_velocity", "consistent_velocity and consistent_acceleration keep loops closed")
    J, rates = _equations(robot, q, twist, frame, "twist")
    wanted = _joints(robot, preferred, "preferred")
    return _solved(J, rates, wanted, singular, damping)


@default_errstate
def joint_acceleration(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    acceleration: ArrayLike,
    frame: str | None = None,
    preferred: ArrayLike | None = None,
    singular: float = SINGULAR,
    damping: float = DAMPING,
) -> Array:
    """Joint accelerations that give a frame an acceleration, (..., n) [rad/s2|m/s2]: J qdd = acceleration - dJ/dt qd.

    q, qd (..., n); acceleration (..., 6): of the frame's origin [m/s2], then angular [rad/s2], in the base frame; the rest as in
    `joint_velocity`. Siciliano et al. 2009, section 3.6.

    Returns:
        (..., n) [rad/s2|m/s2].
    Example:
        >>> robot = sy.load("elbow_6r")
        >>> q, qd = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], np.zeros(6)
        >>> sy.joint_acceleration(robot, q, qd, [0.1, 0, 0, 0, 0, 0]).shape
        (6,)
    """
    require_robot(robot, "joint_acceleration", known_function=True)
    refuse_loops(robot, "joint_acceleration", "consistent_velocity and consistent_acceleration keep loops closed")
    J, rates = _equations(robot, q, acceleration, frame, "acceleration")
    drift = robot.jacobian_rate(q, qd, frame) @ np.asarray(qd, dtype=float)[..., None]
    return _solved(J, rates - drift[..., 0], _joints(robot, preferred, "preferred"), singular, damping)


def _equations(robot: Robot, q: ArrayLike, given: ArrayLike, frame: str | None, what: str) -> tuple[Array, Array]:
    rates = numbers(what, given)
    if rates.shape[-1:] != (6,):
        raise CallError(f"{what} has shape {rates.shape}; expected (..., 6): linear, then angular, in the base frame")
    if not np.isfinite(rates).all():
        raise CallError(f"{what} contains NaN or infinity")
    return robot.jacobian(q, frame), rates


def _joints(robot: Robot, given: ArrayLike | None, what: str) -> Array | None:
    if given is None:
        return None
    array = numbers(what, given)
    if array.shape[-1:] != (robot.n,):
        raise CallError(f"{what} has shape {array.shape}; expected (..., {robot.n}): one for each of {', '.join(robot.joint_names)}")
    return array


def _solved(J: Array, rates: Array, wanted: Array | None, singular: float, damping: float) -> Array:
    """J^+ rates + (1 - J^+ J) wanted, with singular values s inverted as s / (s^2 + lambda^2), lambda growing from 0 below `singular`."""
    U, s, Vt = np.linalg.svd(J, full_matrices=False)
    rank = min(J.shape[-2:])
    below = np.clip(1.0 - (s / singular) ** 2, 0.0, None)
    square = below * damping**2
    inverse = np.where(s > 1e-12, s / np.where(s > 1e-12, s * s + square, 1.0), 0.0)
    free = 0.0 if wanted is None else (Vt @ wanted[..., None])[..., :rank, 0]
    held = inverse * (np.swapaxes(U, -1, -2) @ rates[..., None])[..., 0] - inverse * s * free
    moved = (np.swapaxes(Vt, -1, -2) @ held[..., None])[..., 0]
    return np.asarray(moved if wanted is None else moved + wanted)
