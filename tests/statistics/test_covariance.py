"""The covariance of the base parameters.

Its scores, against statsmodels' HAC covariance, and the noise that residuals hide.
"""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm

from steelyard.identification.estimators.least_squares import WLS, inverse_root
from steelyard.identification.model.problem import merged
from steelyard.identification.result.held_out import held_out
from steelyard.identification.result.jackknife import jackknife
from steelyard.identification.result.residuals import residuals
from steelyard.identification.result.result_thresholds import THRESHOLDS
from steelyard.identification.result.torque_noise import TorqueNoise
from steelyard.identification.result.uncertainty import covariance_of_rows, noise_of_samples
from tests.motions import coloured
from tests.statistics.problems import planar, problem_of, samples_of, stacked, with_mask

CASES = {
    "one log": lambda: problem_of(planar(), samples_of(planar(), 900)),
    "three logs": lambda: problem_of(
        planar(), *(samples_of(planar(), N, seed=N) for N in (300, 40, 500))
    ),
    "masked": lambda: problem_of(
        planar(),
        with_mask(samples_of(planar(), 700), 0.4),
        with_mask(samples_of(planar(), 300, seed=4), 0.4),
    ),
    "decimated": lambda: problem_of(
        planar(), samples_of(planar(), 2000), samples_of(planar(), 1501, seed=4), decimate=4
    ),
    "a long log": lambda: problem_of(planar(), samples_of(planar(), 9000, rate=400.0)),
    # its period is 10 s
    "a motion twice": lambda: problem_of(planar(), samples_of(planar(), 1000)),
}
EVERY = pytest.mark.parametrize("case", CASES)


def cell_of_each_sample(result):
    return np.concatenate(result.cells.numbers)


