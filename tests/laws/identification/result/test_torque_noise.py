"""The noise of a measured torque below a frequency, against the same torque filtered."""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy
from steelyard.identification.result.torque_noise import stretches, torque_noise
from steelyard.identification.samples.samples import Samples
from steelyard.signals.filters import lowpass
from tests.motions import coloured

SIZE = np.array([0.5, 3.0])


def samples_of(e, rate=100.0, start=0.0, keep=None):
    t = start + np.arange(len(e)) / rate
    return Samples(t, np.zeros_like(e), np.zeros_like(e), np.zeros_like(e), e, keep)


def nothing(q, qd, qdd):
    return np.zeros_like(q)


@pytest.mark.parametrize("cutoff", [1.0, 5.0, 12.0, 30.0])
@pytest.mark.parametrize("memory", [0.0, 0.95])
def test_what_is_left_below_a_frequency_is_what_a_filter_leaves(rng, memory, cutoff):
    e = SIZE * coloured((20000, 2), memory, rng)
    remaining = np.sqrt(np.mean(lowpass(e, np.arange(20000) / 100, cutoff) ** 2, axis=0))
    assert np.allclose(torque_noise([samples_of(e)], nothing).below(cutoff), remaining, rtol=0.12)


def test_white_noise_is_left_by_its_share_of_the_band(rng):
    noise = torque_noise([samples_of(SIZE * rng.normal(size=(50000, 2)))], nothing)
    assert np.allclose(noise.below(None), SIZE, rtol=0.02)
    assert np.allclose(noise.below(50.0), SIZE, rtol=0.02)
    assert np.allclose(noise.below(1000.0), SIZE, rtol=0.02)
    assert np.allclose(noise.below(50.0 / 9), SIZE / 3, rtol=0.05)
    assert np.allclose(noise.below(0.0), 0.0)


def test_it_holds_95_percent_of_noise_that_is_not_normal(rng):
    e = np.column_stack([np.sign(rng.normal(size=20000)), rng.standard_t(3, size=20000)])
    width = 1.96 * torque_noise([samples_of(e)], nothing).below(None)
    assert np.mean(np.abs(e[:, 1]) <= width[1]) == pytest.approx(0.95, abs=0.002)
    assert width[0] == pytest.approx(1.0)


def test_logs_of_any_rate_count_by_their_time_and_gaps_by_nothing(rng):
    slow, fast = SIZE * rng.normal(size=(4000, 2)), SIZE * rng.normal(size=(40000, 2))
    gapped = samples_of(slow)
    gapped = Samples(
        gapped.t + 100.0 * (np.arange(4000) > 2500),
        *(getattr(gapped, x) for x in ("q", "qd", "qdd", "tau", "keep")),
    )
    noise = torque_noise([gapped, samples_of(fast, 1000.0)], nothing)
    assert noise.frequencies[-1] == pytest.approx(500.0)
    assert np.allclose(noise.below(None), SIZE, rtol=0.03)
    # 40 s of each: all of one, a tenth of the other
    assert np.allclose(noise.below(50.0), np.sqrt((1 + 0.1) / 2) * SIZE, rtol=0.15)


def test_rows_that_are_not_in_use_do_not_count(rng):
    e = SIZE * rng.normal(size=(4000, 2))
    keep = np.ones(e.shape, bool)
    keep[::2, 0] = False
    assert np.allclose(
        torque_noise([samples_of(e, keep=keep)], nothing).below(None), SIZE, rtol=0.06
    )
    keep[:, 1] = False
    assert torque_noise([samples_of(e, keep=keep)], nothing).below(None)[1] == 0.0


@pytest.mark.parametrize("cutoff", [-1.0, float("nan"), float("inf"), "ten", True])
def test_a_cutoff_that_is_no_frequency_is_refused(rng, cutoff):
    with pytest.raises(sy.CallError, match=r"cutoff \[Hz\] must be"):
        torque_noise([samples_of(rng.normal(size=(100, 2)))], nothing).below(cutoff)


def test_of_a_very_long_log_some_windows_tell(rng):
    """As much is told as by all of it, of a log whose noise grows."""
    N = 5 << 16
    e = SIZE * rng.normal(size=(N, 2)) * np.linspace(0.5, 1.5, N)[:, None]
    whole = torque_noise([samples_of(part) for part in np.array_split(e, 3)], nothing)
    noise = torque_noise([samples_of(e)], nothing)
    assert np.allclose(noise.below(None), whole.below(None), rtol=0.03)
    assert np.allclose(noise.below(5.0), whole.below(5.0), rtol=0.1)
    windows = stretches([samples_of(e)], nothing)
    assert sum(len(each.e) for each in windows) == 4 << 16
