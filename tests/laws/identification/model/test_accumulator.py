"""The accumulator keeps exactly what least squares needs."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.errors import CallError
from steelyard.identification.estimators.least_squares import (
    excitation,
    inverse_information,
    least_squares,
)
from steelyard.identification.model.accumulator import Accumulator
from steelyard.identification.samples.decimation import decimated, filter_weights
from steelyard.identification.samples.samples_thresholds import THRESHOLDS

REACHES = ((0, 1, 2, 3), (1, 3))


def rows(rng, N=700):
    Y = rng.normal(size=(N, 2, 4))
    Y[:, 1, [0, 2]] = 0.0
    return Y, rng.normal(size=(N, 2))


def stack(Y, tau):
    return np.concatenate([Y[:, j] for j in range(2)]), np.concatenate(
        [tau[:, j] for j in range(2)]
    )


def test_it_gives_the_least_squares_solution_of_all_rows(rng):
    Y, tau = rows(rng)
    triangle = Accumulator.empty(REACHES, 4).fold(Y, tau).triangle()
    A, b = stack(Y, tau)
    assert np.allclose(least_squares(triangle, np.zeros(4)), np.linalg.lstsq(A, b, rcond=None)[0])
    assert np.allclose(inverse_information(triangle), np.linalg.inv(A.T @ A))


def test_blocks_and_merges_are_as_good_as_one_pass(rng):
    Y, tau = rows(rng, 5000)
    once = Accumulator.empty(REACHES, 4).fold(Y, tau)
    parts = [
        Accumulator.empty(REACHES, 4).fold(Y[a:b], tau[a:b])
        for a, b in ((0, 3), (3, 1500), (1500, 5000))
    ]
    merged = parts[0].merge(parts[1]).merge(parts[2])
    for a, b in zip(once.factors, merged.factors, strict=True):
        assert np.allclose(a.T @ a, b.T @ b, rtol=1e-12)
    assert merged.counts == once.counts == (5000.0, 5000.0)


def test_weights_of_joints_may_be_chosen_afterwards(rng):
    Y, tau = rows(rng)
    w = np.array([2.0, 0.5])
    before = Accumulator.empty(REACHES, 4).fold(Y * w[:, None], tau * w).triangle()
    after = Accumulator.empty(REACHES, 4).fold(Y, tau).triangle(w)
    assert np.allclose(before.T @ before, after.T @ after)


def test_left_out_rows_and_row_weights(rng):
    Y, tau = rows(rng)
    keep = rng.random(tau.shape) < 0.5
    w = rng.uniform(0.1, 2, tau.shape)
    factor = Accumulator.empty(REACHES, 4).fold(Y, tau, keep, w)
    expected = Accumulator.empty(REACHES, 4).fold(Y * (keep * w)[:, :, None], tau * keep * w)
    assert np.allclose(
        factor.triangle().T @ factor.triangle(), expected.triangle().T @ expected.triangle()
    )
    assert factor.counts == tuple(keep.sum(axis=0).astype(float))


def test_squares_are_those_of_the_samples(rng):
    Y, tau = rows(rng)
    factor = Accumulator.empty(REACHES, 4).fold(Y, tau)
    x = rng.normal(size=4)
    assert np.allclose(factor.residual_squares(x), np.sum((tau - Y @ x) ** 2, axis=0))
    assert np.allclose(factor.torque_squares(), np.sum(tau**2, axis=0))


def test_forgetting_makes_the_past_count_less(rng):
    Y, tau = rows(rng)
    factor = Accumulator.empty(REACHES, 4).fold(Y, tau)
    assert np.allclose(factor.forget(0.25).torque_squares(), 0.25 * factor.torque_squares())
    for wrong in (0.0, 1.5, -1.0):
        with pytest.raises(CallError, match="forget"):
            factor.forget(wrong)


def test_different_models_do_not_merge():
    with pytest.raises(CallError, match="different models"):
        Accumulator.empty(REACHES, 4).merge(Accumulator.empty(((0,), (1,)), 4))


def test_an_unexcited_direction_stays_at_the_prior(rng):
    A = rng.normal(size=(50, 3)) @ np.array([[1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 0, 0.0]])
    b = A @ np.array([1.0, 2.0, 0.0, 0.0])
    triangle = np.linalg.qr(np.column_stack([A, b]), mode="r")
    prior = np.array([3.0, 0.0, 5.0, -1.0])
    x = least_squares(triangle, prior)
    assert np.allclose(A @ x, b)
    assert x[2] == 5.0
    assert np.isclose(x[0] - x[3], prior[0] - prior[3])
    view = excitation(triangle)
    assert view.rank == 2
    assert view.unexcited.shape == (4, 2)
    assert np.allclose(A @ view.unexcited, 0, atol=1e-12)


@pytest.mark.parametrize("factor", [2, 7, 30])
def test_decimation_is_one_linear_low_pass_whatever_the_blocks(rng, factor):
    x = rng.normal(size=(1000, 3))
    whole = decimated(x, factor, 0, -(-1000 // factor))
    h, reach = filter_weights(factor), THRESHOLDS.filter_reach * factor
    for k in (0, 1, 5, len(whole) // 2, len(whole) - 1):
        tap = np.arange(-reach, reach + 1) + k * factor
        inside = (tap >= 0) & (tap < 1000)
        assert np.allclose(whole[k], h[inside] @ x[tap[inside]] / h[inside].sum())
    start = 6 * factor
    part = decimated(x[start - reach if start > reach else 0 :], factor, min(start, reach), 4)
    assert np.allclose(part, whole[6:10])
    assert np.allclose(decimated(np.ones((1000, 1)), factor, 0, 5), 1.0)
    assert np.allclose(decimated(x @ np.ones((3, 1)), factor, 0, 9), whole[:9] @ np.ones((3, 1)))
