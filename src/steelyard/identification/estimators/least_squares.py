"""Least squares on a triangular factor, with columns scaled alike and directions that were not seen left where they were."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
RANK = 1e-9  # of the largest singular value, columns scaled to unit norm


@dataclass(frozen=True, eq=False)
class Seen:
    """What the rows tell of the unknowns: singular values of the factor with unit columns, the rank, and the directions not seen (b, k)."""

    singular_values: Array
    rank: int
    blind: Array
    scale: Array

    @property
    def condition(self) -> float:
        """Largest over smallest singular value of what was seen."""
        return float(self.singular_values[0] / self.singular_values[self.rank - 1]) if self.rank else float("inf")


def seen(triangle: Array, tolerance: float = RANK) -> Seen:
    """What the factor R of [Y tau] says about the unknowns."""
    R = triangle[:-1, :-1]
    scale = np.linalg.norm(R, axis=0)
    dead = scale <= 1e-12 * max(scale.max(initial=0.0), 1e-300)
    unit = np.where(dead, 1.0, scale)
    _, values, Vt = np.linalg.svd(np.where(dead, 0.0, R / unit))
    rank = int(np.sum(values > tolerance * values[0])) if len(values) and values[0] > 0 else 0
    return Seen(values, rank, (Vt[rank:] / unit).T, unit)


def least_squares(triangle: Array, prior: Array, tolerance: float = RANK) -> Array:
    """argmin |R x - z|, (b,); among equals the one nearest to `prior` in scaled columns.

    Golub and Van Loan, "Matrix Computations", 4th ed., section 5.5.
    """
    R, z = triangle[:-1, :-1], triangle[:-1, -1]
    scale = seen(triangle).scale
    unit = R / scale
    if len(R) and np.min(np.abs(np.diag(unit)), initial=1.0) > 1e-6:  # well away from deficiency: no need for the SVD
        return np.asarray(np.linalg.solve(unit, z) / scale)
    U, values, Vt = np.linalg.svd(unit)
    inverse = np.where(values > tolerance * max(values[0], 1e-300), 1.0 / np.maximum(values, 1e-300), 0.0)
    return np.asarray(prior + Vt.T @ (inverse * (U.T @ (z - R @ prior))) / scale)


def inverse_information(triangle: Array, tolerance: float = RANK) -> Array:
    """(R^T R)^+, (b, b), zero along what was not seen."""
    view = seen(triangle, tolerance)
    R = triangle[:-1, :-1] / view.scale
    _, values, Vt = np.linalg.svd(R)
    inverse = np.where(values > tolerance * max(values[0], 1e-300), 1.0 / np.maximum(values, 1e-300), 0.0)
    half = (Vt.T * inverse) / view.scale[:, None]
    return np.asarray(half @ half.T)
