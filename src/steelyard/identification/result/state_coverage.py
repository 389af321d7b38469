"""Coverage of states: whether the samples of a fit passed near a position and velocity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from ...cached import cached_property
from ...signals.segments import split
from ..samples.samples import Samples
from .result_thresholds import THRESHOLDS

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class CoveredStates:
    """The path of the samples: points (K, 2 n) of q and qd over `scale` (2 n,).

    `joined` (K,) marks the points that are followed by the next one without a gap.
    """

    scale: Array
    points: Array
    joined: Bools

    @cached_property
    def tree(self) -> KDTree:
        """Search tree of the points."""
        return KDTree(self.points)

    @cached_property
    def reach(self) -> float:
        """Largest distance of a state on the path from the nearest point."""
        steps = np.linalg.norm(np.diff(self.points, axis=0), axis=1)[self.joined[:-1]]
        return float(np.max(steps, initial=0.0)) / 2.0 + THRESHOLDS.covered_distance * float(
            np.sqrt(len(self.scale))
        )

    def contains(self, q: Array, qd: Array) -> Bools:
        """Return whether states are covered, (...,).

        Within `covered_distance` of the path. q [rad|m], qd: (..., n).
        """
        x = np.concatenate([q, qd], axis=-1).reshape(-1, len(self.scale)) / self.scale
        distance, nearest = self.tree.query(x, distance_upper_bound=self.reach)
        inside = np.isfinite(distance)
        x, point = x[inside], nearest[inside]
        before = np.maximum(point - 1, 0)
        after = np.minimum(point + 1, len(self.points) - 1)
        onward = self.distance(x, point, after, self.joined[point])
        backward = self.distance(x, before, point, self.joined[before])
        inside[inside] = np.minimum(onward, backward) <= THRESHOLDS.covered_distance * np.sqrt(
            len(self.scale)
        )
        return np.asarray(inside.reshape(q.shape[:-1]))

    def distance(
        self, x: Array, start: NDArray[np.intp], end: NDArray[np.intp], joined: Bools
    ) -> Array:
        """Return the distance (N,) of x (N, 2 n) to the segment from one point to another.

        Where the two points are not joined, to the nearer one of them.
        """
        a, along = self.points[start], self.points[end] - self.points[start]
        length = np.maximum(np.sum(along**2, axis=1), 1e-300)
        share = np.clip(np.sum((x - a) * along, axis=1) / length, 0.0, 1.0)
        share = np.where(joined, share, np.round(share))
        return np.asarray(np.linalg.norm(x - a - share[:, None] * along, axis=1))


def state_coverage(samples: Sequence[Samples]) -> CoveredStates:
    """Return the states that the samples of all logs cover."""
    stride = -(-sum(s.N for s in samples) // THRESHOLDS.path_points)
    parts = [(s.q[part][::stride], s.qd[part][::stride]) for s in samples for part in split(s.t)]
    scale = np.concatenate([scale_of([part[k] for part in parts]) for k in (0, 1)])
    joined = np.concatenate([np.arange(len(q)) < len(q) - 1 for q, _ in parts])
    points = np.concatenate([np.hstack(part) for part in parts]) / scale
    return CoveredStates(scale, points, joined)


def scale_of(signals: Sequence[Array]) -> Array:
    """Return the standard deviation of each joint, (n,), at least a share of the largest."""
    std = np.concatenate(signals).std(axis=0)
    return np.maximum(std, max(THRESHOLDS.least_scale * float(std.max(initial=0.0)), 1e-300))
