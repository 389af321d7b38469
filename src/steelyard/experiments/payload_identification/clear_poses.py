"""Poses without collisions, with collision-free straight moves between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...checks.states import States
from ...motion.collision.distances_to_keep import DistancesToKeep
from ...motion.collision.sweep import Narrowest, narrowest
from ...motion.trajectories.limits import MotionBounds
from ...motion.trajectories.motion_check import MotionCheck
from .payload_thresholds import THRESHOLDS

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StraightPath:
    """Straight moves of the joints through positions q (K, n), one unit of time each."""

    q: Array

    @property
    def period(self) -> float:
        """Time of all moves."""
        return float(len(self.q) - 1)

    @property
    def density(self) -> int:
        """Number of moves."""
        return len(self.q) - 1

    def __call__(self, t: ArrayLike) -> States:
        times = np.asarray(t, dtype=float)
        k = np.clip(times.astype(int), 0, len(self.q) - 2)
        change = np.diff(self.q, axis=0)[k]
        return States(self.q[k] + (times - k)[:, None] * change, change, np.zeros_like(change))

    def bounds(self) -> MotionBounds:
        """Return the bounds of all moves; corners lie between intervals."""
        zero = np.zeros(self.q.shape[1])
        change = np.abs(np.diff(self.q, axis=0)).max(axis=0)
        return MotionBounds(self.q.min(axis=0), self.q.max(axis=0), change, zero, zero)


def spare_distance(keep: DistancesToKeep, q: Array) -> Array:
    """Return the distance [m] (N,) of positions q (N, n) beyond the required one and a reserve.

    Infinite if no distance is required.
    """
    spare = np.full(len(q), np.inf)
    for start in range(0, len(q), THRESHOLDS.block_positions):
        rows = slice(start, start + THRESHOLDS.block_positions)
        for each in keep.gaps:
            least = each.least + each.reserve(THRESHOLDS.pose_reserve)
            distances = each.distances(q[rows], least + THRESHOLDS.pose_reserve).distance
            spare[rows] = np.minimum(spare[rows], (distances - least).min(axis=1))
    return spare


def clear_of_home(keep: DistancesToKeep, q: Array, approach: float) -> tuple[Array, Array]:
    """Return the position (n,) with most clearance, and those (M, n) it reaches on straight lines.

    Parameters
    ----------
    keep : distances to keep
    q : positions (N, n) [rad|m]
    approach : distance [rad|m] from which each position is approached, from both sides
    """
    shifts = approach * np.array([-1.0, 0.0, 1.0])
    spare = spare_distance(keep, (q[:, None] + shifts[:, None]).reshape(-1, q.shape[1]))
    spare = spare.reshape(-1, len(shifts)).min(axis=1)
    clear, spare = q[spare > 0], spare[spare > 0]
    if not len(clear):
        return np.empty(0), clear
    home = clear[int(np.argmax(spare))]
    share = np.linspace(0.0, 1.0, THRESHOLDS.way_positions)[:, None]
    ways = home + share * (clear[:, None] - home)
    room = spare_distance(keep, ways.reshape(-1, q.shape[1])).reshape(
        len(clear), THRESHOLDS.way_positions
    )
    return home, clear[room.min(axis=1) > 0]


def straight_is_clear(keep: DistancesToKeep, points: Array) -> bool:
    """Return whether straight moves through points (K, n) keep all distances."""
    return lowest_of(keep, points).spare >= 0


def lowest_of(keep: DistancesToKeep, points: Array) -> Narrowest:
    """Return the narrowest distance of straight moves through points (K, n)."""
    path = StraightPath(points)
    smallest = (narrowest(each, path, path.bounds()) for each in keep.gaps)
    return min(smallest, default=Narrowest(np.inf, ""))


def check_straight_path(keep: DistancesToKeep, points: Array) -> MotionCheck:
    """Return the check of straight moves through points (K, n) that are within the joint limits."""
    least = lowest_of(keep, points)
    passed = (
        (f"straight moves between the poses: {least.where}: not kept",) if least.spare < 0 else ()
    )
    return MotionCheck(
        what=("limits of position", *keep.what, "straight moves between the poses"),
        unchecked=(*keep.unchecked, *passed),
        distance=least.spare + keep.least(least.where),
        narrowest=least.where,
        remarks=keep.remarks,
    )
