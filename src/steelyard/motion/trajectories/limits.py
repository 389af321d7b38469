"""The room a motion has: a robot's limits, what the caller says instead, and plain assumptions where neither speaks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...errors import CallError, choices
from ...robot import Robot

Array = NDArray[np.float64]
PerJoint: TypeAlias = "float | Sequence[float] | Mapping[str, float] | None"
FREE = {"revolute": (math.pi, 2.0), "prismatic": (0.5, 0.5)}  # travel to each side and speed of a joint that states none


@dataclass(frozen=True, eq=False)
class Room:
    """Limits per joint, (n,) each: lower <= q <= upper [rad|m], |qd| <= velocity, |qdd| <= acceleration, |tau| <= effort [N m|N]."""

    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    effort: Array

    @property
    def centre(self) -> Array:
        return (self.lower + self.upper) / 2

    @property
    def reach(self) -> Array:
        return (self.upper - self.lower) / 2


def room(robot: Robot, margin: float = 0.9, velocity: PerJoint = None, acceleration: PerJoint = None, effort: PerJoint = None) -> Room:
    """The limits of a robot, of which a motion may use the fraction `margin`; what the caller states stands instead of the robot's.

    A joint without stops gets half a turn (0.5 m) to each side, one without a speed 2 rad/s (0.5 m/s); the others stay open.
    """
    if not 0 < margin <= 1:
        raise CallError(f"margin = {margin!r}; expected a fraction of the limits, above 0 and at most 1")
    free = np.array([FREE["prismatic" if robot.mechanism.joint(name).kind == "prismatic" else "revolute"] for name in robot.joint_names])
    stated = np.array([(x.lower, x.upper, x.velocity, x.effort) for x in robot.tree.limits]).reshape(-1, 4)
    lower, upper = _travel(stated[:, 0], stated[:, 1], free[:, 0])
    speed = np.where(np.isfinite(stated[:, 2]), stated[:, 2], free[:, 1])
    middle, reach = (lower + upper) / 2, margin * (upper - lower) / 2
    speed = _given("velocity", velocity, speed, robot)
    hurry = _given("acceleration", acceleration, np.full(robot.n, np.inf), robot)
    strength = _given("effort", effort, stated[:, 3], robot)
    made = Room(middle - reach, middle + reach, margin * speed, margin * hurry, margin * strength)
    _check(made, robot)
    return made


def _travel(lower: Array, upper: Array, free: Array) -> tuple[Array, Array]:
    """Both ends; where one is open, `free` to each side of what is known, and symmetric about zero where both are."""
    no_lower, no_upper = ~np.isfinite(lower), ~np.isfinite(upper)
    low = np.where(no_lower, np.where(no_upper, -free, upper - 2 * free), lower)
    high = np.where(no_upper, np.where(no_lower, free, lower + 2 * free), upper)
    return low, high


def _given(what: str, value: PerJoint, default: Array, robot: Robot) -> Array:
    if value is None:
        return default
    if isinstance(value, Mapping):
        for name in value:
            if name not in robot.joint_names:
                raise CallError(f"{what}: no joint is called {name!r}; {choices(str(name), robot.joint_names)}")
        value = [value.get(name, x) for name, x in zip(robot.joint_names, default, strict=True)]
    array = np.asarray(value, dtype=float)
    if array.shape not in ((), (robot.n,)) or not np.all(array > 0):
        raise CallError(f"{what} = {value!r}; expected one positive number, or {robot.n}: one for each of {', '.join(robot.joint_names)}")
    return np.broadcast_to(array, (robot.n,)).copy()


def _check(made: Room, robot: Robot) -> None:
    for i, name in enumerate(robot.joint_names):
        if not (made.upper[i] > made.lower[i] and made.velocity[i] > 0 and made.effort[i] > 0):
            raise CallError(
                f"joint {name!r} has no room to move: {made.lower[i]:g} <= q <= {made.upper[i]:g},"
                f" |qd| <= {made.velocity[i]:g}, |tau| <= {made.effort[i]:g}"
            )
