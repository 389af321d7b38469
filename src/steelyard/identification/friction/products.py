"""Products of the columns of each joint with each other: the normal equations of a search, joint by joint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..model.rows import Reach

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Products:
    """[Y_j C_j tau_j]^T [Y_j C_j tau_j] of each joint j, (..., m, m): its columns in reach, those of all candidates, and the torque."""

    of: tuple[Array, ...]
    reach: Reach

    def each(self, function: Callable[[Array], Array]) -> Products:
        """Return the products with a function applied to those of every joint."""
        return replace(self, of=tuple(map(function, self.of)))

    def __sub__(self, other: Products) -> Products:
        return replace(self, of=tuple(a - b for a, b in zip(self.of, other.of, strict=True)))

    @property
    def torque_squares(self) -> Array:
        """tau_j^T tau_j of each joint, (n,)."""
        return np.array([each[-1, -1] for each in self.of])

    def pooled(self, weights: Array, b: int) -> Array:
        """Return the sum over joints of weights_j [Y_j tau_j]^T [Y_j tau_j], (b + 1, b + 1)."""
        made = np.zeros((b + 1, b + 1))
        for w, columns, each in zip(weights, self.reach.columns, self.of, strict=True):
            k = len(columns)
            made[columns[:, None], columns] += w * each[:k, :k]
            made[columns, b] += w * each[:k, -1]
            made[b, b] += w * each[-1, -1]
        made[b, :b] = made[:b, b]
        return made
