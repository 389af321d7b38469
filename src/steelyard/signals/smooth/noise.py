"""How rough the motion is and how noisy its measurement, per joint, and the units in which both are about one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Noise:
    """Per joint: intensity s of the white k-th derivative [rad2/s^(2k-1)], deviations of q [rad] and qd [rad/s] (inf: not used).

    The smoother's position response is 1 / (1 + (f/f0)^2k), f0 = (s / r dt)^(1/2k) / 2 pi: a Butterworth run there and back.
    """

    order: int
    intensity: Array
    sigma_q: Array
    sigma_qd: Array

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.intensity)

    @property
    def uses_qd(self) -> bool:
        """Whether the velocity of any joint is used."""
        return bool(np.any(np.isfinite(self.sigma_qd)))

    def of(self, joints: slice | list[int]) -> Noise:
        """The noise of some joints."""
        return Noise(self.order, self.intensity[joints], self.sigma_q[joints], self.sigma_qd[joints])

    def of_q_alone(self) -> Noise:
        """The same where no velocity is measured."""
        return Noise(self.order, self.intensity, self.sigma_q, np.full(self.n, np.inf))

    def bandwidth(self, dt: float) -> Array:
        """(n,) frequency [Hz] where the smoothed position is 1/sqrt(2) of the measured one, at most half the sampling rate.

        s I(w) / w^2k = sqrt(2) + 1 with the information I = (1/r_q + w2/r_qd) / dt.
        Wiener's filter; Wecker and Ansley, J. American Statistical Association 78 (1983), p. 81.
        """
        low, high = np.full(self.n, 1e-9 / dt), np.full(self.n, np.pi / dt)
        for _ in range(60):
            w = np.sqrt(low * high)
            information = (self.sigma_q**-2 + (w / self.sigma_qd) ** 2) / dt
            passes = np.log(self.intensity * information) - 2 * self.order * np.log(w) > np.log(np.sqrt(2.0) + 1.0)
            low, high = np.where(passes, w, low), np.where(passes, high, w)
        return np.asarray(low / (2.0 * np.pi))

    def units(self, dt: float) -> Units:
        """The time [s] and the position [rad] in which the filter's equations have coefficients about one."""
        time = (self.sigma_q**2 * dt / self.intensity) ** (0.5 / self.order)
        time = np.clip(time, 0.1 * dt, 1e9 * dt)
        return Units(time=time, value=self.sigma_q * np.sqrt(dt / time))


@dataclass(frozen=True, eq=False)
class Units:
    """Per joint: unit of time T [s] and of position [rad]."""

    time: Array
    value: Array

    def scale(self, order: int) -> Array:
        """(n, k): what one unit of each derivative is in SI."""
        return np.asarray(self.value[:, None] * self.time[:, None] ** -np.arange(order))

    def information(self, noise: Noise) -> Array:
        """(n, k): information of one sample on each derivative, in these units."""
        sigma = np.full((noise.n, noise.order), np.inf)
        sigma[:, 0], sigma[:, 1] = noise.sigma_q, noise.sigma_qd
        return np.asarray((self.scale(noise.order) / sigma) ** 2)

    def intensity(self, noise: Noise) -> Array:
        """(n,): intensity of the white derivative, in these units."""
        return np.asarray(noise.intensity * self.time ** (2 * noise.order - 1) / self.value**2)
