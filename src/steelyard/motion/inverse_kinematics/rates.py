"""Inverse kinematics of velocities and accelerations, damped near singularities.

Linear equations in the Jacobian and its rate: lecture "Special methods for dynamics in robotics".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arguments import numbers
from ...errors import CallError, refuse_loops, require_robot
from ...floating_point import default_errstate
from .inverse_kinematics_thresholds import THRESHOLDS

if TYPE_CHECKING:
    from ...robot import Robot

Array = NDArray[np.float64]


@default_errstate
def joint_velocity(
    robot: Robot,
    q: ArrayLike,
    twist: ArrayLike,
    frame: str | None = None,
    preferred: ArrayLike | None = None,
    singular: float = THRESHOLDS.singular_value,
    damping: float = THRESHOLDS.damping,
) -> Array:
    """Compute joint velocities for a twist of a frame, (..., n) [rad/s|m/s].

    J(q) qd = twist, with the least norm where several solve it.

    q (..., n) [rad|m]; twist (..., 6): linear velocity of the frame's origin [m/s], then angular
    velocity [rad/s], in the base frame. Redundant joints follow `preferred` (..., n) in the null
    space of J. Directions in which a singular value of J is below `singular` are damped by up to
    `damping`, so that no joint runs away; all others are exact. Nakamura and Hanafusa 1986;
    Maciejewski and Klein 1988.

    Parameters
    ----------
    robot : the `Robot`, described in SI units.
    q : (..., n) joint positions [rad|m].
    twist : (..., 6) linear [m/s], then angular velocity [rad/s] of the frame, in the base frame.
    frame : name of a frame, one of `frame_names`; the end-effector by default.
    preferred : (..., n) rates followed in the null space of J, zero by default.
    singular : singular value of J below which a direction is damped.
    damping : largest damping there.

    Returns
    -------
    (..., n) [rad/s|m/s].

    Examples
    --------
    >>> robot = sy.load("elbow_6r")
    >>> sy.joint_velocity(robot, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [0.1, 0, 0, 0, 0, 0]).shape
    (6,)
    """
    require_robot(robot, "joint_velocity", known_function=True)
    refuse_loops(
        robot, "joint_velocity", "consistent_velocity and consistent_acceleration keep loops closed"
    )
    J, rates = _equations(robot, q, twist, frame, "twist")
    secondary = _joint_rates(robot, preferred, "preferred")
    return _damped_solution(J, rates, secondary, singular, damping)


@default_errstate
def joint_acceleration(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    acceleration: ArrayLike,
    frame: str | None = None,
    preferred: ArrayLike | None = None,
    singular: float = THRESHOLDS.singular_value,
    damping: float = THRESHOLDS.damping,
) -> Array:
    """Compute joint accelerations for an acceleration of a frame, (..., n) [rad/s2|m/s2].

    J qdd = acceleration - dJ/dt qd.

    q, qd (..., n); acceleration (..., 6): of the frame's origin [m/s2], then angular [rad/s2], in
    the base frame; the rest as in `joint_velocity`. Siciliano et al. 2009, section 3.6.

    Parameters
    ----------
    robot : the `Robot`, described in SI units.
    q : (..., n) joint positions [rad|m].
    qd : (..., n) joint velocities [rad/s|m/s].
    acceleration : (..., 6) linear [m/s2], then angular acceleration [rad/s2] of the frame, in the
        base frame.
    frame : name of a frame, one of `frame_names`; the end-effector by default.
    preferred : (..., n) rates followed in the null space of J, zero by default.
    singular : singular value of J below which a direction is damped.
    damping : largest damping there.

    Returns
    -------
    (..., n) [rad/s2|m/s2].

    Examples
    --------
    >>> robot = sy.load("elbow_6r")
    >>> q, qd = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], np.zeros(6)
    >>> sy.joint_acceleration(robot, q, qd, [0.1, 0, 0, 0, 0, 0]).shape
    (6,)
    """
    require_robot(robot, "joint_acceleration", known_function=True)
    refuse_loops(
        robot,
        "joint_acceleration",
        "consistent_velocity and consistent_acceleration keep loops closed",
    )
    J, rates = _equations(robot, q, acceleration, frame, "acceleration")
    drift = robot.jacobian_rate(q, qd, frame) @ np.asarray(qd, dtype=float)[..., None]
    return _damped_solution(
        J, rates - drift[..., 0], _joint_rates(robot, preferred, "preferred"), singular, damping
    )


def _equations(
    robot: Robot, q: ArrayLike, value: ArrayLike, frame: str | None, what: str
) -> tuple[Array, Array]:
    rates = numbers(what, value)
    if rates.shape[-1:] != (6,):
        raise CallError(
            f"{what} has shape {rates.shape}; expected (..., 6): linear, then angular, in the base"
            " frame"
        )
    if not np.isfinite(rates).all():
        raise CallError(f"{what} contains NaN or infinity")
    return robot.jacobian(q, frame), rates


def _joint_rates(robot: Robot, value: ArrayLike | None, what: str) -> Array | None:
    if value is None:
        return None
    array = numbers(what, value)
    if array.shape[-1:] != (robot.n,):
        raise CallError(
            f"{what} has shape {array.shape}; expected (..., {robot.n}): one for each of"
            f" {', '.join(robot.joint_names)}"
        )
    return array


def _damped_solution(
    J: Array, rates: Array, secondary: Array | None, singular: float, damping: float
) -> Array:
    """Solve J^+ rates + (1 - J^+ J) secondary with damping below the singular value `singular`.

    Singular values s are inverted as s / (s^2 + lambda^2).
    """
    U, s, Vt = np.linalg.svd(J, full_matrices=False)
    rank = min(J.shape[-2:])
    below = np.clip(1.0 - (s / singular) ** 2, 0.0, None)
    square = below * damping**2
    inverse = np.where(s > 1e-12, s / np.where(s > 1e-12, s * s + square, 1.0), 0.0)
    free = 0.0 if secondary is None else (Vt @ secondary[..., None])[..., :rank, 0]
    components = inverse * (np.swapaxes(U, -1, -2) @ rates[..., None])[..., 0] - inverse * s * free
    moved = (np.swapaxes(Vt, -1, -2) @ components[..., None])[..., 0]
    return np.asarray(moved if secondary is None else moved + secondary)
