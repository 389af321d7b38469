"""Lower bounds of distances at every instant of a motion.

The distance at an instant, less the most it can change until the next.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...checks.states import States
from ..trajectories.limits import MotionBounds
from .capsules import Distances
from .clearance_thresholds import THRESHOLDS

Array = NDArray[np.float64]


class Gaps(Protocol):
    """Distances that must not fall below `least` (k,) [m], each with a name."""

    @property
    def labels(self) -> tuple[str, ...]: ...

    @property
    def least(self) -> Array: ...

    def levers(self, travel: Array) -> Array: ...

    def reserve(self, extra: float) -> Array: ...

    @property
    def frequent(self) -> Gaps: ...

    def distances(self, q: Array, exact: float | Array = ...) -> Distances: ...

    def derivatives(self, q: Array, distances: Distances, near: NDArray[np.bool_]) -> Array: ...


class Moving(Protocol):
    """A motion of one period [s]."""

    @property
    def period(self) -> float: ...

    @property
    def density(self) -> int: ...

    def __call__(self, t: ArrayLike) -> States: ...


class Narrowest(NamedTuple):
    """The smallest distance [m] beyond the least one at any instant, and its label.

    Negative where the least distance is not kept.
    """

    spare: float
    where: str


def narrowest(gaps: Gaps, motion: Moving, bounds: MotionBounds) -> Narrowest:
    """Bound the smallest spare distance from below, over all times.

    In an interval t +- h a distance changes by at most sum of lever_j |dq_j|; intervals are halved
    until none can be passed, or one is. Schwarzer, Saha and Latombe, Int. J. Robotics Research 24
    (2005), section 3 (bounds of the motion of a robot's points).
    """
    levers = gaps.levers(np.maximum(np.abs(bounds.lower), np.abs(bounds.upper)))
    count = THRESHOLDS.sweep_intervals * motion.density
    half = 0.5 * motion.period / count
    t: Array = np.asarray((np.arange(count) + 0.5) * 2 * half, dtype=np.float64)
    smallest = Narrowest(np.inf, "")
    for level in range(THRESHOLDS.sweep_halvings + 1):
        q, qd, qdd = motion(t)
        change = (
            half * (np.abs(qd) + half * (0.5 * np.abs(qdd) + bounds.jerk * half / 6)) @ levers.T
        )
        room = gaps.distances(q, gaps.least + change).distance - gaps.least
        worst = np.unravel_index(int(np.argmin(room)), room.shape)
        if room[worst] < 0:
            return Narrowest(float(room[worst]), gaps.labels[int(worst[1])])
        lower = room - change
        done = np.all(lower > 0, axis=1) | (level == THRESHOLDS.sweep_halvings)
        if done.any():
            least = np.unravel_index(int(np.argmin(lower[done])), lower[done].shape)
            smallest = min(
                smallest, Narrowest(float(lower[done][least]), gaps.labels[int(least[1])])
            )
        t, half = np.concatenate([t[~done] - half / 2, t[~done] + half / 2]), half / 2
        if not len(t):
            break
    return smallest
