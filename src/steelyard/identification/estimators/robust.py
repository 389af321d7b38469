"""Robust estimation: iteratively reweighted least squares for outliers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ...arguments import real_number, whole_number
from ...errors import CallError
from ..model.problem import Block, Problem
from .least_squares import Estimate, Estimator, least_squares, weighted

Array = NDArray[np.float64]


@dataclass(frozen=True)
class IRLS(Estimator):
    """Huber's M-estimator: residuals beyond `threshold` std count as |e|, others as e^2.

    w = min(1, threshold sigma_j / |e|), sigma_j from the median absolute residual, iterated until
    the parameters stay. Huber and Ronchetti, "Robust Statistics", 2nd ed., section 7.8.
    """

    threshold: float = 1.345
    iterations: int = 30
    tolerance: float = 1e-6
    name = "irls"

    def __post_init__(self) -> None:
        if not real_number("IRLS: threshold", self.threshold) > 0:
            raise CallError(f"IRLS: the threshold must be positive, not {self.threshold!r}")
        object.__setattr__(
            self, "iterations", whole_number("IRLS: iterations", self.iterations, 1, 1e6)
        )
        real_number("IRLS: tolerance", self.tolerance, 0.0)

    def fit(self, problem: Problem) -> Estimate:
        """Return the estimate for a problem."""
        base, weights = weighted(problem.total, problem.prior)
        for count in range(1, self.iterations + 1):
            sigma = robust_sigma(problem, base, floor=1e-6 * float(np.max(1.0 / weights)))
            triangle = problem.accumulate(1, partial(self.row_weights, base=base, sigma=sigma))[
                0
            ].triangle()
            before, base = base, least_squares(triangle, problem.prior)
            size = np.sqrt(np.sum(triangle[:-1, :-1] ** 2, axis=0))
            if np.linalg.norm(size * (base - before)) <= self.tolerance * max(
                float(np.linalg.norm(size * base)), 1e-300
            ):
                return Estimate(base, 1.0 / sigma, details={"iterations": count})
        note = f"IRLS did not converge in {self.iterations} iterations."
        return Estimate(base, 1.0 / sigma, (note,), {"iterations": self.iterations})

    def row_weights(self, block: Block, base: Array, sigma: Array) -> Array:
        """Return the square roots of Huber's weights over sigma, (N, n)."""
        e = np.abs(block.tau - block.rows @ base) / sigma
        return np.asarray(np.sqrt(np.minimum(1.0, self.threshold / np.maximum(e, 1e-300))) / sigma)


def robust_sigma(problem: Problem, base: Array, floor: float) -> Array:
    """Return 1.4826 times the median absolute residual of each joint, (n,) [N m|N].

    Only some of the blocks are read.
    """
    parts = [(np.abs(b.tau - b.rows @ base), b.keep) for b in problem.blocks(64)]
    e = np.concatenate([np.where(True if keep is None else keep, x, np.nan) for x, keep in parts])
    median = np.array(
        [np.nanmedian(column) if np.any(np.isfinite(column)) else 0.0 for column in e.T]
    )
    return np.asarray(np.maximum(1.4826 * median, max(floor, 1e-300)))
