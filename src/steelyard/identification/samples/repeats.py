"""Repeats: whether a motion is periodic, and its period."""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import methodcaller

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline
from scipy.ndimage import gaussian_filter1d
from scipy.signal import oaconvolve

from ...compiler.runtime.threads import mapped
from ...errors import LogError, mention
from ...signals.log import Log
from ...signals.segments import split, windows
from .noise import rough
from .samples_thresholds import THRESHOLDS

Array = NDArray[np.float64]


def find_period(log: Log, known_period: float | None = None) -> float | None:
    """Return the period [s] after which the motion of all joints repeats, None if it does not.

    A `known_period` is checked and no other is searched for.

    A motion repeats if positions a period apart differ by no more than their noise, which is
    estimated from differences of neighbours. Half the mean square difference of positions, summed
    over joints in units of their variance, is small at the period; it is computed for all delays by
    the Fourier transform. A joint at rest with a noisy encoder never repeats. Raises
    LogError if the motion does not repeat after a period that was given. de Cheveigne and Kawahara,
    J. Acoust. Soc. Am. 111 (2002), p. 1917 (the difference function).
    """
    dt = log.duration / max(log.N - 1, 1)
    even = (
        log.N > 2 * THRESHOLDS.least_period_samples
        and len(split(log.t)) == 1
        and np.max(np.abs(np.diff(log.t) - dt)) <= THRESHOLDS.uneven_step * dt
    )
    spread = log.q.std(axis=0)
    moving = log.q[:, spread > THRESHOLDS.repeated_rounding * spread.max(initial=0.0)]
    if known_period is not None:
        if not (
            even
            and THRESHOLDS.least_period_samples * dt
            <= 2 * known_period
            <= (log.duration + dt) * (1 + 1e-9)
        ):
            have = f"the log has {log.duration:.4g} s at {log.rate:.4g} Hz"
            raise LogError(
                f"{log.where}period {known_period:g} s: expected two periods or more, without gaps;"
                f" {have}"
            )
        if not comes_back(log.t, moving, known_period):
            why = "a joint differs by more than its noise"
            raise LogError(
                f"{log.where}the motion does not repeat after {known_period:g} s: {why}; leave"
                f" {mention('period')} out"
            )
        return known_period
    if not even or not moving.shape[1]:
        return None
    lag, away = thinned_return(moving)
    if lag is None:
        return None
    period = refined(log.t, moving, lag * dt, away / THRESHOLDS.period_windows)
    return period if comes_back(log.t, moving, period) else None


