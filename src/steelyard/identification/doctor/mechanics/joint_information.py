"""JointInformation: the products of each joint's columns, without the unknowns on which its torque does not depend."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....cached import cached_property

Array = NDArray[np.float64]
FEW = 1 << 19  # numbers of all joints and unknowns, n K^2, up to which they are multiplied at once: a core's cache holds them


@dataclass(frozen=True, eq=False)
class JointInformation:
    """D_j (K, K) of each joint j: `blocks[j]` (k_j, k_j) at the unknowns `used[j]` (k_j,), zero elsewhere."""

    K: int
    used: tuple[NDArray[np.intp], ...]
    blocks: tuple[Array, ...]

    def weighted(self, precision: Array) -> Array:
        """Return the sum of precision_j D_j, (K, K), for the precision (n,) of each joint."""
        if self.K**2 * len(self.used) <= FEW:
            return np.asarray((precision @ self._all).reshape(self.K, self.K))
        H = np.zeros((self.K, self.K))
        for weight, at, block in zip(precision, self.used, self.blocks, strict=True):
            if weight:
                H[at[:, None], at] += weight * block
        return H

    def diagonal(self) -> Array:
        """Return the diagonals, (n, K)."""
        made = np.zeros((len(self.used), self.K))
        for row, at, block in zip(made, self.used, self.blocks, strict=True):
            row[at] = np.diag(block)
        return made

    def quadratic(self, u: Array) -> Array:
        """Return u^T D_j u of each joint, (n,)."""
        return np.array([u[at] @ block @ u[at] for at, block in zip(self.used, self.blocks, strict=True)])

    def __sub__(self, other: JointInformation) -> JointInformation:
        return JointInformation(self.K, self.used, tuple(a - b for a, b in zip(self.blocks, other.blocks, strict=True)))

    @cached_property
    def _all(self) -> Array:
        """All of them, (n, K K)."""
        made = np.zeros((len(self.used), self.K, self.K))
        for D, at, block in zip(made, self.used, self.blocks, strict=True):
            D[at[:, None], at] = block
        return made.reshape(len(made), -1)
