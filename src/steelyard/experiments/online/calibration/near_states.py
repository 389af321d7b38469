"""States of all joints that are as near to a log as its halves are to each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from ..held_out_residuals import ResidualStream
from ..online_thresholds import THRESHOLDS

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class NearStates:
    """Neighbourhood of the held-out motion, in positions and velocities of all joints.

    Ranges of single joints contain states that the log never came near: a limit cycle fills a
    small share of the box around it.

    Attributes
    ----------
    tree : states (K, 2 n) of the motion, q and qd over `scale`
    scale : standard deviation of q and qd, (2 n,)
    radius : largest distance of a state of one half of the motion from the other half
    """

    tree: KDTree
    scale: Array
    radius: float

    def beyond(self, q: Array, qd: Array) -> Bools:
        """Return whether states (N, n) are farther than `radius` from the motion, (N,)."""
        distance, _ = self.tree.query(np.hstack([q, qd]) / self.scale)
        return np.asarray(distance > self.radius)


def near_states(streams: Sequence[ResidualStream]) -> NearStates:
    """Return the neighbourhood of some held-out motion, in order of time."""
    states = np.concatenate([np.hstack([part.q, part.qd]) for part in streams])
    std = states.std(axis=0)
    scale = np.maximum(std, max(THRESHOLDS.least_state_scale * float(std.max()), 1e-300))
    points = states[:: -(-len(states) // THRESHOLDS.state_points)] / scale
    first, second = np.array_split(points, 2)
    distances = [
        KDTree(one).query(other)[0] for one, other in ((first, second), (second, first)) if len(one)
    ]
    return NearStates(KDTree(points), scale, float(np.max(np.concatenate(distances), initial=0.0)))
