"""Huber's estimator against statsmodels' RLM, and the scale against SciPy's median absolute
deviation.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import median_abs_deviation
from statsmodels.robust.norms import HuberT

from steelyard.identification.estimators.robust import IRLS, robust_sigma
from tests.statistics.problems import (
    pendulum,
    planar,
    problem_of,
    samples_of,
    stacked,
    truth,
    with_mask,
)


def spoilt(samples, share=0.1, size=8.0, seed=2):
    """The samples with outliers of one sign in some of the torques."""
    rng = np.random.default_rng(seed)
    return replace(
        samples,
        tau=samples.tau
        + size * (rng.random(samples.tau.shape) < share) * rng.random(samples.tau.shape),
    )


@pytest.mark.parametrize("threshold", [1.345, 0.8, 3.0])
def test_of_one_joint_it_is_the_robust_regression_of_statsmodels(threshold):
    problem = problem_of(pendulum(), spoilt(samples_of(pendulum(), sigma=0.2)))
    Y, tau, *_ = stacked(problem)
    expected = sm.RLM(tau, Y, M=HuberT(threshold)).fit(scale_est="mad", tol=1e-12, maxiter=500)
    result = IRLS(threshold, 500, 1e-13).fit(problem)
    np.testing.assert_allclose(result.base, expected.params, rtol=1e-5)
    # statsmodels divides by a quantile of five more digits
    assert 1.0 / result.weights[0] == pytest.approx(expected.scale, rel=1e-4)
    assert not np.allclose(result.base, sm.OLS(tau, Y).fit().params, rtol=1e-2)


def test_of_several_joints_it_solves_hubers_equations():
    """sum psi(e / sigma_j) Y / sigma_j = 0 with the normal median absolute deviation of each
    joint.
    """
    problem = problem_of(planar(), spoilt(samples_of(planar())))
    Y, tau, joint, _ = stacked(problem)
    result = IRLS(iterations=500, tolerance=1e-13).fit(problem)
    e = tau - Y @ result.base
    sigma = np.array(
        [
            median_abs_deviation(e[joint == j], center=lambda x, axis: 0.0, scale="normal")
            for j in range(2)
        ]
    )
    np.testing.assert_allclose(1.0 / result.weights, sigma, rtol=1e-5)
    rows = Y / sigma[joint, None]
    pull = HuberT().psi(e / sigma[joint]) @ rows
    np.testing.assert_allclose(pull / np.linalg.norm(rows, axis=0), 0.0, atol=1e-4)
    assert np.sum(np.abs(e / sigma[joint]) > 1.345) > 50, "many rows are beyond the threshold"


@pytest.mark.parametrize("mask", [None, 0.3])
def test_the_scale_is_the_median_absolute_deviation_of_the_rows_in_use(mask):
    samples = samples_of(planar(), 600)
    problem = problem_of(planar(), samples if mask is None else with_mask(samples, mask))
    Y, tau, joint, _ = stacked(problem)
    base = truth(problem, planar())
    e = tau - Y @ base
    expected = [
        median_abs_deviation(e[joint == j], center=lambda x, axis: 0.0, scale="normal")
        for j in range(2)
    ]
    np.testing.assert_allclose(robust_sigma(problem, base, 0.0), expected, rtol=1e-5)
    np.testing.assert_allclose(robust_sigma(problem, base, 1e3), 1e3)


def test_the_scale_of_normal_noise_is_its_standard_deviation():
    problem = problem_of(planar(), samples_of(planar(), 20_000, sigma=0.3))
    # relative, of a normal median absolute deviation: Rousseeuw and Croux 1993
    deviation = 1.17 / np.sqrt(20_000)
    np.testing.assert_allclose(
        robust_sigma(problem, truth(problem, planar()), 0.0), 0.3, rtol=4 * deviation
    )


def test_it_stops_when_parameters_stay_and_says_so_if_they_do_not():
    problem = problem_of(planar(), spoilt(samples_of(planar())))
    quick, slow = IRLS(iterations=1).fit(problem), IRLS().fit(problem)
    assert quick.notes == ("IRLS did not converge in 1 iterations.",)
    assert quick.details == {"iterations": 1}
    assert slow.notes == ()
    assert 2 < slow.details["iterations"] < 30
    again = IRLS(iterations=slow.details["iterations"] - 1).fit(problem)
    assert again.notes
    exact = IRLS(iterations=500, tolerance=1e-13).fit(problem)
    Y, *_ = stacked(problem)
    assert np.linalg.norm(Y @ (slow.base - exact.base)) < 1e-4 * np.linalg.norm(Y @ exact.base)
