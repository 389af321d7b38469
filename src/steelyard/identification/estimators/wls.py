"""Weighted least squares: each joint's rows by the noise that they have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..model.accumulator import Accumulator
from ..model.problem import Problem
from .estimate import Estimate
from .least_squares import least_squares

Array = NDArray[np.float64]


@dataclass(frozen=True)
class WLS:
    """argmin sum_j |tau_j - Y_j base|^2 / sigma_j^2, with sigma_j^2 = |residual_j|^2 / (N_j - b_j) found by iteration from ordinary LS.

    Gautier 1997, section 4; Swevers, Verdonck and De Schutter 2007, p. 64.
    """

    iterations: int = 5
    name = "wls"

    def fit(self, problem: Problem) -> Estimate:
        """The estimate for a problem."""
        base, weights = weighted(problem.total, problem.prior, self.iterations)
        return Estimate(base, weights, details={"sigma": (1.0 / weights).tolist()})


def weighted(total: Accumulator, prior: Array, iterations: int = 5) -> tuple[Array, Array]:
    """Base parameters (b,) and weights 1/sigma_j (n,)."""
    base = least_squares(total.triangle(), prior)
    weights = np.ones(total.n)
    for _ in range(iterations):
        before, weights = weights, 1.0 / noise(total, base)
        base = least_squares(total.triangle(weights), prior)
        if np.allclose(weights, before, rtol=1e-4):
            break
    return base, weights


def noise(total: Accumulator, base: Array) -> Array:
    """sigma_j (n,) [N m|N], the standard deviation of each joint's residuals; never below what rounding leaves of the torque."""
    counts = np.array(total.counts)
    unknowns = len(base) * counts / max(counts.sum(), 1.0)  # shared over joints as the rows are
    free = np.maximum(counts - unknowns, 1.0)
    sigma = np.sqrt(total.residual_squares(base) / free)
    size = np.sqrt(total.torque_squares() / np.maximum(counts, 1.0))
    return np.asarray(np.maximum(sigma, 1e-6 * max(float(size.max(initial=0.0)), 1e-300)))
