"""Evidence: how well a description and samples agree, with the noise of each joint estimated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...signals.autocorrelation import lagged_products, variance_inflation
from ..model.prior import body_prior
from ..model.problem import Problem
from .least_squares import noise, weighted
from .posterior import Posterior, coordinates, posterior, vague_precision

Array = NDArray[np.float64]
BLOCKS = 16  # of the samples, from which the autocorrelation is found


@dataclass(frozen=True, eq=False)
class Agreement:
    """How well samples and a description agree: log evidence [nats], noise sigma (n,) [N m|N], rows per independent row (n,)."""

    posterior: Posterior
    log_evidence: float
    sigma: Array
    inflation: Array


def agreement(problem: Problem, weights: ArrayLike, inflated: Array | None = None, rounds: int = 4) -> Agreement:
    """Return the agreement of a problem with the description at the given weight of each body, the noise of each joint estimated.

    log evidence = -1/2 sum_j N_j/k_j (log sigma_j^2 + 1) + 1/2 log det prior - 1/2 log det (data + prior) - 1/2 u^T prior u. k_j, the
    variance inflation of autocorrelated residuals, makes N_j/k_j the number of independent rows; pass `inflated` to compare problems
    with the same one.
    """
    model, total = problem.model, problem.total
    free, rows = weighted(total, problem.prior)
    k = inflation(problem, free) if inflated is None else inflated
    where = coordinates(model, body_prior(model))
    vague, sigma = vague_precision(model, total, where), 1.0 / rows
    for _ in range(rounds):
        found = posterior(model, total.triangle(1.0 / (sigma * np.sqrt(k))), weights, where, vague)
        sigma = noise(total, model.base.values(found.parameters))
    counts = np.array(total.counts)
    triangle = total.triangle(1.0 / (sigma * np.sqrt(k)))
    found = posterior(model, triangle, weights, where, vague)
    independent = counts / k
    return Agreement(found, found.log_evidence - float(np.sum(independent * np.log(sigma))), sigma, k)


def inflation(problem: Problem, base: Array) -> Array:
    """Return the variance inflation due to autocorrelated residuals of each joint, (n,), from some of the blocks.

    With it a prior weighs the same against a log at 1 kHz as against the same log at 100 Hz.
    """
    sums = np.zeros((2, problem.n))
    for block in problem.blocks(BLOCKS):
        e = block.tau - block.Y @ base
        sums[: min(2, len(e))] += lagged_products(e if block.keep is None else e * block.keep)
    return variance_inflation(sums[1] / np.maximum(sums[0], 1e-300))
