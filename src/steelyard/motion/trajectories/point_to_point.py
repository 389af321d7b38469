"""Motions from one position to another, at rest at both ends: all joints along one profile s(t), so that they arrive together."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arguments import any_of, numbers, real_number
from ...checks.states import States
from ...errors import CallError
from .trajectory import Trajectory, trajectory

Array = NDArray[np.float64]


class Profile(NamedTuple):
    """s, ds/du, d2s/du2 of u in [0, 1], with their largest values: those of a motion are the distance over the time and its square."""

    function: Callable[[Array], tuple[Array, Array, Array]]
    velocity: float
    acceleration: float


def quintic(u: Array) -> tuple[Array, Array, Array]:
    """10 u^3 - 15 u^4 + 6 u^5: velocity and acceleration are zero at both ends. Siciliano et al. 2009, section 4.2.1."""
    return u**3 * (10 - 15 * u + 6 * u**2), 30 * u**2 * (1 - u) ** 2, 60 * u * (1 - u) * (1 - 2 * u)


def trapezoidal(ramp: float) -> Callable[[Array], tuple[Array, Array, Array]]:
    """Constant acceleration for a part `ramp` of the time, constant velocity, and the same backwards. Ibid., section 4.2.1."""
    top = 1 / (1 - ramp)

    def profile(u: Array) -> tuple[Array, Array, Array]:
        left = 1 - u
        s = np.where(u < ramp, top * u**2 / (2 * ramp), np.where(left < ramp, 1 - top * left**2 / (2 * ramp), top * (u - ramp / 2)))
        v = top * np.minimum(1.0, np.minimum(u, left) / ramp)
        return s, v, np.where(u < ramp, top / ramp, np.where(left < ramp, -top / ramp, 0.0))

    return profile


def s_curve(ramp: float) -> Callable[[Array], tuple[Array, Array, Array]]:
    """As trapezoidal, with accelerations that rise and fall as sin^2, so that no jerk is infinite. Biagiotti and Melchiorri 2008, 3.7."""
    top = 1 / (1 - ramp)

    def rising(u: Array) -> tuple[Array, Array, Array]:
        x = u / ramp
        turn = 2 * math.pi * x
        s = ramp * (x**2 / 2 + (np.cos(turn) - 1) / (4 * math.pi**2))
        return top * s, top * (x - np.sin(turn) / (2 * math.pi)), top * (1 - np.cos(turn)) / ramp

    def profile(u: Array) -> tuple[Array, Array, Array]:
        left = 1 - u
        begin, end = rising(np.minimum(u, ramp)), rising(np.minimum(left, ramp))
        s = np.where(u < ramp, begin[0], np.where(left < ramp, 1 - end[0], top * (u - ramp / 2)))
        return s, np.minimum(begin[1], end[1]), np.where(u < ramp, begin[2], np.where(left < ramp, -end[2], 0.0))

    return profile


RAMP = 1 / 3
PROFILES = {
    "quintic": Profile(quintic, 15 / 8, 10 / math.sqrt(3)),
    "trapezoidal": Profile(trapezoidal(RAMP), 1 / (1 - RAMP), 1 / (RAMP * (1 - RAMP))),
    "s-curve": Profile(s_curve(RAMP), 1 / (1 - RAMP), 2 / (RAMP * (1 - RAMP))),
}


def point_to_point(
    start: ArrayLike,
    end: ArrayLike,
    seconds: float | None = None,
    profile: str = "quintic",
    rate: float = 1000.0,
    *,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    joint_names: tuple[str, ...] = (),
) -> Trajectory:
    """A motion from start to end (n,) [rad|m] in a time [s], or in the shortest that keeps limits of velocity and acceleration.

    profile: "quintic", "trapezoidal" or "s-curve". velocity [rad/s|m/s] and acceleration [rad/s2|m/s2] are one for all joints or one each.
    Siciliano et al. 2009, section 4.2.1.
    """
    q0, q1 = numbers("point_to_point: start", start), numbers("point_to_point: end", end)
    if q0.ndim != 1 or q0.shape != q1.shape or not np.all(np.isfinite([q0, q1])):
        raise CallError(f"point_to_point: start {q0.shape} and end {q1.shape} must be finite positions of the same joints, (n,)")
    made = PROFILES[str(any_of("point_to_point: profile", profile, tuple(PROFILES)))]
    time = shortest(made, q1 - q0, velocity, acceleration) if seconds is None else real_number("point_to_point: seconds", seconds, unit="s")
    if time <= 0:
        raise CallError(f"point_to_point: seconds = {seconds!r}; expected a positive time [s]")

    def motion(t: ArrayLike) -> States:
        s, v, a = (x[:, None] for x in made.function(np.clip(np.asarray(t, dtype=float) / time, 0.0, 1.0)))
        return States(q0 + (q1 - q0) * s, (q1 - q0) * v / time, (q1 - q0) * a / time**2)

    return trajectory(motion, time, max(real_number("point_to_point: rate", rate, unit="Hz"), 1 / time), joint_names)


def shortest(profile: Profile, distance: Array, velocity: ArrayLike | None, acceleration: ArrayLike | None) -> float:
    """The least time [s] in which all joints keep their limits."""
    if velocity is None and acceleration is None:
        raise CallError("point_to_point: give seconds, or limits of velocity or acceleration from which the time follows")
    times = [1e-9]
    for limit, largest, power in ((velocity, profile.velocity, 1.0), (acceleration, profile.acceleration, 0.5)):
        if limit is not None:
            bound = numbers("point_to_point: limits", limit)
            if bound.ndim > 1 or (bound.ndim and bound.shape != distance.shape) or not np.all(bound > 0):
                raise CallError(f"point_to_point: limits must be positive, one for all joints or one for each of {len(distance)}")
            times += list((np.abs(distance) * largest / bound) ** power)
    return float(max(times))
