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

Array = NDArray[np.float64]
# of the variance: half the mean square difference from which positions have moved away from where
# they were
UNLIKE = 0.5
ALIKE = 0.02  # of the variance: the same, up to which they may have come back
REPEATED = 2.0  # times its noise by which the position of a joint may differ from a period before
ROUNDING = 1e-7  # of a joint's variation, the same for positions without noise
EVEN = 0.5  # of a time step by which steps may differ for a period to be looked for
WHOLE = 4.0  # standard deviations within which a period is a whole number of time steps
SMOOTHED = 8.0  # windows that the period is found with, in the time in which positions move away
EDGE = 4.0  # [widths] of the window from the ends of a log
REFINED = 4  # steps towards the period
FEWEST = 16  # samples of a period
# samples compared with the previous period; number of windows if the log is longer
MOST, WINDOWS = 1 << 17, 8
TOGETHER = 8  # columns whose path is computed by one call
KNOTS = 64  # of a cubic spline from its end, after which the end has no influence left
ALIGNED = 1e-6  # of a time step, up to which a sample is at the time that is looked for
WIDE = 64  # [samples] width of a window from which it is applied by the Fourier transform


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
        log.N > 2 * FEWEST
        and len(split(log.t)) == 1
        and np.max(np.abs(np.diff(log.t) - dt)) <= EVEN * dt
    )
    spread = log.q.std(axis=0)
    moving = log.q[:, spread > ROUNDING * spread.max(initial=0.0)]
    if known_period is not None:
        if not (even and FEWEST * dt <= 2 * known_period <= (log.duration + dt) * (1 + 1e-9)):
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
    period = refined(log.t, moving, lag * dt, away / SMOOTHED)
    return period if comes_back(log.t, moving, period) else None


def thinned_return(q: Array) -> tuple[int | None, int]:
    """Return the first delay [samples] at which columns q (N, k) repeat, or None.

    Of more than MOST samples, means of neighbours are compared, unless positions move away in a few
    of them.
    """
    step = -(-len(q) // MOST)
    lag, away = first_return(
        standardised(q[: len(q) // step * step].reshape(-1, step, q.shape[1]).mean(axis=1))
    )
    if step > 1 and away < FEWEST:
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
    far = np.flatnonzero(d > UNLIKE)
    near = np.flatnonzero(d[far[0] :] < ALIKE) + far[0] if len(far) else far
    if not len(near) or near[0] < FEWEST:
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
    many as there are; of MOST positions.
    """
    dt, scale = (t[-1] - t[0]) / (len(t) - 1), q.std(axis=0)
    first, last = t[0] + EDGE * width * dt, t[-1] - EDGE * width * dt  # where the window is whole
    paths = [
        SmoothPath(t, q[:, k : k + TOGETHER] / scale[k : k + TOGETHER], width)
        for k in range(0, q.shape[1], TOGETHER)
    ]
    apart, sigma = 1, 0.0
    for step in range(REFINED):
        inside = t[(t >= first) & (t + apart * period <= last)][:MOST]
        if len(inside) < FEWEST:
            break
        later = inside + apart * period
        products = mapped(methodcaller("products", inside, later), paths)
        ev, vv, ee = np.sum(list(products), axis=0)
        period -= float(ev / vv) / apart
        sigma = float(np.sqrt(ee / (len(inside) * q.shape[1]) * 4.0 * width / vv)) / apart
        apart = max(1, int((last - first) / period - 0.2)) if step == 1 else apart
    whole = round(period / dt) * dt
    return whole if abs(period - whole) <= WHOLE * sigma + 1e-6 * dt else period


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

        Of all samples, or of those around if there are more than MOST.
        """
        near = int(EDGE * self.width) + KNOTS
        begin, end = (
            np.searchsorted(self.t, times[[0, -1]]) + (-near, near)
            if len(self.t) > MOST
            else (0, len(self.t))
        )
        part = max(int(begin), 0), min(int(end), len(self.t))
        if part not in self.splines:
            self.splines[part] = CubicSpline(
                self.t[slice(*part)], smoothed(self.q[slice(*part)], self.width)
            )
        return self.splines[part]


def smoothed(x: Array, width: float) -> Array:
    """Return columns x (N, k) through a Gaussian window of `width` [samples].

    The ends go on as they are.
    """
    if width <= WIDE:
        return np.asarray(gaussian_filter1d(x, width, axis=0, mode="nearest"))
    reach = int(EDGE * width + 0.5)
    window = np.exp(-0.5 * (np.arange(-reach, reach + 1) / width) ** 2)[:, None]
    return np.asarray(
        oaconvolve(
            np.pad(x, ((reach, reach), (0, 0)), "edge"), window / window.sum(), "valid", axes=0
        )
    )


def comes_back(t: Array, q: Array, period: float) -> bool:
    """Return whether positions q (N, k) a period [s] apart differ by no more than their noise."""
    difference = np.sqrt(np.mean(apart(t, q, period) ** 2, axis=0))
    return bool(np.all(difference <= REPEATED * rough(q)[0] + ROUNDING * q.std(axis=0)))


def apart(t: Array, x: Array, period: float) -> Array:
    """Return columns x (N, k) minus those a period [s] before, over the root of two, (N', k).

    Noise that differs between periods.

    Of more than MOST samples, only windows spread over all of them are used.
    """
    inside = int(np.sum(t + period <= t[-1] + 1e-9 * period))
    parts = [
        (x[part], later(t, x, t[part] + period))
        for part in windows(slice(0, inside), MOST, WINDOWS)
    ]
    return np.concatenate([there - here for here, there in parts]) / np.sqrt(2.0)


def later(t: Array, x: Array, times: Array) -> Array:
    """Return columns x (N, k) at rising times.

    Those that were measured then, or by the cubic spline through the samples around these.
    """
    first, last = (int(i) for i in np.searchsorted(t, times[[0, -1]] - ALIGNED * (t[1] - t[0])))
    if last - first == len(times) - 1 and np.max(
        np.abs(t[first : first + len(times)] - times)
    ) <= ALIGNED * (t[1] - t[0]):
        return x[first : first + len(times)]
    near = slice(max(first - KNOTS, 0), last + KNOTS)
    return np.asarray(CubicSpline(t[near], x[near])(np.minimum(times, t[-1])))
