"""Periodic motions as Fourier series: averaged over periods, and differentiated exactly."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...compiler.runtime.threads import mapped
from ...signals.log import Log
from .repeats import later
from .samples_thresholds import THRESHOLDS

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FourierMotion:
    """q(t) = Re sum_k c_k exp(i k w (t - start)), w = 2 pi / period.

    Coefficients (K + 1, n) [rad|m] and their deviations (K + 1, n).

    A band-limited periodic motion has exact derivatives of every order. Swevers, Ganseman, Tukel,
    De Schutter and Van Brussel, IEEE Trans. Robotics and Automation 13 (1997), p. 730, section IV
    (differentiation in the frequency domain).
    """

    start: float
    period: float
    coefficients: NDArray[np.complex128]
    sigma: Array

    def states(self, t: Array) -> Array:
        """Return q, qd and qdd at times t (N,) [s], (3, N, n)."""
        states = np.empty((3, len(t), self.coefficients.shape[1]))
        rates = 2j * np.pi / self.period * np.arange(len(self.coefficients))
        orders = [rates[:, None] ** order * self.coefficients for order in range(3)]

        def fill(first: int) -> None:
            part = slice(first, first + THRESHOLDS.fourier_block)
            waves = np.exp(np.outer(t[part] - self.start, rates))
            for order, coefficients in enumerate(orders):
                states[order, part] = np.real(waves @ coefficients)

        deque(mapped(fill, range(0, len(t), THRESHOLDS.fourier_block)), maxlen=0)
        return states

    def sentence(self, log: Log) -> str:
        """Return what was found of a log, in a sentence."""
        count = (log.duration + log.dt) / self.period
        used = (
            f"positions and their rates are {len(self.coefficients) - 1} harmonics of all periods"
            " together"
        )
        return (
            f"{log.where or 'A log: '}the motion repeats every {self.period:.6g} s, {count:.3g}"
            f" times; {used}."
        )

    def errors(self, t: Array) -> Array:
        """Return drawn errors of q, qd and qdd (3, N, n) at times t (N,) [s].

        They follow from the noise of the coefficients.
        """
        rng = np.random.default_rng(0)
        drawn = rng.normal(size=self.sigma.shape) + 1j * rng.normal(size=self.sigma.shape)
        return FourierMotion(
            self.start, self.period, self.sigma * drawn / np.sqrt(2.0), self.sigma
        ).states(t)


def fourier_motion(log: Log, period: float) -> FourierMotion | None:
    """Return the motion of a log that repeats after a period [s].

    None if its harmonics exceed the frequencies that samples resolve.

    Positions at the same phase are averaged over the periods. The order of the series has the
    largest evidence, joint by joint, against the noise between the periods or at the highest
    frequencies of the average, whichever is larger.
    """
    dt = log.duration / (log.N - 1)
    steps = round(period / dt)
    grid = log.t[0] + period / steps * np.arange(
        int(np.floor(log.duration / period * steps + 1e-6)) + 1
    )
    mean, count, sigma = phase_average(later(log.t, log.q, grid), steps)
    spectrum, noise = harmonics(mean), sigma**2 / count * 4.0 / steps
    highest = int(THRESHOLDS.highest_harmonic * steps)
    floor = np.median(np.abs(spectrum[min(highest, len(spectrum) - 1) :]) ** 2, axis=0) / np.log(
        2.0
    )
    noise = np.maximum(np.maximum(noise, floor), (1e-14 * np.abs(log.q).max()) ** 2)
    last = [order(column, log.N) for column in (np.abs(spectrum) ** 2 / noise).T]
    if max(last) > highest:
        return None
    used = np.arange(max(last) + 1)[:, None] <= np.array(last)
    return FourierMotion(
        float(log.t[0]),
        period,
        np.where(used, spectrum[: len(used)], 0.0),
        np.where(used, np.sqrt(noise), 0.0),
    )


def order(power: Array, samples: int) -> int:
    """Return the most probable highest harmonic for powers (K + 1,) in units of their noise.

    A harmonic must add to the likelihood what its two numbers cost. Schwarz, Annals of Statistics 6
    (1978), p. 461.
    """
    gain = np.cumsum(power[1:] - np.log(samples))
    return int(np.argmax(gain)) + 1 if len(gain) and gain.max() > 0 else 0


def phase_average(x: Array, steps: int) -> tuple[Array, float, Array]:
    """Return the mean (steps, n) of x (N, n) over periods, their number, and deviation (n,)."""
    phase = np.arange(len(x)) % steps
    counts = np.bincount(phase, minlength=steps)[:, None]
    mean = np.stack([np.bincount(phase, column, steps) for column in x.T], axis=1) / counts
    residual = x - mean[phase]
    return mean, len(x) / steps, np.sqrt(np.sum(residual**2, axis=0) / max(len(x) - steps, 1))


def harmonics(mean: Array) -> NDArray[np.complex128]:
    """Return Fourier coefficients c_k (M // 2 + 1, n) of one period (M, n).

    mean(t_i) = Re sum_k c_k exp(2 pi i k i / M).
    """
    coefficients = np.fft.rfft(mean, axis=0) * (2.0 / len(mean))
    coefficients[0] *= 0.5
    return coefficients
