"""Check of an existing motion: limits, distances between links, walls and the ground."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...cached import cached_property
from ...checks.states import States
from ...errors import CallError, require_robot
from ...option_groups.collision import CLEARANCE
from ...robot import Robot
from ..collision.clearance_thresholds import THRESHOLDS as CLEARANCE_THRESHOLDS
from ..collision.distances_to_keep import DistancesToKeep, Ground, distances_to_keep
from ..collision.sweep import Narrowest, narrowest
from ..collision.walls import Boxes, HalfSpace
from .limits import MotionBounds, TrajectoryLimits, motion_limits
from .motion_check import MotionCheck
from .trajectory_thresholds import THRESHOLDS

Array = NDArray[np.float64]


class SampledTrajectory(Protocol):
    """The interface of a `Trajectory` that a check uses."""

    @property
    def n(self) -> int: ...

    @property
    def t(self) -> Array: ...

    @property
    def duration(self) -> float: ...

    @property
    def joint_names(self) -> tuple[str, ...]: ...

    @property
    def labels(self) -> tuple[str, ...]: ...

    @property
    def motion(self) -> Callable[[ArrayLike], States]: ...


@dataclass(frozen=True, eq=False)
class TimedMotion:
    """A motion from time `start` [s] over a `period` [s], with bounds from its samples."""

    motion: Callable[[ArrayLike], States]
    start: float
    period: float

    @property
    def density(self) -> int:
        """Intervals of a check of distances, per `sweep_intervals`."""
        return max(
            1,
            math.ceil(
                self.period * THRESHOLDS.distance_rate / CLEARANCE_THRESHOLDS.sweep_intervals
            ),
        )

    def __call__(self, t: ArrayLike) -> States:
        return self.motion(np.clip(np.asarray(t, dtype=float), 0.0, self.period) + self.start)

    @cached_property
    def samples(self) -> tuple[Array, States]:
        """Times (N,) [s] from 0 to the period at `limit_rate` or more, and the states there."""
        t = np.linspace(0.0, self.period, math.ceil(self.period * THRESHOLDS.limit_rate) + 1)
        return t, States(*(np.asarray(x, dtype=float) for x in self(t)))

    def bounds(self) -> MotionBounds:
        """Return bounds of the samples.

        The jerk includes what accelerations jump by between them.
        """
        t, (q, qd, qdd) = self.samples
        jerk = np.abs(np.diff(qdd, axis=0)).max(axis=0) / np.diff(t).min()
        velocity, acceleration = np.abs(qd).max(axis=0), np.abs(qdd).max(axis=0)
        return MotionBounds(q.min(axis=0), q.max(axis=0), velocity, acceleration, jerk)

    @property
    def consistent(self) -> bool:
        """Whether positions change as velocities say, and velocities as accelerations say."""
        t, (q, qd, qdd) = self.samples
        steps = np.diff(t)[:, None]
        jump = np.abs(np.diff(qdd, axis=0))
        second = np.abs(np.diff(qd, axis=0) - steps * (qdd[1:] + qdd[:-1]) / 2) - steps * jump
        first = np.abs(np.diff(q, axis=0) - steps * (qd[1:] + qd[:-1]) / 2) - steps**2 * jump
        finite = all(bool(np.all(np.isfinite(x))) for x in (q, qd, qdd))
        return (
            finite
            and float(first.max()) < THRESHOLDS.position_step
            and float(second.max()) < THRESHOLDS.velocity_step
        )


def check_motion(
    robot: Robot,
    trajectory: SampledTrajectory,
    *,
    speed: float = 1.0,
    collision: str = "auto",
    clearance: float = CLEARANCE,
    ground: Ground = "base",
    workspace: Boxes | None = None,
    half_spaces: Sequence[HalfSpace] = (),
) -> MotionCheck:
    """Check a motion for limits, self-collision and ground; see `Trajectory.check`.

    Limits are compared at 1 kHz. Distances are bounded between samples by what the joints can move
    until the next one; Schwarzer, Saha and Latombe, Int. J. Robotics Research 24 (2005), section 3.
    """
    require_robot(robot, "check")
    if trajectory.n != robot.n or trajectory.joint_names not in ((), robot.joint_names):
        raise CallError(
            f"check: the motion moves {', '.join(trajectory.labels)}, and the robot has"
            f" {', '.join(robot.joint_names)}; expected the same joints in this order"
        )
    timed = TimedMotion(trajectory.motion, float(trajectory.t[0]), trajectory.duration)
    limits = motion_limits(robot, 1.0, speed=speed, acceleration=math.inf)
    keep = distances_to_keep(robot, limits, collision, clearance, ground, workspace, half_spaces)
    if not timed.consistent:
        return MotionCheck(unchecked=("velocities that do not match the positions",))
    failed, what = limits_passed(robot, limits, timed.samples[1])
    check = check_distances(keep, timed)
    return MotionCheck(
        what=(what, *check.what),
        unchecked=(*failed, *check.unchecked),
        distance=check.distance,
        narrowest=check.narrowest,
        remarks=check.remarks,
        motion=trajectory.motion,
        joint_names=trajectory.joint_names,
    )


def check_distances(keep: DistancesToKeep, timed: TimedMotion) -> MotionCheck:
    """Return the check of the distances of a motion.

    `what` and `unchecked` are of distances alone.
    """
    bounds = timed.bounds()
    smallest = (narrowest(each, timed, bounds) for each in keep.gaps)
    least = min(smallest, default=Narrowest(np.inf, ""))
    passed = (f"{least.where}: not kept",) if least.spare < 0 else ()
    return MotionCheck(
        what=keep.what,
        unchecked=(*keep.unchecked, *passed),
        distance=least.spare + keep.least(least.where),
        narrowest=least.where,
        remarks=keep.remarks,
    )


def limits_passed(
    robot: Robot, limits: TrajectoryLimits, states: States
) -> tuple[tuple[str, ...], str]:
    """Return the limits that states (N, n) exceed, in words, and which limits were compared."""
    torque = robot.inverse_dynamics(*states)
    rows = {
        "position": (np.abs(states.q - limits.centre), limits.reach),
        "velocity": (np.abs(states.qd), limits.velocity),
        "torque": (np.abs(torque), limits.effort),
    }
    failed = tuple(
        f"{word} limit of {name}: not kept"
        for word, (values, most) in rows.items()
        for name, passed in zip(
            robot.joint_names,
            np.any(values > most * (1 + THRESHOLDS.limit_tolerance), axis=0),
            strict=True,
        )
        if passed
    )
    return failed, limit_words(("position", "velocity"), limits.effort)


def limit_words(words: tuple[str, ...], effort: Array) -> str:
    """Return which limits count, in words; torques where their limits (n,) are finite."""
    known = int(np.isfinite(effort).sum())
    names = [*words]
    if known:
        names.append(
            "torque" if known == len(effort) else f"torque ({known} of {len(effort)} joints)"
        )
    return f"limits of {', '.join(names[:-1])} and {names[-1]}"
