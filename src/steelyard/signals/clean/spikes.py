"""Spikes: single positions that are off, found against their neighbours."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..log import Log
from ..signal_thresholds import THRESHOLDS

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


def find_spikes(q: Array) -> Mask:
    """Return the spikes (N, n): one or two positions in a row far from the median of five.

    Hampel's identifier on q - median of five; the usual deviation is computed in its neighbourhood,
    so that fast motion counts as usual. Davies and Gather, J. Am. Stat. Assoc. 88 (1993), p. 782.
    """
    from scipy.ndimage import median_filter

    steps = np.abs(np.diff(q, axis=0))
    # what stands apart from the median of five is a step from a neighbour at least as large
    if len(q) < 7 or not np.any(steps > THRESHOLDS.least_spike):
        return np.zeros(q.shape, bool)
    steps = np.concatenate([np.zeros((1, q.shape[1])), steps])
    away = np.abs(q - median_filter(q, size=(5, 1), mode="nearest"))
    usual = np.maximum(
        median_filter(away, size=(101, 1), mode="nearest"), 1.4826 * np.median(away, axis=0)
    )
    low, high = np.nanquantile(q, [0.01, 0.99], axis=0)
    # beside a spike the median is off by one
    step = median_filter(steps, size=(11, 1), mode="nearest")
    least = np.maximum(
        np.maximum(THRESHOLDS.least_spike, THRESHOLDS.least_spike_share * (high - low)),
        THRESHOLDS.spike_steps * step,
    )
    spikes = away > np.maximum(THRESHOLDS.spike_ratio * usual, least)
    spikes[:, spikes.mean(axis=0) > THRESHOLDS.spike_share] = False
    spikes[[0, 1, -2, -1]] = False
    long = np.zeros_like(spikes)
    for shift in range(THRESHOLDS.spike_samples + 1):
        run = np.all(
            [np.roll(spikes, shift - k, axis=0) for k in range(THRESHOLDS.spike_samples + 1)],
            axis=0,
        )
        long |= run
    return np.asarray(spikes & ~long)


def without_spikes(log: Log) -> Log:
    """Return the log with spikes of its positions interpolated."""
    spikes = find_spikes(log.q)
    if not spikes.any():
        return log
    q = log.q.copy()
    for j in np.flatnonzero(spikes.any(axis=0)):
        good = ~spikes[:, j]
        q[~good, j] = np.interp(log.t[~good], log.t[good], log.q[good, j])
    return log.replace(q=q).remarked(
        f"{spikes.sum()} single positions that were off were interpolated."
    )
