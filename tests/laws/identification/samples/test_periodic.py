"""Motions that repeat: found, averaged over their periods, differentiated as Fourier series."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import steelyard as sy
from steelyard.errors import CallError, LogError
from steelyard.identification import OLS, WLS, Preparation
from steelyard.identification.model.linear_model import build_model
from steelyard.identification.model.problem import Problem
from steelyard.identification.observations.prepare import prepare
from steelyard.identification.samples.fourier import fourier_motion, order
from steelyard.identification.samples.repeats import difference_function, find_period
from tests.motions import fourier, recorded, rubbing

TRUE = rubbing(sy.load("spatial_3r"))
FIXED = {
    "delay": 0,
    "coulomb_width": 0,
    "diagnose": False,
    "friction": ("viscous", "coulomb", "offset"),
}


def measured(seconds=30.0, rate=100.0, position=1e-4, torque=0.0, seed=0, **motion):
    """A log with positions and torques alone, both with noise."""
    log, rng = recorded(TRUE, seconds, rate, **motion), np.random.default_rng(seed)
    noisy = {
        "q": log.q + position * rng.normal(size=log.q.shape),
        "tau": log.tau + torque * rng.normal(size=log.tau.shape),
    }
    return log.replace(**noisy, qd=None, qdd=None)


@pytest.mark.parametrize("noise", [0.0, 1e-5, 1e-3, 1e-2])
@pytest.mark.parametrize(
    ("seconds", "base"), [(30.0, 0.1), (33.0, 0.1), (20.0, 0.1), (30.0, 0.0987)]
)
def test_the_period_is_found(noise, seconds, base):
    """Whole numbers of periods or not, of time steps or not."""
    period = find_period(measured(seconds, position=noise, base=base))
    assert period == pytest.approx(1 / base, abs=0.05 * noise + 1e-7)


def test_the_difference_function_is_that_of_its_definition():
    x = np.random.default_rng(0).normal(size=(50, 2)).cumsum(axis=0)
    by_hand = [np.mean((x[lag:] - x[: 50 - lag]) ** 2) / 2 for lag in range(50)]
    assert np.allclose(difference_function(x), by_hand, atol=1e-9)


def test_what_does_not_repeat_is_left_alone():
    once = measured(base=0.0437)
    assert find_period(once) is None
    log = measured()
    one_joint = log.q.copy()
    one_joint[:, 1] = once.q[:, 1]
    assert find_period(log.replace(q=one_joint)) is None  # the others come back
    wanders = log.q + 3e-3 * np.sin(0.31 * log.t)[:, None]
    assert find_period(log.replace(q=wanders)) is None  # by more than the noise
    assert find_period(log[np.abs(log.t - 12.0) > 0.5]) is None  # a gap
    assert prepare(TRUE, once, Preparation()).period is None


def test_band_limited_motions_are_differentiated_exactly():
    log = measured(position=0.0)
    t, _, qd, qdd = fourier(3, 30.0, 100.0)
    q_made, qd_made, qdd_made = fourier_motion(log, 10.0).states(t)
    assert np.allclose(q_made, log.q, atol=1e-10)
    assert np.allclose(qd_made, qd, atol=1e-9)
    assert np.allclose(qdd_made, qdd, atol=1e-8)


def test_noise_of_the_states_is_as_small_as_is_said():
    log = measured(position=1e-3)
    motion = fourier_motion(log, 10.0)
    assert len(motion.coefficients) == 6  # five harmonics and the mean
    t, q, qd, qdd = fourier(3, 30.0, 100.0)
    result, message = np.abs(motion.states(t) - [q, qd, qdd]), motion.errors(t)
    ratio = np.sqrt(np.mean(result**2, axis=(1, 2)) / np.mean(message**2, axis=(1, 2)))
    assert np.all((ratio > 0.5) & (ratio < 2.0))
    kalman = prepare(TRUE, log, Preparation(smoothing="kalman"))
    assert np.sqrt(np.mean(result[2] ** 2)) < 0.1 * np.std(
        kalman.qdd - qdd[np.searchsorted(t, kalman.t - 1e-9)]
    )


def test_the_order_is_that_of_the_signal_and_not_of_a_chance_peak():
    rng = np.random.default_rng(0)
    power = rng.exponential(size=1000)
    power[1:8] += 50.0
    power[400] += 15.0
    assert order(power, 2000) == 7
    assert order(rng.exponential(size=1000), 2000) == 0


def test_quantised_positions_that_repeat_exactly_are_not_taken_as_exact():
    """Their error is the same in every period, so that it is told by the highest frequencies of the
    average.
    """
    log = measured(position=0.0)
    steps = log.replace(q=np.round(log.q / 1e-3) * 1e-3)
    qdd = fourier(3, 30.0, 100.0)[3]
    assert np.std(fourier_motion(steps, 10.0).states(log.t)[2] - qdd) < 0.02 * np.std(qdd)


@pytest.mark.parametrize("estimator", [OLS(), WLS()], ids=lambda e: e.name)
def test_the_estimate_is_that_of_the_averaged_log(estimator):
    log = measured(position=1e-4, torque=0.3)
    model, whole = build_model(TRUE), prepare(TRUE, log, Preparation())
    assert whole.period == pytest.approx(10.0)
    tau = whole.tau.reshape(3, 1000, 3).mean(axis=0)
    averaged = replace(whole.part(slice(0, 1000)), tau=tau)
    result, expected = (
        estimator.fit(Problem(model, (samples,), 1)).base for samples in (whole, averaged)
    )
    # whose weights are estimated, from other residuals
    tolerance = 1e-9 if estimator.name == "ols" else 3e-3
    assert np.linalg.norm(result - expected) < tolerance * np.linalg.norm(expected)


def test_sigma_is_the_spread_of_repeated_experiments():
    robot = rubbing(sy.load("planar_2r"))
    values, message = [], []
    for seed in range(16):
        log, rng = recorded(robot, 20.0, 50.0), np.random.default_rng(seed)
        noisy = {
            "q": log.q + 1e-4 * rng.normal(size=log.q.shape),
            "tau": log.tau + 0.3 * rng.normal(size=log.tau.shape),
        }
        fit = sy.identify(robot, log.replace(**noisy, qd=None, qdd=None), "wls", **FIXED)
        values.append(fit.base_values)
        message.append(fit.base_std)
    ratio = np.sqrt(np.mean(np.square(message), axis=0)) / np.std(values, axis=0)
    assert 0.75 < np.exp(np.mean(np.log(ratio))) < 1.4


def test_identify_uses_repeats_and_says_so():
    log = measured(position=1e-3, torque=0.2)
    fit, kalman = (
        sy.identify(TRUE, log, "wls", smoothing=name, **FIXED) for name in ("auto", "kalman")
    )
    other = recorded(TRUE, seed=7)
    errors = [
        np.linalg.norm(f.torque(other.q, other.qd, other.qdd) - other.tau)
        / np.linalg.norm(other.tau)
        for f in (fit, kalman)
    ]
    assert errors[0] < 0.3 * errors[1]
    assert any(
        "the motion repeats every 10 s, 3 times; positions and their rates are 5 harmonics" in x
        for x in fit.status
    )
    assert not any("repeats" in x for x in kalman.status)


def test_noise_between_the_periods_reaches_the_verdict():
    fit = sy.identify(TRUE, measured(position=1e-5, torque=0.5), "wls", decimate=1, **FIXED)
    torque = np.sqrt(np.mean(fit.measured**2, axis=0).sum())
    assert fit.residual_split.floor == pytest.approx(0.5 * np.sqrt(3) / torque, rel=0.05)
    assert np.allclose(fit.residual_split.shares[:, 0], 1.0, atol=0.1)
    assert any(
        x.startswith("The motion repeats: torques of its periods differ by")
        for x in fit.verdict.reasons
    )


@pytest.mark.parametrize(
    ("options", "kind", "sentence"),
    [
        (
            {"period": 7.3},
            LogError,
            "the motion does not repeat after 7.3 s: a joint differs by more than its noise",
        ),
        ({"period": 20.0}, LogError, "period 20 s: expected two periods or more"),
        ({"period": -1.0}, CallError, "period must be a positive number"),
        ({"period": "10 s"}, CallError, "period must be a positive number"),
        (
            {"period": 10.0, "smoothing": "kalman"},
            CallError,
            "period=10 would be ignored: smoothing='kalman'",
        ),
    ],
)
def test_wrong_periods_are_refused(options, kind, sentence):
    with pytest.raises(kind, match=sentence):
        sy.identify(TRUE, measured(), "wls", **options, **FIXED)


def test_smoothing_by_periods_needs_some():
    with pytest.raises(LogError, match="smoothing='periodic': the motion does not repeat"):
        sy.identify(TRUE, measured(base=0.0437), smoothing="periodic", **FIXED)
    fit = sy.identify(TRUE, measured(), "wls", smoothing="periodic", period=10.0, **FIXED)
    assert any("repeats every 10 s" in sentence for sentence in fit.status)
