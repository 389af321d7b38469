"""Low-passes, decimation and parts of long logs against scipy.signal."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import signal

from steelyard.identification.model.model_thresholds import THRESHOLDS as MODEL_THRESHOLDS
from steelyard.identification.model.problem import block_length
from steelyard.identification.samples.decimation import (
    common_decimation,
    decimated,
    filter_weights,
    natural_factor,
)
from steelyard.identification.samples.noise import rough
from steelyard.identification.samples.samples_thresholds import THRESHOLDS
from steelyard.signals import Noise, Smoother, decimate, lowpass
from steelyard.signals.filters import design
from steelyard.signals.resample import resample
from steelyard.signals.signal_thresholds import THRESHOLDS as SIGNAL_THRESHOLDS
from steelyard.signals.smooth.steady_state import steady
from tests.statistics.problems import planar, problem_of, samples_of, with_mask

FACTORS = pytest.mark.parametrize("factor", [2, 3, 10, 41])


@FACTORS
def test_decimation_filters_at_four_fifths_of_the_new_nyquist_frequency(
    factor,
):
    expected = signal.firwin(
        2 * THRESHOLDS.filter_reach * factor + 1, 0.8 / factor, window=("kaiser", 5.0)
    )
    np.testing.assert_allclose(filter_weights(factor), expected, atol=1e-15)


@FACTORS
def test_what_would_come_back_as_another_frequency_is_taken_out_and_what_is_slow_stays(factor):
    # per sample; half a period per kept sample is 0.5 / factor
    f = np.array([0.0, 0.1, 0.4, 0.5, 0.62, 0.8, 1.0]) / factor
    _, gain = signal.freqz(filter_weights(factor), worN=2 * np.pi * f)
    np.testing.assert_allclose(np.abs(gain), [1.0, 1.0, 0.5, 0.1, 0.0, 0.0, 0.0], atol=0.06)
    np.testing.assert_allclose(np.abs(gain[:2]), 1.0, atol=0.005)


@FACTORS
def test_decimation_is_scipys_filter_at_every_kept_sample(factor, rng):
    x = rng.normal(size=(1500, 2))
    count = -(-1500 // factor)
    whole = signal.upfirdn(filter_weights(factor), x, down=1, axis=0)[
        THRESHOLDS.filter_reach * factor : THRESHOLDS.filter_reach * factor + 1500
    ]
    one = signal.upfirdn(filter_weights(factor), np.ones(1500))[
        THRESHOLDS.filter_reach * factor : THRESHOLDS.filter_reach * factor + 1500
    ]
    expected = (whole / one[:, None])[::factor]
    np.testing.assert_allclose(decimated(x, factor, 0, count), expected, atol=1e-12)
    before = 5 * factor
    np.testing.assert_allclose(decimated(x, factor, before, count - 5), expected[5:], atol=1e-12)


@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize(("factor", "rate"), [(4, 200.0), (10, 1000.0)])
def test_arrays_are_decimated_through_a_low_pass_at_four_fifths_of_the_new_nyquist_frequency(
    factor, rate, order, rng
):
    t = np.arange(3000) / rate
    x = rng.normal(size=(3000, 2))
    sections = design(0.4 * rate / factor, rate, order)
    _, gain = signal.sosfreqz(sections, worN=[0.4 * rate / factor], fs=rate)
    assert np.abs(gain[0]) ** 2 == pytest.approx(np.sqrt(0.5), rel=1e-9)  # forward and backward
    pad = int(np.ceil(8 * rate / (0.4 * rate / factor)))
    expected = signal.sosfiltfilt(sections, x, axis=0, padtype="odd", padlen=pad)[::factor]
    result, selected = decimate(x, t, factor, order)
    np.testing.assert_array_equal(selected, t[::factor])
    np.testing.assert_allclose(result, expected, atol=1e-12)


@pytest.mark.parametrize(("f", "gain"), [(4.0, 1.0), (40.0, np.sqrt(0.5)), (80.0, 0.0)])
def test_a_log_that_is_made_slower_passes_a_low_pass_at_two_fifths_of_the_new_rate(f, gain):
    t = np.arange(20_000) / 1000.0
    _, x = resample(t, np.cos(2 * np.pi * f * t)[:, None], 100.0)
    inner = x[200:-200, 0]
    size = np.sqrt(2.0) * np.std(inner) if f != 50.0 else 0.0
    assert size == pytest.approx(gain, abs=0.02)


def test_no_low_pass_where_the_rate_stays_or_grows():
    t = np.arange(2000) / 100.0
    x = np.cos(2 * np.pi * 45.0 * t)[:, None]
    same = resample(t, x, 100.0)[1]
    np.testing.assert_allclose(same, x, atol=1e-9)
    assert np.std(resample(t, x, 50.0)[1][50:-50]) < 0.05 < np.std(lowpass(x, t, 49.0))


@pytest.mark.parametrize("f", [0.5, 2.0, 3.7])
def test_twenty_times_the_frequency_of_the_motion_is_kept_and_fifty_hertz(f):
    t = np.arange(20_000) / 1000.0
    qd = np.column_stack([np.sin(2 * np.pi * f * t), 3.0 * np.cos(2 * np.pi * f * t)])
    fastest = f + 1.5 / 20.0  # the window spreads a line over its neighbours
    assert natural_factor(t, qd) == pytest.approx(int(1000.0 / max(50.0, 20.0 * fastest)), abs=1)
    assert natural_factor(t[::25], qd[::25]) == 1


@pytest.mark.parametrize("start", [5000.0, 1.7e9])
@pytest.mark.parametrize("rate", [100.0, 125.0, 1000.0])
def test_a_clock_that_starts_late_has_the_same_decimation(rate, start):
    """Its time steps are rounded: at seconds since 1970 to a quarter of a microsecond."""
    t = np.arange(2000) / rate
    qd = np.sin(t)[:, None]
    assert natural_factor(t, qd) == int(rate / 50.0 + 1e-9) == natural_factor(t + start, qd)


def test_one_frequency_of_many_counts_as_soon_as_it_has_a_hundredth_of_the_power():
    t = np.arange(20_000) / 1000.0
    slow = np.sin(2 * np.pi * 1.0 * t)
    for share, expected in ((0.005, 20), (0.02, 5)):
        qd = np.sqrt(1 - share) * slow + np.sqrt(share) * np.sin(2 * np.pi * 10.0 * t)
        assert natural_factor(t, qd[:, None]) == pytest.approx(expected, abs=1)


def test_all_logs_have_the_decimation_that_the_fastest_of_those_that_move_needs():
    quick, slow = (
        replace(samples_of(planar(), 4000, rate=400.0), t=np.arange(4000) / rate)
        for rate in (400.0, 100.0)
    )
    still = replace(slow, qd=1e-3 * slow.qd[::-1], t=np.arange(4000) / 50.0)
    own = [natural_factor(s.t, s.qd) for s in (quick, slow)]
    assert own[0] > own[1]
    assert common_decimation((quick, slow)) == own[1]
    assert common_decimation((quick, still)) == own[0], (
        "a log in which next to nothing moves does not count"
    )
    assert common_decimation((quick,), fewest=2000) == 2, "two thousand samples are left"


@pytest.mark.parametrize("rho", [0.0, 0.999])
def test_the_noise_of_a_smooth_signal_is_told_by_fourth_differences(rho, rng):
    t = np.linspace(0, 20, 8000)
    noise = rng.normal(size=(8000, 2)) * [1e-3, 2e-2]
    x = np.column_stack([np.sin(t), 3 * np.cos(2 * t)]) * rho + noise
    np.testing.assert_allclose(rough(x, 2 * x), [[1e-3, 2e-2], [2e-3, 4e-2]], rtol=0.05)


# parts of long logs
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("decimation", [1, 3, 7])
def test_blocks_of_a_long_log_are_the_whole(decimation, monkeypatch):
    """The reach of the low-pass is added on both sides of a block.

    Rows do not depend on where blocks begin.
    """
    samples = with_mask(samples_of(planar(), 3000, rate=100.0), 0.2)
    whole = list(problem_of(planar(), samples, decimate=decimation).blocks())
    monkeypatch.setitem(vars(MODEL_THRESHOLDS), "block_samples", 256)
    assert block_length(decimation) <= 256
    parts = list(problem_of(planar(), samples, decimate=decimation).blocks())
    assert len(whole) == 1 < 10 < len(parts)
    for name in ("t", "Y", "tau", "known", "keep"):
        np.testing.assert_allclose(
            np.concatenate([getattr(b, name) for b in parts]),
            getattr(whole[0], name),
            rtol=1e-9,
            atol=1e-9,
        )
    expected = decimated(samples.tau, decimation, 0, -(-3000 // decimation))
    np.testing.assert_allclose(whole[0].tau, expected, atol=1e-9)


def test_no_block_reaches_across_a_gap():
    one, other = (
        samples_of(planar(), 900, rate=100.0),
        samples_of(planar(), 600, rate=100.0, seed=7),
    )
    joined = replace(
        one,
        t=np.concatenate([one.t, other.t + one.t[-1] + 1.0]),
        **{
            name: np.concatenate([getattr(one, name), getattr(other, name)])
            for name in ("q", "qd", "qdd", "tau")
        },
    )
    apart = np.concatenate([b.tau for b in problem_of(planar(), one, other, decimate=5).blocks()])
    np.testing.assert_allclose(
        np.concatenate([b.tau for b in problem_of(planar(), joined, decimate=5).blocks()]),
        apart,
        atol=1e-12,
    )


def test_overlapping_parts_of_a_long_log_equal_the_whole(monkeypatch, rng):
    """With the overlap as it is, for a motion so slow that the smoother remembers five thousand
    samples; half of it would show.
    """
    noise = Noise(3, np.array([1e-2]), np.array([1e-3]), np.array([np.inf]))
    assert 5000 < steady(noise, 0, 0.001).memory < 6000
    t = np.arange(13_000) * 0.001
    q = np.sin(0.7 * t)[:, None] + 1e-3 * rng.normal(size=(13_000, 1))
    whole, P = Smoother(noise, 0.001).states(t, q)
    monkeypatch.setitem(vars(SIGNAL_THRESHOLDS), "smoother_samples", 4500)
    parts = list(Smoother(noise, 0.001).parts(t, q))
    assert [part.stop for part, _, _ in parts] == [4500, 9000, 13_000]
    sigma = np.sqrt(np.einsum("...ii->...i", P))
    np.testing.assert_allclose(
        np.concatenate([x for _, x, _ in parts]) / sigma, whole / sigma, atol=1e-4
    )
