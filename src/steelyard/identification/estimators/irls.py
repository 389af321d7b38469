"""Iteratively reweighted least squares: outliers count for less."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ...errors import CallError
from ..model.problem import Block, Problem
from .estimate import Estimate
from .least_squares import least_squares
from .wls import weighted

Array = NDArray[np.float64]


@dataclass(frozen=True)
class IRLS:
    """Huber's M-estimator: rows whose residual is beyond `threshold` standard deviations count as |e|, the others as e^2.

    w = min(1, threshold sigma_j / |e|), sigma_j from the median absolute residual, until the parameters stay.
    Huber and Ronchetti, "Robust Statistics", 2nd ed., section 7.8.
    """

    threshold: float = 1.345
    iterations: int = 30
    tolerance: float = 1e-6
    name = "irls"

    def fit(self, problem: Problem) -> Estimate:
        """The estimate for a problem."""
        if not self.threshold > 0:
            raise CallError(f"IRLS: the threshold must be positive, not {self.threshold!r}")
        base, weights = weighted(problem.total, problem.prior)
        for count in range(1, self.iterations + 1):
            sigma = robust_sigma(problem, base, floor=1e-6 * float(np.max(1.0 / weights)))
            total = problem.accumulate(1, partial(self.row_weights, base=base, sigma=sigma))[0]
            before, base = base, least_squares(total.triangle(), problem.prior)
            size = np.sqrt(np.sum(total.triangle()[:-1, :-1] ** 2, axis=0))
            if np.linalg.norm(size * (base - before)) <= self.tolerance * max(float(np.linalg.norm(size * base)), 1e-300):
                return Estimate(base, 1.0 / sigma, details={"iterations": count})
        return Estimate(base, 1.0 / sigma, (f"IRLS did not settle in {self.iterations} iterations.",), {"iterations": self.iterations})

    def row_weights(self, block: Block, base: Array, sigma: Array) -> Array:
        """Square roots of Huber's weights over sigma, (N, n)."""
        e = np.abs(block.tau - block.Y @ base) / sigma
        return np.asarray(np.sqrt(np.minimum(1.0, self.threshold / np.maximum(e, 1e-300))) / sigma)


def robust_sigma(problem: Problem, base: Array, floor: float) -> Array:
    """1.4826 times the median absolute residual of each joint, (n,) [N m|N], over some of the blocks."""
    parts = [(np.abs(b.tau - b.Y @ base), b.keep) for b in problem.blocks(64)]
    e = np.concatenate([np.where(True if keep is None else keep, x, np.nan) for x, keep in parts])
    median = np.array([np.nanmedian(column) if np.any(np.isfinite(column)) else 0.0 for column in e.T])
    return np.asarray(np.maximum(1.4826 * median, max(floor, 1e-300)))