@EVERY
def test_scores_and_information_of_cells_equal_the_sums_over_their_rows(case):
    """Y^T W^2 e and Y^T W^2 Y of every cell; together they are those of all rows."""
    problem = CASES[case]()
    estimate = WLS().fit(problem)
    residual = residuals(problem, estimate.base, estimate.weights)
    Y, tau, joint, number = stacked(problem)
    e, w = tau - Y @ estimate.base, estimate.weights[joint]
    cell = cell_of_each_sample(residual)[number]
    assert set(cell) == set(range(residual.cells.count)), "every cell has rows"
    for k in range(residual.cells.count):
        rows = Y[cell == k] * w[cell == k, None]
        np.testing.assert_allclose(residual.information[k], rows.T @ rows, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(
            residual.scores[k], rows.T @ (e * w)[cell == k], rtol=1e-7, atol=1e-7
        )
    np.testing.assert_allclose(
        residual.information.sum(axis=0), (Y.T * w**2) @ Y, rtol=1e-9, atol=1e-9
    )
    np.testing.assert_allclose(
        residual.scores.sum(axis=0) / np.sqrt(np.diag((Y.T * w**2) @ Y)), 0.0, atol=1e-6
    )


def test_information_of_many_samples_is_that_of_some_and_counts_for_all(monkeypatch):
    problem = CASES["a long log"]()
    estimate = WLS().fit(problem)
    whole = residuals(problem, estimate.base, estimate.weights)
    monkeypatch.setitem(vars(THRESHOLDS), "information_samples", 3000)
    some = residuals(problem, estimate.base, estimate.weights)
    np.testing.assert_array_equal(some.scores, whole.scores)
    offsets = [k for k, name in enumerate(problem.base.names) if name.endswith(".F0")]
    # these count rows
    np.testing.assert_allclose(
        some.information[:, offsets, offsets], whole.information[:, offsets, offsets]
    )
    total, size = whole.information.sum(axis=0), np.sqrt(np.diag(whole.information.sum(axis=0)))
    np.testing.assert_allclose(
        some.information.sum(axis=0) / np.outer(size, size),
        total / np.outer(size, size),
        atol=0.005,
    )
    assert not np.allclose(some.information, whole.information, rtol=1e-6)


@EVERY
def test_residuals_are_those_of_every_kept_sample_in_order_of_time(case):
    problem = CASES[case]()
    base = WLS().fit(problem).base
    residual = residuals(problem, base, np.ones(2))
    np.testing.assert_array_equal(residual.t, np.concatenate(problem.times))
    Y, tau, joint, number = stacked(problem)
    np.testing.assert_allclose(residual.values[number, joint], tau - Y @ base, atol=1e-9)
    assert residual.keep.sum() == len(tau) == problem.rows


@pytest.mark.parametrize("memory", [0.0, 0.7])
def test_blocks_that_overlap_are_the_hac_covariance_of_statsmodels(rng, memory):
    """With a cell for each row, blocks of ten are Bartlett's kernel of nine lags (Kuensch 1989, p.
    1223), but for ends and leverage.
    """
    N = 4000
    t = np.linspace(0, 40, N)
    X = np.column_stack([np.ones(N), np.sin(3 * t), np.cos(7 * t), np.sign(np.sin(5 * t))])
    y = X @ [1.0, -2.0, 0.5, 3.0] + coloured((N, 1), memory, rng)[:, 0] * (1.0 + 0.8 * np.sin(t))
    fit = sm.OLS(y, X).fit()
    expected = fit.get_robustcov_results("HAC", maxlags=THRESHOLDS.block_cells - 1).cov_params()
    root = np.linalg.inv(np.linalg.qr(X, mode="r"))
    e = fit.resid
    result = root @ jackknife(X[:, :, None] * X[:, None, :], X * e[:, None], (N,), root) @ root.T
    size = np.sqrt(np.diag(expected))
    np.testing.assert_allclose(
        result / np.outer(size, size), expected / np.outer(size, size), atol=0.03
    )
    plain = fit.cov_params()
    assert np.max(np.abs(result - plain) / np.outer(size, size)) > 0.1, (
        "neither memory nor unequal noise are in the plain covariance"
    )


def test_the_covariance_is_in_the_units_of_the_base_parameters():
    """R^-1 J R^-T for the factor R of the weighted rows.

    Against the jackknife with the inverse by Cholesky.
    """
    problem = CASES["one log"]()
    estimate = WLS().fit(problem)
    residual = residuals(problem, estimate.base, estimate.weights)
    A = residual.information.sum(axis=0)
    root = np.linalg.inv(np.linalg.cholesky(A)).T
    expected = (
        root @ jackknife(residual.information, residual.scores, residual.cells.ends, root) @ root.T
    )
    result = covariance_of_rows(problem.total.triangle(estimate.weights), residual)
    size = np.sqrt(np.diag(expected))
    np.testing.assert_allclose(
        result / np.outer(size, size), expected / np.outer(size, size), atol=1e-6
    )


@EVERY
def test_the_noise_is_the_residuals_and_what_the_parameters_took_of_them(case):
    """sigma_j^2 = (|e_j|^2 + tr(Y_j cov Y_j^T)) / N_j.

    For white noise of equal size that is division by N - b.
    """
    problem = CASES[case]()
    Y, tau, joint, _ = stacked(problem)
    estimate = WLS(iterations=50).fit(problem)
    e = tau - Y @ estimate.base
    A = (Y.T * estimate.weights[joint] ** 2) @ Y
    sigma, noise = noise_of_samples(
        problem, estimate, np.linalg.inv(A), TorqueNoise(np.ones(1), np.ones((1, 2)))
    )
    rows = [joint == j for j in range(2)]
    taken = np.array([np.sum((Y[r] @ np.linalg.inv(A)) * Y[r]) / r.sum() for r in rows])
    np.testing.assert_allclose(sigma**2, [np.mean(e[r] ** 2) for r in rows] + taken, rtol=1e-7)
    np.testing.assert_allclose(noise.taken, taken, rtol=1e-7)
    weighted = sum(sigma[j] ** 2 * estimate.weights[j] ** 2 * rows[j].sum() for j in range(2))
    assert weighted == pytest.approx(
        np.sum((e * estimate.weights[joint]) ** 2) + problem.base.n_base, rel=1e-7
    )


def test_held_out_errors_are_those_of_estimates_without_each_part():
    problem = CASES["three logs"]()
    estimate = WLS().fit(problem)
    Y, tau, joint, number = stacked(problem)
    w = estimate.weights[joint]
    part = number * 8 // problem.N
    squares, torque = np.zeros((8, 2)), np.zeros((8, 2))
    for k in range(8):
        others = part != k
        base = np.linalg.lstsq(Y[others] * w[others, None], tau[others] * w[others], rcond=None)[0]
        for j in range(2):
            rows = (part == k) & (joint == j)
            squares[k, j], torque[k, j] = (
                np.sum((tau - Y @ base)[rows] ** 2),
                np.sum(tau[rows] ** 2),
            )
    result = held_out(problem, estimate)
    np.testing.assert_allclose(result.residual_squares, squares, rtol=1e-7)
    np.testing.assert_allclose(result.torque_squares, torque, rtol=1e-9)
    np.testing.assert_array_equal(
        result.counts, [[np.sum((part == k) & (joint == j)) for j in range(2)] for k in range(8)]
    )
    np.testing.assert_allclose(result.rms, np.sqrt(squares.sum(axis=0) / problem.N))
    assert result.total == pytest.approx(np.sqrt(squares.sum() / torque.sum()))
    assert result.worst == pytest.approx(np.max(np.sqrt(squares.sum(axis=1) / torque.sum(axis=1))))


def test_all_parts_but_one_are_the_whole_without_it():
    problem = CASES["three logs"]()
    Y, tau, joint, number = stacked(problem)
    part = number * 8 // problem.N
    for k in (0, 3, 7):
        rest, rows = merged(problem.folds, without=k), part != k
        assert rest.counts == tuple(float(np.sum(rows & (joint == j))) for j in range(2))
        A = np.column_stack([Y, tau])[rows]
        R = rest.triangle()
        np.testing.assert_allclose(R.T @ R, A.T @ A, rtol=1e-9, atol=1e-7)


def test_a_root_of_the_inverse_is_one_in_any_units(rng):
    A = rng.normal(size=(50, 4)) * [1e-6, 1.0, 1e3, 1e5]
    R = np.linalg.qr(np.column_stack([A, rng.normal(size=50)]), mode="r")
    H = inverse_root(R)
    size = np.linalg.norm(A, axis=0)
    np.testing.assert_allclose(
        H @ H.T * np.outer(size, size), np.linalg.inv((A / size).T @ (A / size)), rtol=1e-8
    )
