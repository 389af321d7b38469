"""Over many draws of noise.

Errors are as large as is said, residuals have their distribution, and intervals hold their share.

Draws follow from fixed seeds; bounds are four standard errors of what is counted, as far as theory
gives them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy import stats

from steelyard.identification.estimators.least_squares import OLS, WLS, inverse_information, noise
from steelyard.identification.estimators.robust import IRLS
from steelyard.identification.estimators.sdp import SDP
from steelyard.identification.result import jackknife as jackknife_module
from steelyard.identification.result import residuals as residuals_module
from steelyard.identification.result.jackknife import motion_cells
from steelyard.identification.result.residuals import residuals
from steelyard.identification.result.torque_noise import TorqueNoise
from steelyard.identification.result.uncertainty import (
    covariance_of_rows,
    noise_of_samples,
    uncertainty,
)
from tests.motions import coloured
from tests.statistics.problems import (
    SIGMA,
    pendulum,
    planar,
    problem_of,
    samples_of,
    stacked,
    truth,
)

DRAWS = 150


@dataclass
class Draws:
    """Errors of base values (D, b), and what else each draw gave."""

    errors: np.ndarray
    found: list
    rows: tuple


def drawn(robot, rho, draws, study, N=500, sigma=SIGMA):
    """`study(problem)` of problems that differ in the noise of the torque alone."""
    clean = samples_of(robot, N, sigma=0.0)
    noises = [
        np.asarray(sigma) * coloured(clean.tau.shape, rho, np.random.default_rng(7000 + k))
        for k in range(draws)
    ]
    results = [study(problem_of(robot, replace(clean, tau=clean.tau + each))) for each in noises]
    problem = problem_of(robot, clean)
    return Draws(
        np.array([base for base, *_ in results]) - truth(problem, robot), results, stacked(problem)
    )


def known_covariance(rows, weights):
    Y, _, joint, _ = rows
    return np.linalg.inv((Y.T * np.asarray(weights)[joint] ** 2) @ Y)


def test_errors_of_weighted_least_squares_have_the_covariance_of_white_noise():
    """(found - true)^T A (found - true) has the chi-square distribution of b degrees of freedom,
    and z-scores have unit rms.
    """

    def study(problem):
        result = WLS().fit(problem)
        std = np.sqrt(np.diag(inverse_information(problem.total.triangle(result.weights))))
        return result.base, std, noise(problem.total, result.base)

    chosen = drawn(planar(), 0.0, DRAWS, study)
    A = np.linalg.inv(known_covariance(chosen.rows, 1.0 / np.array(SIGMA)))
    distance = np.einsum("db,bc,dc->d", chosen.errors, A, chosen.errors)
    b = chosen.errors.shape[1]
    assert stats.kstest(distance, stats.chi2(b).cdf).pvalue > 1e-3
    assert distance.mean() == pytest.approx(b, abs=4 * np.sqrt(2 * b / DRAWS))
    z = chosen.errors / np.array([std for _, std, _ in chosen.found])
    np.testing.assert_allclose(np.sqrt(np.mean(z**2, axis=0)), 1.0, atol=4.5 / np.sqrt(2 * DRAWS))
    np.testing.assert_allclose(z.mean(axis=0), 0.0, atol=4.5 / np.sqrt(DRAWS))
    assert np.mean(np.abs(z) < 1.96) == pytest.approx(0.95, abs=4 * np.sqrt(0.05 * 0.95 / DRAWS))


def test_the_noise_that_is_reported_has_no_bias():
    """Of twelve base parameters and thirty samples.

    Without the degrees of freedom it would be a tenth too small.
    """

    def study(problem):
        result = WLS(iterations=20).fit(problem)
        weights = 1.0 / np.array(SIGMA)
        known = inverse_information(problem.total.triangle(weights))
        exact = replace(
            result, base=np.linalg.lstsq(*weighted_rows(problem, weights), rcond=None)[0]
        )
        return (
            result.base,
            noise(problem.total, result.base),
            noise_of_samples(problem, exact, known, EMPTY)[0],
        )

    chosen = drawn(planar(), 0.0, DRAWS, study, N=30)
    for k in (1, 2):
        squares = np.array([each[k] for each in chosen.found]) ** 2 / np.square(SIGMA)
        together = squares.mean(axis=1)
        assert together.mean() == pytest.approx(1.0, abs=4 * together.std() / np.sqrt(DRAWS))


EMPTY = TorqueNoise(np.ones(1), np.ones((1, 2)))


def weighted_rows(problem, weights):
    Y, tau, joint, _ = stacked(problem)
    return Y * weights[joint, None], tau * weights[joint]


def test_squared_residuals_have_their_chi_square_distribution():
    def study(problem):
        X, y = weighted_rows(problem, 1.0 / np.array(SIGMA))
        result = WLS().fit(problem)
        return result.base, float(np.sum((y - X @ result.base) ** 2))

    chosen = drawn(planar(), 0.0, DRAWS, study, N=100)
    free = 200 - chosen.errors.shape[1]
    squares = np.array([each[1] for each in chosen.found])
    # weights are estimated
    assert squares.mean() == pytest.approx(free, abs=4 * np.sqrt(2 * free / DRAWS) + 0.5)
    assert stats.kstest(squares, stats.chi2(free).cdf).pvalue > 1e-3


@pytest.mark.parametrize("rho", [0.0, 0.8])
def test_intervals_of_weighted_least_squares_hold_their_share_of_the_truth(rho, monkeypatch):
    """One and two standard deviations of the jackknife hold 68 % and 95 %.

    For white and for autocorrelated noise, without the factor of Student's t, which widens them for
    errors of models.

    Its mean variance is larger than that of the errors, as it is of every jackknife with leverage
    (Efron and Stein 1981).
    """
    cells = []
    monkeypatch.setattr(jackknife_module, "student_factor", lambda blocks: 1.0)
    monkeypatch.setattr(
        residuals_module,
        "motion_cells",
        lambda problem: cells[0] if cells else cells.append(motion_cells(problem)) or cells[0],
    )

    def study(problem):
        result = WLS().fit(problem)
        chosen = residuals(problem, result.base, result.weights)
        return result.base, np.diag(
            covariance_of_rows(problem.total.triangle(result.weights), chosen)
        )

    chosen = drawn(planar(), rho, DRAWS, study)
    variance = np.array([each[1] for each in chosen.found])
    z = np.abs(chosen.errors) / np.sqrt(variance)
    assert np.mean(z < 1.0) == pytest.approx(0.683, abs=0.05)
    assert np.mean(z < 2.0) == pytest.approx(0.9545, abs=0.025)
    assert np.sqrt(np.mean(z**2)) == pytest.approx(1.0, abs=0.1)
    ratio = variance.mean(axis=0) / np.mean(chosen.errors**2, axis=0)
    assert np.all((ratio > 0.9) & (ratio < 2.6)), ratio
    if rho:
        white = known_covariance(chosen.rows, 1.0 / np.array(SIGMA))
        assert np.median(np.mean(chosen.errors**2, axis=0) / np.diag(white)) > 3.0, (
            "that of white noise would be far too small"
        )


@pytest.mark.parametrize("rho", [0.0, 0.8])
def test_intervals_of_consistent_estimates_hold_the_truth(rho, monkeypatch):
    """With a description that is a fifth too heavy.

    Base values of the semidefinite program, and how they are reported; without the factor of
    Student's t.
    """
    monkeypatch.setattr(jackknife_module, "student_factor", lambda blocks: 1.0)
    described = pendulum().with_parameters(1.2 * pendulum().parameters)
    draws = 40

    def study(problem):
        problem = replace(problem, model=problem_of(described, *problem.samples).model)
        result = SDP().fit(problem)
        chosen = uncertainty(
            problem,
            result,
            residuals(problem, result.base, result.weights),
            TorqueNoise(np.ones(1), np.ones((1, 1))),
        )
        return result.base, chosen.std, chosen.sigma

    chosen = drawn(pendulum(), rho, draws, study, N=400, sigma=0.3)
    z = np.abs(chosen.errors) / np.array([each[1] for each in chosen.found])
    assert np.all(np.isfinite(z))
    assert np.mean(z < 2.0) == pytest.approx(0.9545, abs=0.04)
    assert np.sqrt(np.mean(z**2)) == pytest.approx(1.0, abs=0.15)
    sigma = np.array([each[2] for each in chosen.found])
    assert np.mean(sigma**2) == pytest.approx(
        0.09, rel=4 * np.sqrt(2 / (400 * draws) * (1 + rho**2) / (1 - rho**2)) + 0.02
    )


def test_with_outliers_the_robust_estimate_varies_less_and_without_them_hardly_more():
    """Huber's estimator has 95 % of the efficiency of least squares on normal noise, and a bounded
    influence on others.
    """
    clean = samples_of(planar(), 300, sigma=0.0)
    spread = {"normal": [], "spoilt": []}
    for k in range(60):
        rng = np.random.default_rng(k)
        normal = 0.3 * rng.normal(size=clean.tau.shape)
        spoilt = normal * np.where(rng.random(clean.tau.shape) < 0.1, 10.0, 1.0)
        for kind, each in (("normal", normal), ("spoilt", spoilt)):
            problem = problem_of(planar(), replace(clean, tau=clean.tau + each))
            true = truth(problem, planar())
            spread[kind].append(
                [(OLS().fit(problem).base - true) ** 2, (IRLS().fit(problem).base - true) ** 2]
            )
    ratio = {kind: np.median(np.divide(*np.mean(x, axis=0)[::-1])) for kind, x in spread.items()}
    assert ratio["normal"] == pytest.approx(1 / 0.95, abs=0.1)
    assert ratio["spoilt"] < 0.35
