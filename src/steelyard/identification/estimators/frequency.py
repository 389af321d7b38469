"""Least squares in the frequency domain.

Periods are averaged, and every frequency weighs what its noise allows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from ...arguments import whole_number
from ...errors import CallError, mention
from ..model.accumulator import triangular
from ..model.linear_model import Model
from ..model.problem import Problem
from ..samples.samples import Samples
from .estimator_thresholds import THRESHOLDS
from .least_squares import Estimate, Estimator, least_squares, noise, weighted

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]


@dataclass(frozen=True)
class Frequency(Estimator):
    """min sum_k e_k^H S_k^-1 e_k over the harmonics k of a motion that repeats.

    e_k = tau_k - Y_k base, averaged over all periods.

    S_k (n, n) is the covariance of the torques' noise between the joints at that frequency, from
    what differs between the periods: the power of bands of frequencies, and one correlation for
    all. What the residuals have beyond it is added, so that a frequency at which the model lacks
    something weighs less. A log that does not repeat is identified by weighted least squares.
    Swevers, Ganseman, De Schutter and Van Brussel, Mechanical Systems and Signal Processing 10
    (1996), p. 561; Pintelon and Schoukens, "System Identification: A Frequency Domain Approach",
    2nd ed., 2012, section 2.5 (noise from periodic data).
    """

    iterations: int = 4
    name = "frequency"

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "iterations", whole_number("Frequency: iterations", self.iterations, 1, 1e6)
        )

    def fit(self, problem: Problem) -> Estimate:
        """Return the estimate for a problem."""
        base, weights = weighted(problem.total, problem.prior)
        if any(s.period is None for s in problem.samples):
            return Estimate(
                base,
                weights,
                ("A log does not repeat, so that all of its frequencies weigh alike.",),
            )
        if any(s.keep is not None for s in problem.samples):
            raise CallError(
                f"estimator 'frequency' takes whole periods: {mention('mask')} leaves samples out;"
                f" use 'wls', or leave {mention('mask')} out",
                argument="estimator",
            )
        spectra = [spectrum(problem.model, s, problem.decimate) for s in problem.samples]
        for _ in range(self.iterations):
            rows = np.vstack([each.whitened(base) for each in spectra])
            base = least_squares(triangular(rows), problem.prior)
        return Estimate(
            base,
            1.0 / noise(problem.total, base),
            details={"harmonics": [len(each.tau) for each in spectra]},
        )


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Harmonics of regressor (K, n, b) and torque (K, n), averaged over periods.

    The covariance (K, n, n) is the covariance of the averaged noise.
    """

    Y: Complex
    tau: Complex
    noise: Array

    def whitened(self, base: Array) -> Array:
        """Return rows S^-1/2 [Y tau] (2 K n, b + 1), real and imaginary parts.

        S includes the part of the residuals of base (b,) that exceeds the noise.
        """
        n = range(self.tau.shape[1])
        power = banded(np.abs(self.tau - self.Y @ base) ** 2)
        S = self.noise.copy()
        least = THRESHOLDS.least_power * np.maximum(np.mean(np.abs(self.tau) ** 2, axis=0), 1e-300)
        S[:, n, n] += np.maximum(power - S[:, n, n], 0.0) + least
        rows = np.linalg.solve(
            np.linalg.cholesky(S), np.concatenate([self.Y, self.tau[:, :, None]], axis=2)
        )
        return np.concatenate([rows.real, rows.imag]).reshape(-1, rows.shape[2])


def spectrum(model: Model, samples: Samples, decimate: int) -> Spectrum:
    """Return the harmonics of a log that repeats, up to half the rate at which samples are kept."""
    assert samples.period is not None
    t, period = samples.t, samples.period
    dt = (t[-1] - t[0]) / (len(t) - 1)
    steps, count = round(period / dt), max(1, int((t[-1] - t[0] + 1.5 * dt) / period))
    grid = np.minimum(t[0] + period / steps * np.arange(steps * count), t[-1])
    tau = samples.tau if samples.payload_torque is None else samples.tau - samples.payload_torque
    states = [
        CubicSpline(t, x)(grid).reshape(count, steps, -1).mean(axis=0) for x in samples.states
    ]
    z = model.memory(samples)
    if z is not None:
        z = CubicSpline(t, z)(grid).reshape(count, steps, -1).mean(axis=0)
    known = model.known_torque(*states, memory=z)
    torque = CubicSpline(t, tau)(grid).reshape(count, steps, -1) - known
    last = min(steps // 2, max(int(steps / (2 * decimate)), 1))
    waves = np.fft.rfft(torque, axis=1)[:, : last + 1] / steps
    mean = waves.mean(axis=0)
    apart = waves - mean
    S = np.einsum("pka,pkb->kab", apart, apart.conj()) / (max(count - 1, 1) * count)
    Y = np.fft.rfft(model.rows(*states, memory=z), axis=0)[: last + 1] / steps
    power = np.maximum(banded(np.real(np.einsum("kjj->kj", S))), 1e-300)
    unit = np.real(np.mean(S / np.sqrt(power[:, :, None] * power[:, None, :]), axis=0))
    return Spectrum(Y, mean, unit * np.sqrt(power[:, :, None] * power[:, None, :]))


def banded(x: NDArray[Any]) -> NDArray[Any]:
    """Return the mean of x (K, ...) over bands of neighbouring harmonics, at each of them.

    Wider ones at higher frequencies.
    """
    edges, least = [0], THRESHOLDS.least_harmonics
    while edges[-1] + 2 * least <= len(x):
        edges.append(edges[-1] + max(least, int(THRESHOLDS.band_width * edges[-1])))
    edges = [k for k in edges if k == 0 or k + least <= len(x)]
    counts = np.diff([*edges, len(x)])
    sums = np.add.reduceat(x, edges, axis=0)
    return np.repeat(sums / counts.reshape(-1, *([1] * (x.ndim - 1))), counts, axis=0)
