"""Noise levels by their definitions.

Of spikes, of drive gains, between the periods of a motion, of torques below a frequency.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import median_abs_deviation, norm

from steelyard.identification.nuisance.drive_gains import GainSearch, fold_rows
from steelyard.identification.result.torque_noise import TorqueNoise, spread
from steelyard.identification.samples.fourier import (
    FourierMotion,
    fourier_motion,
    harmonics,
    order,
    phase_average,
)
from steelyard.signals import Log
from steelyard.signals.clean.spikes import find_spikes
from steelyard.signals.signal_thresholds import THRESHOLDS
from tests.statistics.problems import SIGMA, planar, problem_of, samples_of, stacked, truth


@pytest.mark.parametrize(("size", "found"), [(0.93, False), (1.07, True)])
def test_a_spike_is_twelve_normal_median_absolute_deviations_from_the_median_of_its_neighbours(
    size, found, rng
):
    q = 0.02 * rng.normal(size=(4000, 1))
    q[1998:2003] = 0.0
    middle = np.median(
        np.lib.stride_tricks.sliding_window_view(np.pad(q[:, 0], 2, mode="edge"), 5), axis=1
    )
    usual = median_abs_deviation(q[:, 0] - middle, center=lambda x, axis: 0.0, scale="normal")
    q[2000] = size * THRESHOLDS.spike_ratio * usual
    assert find_spikes(q)[2000, 0] == found
    assert find_spikes(q).sum() == found


def test_the_noise_of_drive_gains_has_the_degrees_of_freedom_of_the_rows_less_the_unknowns():
    problem = problem_of(planar(), samples_of(planar(), 40, rate=5.0))
    search = GainSearch(fold_rows(problem), problem.prior)
    Y, tau, joint, _ = stacked(problem)
    base, inverse = truth(problem, planar()), np.array([0.9, 1.2])
    e = tau - inverse[joint] * (Y @ base)
    squares = np.array([np.sum(e[joint == j] ** 2) for j in range(2)])
    np.testing.assert_allclose(search.squares(base, inverse), squares)
    free = 40 * (1 - problem.base.n_base / 80)
    np.testing.assert_allclose(search.sigma(squares), np.sqrt(squares / free))
    np.testing.assert_allclose(search.weights(base, inverse), 1.0 / np.sqrt(squares / free))


@pytest.mark.parametrize("N", [100, 130, 97])
def test_the_average_over_periods_and_the_deviation_between_them(N, rng):
    """Each phase has a mean.

    The residual has as many degrees of freedom as there are samples beyond the phases.
    """
    steps = 24
    x = rng.normal(size=(N, 2)) * [1.0, 3.0]
    mean, count, sigma = phase_average(x, steps)
    expected = np.array([x[k::steps].mean(axis=0) for k in range(steps)])
    np.testing.assert_allclose(mean, expected)
    remaining = x - expected[np.arange(N) % steps]
    np.testing.assert_allclose(sigma, np.sqrt(np.sum(remaining**2, axis=0) / (N - steps)))
    assert count == N / steps


def test_the_deviation_between_two_periods_is_that_of_the_noise(rng):
    wave = np.sin(2 * np.pi * np.arange(5000) / 5000)[:, None]
    x = np.tile(wave, (2, 1)) + 0.1 * rng.normal(size=(10_000, 1))
    assert phase_average(x, 5000)[2][0] == pytest.approx(0.1, rel=4 / np.sqrt(2 * 5000))


@pytest.mark.parametrize("steps", [20, 21])
def test_harmonics_give_a_period_back(steps, rng):
    mean = rng.normal(size=(steps, 2))
    c = harmonics(mean)
    k, i = np.arange(len(c)), np.arange(steps)
    back = np.real(
        np.exp(2j * np.pi * np.outer(i, k) / steps)
        @ (c if steps % 2 else np.where(k[:, None] == steps // 2, 0.5 * c, c))
    )
    np.testing.assert_allclose(back, mean, atol=1e-12)


def test_the_deviation_of_a_harmonic_is_that_over_many_draws(rng):
    """Each coefficient of the average of P periods of M samples has a variance of 4 sigma^2 / (M
    P), real and imaginary parts together.
    """
    t = np.arange(4000) * 0.001
    draws = []
    for _ in range(40):
        q = (
            np.sin(2 * np.pi * t)[:, None]
            + 0.3 * np.cos(6 * np.pi * t + 1)[:, None]
            + 1e-3 * rng.normal(size=(4000, 1))
        )
        draws.append(fourier_motion(Log(t=t, q=q), 1.0))
    assert {len(each.coefficients) for each in draws} == {4}
    c = np.array([each.coefficients[1:, 0] for each in draws])
    true = np.array([-1j, 0.0, 0.3 * np.exp(1j)])
    measured = np.mean(np.abs(c - true) ** 2)
    reported = np.mean([each.sigma[1:, 0] ** 2 for each in draws], axis=0)
    np.testing.assert_allclose(reported, 4e-6 / 4000, rtol=0.15)
    assert measured == pytest.approx(reported[0], rel=4 / np.sqrt(3 * 40))


def test_errors_that_are_drawn_have_the_deviations_of_the_coefficients():
    """The variance of q is the sum of sigma_k^2 / 2, that of its rates has the frequencies as
    factors.
    """
    sigma = np.full((401, 1), 0.1)
    motion = FourierMotion(0.0, 2.0, np.zeros((401, 1), complex), sigma)
    errors = motion.errors(np.arange(2000) * 0.001)
    w = np.pi * np.arange(401)
    expected = [np.sqrt(0.5 * np.sum((0.1 * w**k) ** 2)) for k in range(3)]
    np.testing.assert_allclose(
        np.sqrt(np.mean(errors[:, :, 0] ** 2, axis=1)), expected, rtol=4 / np.sqrt(2 * 400)
    )


@pytest.mark.parametrize(
    ("power", "expected"),
    [
        ([9.0, 20.0, 20.0, 0.5, 0.5], 2),
        ([9.0, 0.1, 20.0, 0.1], 2),
        ([9.0, 5.0, 5.0], 0),
        ([1.0], 0),
    ],
)
def test_a_harmonic_must_add_to_the_likelihood_what_it_costs(power, expected):
    """log(samples) = 6.9 each, of a thousand samples.

    A weak harmonic below a strong one is kept with it.
    """
    assert order(np.array(power), 1000) == expected


def test_noise_below_a_frequency_is_a_share_of_the_variance():
    noise = TorqueNoise(
        np.array([10.0, 20.0]), np.array([[1.0, 3.0], [2.0, 3.0]]), np.array([0.5, 0.0])
    )
    np.testing.assert_allclose(noise.below(None), np.sqrt([4.5, 9.0]))
    np.testing.assert_allclose(noise.below(None, 0.0), [2.0, 3.0])
    np.testing.assert_allclose(noise.below(15.0, 0.0), np.sqrt([2.5, 9.0]))
    np.testing.assert_allclose(noise.below(5.0, 0.5), np.sqrt([0.5 * 1.25, 4.5]))


def test_the_spread_of_errors_is_that_of_the_normal_distribution_with_the_same_quantile(rng):
    e = rng.normal(size=(100_000, 2)) * SIGMA
    keep = np.ones(e.shape, bool)
    keep[::2, 1] = False
    result = spread([(e[:40_000], keep[:40_000]), (e[40_000:], keep[40_000:])])
    np.testing.assert_allclose(result, SIGMA, rtol=0.02)
    expected = [np.quantile(np.abs(e[:, 0]), 0.95), np.quantile(np.abs(e[1::2, 1]), 0.95)]
    np.testing.assert_allclose(result, np.array(expected) / norm.ppf(0.975), rtol=1e-4)
    np.testing.assert_array_equal(spread([(e, np.zeros(e.shape, bool))]), 0.0)
