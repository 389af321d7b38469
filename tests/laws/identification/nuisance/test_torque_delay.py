"""Delays of torque: found with scattered time stamps, and only where they predict torque better."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import steelyard as sy
from steelyard.identification.model.rows import Rows
from steelyard.identification.nuisance.delay_gain import (
    DelayRows,
    away_from_reversals,
    common_value,
    confirmed_delay,
    is_explained,
)
from steelyard.identification.nuisance.torque_delay import evenly_sampled, longest_window
from steelyard.identification.samples.samples import Samples
from steelyard.signals.log import Log
from tests.real.measured import ur10


@cache
def measured() -> tuple[sy.Robot, Log]:
    robot, log = ur10()
    return robot, log.replace(qd=None)


def scattered(delay: float, scatter: float, seed: int = 0) -> Log:
    """The log of the UR10 at scattered stamps, its torque late by `delay` [s]."""
    _, log = measured()
    rng = np.random.default_rng(seed)
    t = np.sort(log.t + scatter * log.dt * rng.normal(size=log.N))
    late = np.clip(t - delay, log.t[0], log.t[-1])
    q, tau = CubicSpline(log.t, log.q)(t), CubicSpline(log.t, log.tau)(late)
    return log.replace(t=t, q=q, tau=tau)


def test_a_delay_is_found_though_time_stamps_scatter():
    """The log has about 5 ms of its own, too few to be significant: differences are exact."""
    robot, _ = measured()
    short, long = (sy.identify(robot, scattered(delay, 0.095)).delay for delay in (0.03, 0.08))
    np.testing.assert_allclose(short, 0.03, atol=0.006)
    np.testing.assert_allclose(long - short, 0.05, atol=0.002)


@pytest.mark.parametrize("scatter", [0.0, 0.095])
def test_a_healthy_log_has_no_delay(scatter):
    robot, _ = measured()
    np.testing.assert_array_equal(sy.identify(robot, scattered(0.0, scatter)).delay, 0.0)


def test_samples_away_from_reversals():
    t = np.arange(0.0, 10.0, 0.01)
    qd = np.stack([np.cos(t), np.cos(60 * t), np.ones_like(t)], axis=1)
    away = away_from_reversals(t, qd)
    near = np.abs((t - np.pi / 2 + np.pi / 2) % np.pi - np.pi / 2) < 0.08
    assert not away[near, 0].any()
    assert away[:, 0].mean() == pytest.approx(1 - 0.2 / np.pi, abs=0.01)
    assert away[:, 1].all(), "a joint that reverses all the time uses all samples"
    assert away[:, 2].all()


def rows_of(t: np.ndarray, joints: int) -> DelayRows:
    """Joints whose torque is a constant times a cosine of their own frequency, and a sine."""
    Y = np.zeros((len(t), joints, 2 * joints))
    for j in range(joints):
        Y[:, j, 2 * j], Y[:, j, 2 * j + 1] = np.cos((2 + j) * t), np.cos(3.7 * (2 + j) * t)
    use = np.ones((len(t), joints), bool)
    return DelayRows(Rows.of(Y), use, np.ones(joints), np.zeros(2 * joints))


def late_torques(t: np.ndarray, delay: np.ndarray) -> np.ndarray:
    rng = np.random.default_rng(0)
    waves = [
        np.cos((2 + j) * (t - d)) + 0.5 * np.cos(3.7 * (2 + j) * (t - d))
        for j, d in enumerate(delay)
    ]
    return np.stack(waves, axis=1) + 0.02 * rng.normal(size=(len(t), len(delay)))


@pytest.mark.parametrize("delay", [(0.03, 0.03, 0.03), (0.0, 0.0, 0.03), (0.0, 0.0, 0.0)])
def test_a_delay_is_confirmed_if_it_lowers_errors_on_held_out_blocks(delay):
    t = np.arange(0.0, 20.0, 0.01)
    planted = np.array(delay)
    torques = {
        "measured": late_torques(t, planted),
        "common": late_torques(t, planted - common_value(planted)),
        "own": late_torques(t, np.zeros(3)),
    }
    result = confirmed_delay(rows_of(t, 3), planted, torques)
    np.testing.assert_allclose(result, planted)


def test_a_delay_that_predicts_nothing_better_is_none():
    """Claimed of torque that is not late."""
    t = np.arange(0.0, 20.0, 0.01)
    healthy, early = late_torques(t, np.zeros(3)), late_torques(t, np.full(3, -0.03))
    torques = {"measured": healthy, "common": early, "own": early}
    np.testing.assert_array_equal(confirmed_delay(rows_of(t, 3), np.full(3, 0.03), torques), 0.0)


@pytest.mark.parametrize(("error", "explained"), [(0.2, True), (0.5, False)])
def test_torque_that_is_not_explained_shows_no_delay(error, explained):
    assert is_explained(np.full((8, 1), error), np.ones((100, 1))) is explained


def test_scattered_windows_become_even():
    rng = np.random.default_rng(0)
    t = np.sort(np.arange(1000) * 0.01 + 0.001 * rng.normal(size=1000))
    q = np.sin(t)[:, None]
    samples = Samples(t=t, q=q, qd=np.cos(t)[:, None], qdd=-q, tau=q, keep=np.ones((1000, 1), bool))
    window = longest_window((samples,))
    assert window is not None
    assert np.ptp(np.diff(window.t)) < 1e-12
    np.testing.assert_allclose(window.tau[:, 0], np.sin(window.t), atol=1e-6)
    assert window.keep is not None
    assert window.keep.all()
    even = evenly_sampled(window)
    np.testing.assert_allclose(even.tau, window.tau, atol=1e-12)
