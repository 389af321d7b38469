"""Autocorrelation against statsmodels, and the variance inflation of everything that reports a
deviation.
"""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from statsmodels.tsa.stattools import acf, acovf

from steelyard.identification.estimators import noise_levels as evidence
from steelyard.identification.estimators.least_squares import WLS
from steelyard.identification.friction.candidates import Columns
from steelyard.identification.friction.term_search import FrictionTermSearch, make_search
from steelyard.identification.friction.term_search import with_weights as search_weights
from steelyard.identification.model.problem import Problem
from steelyard.identification.nuisance import drive_gains, torque_delay
from steelyard.identification.samples.decimation import decimated
from steelyard.signals.autocorrelation import autocorrelation, lagged_products, variance_inflation
from steelyard.signals.clean.delay import estimate_delay, lag_deviation
from tests.motions import coloured
from tests.statistics.problems import (
    model_of,
    planar,
    problem_of,
    samples_of,
    stacked,
    truth,
    with_mask,
)

MEMORY = pytest.mark.parametrize("rho", [0.0, 0.6, 0.9])


@pytest.mark.parametrize("lags", [3, 40])
@pytest.mark.parametrize("unbiased", [False, True])
def test_it_is_the_autocorrelation_of_statsmodels(lags, unbiased, rng):
    x = coloured((500, 2), 0.7, rng) + 3.0
    expected = np.stack(
        [acf(column, adjusted=unbiased, nlags=lags, fft=False) for column in x.T], axis=1
    )
    np.testing.assert_allclose(
        autocorrelation(x, lags, center=True, unbiased=unbiased), expected, atol=1e-12
    )
    products = np.stack(
        [acovf(column, demean=False, adjusted=False, fft=False, nlag=lags) for column in x.T],
        axis=1,
    )
    np.testing.assert_allclose(lagged_products(x, lags), 500 * products, rtol=1e-9)


@MEMORY
def test_inflation_is_the_long_run_variance_over_the_variance(rho):
    """The variance of a mean of N samples is inflation / N.

    Summed over all pairs of samples of an autoregression.
    """
    N = 3000
    k = np.arange(-N + 1, N)
    pairs = np.sum((N - np.abs(k)) * rho ** np.abs(k).astype(float)) / N
    assert float(variance_inflation(rho)) == pytest.approx(pairs, rel=0.02)


def neighbours(e):
    """Correlation of each residual (N, n) with the next one."""
    return np.sum(e[1:] * e[:-1], axis=0) / np.sum(e**2, axis=0)


@MEMORY
@pytest.mark.parametrize("mask", [None, 0.3])
def test_noise_levels_count_rows_that_are_alike_as_fewer(rho, mask):
    samples = samples_of(planar(), 3000, rho=rho)
    samples = samples if mask is None else with_mask(samples, mask)
    problem = problem_of(planar(), samples)
    base = WLS().fit(problem).base
    e = samples.tau - problem.model.rows(*samples.states) @ base
    e = e if mask is None else e * samples.keep
    expected = (1 + np.clip(neighbours(e), 0, 1)) / (1 - np.clip(neighbours(e), 0, 1))
    result = evidence.inflation(problem, base)
    np.testing.assert_allclose(result, expected, rtol=1e-9)
    if mask is None:
        np.testing.assert_allclose(result, (1 + rho) / (1 - rho), rtol=0.2)
    np.testing.assert_allclose(evidence.noise_of_joints(problem)[1], result, rtol=1e-3)


@MEMORY
def test_drive_gains_count_rows_that_are_alike_as_fewer(rho):
    samples = samples_of(planar(), 3000, rho=rho)
    problem = problem_of(planar(), samples)
    base, inverse = truth(problem, planar()), np.array([0.8, 1.1])
    e = samples.tau - inverse * (problem.model.rows(*samples.states) @ base)
    expected = (1 + np.clip(neighbours(e), 0, 1)) / (1 - np.clip(neighbours(e), 0, 1))
    np.testing.assert_allclose(
        drive_gains.inflation(problem, base, inverse), np.minimum(expected, 300.0), rtol=1e-9
    )


