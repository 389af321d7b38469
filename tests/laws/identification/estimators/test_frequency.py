"""Frequency-domain weighting.

What the periods of a motion do not share is noise, and it weighs their harmonics.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import steelyard as sy
from steelyard.errors import CallError
from steelyard.identification import OLS, WLS, Frequency, Preparation
from steelyard.identification.estimators.frequency import banded, spectrum
from steelyard.identification.estimators.least_squares import least_squares
from steelyard.identification.model.accumulator import triangular
from steelyard.identification.model.linear_model import build_model
from steelyard.identification.model.problem import Problem
from steelyard.identification.observations.prepare import prepare
from tests.motions import recorded, rubbing

TRUE = rubbing(sy.load("spatial_3r"))


def problem_of(noise, seconds=40.0, **preparation):
    log = recorded(TRUE, seconds)
    samples = prepare(TRUE, log.replace(tau=log.tau + noise), Preparation(**preparation))
    return Problem(build_model(TRUE), (samples,), 1)


def white(seed, seconds=40.0):
    return np.random.default_rng(seed).normal(size=(int(100 * seconds), 3))


def test_all_harmonics_weighted_alike_are_least_squares_of_the_average():
    """Parseval: the sum of squares over a period is that over its harmonics."""
    problem = problem_of(0.3 * white(0))
    outcome = spectrum(problem.model, problem.samples[0], 1)
    weight = np.where(
        np.isin(np.arange(len(outcome.tau)), [0, len(outcome.tau) - 1]), 1.0, np.sqrt(2.0)
    )[:, None, None]
    rows = np.concatenate([outcome.Y, outcome.tau[:, :, None]], axis=2) * weight
    result = least_squares(
        triangular(np.concatenate([rows.real, rows.imag]).reshape(-1, rows.shape[2])), problem.prior
    )
    expected = OLS().fit(problem).base
    assert np.linalg.norm(result - expected) < 1e-9 * np.linalg.norm(expected)


def test_the_noise_is_that_between_the_periods():
    mixing = np.array([[1.0, 0.0, 0.0], [0.8, 0.3, 0.0], [0.2, 0.0, 0.5]])
    result = spectrum(build_model(TRUE), problem_of(white(1) @ mixing.T).samples[0], 1)
    total = np.sum(result.noise[1:-1], axis=0) * 2.0 * 4  # over all harmonics, of a single period
    assert np.allclose(total, mixing @ mixing.T, atol=0.06)


def test_noise_that_joints_share_is_taken_out():
    """What one channel tells of the noise of another is used.

    Half the error of weighted least squares, and less.
    """
    errors = {"wls": 0.0, "frequency": 0.0}
    other = recorded(TRUE, seed=3)
    Y = build_model(TRUE).rows(other.q, other.qd, other.qdd)
    for seed in range(3):
        shared = np.random.default_rng(50 + seed).normal(size=(4000, 1))
        problem = problem_of(2.0 * shared * [1.0, 0.7, 0.3] + 0.1 * white(seed))
        for estimator in (WLS(), Frequency()):
            errors[estimator.name] += (
                np.linalg.norm(Y @ estimator.fit(problem).base - other.tau) ** 2
            )
    assert errors["frequency"] < 0.25 * errors["wls"]


def test_with_white_noise_nothing_is_lost():
    spread = {"wls": [], "frequency": []}
    for seed in range(6):
        problem = problem_of(0.3 * white(seed))
        for estimator in (WLS(), Frequency()):
            spread[estimator.name].append(
                problem.total.residual_squares(estimator.fit(problem).base).sum()
            )
    assert np.sum(spread["frequency"]) < 1.001 * np.sum(spread["wls"])


def test_a_log_that_does_not_repeat_is_weighted_least_squares():
    problem = problem_of(0.3 * white(0))
    once = replace(problem, samples=tuple(replace(s, period=None) for s in problem.samples))
    estimate = Frequency().fit(once)
    assert np.array_equal(estimate.base, WLS().fit(once).base)
    assert estimate.notes == ("A log does not repeat, so that all of its frequencies weigh alike.",)


def test_means_over_bands_keep_the_sum():
    for length in (1, 5, 31, 32, 100, 1001):
        x = np.random.default_rng(length).exponential(size=(length, 2))
        assert np.allclose(banded(x).sum(axis=0), x.sum(axis=0))
        assert banded(x).shape == x.shape


def test_masks_are_refused():
    with pytest.raises(
        CallError, match="'frequency' takes whole periods: mask= leaves samples out"
    ):
        Frequency().fit(problem_of(0.0, mask=0.05))


@pytest.mark.parametrize("wrong", [0, 1.5, "x"])
def test_wrong_options_are_refused(wrong):
    with pytest.raises(CallError, match="Frequency: iterations"):
        Frequency(wrong)
