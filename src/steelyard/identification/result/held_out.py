"""Held-out errors: blocked cross-validation of an estimate on its own samples, without another pass over them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..estimators.least_squares import Estimate, excitation, least_squares, trimmed
from ..estimators.posterior import posterior
from ..model.problem import Problem, merged

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Errors of consecutive parts of the samples, each predicted from the others: squares of residual and torque, both (parts, n).

    `counts` (parts, n) are the rows in use. Roberts et al., Ecography 40 (2017), p. 913.
    """

    residual_squares: Array
    torque_squares: Array
    counts: Array

    @property
    def rms(self) -> Array:
        """Root mean square error of each joint, (n,) [N m|N]."""
        return np.asarray(np.sqrt(self.residual_squares.sum(axis=0) / np.maximum(self.counts.sum(axis=0), 1.0)))

    @property
    def total(self) -> float:
        """|e| / |tau| over all joints, a fraction."""
        return float(np.sqrt(self.residual_squares.sum() / max(float(self.torque_squares.sum()), 1e-300)))

    @property
    def worst(self) -> float:
        """The largest |e| / |tau| of any part, a fraction."""
        parts = np.sqrt(self.residual_squares.sum(axis=1) / np.maximum(self.torque_squares.sum(axis=1), 1e-300))
        return float(parts.max(initial=0.0))


def held_out(problem: Problem, estimate: Estimate) -> HeldOut:
    """Return the errors of each part of the samples, predicted by the same estimator from the other parts.

    Weights of joints and of the description are those of the whole. A part without which nothing could be estimated is predicted by all.
    """
    solve = solver(problem, estimate)
    parts = [fold for fold in problem.folds if sum(fold.counts)]
    enough = sum(problem.total.counts) - max(sum(fold.counts) for fold in parts) >= problem.base.n_base
    bases = [solve(merged(tuple(parts), without=k).triangle(estimate.weights)) for k in range(len(parts))] if enough and parts[1:] else []
    residual = [fold.residual_squares(base) for fold, base in zip(parts, bases or [estimate.base] * len(parts), strict=True)]
    return HeldOut(np.array(residual), np.array([p.torque_squares() for p in parts]), np.array([p.counts for p in parts]))


def solver(problem: Problem, estimate: Estimate) -> Callable[[Array], Array]:
    """Return the estimate as a function of the factor of [Y tau]: with its prior, or by least squares."""
    found = estimate.posterior
    if found is None:
        return lambda triangle: least_squares(triangle, problem.prior)
    noise = problem.regressor_noise.triangle(estimate.weights)[:-1, :-1]
    spectrum = excitation(problem.total.triangle(estimate.weights), noise)

    def solve(triangle: Array) -> Array:
        made = posterior(problem.model, trimmed(triangle, spectrum), found.weights, found.coordinates, found.vague)
        return problem.base.values(made.parameters)

    return solve
