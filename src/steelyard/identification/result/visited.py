"""The path that the samples of a fit follow through positions and velocities: whether a state was visited by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from ...cached import cached_property
from ...signals.segments import split
from ..samples.samples import Samples

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
NEAR = 0.05  # [standard deviations], root mean square over positions and velocities: how far from the path a state still is on it
LEAST_SCALE = 0.05  # of the most moving joint's standard deviation: a standing joint's noise is no motion
MOST = 20_000  # points of the path, evenly spread


@dataclass(frozen=True, eq=False)
class VisitedPath:
    """Points (K, 2 n) of q and qd over `scale` (2 n,), and which of them is followed by the next, (K,)."""

    scale: Array
    points: Array
    joined: Bools

    @cached_property
    def tree(self) -> KDTree:
        """The points, to be searched by distance."""
        return KDTree(self.points)

    @cached_property
    def reach(self) -> float:
        """How far a state on the path can be from the nearest point."""
        steps = np.linalg.norm(np.diff(self.points, axis=0), axis=1)[self.joined[:-1]]
        return float(np.max(steps, initial=0.0)) / 2.0 + NEAR * float(np.sqrt(len(self.scale)))

    def contains(self, q: Array, qd: Array) -> Bools:
        """Return whether states were visited, (...,): within NEAR of the path. q [rad|m], qd: (..., n)."""
        x = np.concatenate([q, qd], axis=-1).reshape(-1, len(self.scale)) / self.scale
        found, nearest = self.tree.query(x, distance_upper_bound=self.reach)
        inside = np.isfinite(found)
        x, at = x[inside], nearest[inside]
        before = np.maximum(at - 1, 0)
        after = np.minimum(at + 1, len(self.points) - 1)
        ways = (self.distance(x, at, after, self.joined[at]), self.distance(x, before, at, self.joined[before]))
        inside[inside] = np.minimum(*ways) <= NEAR * np.sqrt(len(self.scale))
        return np.asarray(inside.reshape(q.shape[:-1]))

    def distance(self, x: Array, start: NDArray[np.intp], end: NDArray[np.intp], joined: Bools) -> Array:
        """Return the distance (N,) of x (N, 2 n) to the line from one point to another; to the nearer one where they are not joined."""
        a, along = self.points[start], self.points[end] - self.points[start]
        length = np.maximum(np.sum(along**2, axis=1), 1e-300)
        share = np.clip(np.sum((x - a) * along, axis=1) / length, 0.0, 1.0)
        share = np.where(joined, share, np.round(share))
        return np.asarray(np.linalg.norm(x - a - share[:, None] * along, axis=1))


def visited_path(samples: Sequence[Samples]) -> VisitedPath:
    """Return the path of the samples of all logs."""
    stride = -(-sum(s.N for s in samples) // MOST)
    parts = [(s.q[part][::stride], s.qd[part][::stride]) for s in samples for part in split(s.t)]
    scale = np.concatenate([scale_of([part[k] for part in parts]) for k in (0, 1)])
    joined = np.concatenate([np.arange(len(q)) < len(q) - 1 for q, _ in parts])
    return VisitedPath(scale, np.concatenate([np.hstack(part) for part in parts]) / scale, joined)


def scale_of(signals: Sequence[Array]) -> Array:
    """Return the standard deviation of each joint, (n,), no less than a part of the most moving one's."""
    std = np.concatenate(signals).std(axis=0)
    return np.maximum(std, max(LEAST_SCALE * float(std.max(initial=0.0)), 1e-300))
