"""Ordinary and weighted least squares against statsmodels, with the noise and the degrees of
freedom that they report.
"""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm

from steelyard.identification.estimators.least_squares import (
    OLS,
    WLS,
    Sequential,
    inverse_information,
    noise,
    weighted,
)
from tests.statistics.problems import (
    SIGMA,
    pendulum,
    planar,
    problem_of,
    samples_of,
    stacked,
    truth,
    with_mask,
)

CASES = {
    "one log": lambda: problem_of(planar()),
    "one joint": lambda: problem_of(pendulum(), samples_of(pendulum(), sigma=0.3)),
    "two logs": lambda: problem_of(
        planar(), samples_of(planar()), samples_of(planar(), 250, seed=5)
    ),
    "masked": lambda: problem_of(planar(), with_mask(samples_of(planar(), 600), 0.3)),
    "decimated": lambda: problem_of(planar(), samples_of(planar(), 1500), decimate=3),
    "few rows": lambda: problem_of(planar(), samples_of(planar(), 12, rate=2.0)),
}
EVERY = pytest.mark.parametrize("case", CASES)


@EVERY
def test_ordinary_least_squares_is_that_of_statsmodels(case):
    problem = CASES[case]()
    Y, tau, *_ = stacked(problem)
    expected = sm.OLS(tau, Y).fit()
    np.testing.assert_allclose(OLS().fit(problem).base, expected.params, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(
        inverse_information(problem.total.triangle()),
        expected.normalized_cov_params,
        rtol=1e-6,
        atol=1e-9,
    )


@EVERY
def test_weighted_least_squares_is_that_of_statsmodels_with_the_weights_that_it_reports(case):
    problem = CASES[case]()
    Y, tau, joint, _ = stacked(problem)
    result = WLS(iterations=50).fit(problem)
    expected = sm.WLS(tau, Y, weights=result.weights[joint] ** 2).fit()
    np.testing.assert_allclose(result.base, expected.params, rtol=1e-7, atol=1e-9)
    information = inverse_information(problem.total.triangle(result.weights))
    np.testing.assert_allclose(information, expected.normalized_cov_params, rtol=1e-6, atol=1e-9)


@EVERY
def test_weights_are_one_over_the_residual_deviation_of_statsmodels(
    case,
):
    """At the fixed point the weighted residuals have unit variance.

    Statsmodels' scale, over N - b degrees of freedom, is one.
    """
    problem = CASES[case]()
    Y, tau, joint, _ = stacked(problem)
    result = WLS(iterations=50).fit(problem)
    fit = sm.WLS(tau, Y, weights=result.weights[joint] ** 2).fit()
    assert fit.scale == pytest.approx(1.0, rel=1e-3)
    e = tau - Y @ result.base
    for j, sigma in enumerate(noise(problem.total, result.base)):
        rows = joint == j
        free = rows.sum() * fit.df_resid / len(tau)
        assert sigma == pytest.approx(np.sqrt(np.sum(e[rows] ** 2) / free), rel=1e-9)
        assert result.weights[j] == pytest.approx(1.0 / sigma, rel=1e-3)
        assert result.details["sigma"][j] == pytest.approx(sigma, rel=1e-3)


def test_the_noise_of_each_joint_is_found():
    problem = problem_of(planar(), samples_of(planar(), 4000, seed=3))
    result = WLS().fit(problem)
    np.testing.assert_allclose(1.0 / result.weights, SIGMA, rtol=4.0 / np.sqrt(2 * 4000))


def test_the_estimate_whose_weights_are_right_is_the_best_of_all():
    """Gauss and Markov: weights of the rows by other powers of the variance give larger variances,
    if the noise is as it is.
    """
    problem = problem_of(planar())
    Y, _, joint, _ = stacked(problem)
    variance = np.square(SIGMA)[joint]

    def variances(weights):
        P = np.linalg.solve((Y.T * weights) @ Y, Y.T * weights)
        return np.diag((P * variance) @ P.T)

    best = variances(1.0 / variance)
    assert all(np.all(variances(variance**-power) > best) for power in (0.0, 0.5, 2.0))
    assert np.all(variances(WLS().fit(problem).weights[joint] ** 2) < 1.01 * best)


def test_without_a_row_to_spare_the_noise_is_that_of_rounding():
    problem = problem_of(planar(), samples_of(planar(), 400, sigma=0.0))
    base, weights = weighted(problem.total, problem.prior)
    size = np.sqrt(problem.total.torque_squares() / 400)
    np.testing.assert_allclose(1.0 / weights, 1e-8 * size.max(), rtol=1e-6)
    np.testing.assert_allclose(base, truth(problem, planar()), rtol=1e-6, atol=1e-8)


def test_joint_by_joint_the_last_joint_is_least_squares_of_its_own_rows():
    problem = problem_of(planar())
    Y, tau, joint, _ = stacked(problem)
    last = sm.OLS(tau[joint == 1], Y[joint == 1][:, problem.reach[1]]).fit()
    result = Sequential().fit(problem)
    np.testing.assert_allclose(result.base[list(problem.reach[1])], last.params, rtol=1e-6)
    rest = [k for k in range(problem.base.n_base) if k not in problem.reach[1]]
    remaining = tau - Y[:, problem.reach[1]] @ last.params
    np.testing.assert_allclose(
        result.base[rest],
        sm.OLS(remaining[joint == 0], Y[joint == 0][:, rest]).fit().params,
        rtol=1e-6,
    )
    growth = [np.linalg.norm((tau - Y @ result.base)[joint == j]) for j in range(2)]
    together = [np.linalg.norm((tau - Y @ OLS().fit(problem).base)[joint == j]) for j in range(2)]
    np.testing.assert_allclose(
        result.details["error_accumulation"], np.divide(growth, together), rtol=1e-6
    )
