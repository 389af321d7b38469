"""The regressor at random states, as one tall matrix: what a robot's structure lets be seen, whatever the motion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..dynamics.regressor import regressor
from ..mechanism.tree import Tree


def sampled_regressor(tree: Tree, samples: int | None = None, seed: int = 0) -> np.ndarray:
    """Y at random q, qd, qdd, stacked: (samples * n, p). Angles over the whole turn, slides within 1 m, rates and accelerations of order 1.

    Enough samples for the rank of any tree by default: twice as many rows as columns.
    Gautier 1991, "Numerical calculation of the base inertial parameters of robots", section III.
    """
    q, qd, qdd = random_states(tree, samples, seed)
    return dense(regressor(tree, list(q.T), list(qd.T), list(qdd.T)), len(q))


def random_states(tree: Tree, samples: int | None = None, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q [rad|m], qd, qdd, each (samples, n), that show all that any motion can show."""
    rng = np.random.default_rng(seed)
    n, columns = max(tree.n, 1), 10 * len(tree.bodies) + 4 * tree.n
    count = samples or 2 * -(-columns // n) + 4
    turning = np.array([any(b.kind == "revolute" and b.coordinate == i for b in tree.bodies) for i in range(tree.n)])
    q = rng.uniform(-1.0, 1.0, (count, tree.n)) * np.where(turning, np.pi, 1.0)
    qd, qdd = rng.normal(size=(2, count, tree.n)) * 2.0
    return q, qd, qdd


def dense(rows: Sequence[Sequence[Any]], count: int) -> np.ndarray:
    """Nested lists of floats and (count,) arrays as one (count * rows, columns) matrix, sample by sample."""
    block = np.array([[np.broadcast_to(x, (count,)) for x in row] for row in rows])
    return np.ascontiguousarray(block.transpose(2, 0, 1)).reshape(-1, block.shape[1])
