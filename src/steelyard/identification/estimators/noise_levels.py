"""The noise of each joint before anything is weighed.

Of a fit that uses no description, and that cannot follow the noise either.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...signals.autocorrelation import lagged_products, variance_inflation
from ..model.prior import body_prior
from ..model.problem import Problem
from .estimator_thresholds import THRESHOLDS
from .joint_prior import vague_precision
from .posterior import coordinates, posterior

Array = NDArray[np.float64]


def noise_of_joints(problem: Problem) -> tuple[Array, Array]:
    """Return the noise (n,) [N m|N] of each joint's rows, and their variance inflation (n,).

    Links are bodies of the robot's size, as heavy as the torque needs; joint terms are vague. Where
    rows are many this is weighted least squares; where they are few, least squares would follow the
    noise and find next to none. By expectation-maximisation from above: sigma_j^2 = (|tau_j - Y_j
    mean|^2 + tr(Y_j cov Y_j^T)) / N_j. Bishop, "Pattern Recognition and Machine Learning", 2006,
    section 9.3.4.
    """
    model, total = problem.model, problem.total
    where = coordinates(model, body_prior(model, range(len(model.robot.tree.bodies))))
    vague, loose = (
        vague_precision(model, total, where),
        np.full(len(where.metric), loosest(problem)),
    )
    counts = np.maximum(np.array(total.counts), 1.0)
    sigma = size = np.maximum(
        np.sqrt(total.torque_squares() / counts), THRESHOLDS.least_noise * largest_torque(problem)
    )
    base = problem.prior
    for _ in range(THRESHOLDS.noise_rounds):
        estimate = posterior(model, total.triangle(1.0 / sigma), loose, where, vague)
        base, root = (
            problem.base.values(estimate.parameters),
            problem.base.matrix @ where.matrix @ estimate.root,
        )
        taken = np.array([np.sum((total.rows(j)[:, :-1] @ root) ** 2) for j in range(total.n)])
        before, sigma = sigma, np.sqrt((total.residual_squares(base) + taken) / counts)
        sigma = np.maximum(sigma, THRESHOLDS.least_noise * largest_torque(problem))
        if np.allclose(sigma, before, rtol=THRESHOLDS.noise_tolerance, atol=0.0):
            break
    return np.minimum(sigma, size), inflation(problem, base)


def loosest(problem: Problem) -> float:
    """Return the weight of bodies that are as heavy as the torque needs, within a factor of three.

    0.1 / (|tau| / |torque of 1 kg|)^2.
    """
    model, total = problem.model, problem.total
    where = coordinates(model, body_prior(model, range(len(model.robot.tree.bodies))))
    inner = 10 * len(model.robot.tree.bodies)
    one = np.where(np.arange(len(where.origin)) < inner, where.origin, 0.0)
    of_one = float(np.linalg.norm(total.triangle()[:, :-1] @ (model.base.matrix @ one)))
    heavy = float(np.sqrt(total.torque_squares().sum())) / max(of_one, 1e-300)
    return 0.1 / float(np.clip(heavy, 1e-3, 1e6)) ** 2


def largest_torque(problem: Problem) -> float:
    """Return the largest root mean square torque of any joint [N m|N]."""
    total = problem.total
    return max(
        float(
            np.sqrt(
                np.max(
                    total.torque_squares() / np.maximum(np.array(total.counts), 1.0), initial=0.0
                )
            )
        ),
        1e-300,
    )


def inflation(problem: Problem, base: Array) -> Array:
    """Return the variance inflation (n,) due to autocorrelated residuals, from some blocks.

    With it a prior weighs the same against a log at 1 kHz as against the same log at 100 Hz.
    """
    sums = np.zeros((2, problem.n))
    for block in problem.blocks(THRESHOLDS.autocorrelation_blocks):
        e = block.tau - block.every_column @ base
        sums[: min(2, len(e))] += lagged_products(e if block.keep is None else e * block.keep)
    return variance_inflation(sums[1] / np.maximum(sums[0], 1e-300))
