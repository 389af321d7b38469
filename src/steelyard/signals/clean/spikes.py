"""Spikes: single positions that are off, found against their neighbours."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..log import Log

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
OUTLIER = 12.0  # times the usual deviation of a position from the middle of its neighbours
LEAST, LEAST_SHARE = 5e-3, 2e-3  # [rad|m], and of the range of the joint's positions: the larger counts
STEPS = 1.5  # of the motion from sample to sample
MOST = 0.05  # of the samples: what comes more often is noise
LONGEST = 2  # samples in a row


def find_spikes(q: Array) -> Mask:
    """Return the positions (N, n) that stand apart from the median of five by far more than others do, one or two in a row.

    Hampel's identifier on q - median of five; the usual deviation is that of its neighbourhood, so that fast motion counts as usual.
    Davies and Gather, J. Am. Stat. Assoc. 88 (1993), p. 782.
    """
    from scipy.ndimage import median_filter

    steps = np.abs(np.diff(q, axis=0))
    if len(q) < 7 or not np.any(steps > LEAST):  # what stands apart from the median of five is a step from a neighbour at least as large
        return np.zeros(q.shape, bool)
    steps = np.concatenate([np.zeros((1, q.shape[1])), steps])
    away = np.abs(q - median_filter(q, size=(5, 1), mode="nearest"))
    usual = np.maximum(median_filter(away, size=(101, 1), mode="nearest"), 1.4826 * np.median(away, axis=0))
    low, high = np.nanquantile(q, [0.01, 0.99], axis=0)
    step = median_filter(steps, size=(11, 1), mode="nearest")  # beside a spike the median is off by one
    least = np.maximum(np.maximum(LEAST, LEAST_SHARE * (high - low)), STEPS * step)
    found = away > np.maximum(OUTLIER * usual, least)
    found[:, found.mean(axis=0) > MOST] = False
    found[[0, 1, -2, -1]] = False
    long = np.zeros_like(found)
    for shift in range(LONGEST + 1):
        run = np.all([np.roll(found, shift - k, axis=0) for k in range(LONGEST + 1)], axis=0)
        long |= run
    return np.asarray(found & ~long)


def without_spikes(log: Log) -> Log:
    """Return the log with spikes of its positions interpolated."""
    found = find_spikes(log.q)
    if not found.any():
        return log
    q = log.q.copy()
    for j in np.flatnonzero(found.any(axis=0)):
        good = ~found[:, j]
        q[~good, j] = np.interp(log.t[~good], log.t[good], log.q[good, j])
    return log.replace(q=q).remarked(f"{found.sum()} single positions that were off were interpolated.")
