"""Autocorrelation of a series, and how many of its samples count as one independent sample."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .signal_thresholds import THRESHOLDS

Array = NDArray[np.float64]


def lagged_products(x: ArrayLike, lags: int = 1) -> Array:
    """Compute s[k] = sum_i x[i] x[i+k], k = 0 ... lags, of a series x (N, ...).

    Sums of several series may be added. The result is (lags + 1, ...).
    """
    x = np.asarray(x, float)
    lags = min(lags, len(x) - 1)
    if lags <= THRESHOLDS.summed_lags:
        return np.stack([np.sum(x[k:] * x[: len(x) - k], axis=0) for k in range(lags + 1)])
    from scipy.fft import irfft, next_fast_len, rfft

    size = next_fast_len(len(x) + lags, real=True)
    return np.asarray(irfft(np.abs(rfft(x, size, axis=0)) ** 2, size, axis=0)[: lags + 1])


def autocorrelation(
    x: ArrayLike, lags: int = 1, *, center: bool = False, unbiased: bool = False
) -> Array:
    """Return r[k] = s[k] / s[0], k = 0 ... lags, of a series x (N, ...); (lags + 1, ...).

    s[k] = sum_i x[i] x[i+k].

    Biased by default: the sum over N - k products is not rescaled, so that |r| <= 1. `unbiased`
    multiplies r[k] by N / (N - k). `center` subtracts the mean first. A series of zeros has r = 0.
    Lags are at most N - 1. Box, Jenkins and Reinsel, "Time Series Analysis", 4th ed., 2008, section
    2.1.
    """
    x = np.asarray(x, float)
    s = lagged_products(x - x.mean(axis=0) if center else x, lags)
    r = s / np.maximum(s[:1], 1e-300)
    return (
        r * (len(x) / (len(x) - np.arange(len(r)))).reshape(-1, *[1] * (x.ndim - 1))
        if unbiased
        else r
    )


def variance_inflation(rho: ArrayLike) -> Array:
    """Return (1 + rho) / (1 - rho), from 1 to `largest_inflation`.

    Samples per independent sample, with rho the autocorrelation at lag one.

    It is the inflation of the variance of a mean of a first-order autoregression; a negative rho
    counts as none. Priestley, "Spectral Analysis and Time Series", 1981, section 5.3.2.
    """
    most = (THRESHOLDS.largest_inflation - 1) / (THRESHOLDS.largest_inflation + 1)
    bounded = np.clip(np.asarray(rho, np.float64), 0.0, most)
    return np.asarray((1 + bounded) / (1 - bounded))
