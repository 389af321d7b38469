"""Motions from one position to another.

The fastest within limits, or along one profile s(t) of all joints.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arguments import numbers, one_of, real_number
from ...checks.states import States
from ...errors import CallError
from ...floating_point import default_errstate
from .double_s import (
    DoubleSState,
    PiecewiseCubic,
    ProfileLimits,
    fastest_motion,
    keeps_limits,
    reach_in,
)
from .limits import MotionBounds
from .trajectory import MotionFunction, Trajectory, trajectory
from .trajectory_thresholds import THRESHOLDS

Array = NDArray[np.float64]
Shape = Callable[[Array], tuple[Array, Array, Array]]
DOUBLE_S = "double-s"


class Profile(NamedTuple):
    """s, ds/du, d2s/du2 of u in [0, 1], with the largest values of its first three derivatives."""

    function: Shape
    velocity: float
    acceleration: float
    jerk: float


def quintic(u: Array) -> tuple[Array, Array, Array]:
    """Evaluate 10 u^3 - 15 u^4 + 6 u^5: velocity and acceleration are zero at both ends.

    Siciliano et al. 2009, section 4.2.1.
    """
    return u**3 * (10 - 15 * u + 6 * u**2), 30 * u**2 * (1 - u) ** 2, 60 * u * (1 - u) * (1 - 2 * u)


def trapezoidal(ramp: float) -> Shape:
    """Return the profile of constant acceleration, constant velocity, constant deceleration.

    Each ramp takes a part `ramp` of the time. Siciliano et al. 2009, section 4.2.1.
    """
    top = 1 / (1 - ramp)

    def profile(u: Array) -> tuple[Array, Array, Array]:
        remaining = 1 - u
        s = np.where(
            u < ramp,
            top * u**2 / (2 * ramp),
            np.where(remaining < ramp, 1 - top * remaining**2 / (2 * ramp), top * (u - ramp / 2)),
        )
        v = top * np.minimum(1.0, np.minimum(u, remaining) / ramp)
        return s, v, np.where(u < ramp, top / ramp, np.where(remaining < ramp, -top / ramp, 0.0))

    return profile


def s_curve(ramp: float) -> Shape:
    """Return the trapezoidal profile with accelerations that rise and fall as sin^2: finite jerk.

    Biagiotti and Melchiorri 2008, 3.7.
    """
    top = 1 / (1 - ramp)

    def rising(u: Array) -> tuple[Array, Array, Array]:
        x = u / ramp
        turn = 2 * math.pi * x
        s = ramp * (x**2 / 2 + (np.cos(turn) - 1) / (4 * math.pi**2))
        return top * s, top * (x - np.sin(turn) / (2 * math.pi)), top * (1 - np.cos(turn)) / ramp

    def profile(u: Array) -> tuple[Array, Array, Array]:
        remaining = 1 - u
        begin, end = rising(np.minimum(u, ramp)), rising(np.minimum(remaining, ramp))
        s = np.where(
            u < ramp, begin[0], np.where(remaining < ramp, 1 - end[0], top * (u - ramp / 2))
        )
        return (
            s,
            np.minimum(begin[1], end[1]),
            np.where(u < ramp, begin[2], np.where(remaining < ramp, -end[2], 0.0)),
        )

    return profile


def ramped(name: str, ramp: float) -> Profile:
    """Return a trapezoidal or s-curve profile; each ramp takes a part of the time, at most half."""
    top = 1 / (1 - ramp)
    if name == "trapezoidal":
        return Profile(trapezoidal(ramp), top, top / ramp, math.inf)
    return Profile(s_curve(ramp), top, 2 * top / ramp, 2 * math.pi * top / ramp**2)


PROFILES = {
    "quintic": Profile(quintic, 15 / 8, 10 / math.sqrt(3), 60.0),
    "trapezoidal": ramped("trapezoidal", THRESHOLDS.ramp_share),
    "s-curve": ramped("s-curve", THRESHOLDS.ramp_share),
}


@dataclass(frozen=True, eq=False)
class SynchronisedMotion:
    """Joints with a piecewise cubic each that start together and arrive after `period` [s]."""

    start: Array
    joints: tuple[PiecewiseCubic, ...]
    period: float

    @property
    def density(self) -> int:
        """Number of pieces of the joint that has most."""
        return max(len(joint.j) for joint in self.joints)

    def __call__(self, t: ArrayLike) -> States:
        times = np.clip(np.asarray(t, dtype=float), 0.0, self.period)
        q, qd, qdd = (
            np.stack(columns, axis=-1)
            for columns in zip(*(joint(times) for joint in self.joints), strict=True)
        )
        return States(self.start + q, qd, qdd)

    def bounds(self, fine: bool = True) -> MotionBounds:
        """Return the extrema over all instants; they are exact, so `fine` makes no difference."""
        lower, upper, velocity, acceleration, jerk = np.array(
            [joint.peaks() for joint in self.joints]
        ).T
        return MotionBounds(self.start + lower, self.start + upper, velocity, acceleration, jerk)


@default_errstate
def point_to_point(
    start: ArrayLike,
    end: ArrayLike,
    seconds: float | None = None,
    profile: str | None = None,
    rate: float = 1000.0,
    *,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    jerk: ArrayLike | None = None,
    qd0: ArrayLike | None = None,
    qdd0: ArrayLike | None = None,
    joint_names: tuple[str, ...] = (),
) -> Trajectory:
    """Return a motion from start to end (n,) [rad|m] that ends at rest, within limits at all times.

    "double-s" is the fastest motion within the limits: each joint has its own profile, and all
    arrive with the slowest one. It is the default with limits of acceleration or jerk. Without a
    limit of jerk its profiles are trapezoidal. "quintic", "trapezoidal" and "s-curve" move all
    joints along one profile s(t), on a straight line of joint space, as fast as this shape can
    within the limits. Biagiotti and Melchiorri 2008, chapter 3; Kroeger and Wahl 2010.

    Parameters
    ----------
    start : position at the start, (n,) [rad|m].
    end : position at the end, (n,) [rad|m].
    seconds : duration [s]; the shortest within the limits by default.
    profile : "double-s", "quintic", "trapezoidal" or "s-curve".
    rate : samples per second [Hz]; the last sample is the end, so that a duration from limits
        raises it slightly.
    velocity : limit of |qd|, one for all joints or one each [rad/s|m/s].
    acceleration : limit of |qdd| [rad/s2|m/s2].
    jerk : limit of the rate of qdd [rad/s3|m/s3].
    qd0 : velocity at the start, (n,) [rad/s|m/s]; zero by default.
    qdd0 : acceleration at the start, (n,) [rad/s2|m/s2]; zero by default, and only with a limit of
        jerk.
    joint_names : names of the joints.

    Returns
    -------
    Trajectory

    Examples
    --------
    >>> point_to_point([0.0], [12.0], velocity=1.0, acceleration=4.0).duration
    12.25
    """
    q0, q1 = numbers("point_to_point: start", start), numbers("point_to_point: end", end)
    if q0.ndim != 1 or q0.shape != q1.shape or not np.all(np.isfinite([q0, q1])):
        raise CallError(
            f"point_to_point: start {q0.shape} and end {q1.shape} must be finite positions of the"
            " same joints, (n,)"
        )
    limits = np.array([_limit(limit, len(q0)) for limit in (velocity, acceleration, jerk)])
    moving = np.array(
        [_initial(name, value, len(q0)) for name, value in (("qd0", qd0), ("qdd0", qdd0))]
    )
    names = (*PROFILES, DOUBLE_S)
    fast = DOUBLE_S if np.isfinite(limits[1:]).any() or moving.any() else "quintic"
    name = fast if profile is None else str(one_of("point_to_point: profile", profile, names))
    if seconds is not None and real_number("point_to_point: seconds", seconds, unit="s") <= 0:
        raise CallError(f"point_to_point: seconds = {seconds!r}; expected a positive time [s]")
    motion: MotionFunction
    if name == DOUBLE_S:
        motion = synchronised(q0, q1, limits, moving, seconds)
        time = motion.period
    else:
        motion, time = _along_line(name, q0, q1, limits, moving, seconds)
    every = max(real_number("point_to_point: rate", rate, 1e-6, unit="Hz"), 1 / time)
    return trajectory(
        motion,
        time,
        every if seconds is not None else math.ceil(every * time * (1 - 1e-12)) / time,
        joint_names,
    )


def synchronised(
    start: Array, end: Array, limits: Array, moving: Array, seconds: float | None = None
) -> SynchronisedMotion:
    """Return the fastest motion within limits (3, n), or one of a longer duration.

    It starts with velocities and accelerations `moving` (2, n).

    The slowest joint sets the duration. Any duration above its least is possible for a joint that
    ends at rest.
    """
    bounds, states = (
        [ProfileLimits(*row) for row in limits.T.tolist()],
        [DoubleSState(*row) for row in moving.T.tolist()],
    )
    for i, (bound, state) in enumerate(zip(bounds, states, strict=True)):
        _require_start(i, bound, state)
    distances = (end - start).tolist()
    times = [fastest_motion(*each)[2] for each in zip(distances, states, bounds, strict=True)]
    least = max([THRESHOLDS.shortest_time, *times])
    time = least if seconds is None else _long_enough(seconds, least)
    joints = tuple(reach_in(time, *each) for each in zip(distances, states, bounds, strict=True))
    return SynchronisedMotion(start, joints, time)


def _require_start(i: int, limits: ProfileLimits, state: DoubleSState) -> None:
    """Raise CallError where no motion of joint i can keep the limits from its start."""
    if math.isinf(limits.acceleration) and math.isinf(limits.jerk):
        raise CallError(
            f"point_to_point: joint {i} has no limit of acceleration or jerk; give one:"
            " acceleration=2.0"
        )
    if math.isinf(limits.jerk) and state.acceleration:
        raise CallError(
            f"point_to_point: qdd0 of joint {i} needs a limit of jerk; give one: jerk=10.0, or"
            " leave qdd0 out"
        )
    if not keeps_limits(state, limits):
        raise CallError(
            f"point_to_point: joint {i} starts with velocity {state.velocity:g} and acceleration"
            f" {state.acceleration:g}, from which no motion keeps the limits velocity"
            f" {limits.velocity:g}, acceleration {limits.acceleration:g}, jerk {limits.jerk:g}"
        )


def _long_enough(seconds: float, least: float) -> float:
    if seconds < least * (1 - 1e-12):
        raise CallError(
            f"point_to_point: seconds = {seconds:g} is too short for the limits: the shortest"
            f" motion takes {least:.6g} s"
        )
    return max(float(seconds), least)


def _along_line(
    name: str, start: Array, end: Array, limits: Array, moving: Array, seconds: float | None
) -> tuple[MotionFunction, float]:
    """Return the motion of all joints along one profile, and its duration [s]."""
    if moving.any():
        raise CallError(
            f"point_to_point: profile {name!r} starts at rest; qd0 and qdd0 need"
            f" profile={DOUBLE_S!r}"
        )
    limited = np.isfinite(limits).any()
    if seconds is None and not limited:
        raise CallError(
            "point_to_point: give seconds, or limits of velocity, acceleration or jerk from which"
            " the time follows"
        )
    profile, least = shortest(name, end - start, limits)
    time = least if seconds is None else _long_enough(seconds, least) if limited else float(seconds)

    def motion(t: ArrayLike) -> States:
        s, v, a = (
            x[:, None]
            for x in profile.function(np.clip(np.asarray(t, dtype=float) / time, 0.0, 1.0))
        )
        return States(
            start + (end - start) * s, (end - start) * v / time, (end - start) * a / time**2
        )

    return motion, time


def shortest(name: str, distance: Array, limits: Array) -> tuple[Profile, float]:
    """Return the profile of a shape, as short as limits (3, n) allow, and its duration [s].

    The cruising speed v of a ramped profile is the largest for which both ramps fit: T = 1 / v +
    (time of a ramp).
    """
    length = np.abs(distance)
    top, acceleration, jerk = np.min(
        np.where(length > 0, limits / np.where(length > 0, length, 1.0), np.inf),
        axis=1,
        initial=np.inf,
    ).tolist()
    if name == "trapezoidal" and np.isfinite(limits[2]).any():
        raise CallError(
            "point_to_point: a trapezoidal profile has jumps of acceleration; a limit of jerk"
            f" needs profile={DOUBLE_S!r}"
        )
    profile = PROFILES[name]
    if name != "quintic" and not (math.isinf(acceleration) and math.isinf(jerk)):
        # largest acceleration over its mean in a ramp
        share = 1.0 if name == "trapezoidal" else 2.0
        v = min(top, math.sqrt(acceleration / share), (jerk / (2 * math.pi)) ** (1 / 3))
        rise = max(share * v / acceleration, math.sqrt(2 * math.pi * v / jerk))
        profile = ramped(name, min(0.5, rise / (1 / v + rise)))
    times = (
        profile.velocity / top,
        math.sqrt(profile.acceleration / acceleration),
        (profile.jerk / jerk) ** (1 / 3) if jerk < math.inf else 0.0,
    )
    return profile, max(THRESHOLDS.shortest_time, *times)


def _limit(value: ArrayLike | None, n: int) -> Array:
    """Return a limit of every joint, (n,), infinite where there is none."""
    bound = np.array(np.inf) if value is None else numbers("point_to_point: limits", value)
    if bound.ndim > 1 or (bound.ndim and bound.shape != (n,)) or not np.all(bound > 0):
        raise CallError(
            f"point_to_point: limits must be positive, one for all joints or one for each of {n}"
        )
    return np.broadcast_to(bound, (n,))


def _initial(name: str, value: ArrayLike | None, n: int) -> Array:
    """Return an initial rate of every joint, (n,)."""
    rate = np.array(0.0) if value is None else numbers(f"point_to_point: {name}", value)
    if rate.ndim > 1 or (rate.ndim and rate.shape != (n,)) or not np.all(np.isfinite(rate)):
        raise CallError(
            f"point_to_point: {name} has shape {rate.shape}; expected finite numbers, one for all"
            f" joints or one for each of {n}"
        )
    return np.broadcast_to(rate, (n,))
