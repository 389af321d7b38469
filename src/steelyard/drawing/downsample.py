"""Select the samples of long signals that a figure shows."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
MAX_POINTS = 4000  # samples that are drawn of one signal


def min_max_indices(signals: tuple[Array, ...], limit: int = MAX_POINTS) -> NDArray[np.intp]:
    """Return indices, at most `limit`, of the minimum and maximum of each signal in equal bins.

    Steinarsson 2013, "Downsampling time series for visual representation", section 4.1 (min-max),
    for several signals (N,) at once.
    """
    N = len(signals[0])
    if limit >= N:
        return np.arange(N)
    bins = max(1, (limit - 2) // (2 * len(signals)))
    edges = np.linspace(0, N, bins + 1).astype(int)
    indices = [0, N - 1]
    for signal in signals:
        finite = np.isfinite(signal)
        low, high = np.where(finite, signal, np.inf), np.where(finite, signal, -np.inf)
        for a, b in pairwise(edges.tolist()):
            indices += [a + int(np.argmin(low[a:b])), a + int(np.argmax(high[a:b]))]
    return np.unique(indices)


def running_time(t: Array) -> Array:
    """Return the times (N,) [s] of logs that follow each other on one increasing axis.

    Where time steps back, the next log follows after one median step.
    """
    if len(t) < 2:
        return t
    step = np.diff(t)
    usual = float(np.median(step[step > 0])) if np.any(step > 0) else 1.0
    return t[0] + np.concatenate([[0.0], np.cumsum(np.where(step > 0, step, usual))])