def thinned_return(q: Array) -> tuple[int | None, int]:
    """Return the first delay [samples] at which columns q (N, k) repeat, or None.

    Of more than `period_samples` samples, means of neighbours are compared, unless positions move
    away in a few of them.
    """
    step = -(-len(q) // THRESHOLDS.period_samples)
    lag, away = first_return(
        standardised(q[: len(q) // step * step].reshape(-1, step, q.shape[1]).mean(axis=1))
    )
    if step > 1 and away < THRESHOLDS.least_period_samples:
        return first_return(standardised(q))
    return None if lag is None else step * lag, step * away


def standardised(q: Array) -> Array:
    """Return columns (N, k) of mean 0 and variance 1."""
    return np.asarray((q - q.mean(axis=0)) / q.std(axis=0))


def first_return(x: Array) -> tuple[int | None, int]:
    """Return the first delay [samples] at which unit-variance columns x (N, k) repeat, or None.

    Also returns the first delay at which they differ.
    """
    d = difference_function(x)[: len(x) // 2 + 1]
    far = np.flatnonzero(d > THRESHOLDS.departure)
    near = np.flatnonzero(d[far[0] :] < THRESHOLDS.return_difference) + far[0] if len(far) else far
    if not len(near) or near[0] < THRESHOLDS.least_period_samples:
        return None, int(far[0]) if len(far) else 0
    lag = int(near[0])
    while lag + 1 < len(d) and d[lag + 1] < d[lag]:
        lag += 1
    return lag, int(far[0])


def difference_function(x: Array) -> Array:
    """Return the mean of (x(t + L) - x(t))^2 / 2 over samples and columns for delays L, (N,)."""
    N, L = len(x), np.arange(len(x))
    size = 1 << (2 * N - 1).bit_length()
    power = np.zeros(size // 2 + 1)
    for more in mapped(lambda column: np.abs(np.fft.rfft(column, size)) ** 2, x.T):
        power += more
    correlation = np.fft.irfft(power)[:N]
    squares = np.append(0.0, np.cumsum(np.sum(x**2, axis=1)))
    return np.asarray(
        (0.5 * (squares[N - L] + squares[N] - squares[L]) - correlation) / ((N - L) * x.shape[1])
    )


def refined(t: Array, q: Array, period: float, width: float) -> float:
    """Return the period [s] at which positions q (N, k) differ least from those before.

    A whole number of time steps is preferred.

    Newton's steps on positions smoothed over `width` [samples], first one period apart, then as
    many as there are; of `period_samples` positions.
    """
    dt, scale = (t[-1] - t[0]) / (len(t) - 1), q.std(axis=0)
    edge = THRESHOLDS.window_edge * width * dt
    first, last = t[0] + edge, t[-1] - edge  # where the window is whole
    paths = [
        SmoothPath(
            t, q[:, k : k + THRESHOLDS.path_columns] / scale[k : k + THRESHOLDS.path_columns], width
        )
        for k in range(0, q.shape[1], THRESHOLDS.path_columns)
    ]
    apart, sigma = 1, 0.0
    for step in range(THRESHOLDS.period_steps):
        inside = t[(t >= first) & (t + apart * period <= last)][: THRESHOLDS.period_samples]
        if len(inside) < THRESHOLDS.least_period_samples:
            break
        later = inside + apart * period
        products = mapped(methodcaller("products", inside, later), paths)
        ev, vv, ee = np.sum(list(products), axis=0)
        period -= float(ev / vv) / apart
        sigma = float(np.sqrt(ee / (len(inside) * q.shape[1]) * 4.0 * width / vv)) / apart
        apart = max(1, int((last - first) / period - 0.2)) if step == 1 else apart
    whole = round(period / dt) * dt
    return (
        whole
        if abs(period - whole) <= THRESHOLDS.whole_step_deviations * sigma + 1e-6 * dt
        else period
    )


@dataclass(eq=False)
class SmoothPath:
    """Columns q (N, k) over t (N,), smoothed over `width` [samples].

    The path that they follow, made where it is asked for.
    """

    t: Array
    q: Array
    width: float
    splines: dict[tuple[int, int], CubicSpline] = field(default_factory=dict)

    def products(self, inside: Array, later: Array) -> tuple[float, float, float]:
        """Return the sums of e v, v v and e e.

        E is how far the path at times `later` is from that at times `inside`, v its rate there.
        """
        here, there = self.around(inside), self.around(later)
        e, v = there(later) - here(inside), here(inside, 1)
        return float(np.sum(e * v)), float(np.sum(v * v)), float(np.sum(e * e))

    def around(self, times: Array) -> CubicSpline:
        """Return the path at some times.

        Of all samples, or of those around if there are more than `period_samples`.
        """
        near = int(THRESHOLDS.window_edge * self.width) + THRESHOLDS.spline_knots
        begin, end = (
            np.searchsorted(self.t, times[[0, -1]]) + (-near, near)
            if len(self.t) > THRESHOLDS.period_samples
            else (0, len(self.t))
        )
        part = max(int(begin), 0), min(int(end), len(self.t))
        if part not in self.splines:
            self.splines[part] = CubicSpline(
                self.t[slice(*part)], gaussian_smoothed(self.q[slice(*part)], self.width)
            )
        return self.splines[part]


def gaussian_smoothed(x: Array, width: float) -> Array:
    """Return columns x (N, k) through a Gaussian window of `width` [samples].

    The ends go on as they are.
    """
    if width <= THRESHOLDS.fourier_window:
        return np.asarray(gaussian_filter1d(x, width, axis=0, mode="nearest"))
    reach = int(THRESHOLDS.window_edge * width + 0.5)
    window = np.exp(-0.5 * (np.arange(-reach, reach + 1) / width) ** 2)[:, None]
    return np.asarray(
        oaconvolve(
            np.pad(x, ((reach, reach), (0, 0)), "edge"), window / window.sum(), "valid", axes=0
        )
    )


def comes_back(t: Array, q: Array, period: float) -> bool:
    """Return whether positions q (N, k) a period [s] apart differ by no more than their noise."""
    difference = np.sqrt(np.mean(apart(t, q, period) ** 2, axis=0))
    return bool(
        np.all(
            difference
            <= THRESHOLDS.repeated_noise_ratio * rough(q)[0]
            + THRESHOLDS.repeated_rounding * q.std(axis=0)
        )
    )


def apart(t: Array, x: Array, period: float) -> Array:
    """Return columns x (N, k) minus those a period [s] before, over the root of two, (N', k).

    Noise that differs between periods.

    Of more than `period_samples` samples, only windows spread over all of them are used.
    """
    inside = int(np.sum(t + period <= t[-1] + 1e-9 * period))
    parts = [
        (x[part], later(t, x, t[part] + period))
        for part in windows(
            slice(0, inside), THRESHOLDS.period_samples, THRESHOLDS.period_sample_windows
        )
    ]
    return np.concatenate([there - here for here, there in parts]) / np.sqrt(2.0)


def later(t: Array, x: Array, times: Array) -> Array:
    """Return columns x (N, k) at rising times.

    Those that were measured then, or by the cubic spline through the samples around these.
    """
    first, last = (
        int(i) for i in np.searchsorted(t, times[[0, -1]] - THRESHOLDS.aligned_time * (t[1] - t[0]))
    )
    if last - first == len(times) - 1 and np.max(
        np.abs(t[first : first + len(times)] - times)
    ) <= THRESHOLDS.aligned_time * (t[1] - t[0]):
        return x[first : first + len(times)]
    near = slice(max(first - THRESHOLDS.spline_knots, 0), last + THRESHOLDS.spline_knots)
    return np.asarray(CubicSpline(t[near], x[near])(np.minimum(times, t[-1])))
