"""The certificate of a motion: bounds that hold at every instant.

Of position, velocity, acceleration, jerk, torque and distances. The motion provides its own bounds.
Torques are bounded by inverse dynamics over intervals of states. Each interval of time is halved
until its bound is below the limit, or a violation is found. Friction that jumps with the direction
counts with both signs where a joint reverses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...algebra.interval import Interval
from ...checks.states import States
from ...drawing.html import card
from ...drawing.numbers import percent, short
from ...drawing.table import Column, Table
from ...dynamics.rnea import inverse_dynamics
from ...kernels import customised
from ...mechanism.tree import Tree
from ...robot import Robot
from ..collision.sweep import Gaps, Narrowest, narrowest
from .limits import MotionBounds, TrajectoryLimits
from .trajectory_thresholds import THRESHOLDS

Array = NDArray[np.float64]


class BoundedMotion(Protocol):
    """A motion of one period [s] with bounds that hold at all times."""

    @property
    def period(self) -> float: ...

    @property
    def density(self) -> int: ...

    def __call__(self, t: ArrayLike) -> States: ...

    def bounds(self, fine: bool = True) -> MotionBounds: ...


class Certificate(NamedTuple):
    """The largest fraction of its limits that a motion uses at any instant, per joint (n,).

    At most 1 if it keeps them; `torque` is NaN where the joint's effort is not limited. `spare` [m]
    is the smallest distance of links and walls beyond the required one, at any instant: negative if
    a distance is not kept, infinite if none is required. `narrowest` is its label.
    """

    position: Array
    velocity: Array
    acceleration: Array
    jerk: Array
    torque: Array
    spare: float = np.inf
    narrowest: str = ""

    @property
    def worst(self) -> float:
        """The largest of all fractions."""
        return float(np.nanmax(np.array(self[:5])))

    @property
    def holds(self) -> bool:
        """Whether every limit is kept at every instant."""
        return self.worst <= 1.0 + THRESHOLDS.certificate_tolerance and self.spare >= 0

    def table(self) -> Table:
        """Return the used fraction of every limit, joint by joint, as a table."""
        names = self._fields[:5]
        fractions = np.array(self[:5], float).T
        rows = tuple(
            (str(j), *("–" if np.isnan(x) else percent(x) for x in row))
            for j, row in enumerate(fractions, 1)
        )
        columns = (Column("joint"), *(Column(name, "%") for name in names))
        data = {"joint": range(1, len(rows) + 1)} | dict(zip(names, fractions.T, strict=True))
        return Table("Used share of the limits", columns, rows, data=data)

    def _repr_html_(self) -> str:
        verdict = "Every limit is kept." if self.holds else "A limit is not kept."
        spare = f"spare distance {short(self.spare)} m: {self.narrowest}" if self.narrowest else ""
        return card(verdict, spare, (self.table(),))


def certify(
    robot: Robot,
    motion: BoundedMotion,
    limits: TrajectoryLimits,
    accuracy: float = 2e-3,
    gaps: Sequence[Gaps] = (),
) -> Certificate:
    """Bound what a motion uses of its limits at any instant.

    Torque bounds are within `accuracy` of the largest torque where that decides.
    """
    b = motion.bounds()
    position = np.maximum(b.upper - limits.centre, limits.centre - b.lower) / limits.reach
    least = min((narrowest(each, motion, b) for each in gaps), default=Narrowest(np.inf, ""))
    spare, name = least
    return Certificate(
        position=position,
        velocity=b.velocity / limits.velocity,
        acceleration=b.acceleration / limits.acceleration,
        jerk=b.jerk / limits.jerk,
        torque=torque_bound(robot, motion, limits.effort, b, accuracy),
        spare=spare,
        narrowest=name,
    )


def torque_bound(
    robot: Robot, motion: BoundedMotion, effort: Array, bounds: MotionBounds, accuracy: float
) -> Array:
    """Bound |tau| / effort over all times per joint, (n,); NaN for infinite effort.

    Intervals are halved while their bound is above `ample_bound` and above what torques are known
    to reach by more than `accuracy`, or above 1. Where a torque passes the limit the result is what
    it was seen to reach.
    """
    limited, tree = np.isfinite(effort), customised(robot.tree)
    if not limited.any():
        return np.full(robot.n, np.nan)
    scale = np.where(limited, effort, np.inf)
    count = THRESHOLDS.certificate_intervals * motion.density
    half = 0.5 * motion.period / count
    t: Array = np.asarray((np.arange(count) + 0.5) * 2 * half, dtype=np.float64)
    reached, bound = np.zeros(robot.n), np.zeros(robot.n)
    for level in range(THRESHOLDS.certificate_halvings + 1):
        reached = np.maximum(
            reached, np.max(np.abs(robot.inverse_dynamics(*motion(t))) / scale, axis=0)
        )
        if np.any(reached > 1):
            return np.where(limited, np.maximum(bound, reached), np.nan)
        over = _torques(tree, motion, t, half, bounds) / scale
        done = np.all(over <= np.clip(reached + accuracy, THRESHOLDS.ample_bound, 1.0), axis=1) | (
            level == THRESHOLDS.certificate_halvings
        )
        bound = np.maximum(bound, np.max(over[done], axis=0, initial=0.0))
        t, half = np.concatenate([t[~done] - half / 2, t[~done] + half / 2]), half / 2
        if not len(t):
            break
    return np.where(limited, bound, np.nan)


def _torques(
    tree: Tree, motion: BoundedMotion, t: Array, half: float, bounds: MotionBounds
) -> Array:
    """Bound |tau| over the intervals t +- half, (pieces, n)."""
    q, qd, qdd = motion(t)
    jerk = bounds.jerk * half
    reach_qdd = np.broadcast_to(jerk, q.shape)
    reach_qd = half * (np.abs(qdd) + jerk)
    reach_q = half * (np.abs(qd) + half * (0.5 * np.abs(qdd) + jerk / 6))
    tau = inverse_dynamics(tree, _boxes(q, reach_q), _boxes(qd, reach_qd), _boxes(qdd, reach_qdd))
    return np.stack(
        [
            np.broadcast_to(x.magnitude if isinstance(x, Interval) else np.abs(x), len(t))
            for x in tau
        ],
        axis=1,
    )


def _boxes(middle: Array, reach: Array) -> list[Interval]:
    return [Interval(x - r, x + r) for x, r in zip(middle.T, reach.T, strict=True)]
