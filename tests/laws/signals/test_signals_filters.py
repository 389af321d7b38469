"""Laws of filters: no phase, the cut-off that was asked for, exact derivatives of parabolas, delays
to a fraction of a sample.
"""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.signals import (
    Log,
    butterworth,
    decimate,
    differences,
    estimate_delay,
    lowpass,
    without_delay,
)


@pytest.mark.parametrize("order", [2, 4, 5])
@pytest.mark.parametrize("cutoff", [3.0, 20.0, 180.0])
def test_the_cut_off_is_the_one_asked_for_and_there_is_no_phase(cutoff: float, order: int) -> None:
    rate = 500.0
    t = np.arange(20000) / rate
    middle = slice(8000, 8000 + int(rate / 1.0))  # a whole number of periods
    for f, gain in ((cutoff, np.sqrt(0.5)), (cutoff / 100, 1.0)):
        x = lowpass(np.cos(2 * np.pi * f * t), t, cutoff, order)
        size = 0.5 * np.exp(2j * np.pi * f * t)
        response = np.linalg.lstsq(
            np.stack([size, size.conj()], 1)[middle.start : 16000],
            x[middle.start : 16000] + 0j,
            rcond=None,
        )[0][0]
        assert abs(response) == pytest.approx(gain, abs=2e-3)
        assert np.angle(response) == pytest.approx(0, abs=1e-3)


def test_forward_and_backward_in_time_give_the_same(rng: np.random.Generator) -> None:
    t, x = np.arange(3000) / 100, rng.normal(size=(3000, 2)).cumsum(axis=0)
    np.testing.assert_allclose(
        lowpass(x[::-1], t, 5.0)[::-1], lowpass(x, t, 5.0), atol=1e-6 * np.ptp(x)
    )


def test_a_constant_and_a_ramp_pass_unchanged() -> None:
    t = np.arange(400) / 100
    x = np.stack([np.full(400, 3.0), 2.0 * t - 1.0], axis=1)
    np.testing.assert_allclose(lowpass(x, t, 4.0), x, atol=1e-7)


def test_differences_are_exact_on_parabolas_at_uneven_steps(rng: np.random.Generator) -> None:
    t = np.cumsum(rng.uniform(0.5, 1.5, 60)) * 0.01
    x = np.stack([1 + 2 * t - 3 * t**2, 5 * t**2], axis=1)
    qd, qdd = differences(x, t)
    np.testing.assert_allclose(qd, np.stack([2 - 6 * t, 10 * t], axis=1), atol=1e-10)
    np.testing.assert_allclose(qdd, np.tile([-6.0, 10.0], (60, 1)), atol=1e-6)


def test_butterworth_leaves_torque_alone_and_fills_the_rest() -> None:
    t = np.arange(2000) / 200
    log = Log(t=t, q=np.sin(3 * t)[:, None], tau=np.cos(3 * t)[:, None])
    done = butterworth(log, 20.0)
    inner = slice(100, -100)
    np.testing.assert_allclose(done.qd[inner, 0], 3 * np.cos(3 * t[inner]), atol=1e-3)
    np.testing.assert_allclose(done.qdd[inner, 0], -9 * np.sin(3 * t[inner]), atol=1e-2)
    np.testing.assert_array_equal(done.tau, log.tau)
    assert "20 Hz" in done.remarks[-1]


def test_an_uneven_log_is_resampled_before_a_butterworth(rng: np.random.Generator) -> None:
    t = np.cumsum(rng.uniform(0.8, 1.2, 2000)) * 0.005
    done = butterworth(Log(t=t, q=np.sin(3 * t)[:, None]), 20.0)
    inner = slice(100, -100)
    np.testing.assert_allclose(done.qdd[inner, 0], -9 * np.sin(3 * done.t[inner]), atol=2e-2)
    assert "not uniform" in " ".join(done.remarks)


def test_decimation_keeps_what_is_slow_and_drops_what_would_be_an_alias() -> None:
    t = np.arange(20000) / 1000
    # 98 Hz would come back as 2 Hz
    slow, fast = np.sin(2 * np.pi * 2 * t), np.sin(2 * np.pi * 98 * t)
    x, td = decimate(np.stack([slow, fast], axis=1), t, 10)
    assert len(td) == 2000
    inner = slice(100, -100)
    np.testing.assert_allclose(x[inner, 0], np.sin(2 * np.pi * 2 * td[inner]), atol=1e-3)
    assert np.abs(x[inner, 1]).max() < 0.01


def test_an_equation_survives_the_filter(rng: np.random.Generator) -> None:
    t, Y, pi = np.arange(4000) / 500, rng.normal(size=(4000, 5)), rng.normal(size=5)
    np.testing.assert_allclose(lowpass(Y, t, 20.0) @ pi, lowpass(Y @ pi, t, 20.0), atol=1e-12)
    np.testing.assert_allclose(decimate(Y, t, 10)[0] @ pi, decimate(Y @ pi, t, 10)[0], atol=1e-12)


@pytest.mark.parametrize("rate", [40.0, 100.0, 333.0])
def test_resampling_keeps_the_motion_and_the_gaps(rate: float, rng: np.random.Generator) -> None:
    t = np.cumsum(rng.uniform(0.8, 1.2, 1000)) * 0.01
    t[500:] += 3.0
    done = Log(t=t, q=np.sin(2 * t)[:, None]).resampled(rate)
    assert len(done.segments) == 2
    middle = np.concatenate([np.arange(s.start, s.stop)[20:-20] for s in done.segments])
    np.testing.assert_allclose(done.q[middle, 0], np.sin(2 * done.t[middle]), atol=3e-4)
    assert done.rate == pytest.approx(rate)


@pytest.mark.parametrize("delay", [-0.0131, 0.0, 0.0004, 0.0177, 0.08])
def test_a_delay_is_found_to_a_fraction_of_a_sample(delay: float, rng: np.random.Generator) -> None:
    dt = 0.002
    t = np.arange(6000) * dt

    def motion(t: np.ndarray) -> np.ndarray:
        return np.stack(
            [np.sin(3 * t) + 0.5 * np.sin(17 * t + 1), np.cos(5 * t) + 0.3 * np.sin(11 * t)], axis=1
        )

    measured = [1.3, -0.8] * motion(t - delay) + [0.5, 2.0] + 0.02 * rng.normal(size=(6000, 2))
    result = estimate_delay(motion(t), measured, dt)
    assert np.all(np.abs(result.seconds - delay) < 4 * result.sigma + 1e-6)
    assert np.all(result.sigma < 2e-4)
    np.testing.assert_allclose(np.abs(result.correlation), 1, atol=2e-3)
    back = without_delay(t, motion(t - delay), delay)
    np.testing.assert_allclose(back[60:-60], motion(t)[60:-60], atol=1e-6)
