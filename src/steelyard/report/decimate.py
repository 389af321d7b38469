"""Fewer points that look the same: every peak stays."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
MOST = 4000


def kept_points(signals: tuple[Array, ...], most: int = MOST) -> NDArray[np.intp]:
    """Indices, at most `most`, of the samples to draw: in each of equal stretches the least and the greatest of every signal (N,).

    Steinarsson 2013, "Downsampling time series for visual representation", section 4.1 (min-max), for several signals at once.
    """
    N = len(signals[0])
    if most >= N:
        return np.arange(N)
    stretches = max(1, (most - 2) // (2 * len(signals)))
    edges = np.linspace(0, N, stretches + 1).astype(int)
    found = [0, N - 1]
    for signal in signals:
        known = np.isfinite(signal)
        low, high = np.where(known, signal, np.inf), np.where(known, signal, -np.inf)
        for a, b in pairwise(edges.tolist()):
            found += [a + int(np.argmin(low[a:b])), a + int(np.argmax(high[a:b]))]
    return np.unique(found)


def running_time(t: Array) -> Array:
    """Times of several logs one after the other, (N,) [s]: where time steps back, the next log follows after one usual step."""
    if len(t) < 2:
        return t
    step = np.diff(t)
    usual = float(np.median(step[step > 0])) if np.any(step > 0) else 1.0
    return t[0] + np.concatenate([[0.0], np.cumsum(np.where(step > 0, step, usual))])
