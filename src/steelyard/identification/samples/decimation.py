"""Decimation: one low-pass for torque and regressor, evaluated at the kept samples only."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from ...signals.segments import split
from .samples import Samples, joined
from .samples_thresholds import THRESHOLDS

Array = NDArray[np.float64]


@lru_cache(maxsize=32)
def filter_weights(factor: int) -> Array:
    """Return a symmetric low-pass filter, cut off at 0.4 of the new rate.

    A sinc of 2 `filter_reach` factor + 1 taps under a Kaiser window.

    Oppenheim and Schafer, "Discrete-Time Signal Processing", 3rd ed., section 7.6.
    """
    k = np.arange(-THRESHOLDS.filter_reach * factor, THRESHOLDS.filter_reach * factor + 1)
    h = np.sinc(0.8 * k / factor) * np.kaiser(len(k), 5.0)
    return np.asarray(h / h.sum())


def decimated(x: Array, factor: int, before: int, count: int) -> Array:
    """Return `count` low-passed rows of x (N, ...), every `factor` from `before` on.

    The filter is linear: a linear relation between columns holds after it as before.
    """
    if factor == 1:
        return x[before : before + count]
    if not x.size:
        return np.zeros((count, *x.shape[1:]))
    flat = np.ascontiguousarray(x.reshape(len(x), -1))
    # the filter of group g begins at row begin + g step
    W, step, begin = (
        band(factor),
        THRESHOLDS.filter_group * factor,
        before - THRESHOLDS.filter_reach * factor,
    )
    groups = -(-count // THRESHOLDS.filter_group)
    whole = range(
        min(max(-(begin // step), 0), groups),
        min((len(flat) - begin - W.shape[1]) // step + 1, groups),
    )
    out = np.empty((groups, THRESHOLDS.filter_group, flat.shape[1]))
    if whole:
        s0, s1 = flat.strides
        there = flat[begin + whole.start * step :]
        np.matmul(
            W,
            as_strided(there, (len(whole), W.shape[1], flat.shape[1]), (step * s0, s0, s1)),
            out=out[whole.start : whole.stop],
        )
    for g in (g for g in range(groups) if g not in whole):
        rows = slice(max(begin + g * step, 0), min(begin + g * step + W.shape[1], len(flat)))
        weights = W[
            : count - g * THRESHOLDS.filter_group,
            rows.start - begin - g * step : rows.stop - begin - g * step,
        ]
        out[g, : len(weights)] = weights @ flat[rows] / weights.sum(axis=1, keepdims=True)
    return out.reshape(-1, flat.shape[1])[:count].reshape(count, *x.shape[1:])


def low_passed(tau: Array, samples: Samples, factor: int) -> Array:
    """Return torques (N, n) at the kept samples of each stretch, through the low-pass."""
    return joined(
        [
            decimated(tau[part], factor, 0, -(-(part.stop - part.start) // factor))
            for part in split(samples.t)
        ]
    )


@lru_cache(maxsize=32)
def band(factor: int) -> Array:
    """Return the filter for `filter_group` kept samples as one matrix."""
    h = filter_weights(factor)
    W = np.zeros((THRESHOLDS.filter_group, (THRESHOLDS.filter_group - 1) * factor + len(h)))
    for k in range(THRESHOLDS.filter_group):
        W[k, k * factor : k * factor + len(h)] = h
    return W


def natural_factor(t: Array, qd: Array, least_rate: float = 50.0) -> int:
    """Return the decimation that keeps 20 times the motion's bandwidth, at least 50 Hz.

    99 % of the power of the motion lies within its bandwidth.

    t [s] (N,), qd (N, n). A log that is slower than that keeps all of its samples: 1.
    """
    dt = float(np.median(np.diff(t)))
    part = qd[: min(len(qd), 1 << 16)]
    # so that the ends of a log do not count as steps
    still = (part - part.mean(axis=0)) * np.hanning(len(part))[:, None]
    power = np.sum(
        np.abs(np.fft.rfft(still / np.maximum(still.std(axis=0), 1e-9), axis=0)) ** 2, axis=1
    )
    share = np.cumsum(power) / max(float(power.sum()), 1e-300)
    fastest = float(np.searchsorted(share, 0.99)) / (len(part) * dt)
    rate = max(least_rate, 20.0 * fastest)
    # so that the rounding of a clock that starts late does not decide
    return max(1, int(1.001 / dt / rate))


def common_decimation(samples: Sequence[Samples], fewest: int = 200) -> int:
    """Return the decimation for all logs.

    What the fastest motion needs, and at least `fewest` samples left if there are as many.
    """
    motion = np.array([np.linalg.norm(s.qd.std(axis=0)) for s in samples])
    moving = [s for s, m in zip(samples, motion, strict=True) if m >= 0.1 * motion.max()]
    return max(
        1, min([natural_factor(s.t, s.qd) for s in moving] + [sum(s.N for s in samples) // fewest])
    )
