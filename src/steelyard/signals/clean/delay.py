"""Delay of one signal against another, to a fraction of a sample."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import CallError
from ..autocorrelation import autocorrelation, variance_inflation
from ..resample import interpolate_spline

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Delay:
    """Per joint: delay of the measured signal [s], its std [s], and the correlation without it."""

    seconds: Array
    sigma: Array
    correlation: Array


def estimate_delay(
    predicted: ArrayLike, measured: ArrayLike, dt: float, max_delay: float = 0.1
) -> Delay:
    """Estimate the delay of `measured` against `predicted`, both (N, n) at a uniform dt [s].

    measured(t) = a predicted(t - d) + b + noise: d by the peak of the cross-correlation, then
    Gauss-Newton on (a, b, d). Knapp and Carter, IEEE Trans. ASSP 24 (1976), p. 320.
    """
    x, y = (np.asarray(v, float) for v in (predicted, measured))
    x, y = (v[:, None] if v.ndim == 1 else v for v in (x, y))
    if x.shape != y.shape or x.ndim != 2:
        raise CallError(
            f"estimate_delay: predicted {x.shape} and measured {y.shape} must have one shape (N, n)"
        )
    most = int(np.ceil(max_delay / dt))
    if len(x) < 2 * most + 8:
        raise CallError(
            f"estimate_delay: {len(x)} samples are too few to look {max_delay:.4g} s ({most}"
            " samples) either way"
        )
    rows = np.array([one_delay(x[:, j], y[:, j], most) for j in range(x.shape[1])])
    return Delay(rows[:, 0] * dt, rows[:, 1] * dt, rows[:, 2])


def one_delay(x: Array, y: Array, most: int) -> tuple[float, float, float]:
    """Return delay, standard deviation (both in samples) and correlation of one column."""
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return 0.0, np.inf, 0.0
    lag = float(whole_lag(x, y, most))
    k = np.arange(len(x), dtype=float)
    inner = slice(most + 2, len(x) - most - 2)
    design = np.ones((len(x), 3))[inner]
    for _ in range(20):
        moved = interpolate_spline(k, x, np.clip(k - lag, 0, k[-1]))
        design[:, 0], design[:, 2] = moved[inner], -np.gradient(moved)[inner]
        (a, _b, shift), *_ = np.linalg.lstsq(design, y[inner], rcond=None)
        step = float(np.clip(shift / a, -1, 1)) if a != 0 else 0.0
        lag = float(np.clip(lag + step, -most, most))
        if abs(step) < 1e-7:
            break
    return lag, lag_deviation(design, y[inner], a), float(np.corrcoef(design[:, 0], y[inner])[0, 1])


def whole_lag(x: Array, y: Array, most: int) -> int:
    """Return the lag in samples, between -most and most, where |cross-correlation| is largest."""
    from scipy.signal import correlate

    full = correlate(y - y.mean(), x - x.mean(), mode="full", method="fft")
    near = full[len(x) - 1 - most : len(x) + most]
    return int(np.argmax(np.abs(near))) - most


def lag_deviation(design: Array, y: Array, a: float) -> float:
    """Return the standard deviation of the lag in samples, with autocorrelated residuals."""
    coefficients, *_ = np.linalg.lstsq(design, y, rcond=None)
    residual = y - design @ coefficients
    variance = (
        float(residual @ residual)
        / max(len(y) - 3, 1)
        * float(variance_inflation(autocorrelation(residual)[1]))
    )
    covariance = np.linalg.pinv(design.T @ design) * variance
    return float(np.sqrt(covariance[2, 2]) / abs(a)) if a != 0 else np.inf
