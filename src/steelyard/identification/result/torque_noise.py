"""The noise of measured torque.

The residual of the model at the rate of the log, and its part below a frequency.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct, idct

from ...arguments import real_number
from ...signals.segments import split, windows
from ..model.known import Torque
from ..samples.samples import Samples
from .result_thresholds import THRESHOLDS

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class TorqueNoise:
    """Standard deviation of measured minus predicted torque below each frequency (F,) [Hz].

    Sensor noise and model errors together; frequencies rise.

    `sigma` (F, n) [N m|N] is the standard deviation of the normal distribution that holds as much
    within 1.96 of it: 95 %. The last row is for the torque at all frequencies. `taken` (n,) [(N
    m)^2|N^2] is the variance by which residuals are smaller than errors, below every frequency,
    because the parameters were fitted to them; 0 for a torque that was not fitted.
    """

    frequencies: Array
    sigma: Array
    taken: Array | float = 0.0

    def below(self, cutoff: float | None, taken: float = 1.0) -> Array:
        """Return the noise (n,) [N m|N] of a torque low-passed at `cutoff` [Hz]; None for all.

        It includes the share `taken` of the variance that the fitted parameters absorbed.
        """
        frequency = (
            self.frequencies[-1]
            if cutoff is None
            else real_number("predict: cutoff [Hz]", cutoff, 0.0)
        )
        known = np.append(0.0, self.frequencies)
        columns = np.append(
            np.zeros((1, self.sigma.shape[1])), self.sigma**2 + taken * self.taken, axis=0
        ).T
        return np.sqrt([np.interp(frequency, known, column) for column in columns])


def torque_noise(samples: Sequence[Samples], torque: Torque) -> TorqueNoise:
    """Return the noise of measured torques about a torque function, before any low-pass."""
    parts = list(stretches(samples, torque))
    count = sum(len(part.e) for part in parts)
    octaves = max(0, int(np.log2(max(count, 1) / THRESHOLDS.least_noise_samples)))
    frequencies = np.asarray(
        max(0.5 / part.dt for part in parts) / 2.0 ** np.arange(octaves, -1, -1), np.float64
    )
    return TorqueNoise(
        frequencies, np.array([spread([part.below(f) for part in parts]) for f in frequencies])
    )


@dataclass(frozen=True, eq=False)
class Stretch:
    """Gap-free errors e (N, n), zero where unused, with cosine transform and time step [s]."""

    e: Array
    transform: Array
    keep: Bools
    dt: float

    def below(self, cutoff: float) -> tuple[Array, Bools]:
        """Return the errors (M, n) below a frequency [Hz] at as few times as needed; and used rows.

        Ahmed, Natarajan and Rao, IEEE Trans. Computers C-23 (1974), p. 90: the cosine transform
        sees no jump from the end to the start.
        """
        N = len(self.e)
        M = min(N, max(1, round(2.0 * cutoff * self.dt * N)))
        index = ((np.arange(M) + 0.5) * N / M).astype(int)
        return (
            np.asarray(idct(self.transform[:M], norm="ortho", axis=0) * np.sqrt(M / N)),
            self.keep[index],
        )


def stretches(samples: Sequence[Samples], torque: Torque) -> Iterator[Stretch]:
    """Yield the stretches without gaps of all logs; of long ones some windows, spread over all."""
    for s in samples:
        dt = float(np.median(np.diff(s.t)))
        for stretch in split(s.t):
            for part in (
                s.part(window)
                for window in windows(stretch, THRESHOLDS.noise_samples, THRESHOLDS.noise_windows)
            ):
                keep = np.ones(part.tau.shape, bool) if part.keep is None else part.keep
                e = np.where(keep, part.tau - part.torque(torque), 0.0)
                yield Stretch(e, np.asarray(dct(e, norm="ortho", axis=0)), keep, dt)


def spread(parts: Sequence[tuple[Array, Bools]]) -> Array:
    """Return the 95 % quantile of |e| over 1.96, (n,), of errors (M, n) with rows in use.

    0 for a joint without any.
    """
    e, keep = (np.concatenate(x) for x in zip(*parts, strict=True))
    used = [np.abs(e[k, j]) for j, k in enumerate(keep.T)]
    return np.array(
        [
            np.quantile(x, THRESHOLDS.noise_quantile) / THRESHOLDS.band_deviations
            if len(x)
            else 0.0
            for x in used
        ]
    )
