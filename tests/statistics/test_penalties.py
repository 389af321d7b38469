"""Ridge, lasso and elastic net against their closed form and conditions, and the choice of strength
against estimating again.
"""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.identification.estimators.estimator_thresholds import (
    THRESHOLDS as ESTIMATOR_THRESHOLDS,
)
from steelyard.identification.estimators.least_squares import weighted
from steelyard.identification.estimators.shrinkage import (
    ElasticNet,
    Lasso,
    Ridge,
    cross_validated_squares,
)
from steelyard.identification.model.model_thresholds import THRESHOLDS
from tests.statistics.problems import planar, problem_of, samples_of, stacked


@pytest.fixture(scope="module")
def problem():
    described = planar().with_parameters(1.3 * planar().parameters)
    return problem_of(described, samples_of(planar(), 300, sigma=(2.0, 0.5)))


@pytest.fixture(scope="module")
def rows(problem):
    """Weighted rows: Y over the noise of each joint (R, b), tau (R,), and the norms of the columns
    (b,).
    """
    Y, tau, joint, _ = stacked(problem)
    _, weights = weighted(problem.total, problem.prior)
    X, y = Y * weights[joint, None], tau * weights[joint]
    return X, y, np.linalg.norm(X, axis=0)


@pytest.mark.parametrize("towards", ["zero", "cad"])
@pytest.mark.parametrize("strength", [1e-4, 0.03, 2.0])
def test_ridge_is_its_normal_equations(problem, rows, strength, towards):
    """(X^T X + s D^2) b = X^T y + s D^2 c, D the norms of the columns."""
    X, y, D = rows
    centre = problem.prior if towards == "cad" else np.zeros(len(D))
    expected = np.linalg.solve(
        X.T @ X + strength * np.diag(D**2), X.T @ y + strength * D**2 * centre
    )
    result = Ridge(strength, towards).fit(problem)
    np.testing.assert_allclose(result.base, expected, rtol=1e-6, atol=1e-9)
    assert result.details == {"strength": strength, "towards": towards}


@pytest.mark.parametrize("mix", [0.2, 0.5, 1.0])
@pytest.mark.parametrize("strength", [0.003, 0.1, 0.6])
def test_the_elastic_net_meets_the_conditions_of_its_minimum(problem, rows, strength, mix):
    """x_k^T (y - X b) = s (mix sign(b_k) D_k + (1 - mix) D_k^2 b_k) where b_k is not zero, and at
    most s mix D_k where it is.
    """
    X, y, D = rows
    s = strength * np.max(np.abs(X.T @ y) / D) / mix
    result = ElasticNet(strength, mix).fit(problem)
    b = result.base
    pull = X.T @ (y - X @ b) / D - s * (1 - mix) * D * b
    zero = b == 0
    np.testing.assert_allclose(pull[~zero], s * mix * np.sign(b[~zero]), rtol=2e-5)
    assert np.all(np.abs(pull[zero]) <= s * mix * (1 + 1e-6))
    assert result.details["zero"] == tuple(
        n for n, z in zip(problem.base.names, zero, strict=True) if z
    )
    assert bool(result.notes) == bool(zero.any())
    if mix == 1.0:
        np.testing.assert_array_equal(Lasso(strength).fit(problem).base, b)


@pytest.mark.parametrize("mix", [0.5, 1.0])
def test_a_strength_of_one_is_the_least_that_makes_every_parameter_zero(problem, mix):
    assert not ElasticNet(1.0, mix).fit(problem).base.any()
    assert np.sum(ElasticNet(0.999, mix).fit(problem).base != 0) == 1


def test_without_strength_all_are_weighted_least_squares(problem, rows):
    X, y, _ = rows
    expected = np.linalg.lstsq(X, y, rcond=None)[0]
    for estimator in (Ridge(0.0), Ridge(0.0, "cad"), ElasticNet(0.0), Lasso(0.0)):
        np.testing.assert_allclose(estimator.fit(problem).base, expected, rtol=1e-7)


def left_out(problem, rows, solve):
    """The squares of each consecutive eighth of the samples, with the solution on the others,
    summed.
    """
    X, y, _ = rows
    number = stacked(problem)[3]
    part = number * THRESHOLDS.folds // (number.max() + 1)
    total = 0.0
    for k in range(THRESHOLDS.folds):
        b = solve(X[part != k], y[part != k])
        total += np.sum((y - X @ b)[part == k] ** 2)
    return total


def ridge_of(X, y, strength):
    D = np.linalg.norm(X, axis=0)
    return np.linalg.solve(X.T @ X + strength * np.diag(D**2), X.T @ y)


@pytest.mark.parametrize("strength", [0.0, 1e-3, 0.3])
def test_cross_validation_is_estimating_anew_without_each_part(problem, rows, strength):
    _, weights = weighted(problem.total, problem.prior)
    expected = left_out(problem, rows, lambda X, y: ridge_of(X, y, strength))

    def solve(triangle):
        return ridge_of(triangle[:-1, :-1], triangle[:-1, -1], strength)

    assert cross_validated_squares(problem, weights, solve) == pytest.approx(expected, rel=1e-8)


def test_the_strength_is_that_of_the_least_error_on_parts_left_out(problem, rows):
    costs = [
        left_out(problem, rows, lambda X, y, s=s: ridge_of(X, y, s))
        for s in ESTIMATOR_THRESHOLDS.ridge_strengths
    ]
    result = Ridge().fit(problem)
    assert result.details["strength"] == ESTIMATOR_THRESHOLDS.ridge_strengths[int(np.argmin(costs))]
    assert 0 < np.argmin(costs) < len(costs) - 1
    assert ElasticNet().fit(problem).details["strength"] in ESTIMATOR_THRESHOLDS.net_strengths
