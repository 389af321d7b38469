"""Signals on another time base: a uniform grid, or shifted by less than a sample."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..compiler.runtime.threads import mapped
from .filters import lowpass
from .segments import has_uniform_segments, is_uniform, split

Array = NDArray[np.float64]


def resample(t: Array, x: Array, rate: float) -> tuple[Array, Array]:
    """Resample x (N, ...) at `rate` [Hz] by cubic splines; returns times (M,) and x (M, ...).

    Each segment of t [s] gets a uniform grid.

    If the rate decreases, a zero-phase low-pass at 0.4 rate removes what would become an alias.
    Oppenheim and Schafer, "Discrete-Time Signal Processing", 3rd ed., 2010, section 4.6.
    """
    sampled = 1.0 / float(np.median(np.diff(t))) if len(t) > 1 else rate
    parts = [_resample_segment(t[part], x[part], rate, sampled) for part in split(t)]
    return np.concatenate([t for t, _ in parts]), np.concatenate([x for _, x in parts])


def _resample_segment(t: Array, x: Array, rate: float, sampled: float) -> tuple[Array, Array]:
    if rate < 0.99 * sampled:
        if not is_uniform(t):
            even = _grid(t, sampled)
            t, x = even, interpolate_spline(t, x, even)
        x = lowpass(x, t, 0.4 * rate)
    grid = _grid(t, rate)
    return grid, interpolate_spline(t, x, grid)


def _grid(t: Array, rate: float) -> Array:
    count = int(np.floor((t[-1] - t[0]) * rate * (1 + 1e-9) + 1e-6)) + 1
    return np.asarray(t[0] + np.arange(count) / rate)


def interpolate_spline(t: Array, x: Array, times: ArrayLike) -> Array:
    """Interpolate x(t) by a cubic spline; linearly with fewer than four samples."""
    return interpolant(t, x)(np.asarray(times, float))


def lowpass_at(t: Array, x: Array, cutoff: float) -> Array:
    """Filter x (N, ...) at its stamps t [s] by the zero-phase low-pass, also if they scatter.

    Signals at scattered stamps pass the filter of `lowpass` on an even grid and return by cubic
    splines. A cut-off [Hz] beyond `lowpass`'s limit leaves a signal as it is.
    """
    if len(t) < 3 or cutoff >= 0.45 / float(np.median(np.diff(t))):
        return x
    if has_uniform_segments(t):
        return lowpass(x, t, cutoff)
    rate = 1.0 / float(np.median(np.diff(t)))
    parts = []
    for part in split(t):
        grid, even = resample(t[part], x[part], rate)
        smooth = lowpass(even, grid, cutoff)
        parts.append(interpolate_spline(grid, smooth, np.clip(t[part], grid[0], grid[-1])))
    return np.concatenate(parts)


def interpolant(t: Array, x: Array) -> Callable[[Array], Array]:
    """Return x as a function of time: a cubic spline; linear with fewer than four samples."""
    if len(t) == 1:
        return lambda times: np.repeat(x, len(times), axis=0)
    from scipy.interpolate import CubicSpline, make_interp_spline

    curve = CubicSpline(t, x, axis=0) if len(t) >= 4 else make_interp_spline(t, x, k=1, axis=0)
    return lambda times: np.asarray(curve(times))


def without_delay(t: Array, x: Array, delay: ArrayLike) -> Array:
    """Return each column of x (N, n) without its delay [s]: x_j(t + delay_j).

    The ends keep their first and last value.
    """
    shift = np.broadcast_to(np.asarray(delay, float), (x.shape[1],))
    columns = mapped(
        lambda j: interpolate_spline(t, x[:, j], np.clip(t + shift[j], t[0], t[-1])),
        range(x.shape[1]),
    )
    return np.stack(list(columns), axis=1)
