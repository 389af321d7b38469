"""Limits of a motion: from the robot, from the caller, or assumed where both have none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...arguments import is_real
from ...checks.states import joint_travel
from ...errors import CallError, suggest
from ...robot import Robot
from .trajectory_thresholds import THRESHOLDS

Array = NDArray[np.float64]
PerJoint: TypeAlias = "float | Sequence[float] | Mapping[str, float] | None"
FREE_SPEED = {
    "revolute": THRESHOLDS.revolute_speed,
    "prismatic": THRESHOLDS.prismatic_speed,
}


@dataclass(frozen=True, eq=False)
class TrajectoryLimits:
    """Limits per joint, (n,) each.

    lower <= q <= upper [rad|m], |qd| <= velocity, |qdd| <= acceleration, |tau| <= effort [N m|N],
    |jerk| <= jerk [rad/s3|m/s3].
    """

    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    effort: Array
    jerk: Array

    @property
    def centre(self) -> Array:
        return (self.lower + self.upper) / 2

    @property
    def reach(self) -> Array:
        return (self.upper - self.lower) / 2

    def inner(self, share: float) -> TrajectoryLimits:
        """Return the limits, all but the effort times a share."""
        return TrajectoryLimits(
            lower=self.centre - share * self.reach,
            upper=self.centre + share * self.reach,
            velocity=share * self.velocity,
            acceleration=share * self.acceleration,
            effort=self.effort,
            jerk=share * self.jerk,
        )


class MotionBounds(NamedTuple):
    """Bounds of a motion over all t, (n,) each.

    lower <= q <= upper, |qd| <= velocity, |qdd| <= acceleration, |jerk| <= jerk.
    """

    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    jerk: Array


def motion_limits(
    robot: Robot,
    margin: float = 0.9,
    velocity: PerJoint = None,
    acceleration: PerJoint = None,
    effort: PerJoint = None,
    jerk: PerJoint = None,
    speed: float | None = None,
) -> TrajectoryLimits:
    """Return the limits of a robot, times the fraction `margin` that a motion may use.

    Stated values replace the robot's. A joint without stops gets half a turn (0.5 m) to each side,
    one without a speed limit 2 rad/s (0.5 m/s); other limits stay open. `speed` is the share of the
    velocity limits that may be used: velocities are at most the smaller of `margin` and `speed` of
    the limit. Where no acceleration is stated, it reaches this velocity in `ramp_time`.
    """
    if not 0 < margin <= 1:
        raise CallError(
            f"margin = {margin!r}; expected a fraction of the limits, above 0 and at most 1",
            argument="margin",
        )
    if speed is not None and not (is_real(speed) and 0 < speed <= 1):
        raise CallError(
            f"speed = {speed!r}; expected a share of the velocity limits, above 0 and at most 1",
            argument="speed",
        )
    kinds = (
        "prismatic" if robot.mechanism.joint(name).kind == "prismatic" else "revolute"
        for name in robot.joint_names
    )
    stated = np.array([(x.velocity, x.effort) for x in robot.tree.limits], dtype=float).reshape(
        -1, 2
    )
    lower, upper = joint_travel(robot)
    fastest = np.where(
        np.isfinite(stated[:, 0]), stated[:, 0], [FREE_SPEED[kind] for kind in kinds]
    )
    middle, reach = (lower + upper) / 2, margin * (upper - lower) / 2
    fastest = per_joint_limit("velocity", velocity, fastest, robot)
    fastest *= margin if speed is None else min(margin, speed)
    # times the margin: the velocity over `ramp_time`
    open_ = np.full(robot.n, np.inf) if speed is None else fastest / (THRESHOLDS.ramp_time * margin)
    rate = per_joint_limit("acceleration", acceleration, open_, robot)
    torque = per_joint_limit("effort", effort, stated[:, 1], robot)
    third = per_joint_limit("jerk", jerk, np.full(robot.n, np.inf), robot)
    limits = TrajectoryLimits(
        lower=middle - reach,
        upper=middle + reach,
        velocity=fastest,
        acceleration=margin * rate,
        effort=margin * torque,
        jerk=margin * third,
    )
    _require_range(limits, robot)
    return limits


def per_joint_limit(what: str, value: PerJoint, default: Array, robot: Robot) -> Array:
    """Return one positive number per joint (n,).

    The value is one for all, one each in order, or by name; otherwise the default.
    """
    if value is None:
        return default
    if isinstance(value, Mapping):
        for name in value:
            if name not in robot.joint_names:
                raise CallError(
                    f"{what}: no joint is called {name!r}; {suggest(str(name), robot.joint_names)}",
                    argument=what,
                )
        value = [value.get(name, x) for name, x in zip(robot.joint_names, default, strict=True)]
    array = np.asarray(value, dtype=float)
    if array.shape not in ((), (robot.n,)) or not np.all(array > 0):
        raise CallError(
            f"{what} = {value!r}; expected one positive number, or {robot.n}: one for each of"
            f" {', '.join(robot.joint_names)}",
            argument=what,
        )
    return np.broadcast_to(array, (robot.n,)).copy()


def _require_range(limits: TrajectoryLimits, robot: Robot) -> None:
    for i, name in enumerate(robot.joint_names):
        if not (
            limits.upper[i] > limits.lower[i] and limits.velocity[i] > 0 and limits.effort[i] > 0
        ):
            raise CallError(
                f"joint {name!r} cannot move within its limits: {limits.lower[i]:g} <= q <="
                f" {limits.upper[i]:g}, |qd| <= {limits.velocity[i]:g},"
                f" |tau| <= {limits.effort[i]:g}"
            )