@pytest.mark.parametrize("factor", [1, 3])
@MEMORY
def test_the_delay_of_the_torque_and_its_deviation_are_those_of_statsmodels_times_the_inflation(
    rho, factor
):
    """One more column, minus the derivative of the torque, in the rows of each joint.

    Deviations of known noise grow by the inflation.
    """
    samples = samples_of(planar(), 1500, rho=rho, rate=100.0)
    problem = Problem(model_of(planar()), (samples,), factor)
    blocks = list(problem.blocks())
    step, std = torque_delay.one_step(problem, blocks, samples.tau, factor)
    Y, tau, joint, number = stacked(problem)
    weights = WLS(iterations=2).fit(problem).weights
    torque = np.gradient(blocks[0].Y @ WLS(iterations=2).fit(problem).base, blocks[0].t, axis=0)
    X = np.column_stack([Y, *(-np.where(joint == j, torque[number, j], 0.0) for j in range(2))])
    fit = sm.WLS(tau, X, weights=weights[joint] ** 2).fit(cov_type="fixed scale")
    np.testing.assert_allclose(step, fit.params[-2:], rtol=1e-5, atol=1e-9)
    e = fit.resid.reshape(-1, 2)
    np.testing.assert_allclose(
        std, fit.bse[-2:] * np.sqrt(variance_inflation(neighbours(e))), rtol=1e-5
    )
    assert len(e) == len(decimated(samples.tau, factor, 0, -(-1500 // factor)))


@MEMORY
def test_the_deviation_of_a_lag_is_that_of_statsmodels_times_the_inflation(rho, rng):
    k = np.arange(900.0)
    design = np.column_stack([np.sin(0.05 * k), np.ones(900), -0.05 * np.cos(0.05 * k)])
    y = design @ [1.7, 0.3, 0.4] + 0.1 * coloured((900, 1), rho, rng)[:, 0]
    fit = sm.OLS(y, design).fit()
    expected = fit.bse[2] * np.sqrt(variance_inflation(neighbours(fit.resid[:, None]))[0]) / 1.7
    assert lag_deviation(design, y, -1.7) == pytest.approx(expected, rel=1e-9)
    assert lag_deviation(design, y, 0.0) == np.inf


@MEMORY
def test_delays_of_signals_are_as_uncertain_as_is_said(rho, rng):
    t = np.arange(1500) * 0.01
    x = np.sin(2 * t)[:, None] * np.ones(60) + 0.4 * np.sin(5 * t)[:, None]
    y = x + 0.05 * coloured(x.shape, rho, rng)
    result = estimate_delay(x, y, 0.01, 0.05)
    z = result.seconds / result.sigma
    assert np.sqrt(np.mean(z**2)) == pytest.approx(1.0, abs=4.0 / np.sqrt(2 * 60))


def searches(rho):
    samples = samples_of(planar(), 2000, rho=rho)
    model = model_of(planar())
    columns = Columns.of(model, model.base.values(planar().parameters), np.zeros(2), (samples,))
    problem = Problem(model, (samples,), 1, columns)
    return problem, make_search(problem, columns)


@MEMORY
def test_the_search_for_friction_counts_rows_that_are_alike_as_fewer(rho):
    problem, search = searches(rho)
    (block,) = problem.blocks()
    b = problem.base.n_base
    x = search.solve()
    keep = np.abs(block.Y[:, :, -1]) > 5e-3
    e = (block.tau - block.Y[:, :, :b] @ x) * keep
    expected = variance_inflation(neighbours(e))
    np.testing.assert_allclose(search.inflation(x), expected, rtol=1e-6)
    np.testing.assert_allclose(search.before, np.sum(e**2, axis=0), rtol=1e-6)
    np.testing.assert_array_equal(search.total.counts, keep.sum(axis=0))
    sigma = np.sqrt(np.sum(e**2, axis=0) / keep.sum(axis=0) * expected)
    np.testing.assert_allclose(search.weights, 1.0 / sigma, rtol=0.1)


def test_the_price_of_a_term_is_that_of_independent_rows():
    """N log(before / after) - k (log N + 2 log M) with N rows over the inflation, by the residuals
    themselves.
    """
    problem, search = searches(0.8)
    (block,) = problem.blocks()
    b, W = problem.base.n_base, search.weights
    keep = np.abs(block.Y[:, :, -1]) > 5e-3
    for candidate in [c for c in search.candidates if search.shown(c) and not c.positive][:4]:
        X = np.zeros((*block.tau.shape, b + len(candidate.columns)))
        X[:, :, :b] = block.Y[:, :, :b]
        X[:, candidate.joint, b:] = block.Y[:, candidate.joint, b + np.array(candidate.columns)]
        rows, right = (
            (X * (W * keep)[:, :, None]).reshape(-1, X.shape[2]),
            (block.tau * W * keep).ravel(),
        )
        known = np.linalg.cholesky(search.precision).T
        wide = np.hstack([known, np.zeros((b, X.shape[2] - b))])
        x = np.linalg.lstsq(
            np.vstack([rows, wide]), np.append(right, known @ search.start), rcond=None
        )[0]
        e = ((block.tau - X @ x) * keep)[:, candidate.joint]
        N = keep[:, candidate.joint].sum() / float(variance_inflation(neighbours(e[:, None]))[0])
        terms = len({(c.joint, c.word, c.keys) for c in search.candidates})
        expected = N * np.log(
            search.before[candidate.joint] / np.sum(e**2)
        ) - candidate.unknowns * (np.log(N) + 2 * np.log(terms))
        assert search.information(candidate) == pytest.approx(expected, rel=1e-3, abs=1e-3)


def test_weights_of_the_search_are_found_without_a_description():
    _, search = searches(0.5)
    flat = FrictionTermSearch(
        search.parts,
        search.lagged,
        0 * search.start,
        0 * search.precision,
        np.ones(2),
        search.candidates,
        search.chosen,
    )
    np.testing.assert_allclose(search_weights(flat).weights, search.weights, rtol=1e-9)
