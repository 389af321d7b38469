"""The model of the smoother: the k-th derivative of position is white noise.

It is measured in white noise, and discretised exactly for any step.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def transition(dt: ArrayLike, order: int) -> Array:
    """Return F(dt) (..., k, k), such that x(t + dt) = F x(t) for x = (q, qd, qdd, ...).

    The Taylor polynomial F_ij = dt^(j-i) / (j-i)!.

    dt [s] is (...). Bar-Shalom, Li and Kirubarajan, "Estimation with Applications to Tracking and
    Navigation", 2001, section 6.2.
    """
    power = np.subtract.outer(-np.arange(order), -np.arange(order))
    scale = np.array([[1.0 / factorial(p) if p >= 0 else 0.0 for p in row] for row in power])
    return np.asarray(scale * np.asarray(dt, float)[..., None, None] ** np.maximum(power, 0))


def diffusion(dt: ArrayLike, order: int) -> Array:
    """Return Q(dt) (..., k, k).

    The covariance that white noise of unit intensity in the k-th derivative adds in dt [s].

    Q_ij = dt^(2k-1-i-j) / ((k-1-i)! (k-1-j)! (2k-1-i-j)), i and j from 0. Bar-Shalom, Li and
    Kirubarajan 2001, section 6.2.
    """
    i = np.arange(order)
    power = 2 * order - 1 - np.add.outer(i, i)
    tail = np.array([factorial(order - 1 - a) for a in i], float)
    return np.asarray(
        np.asarray(dt, float)[..., None, None] ** power / (np.outer(tail, tail) * power)
    )


def mirror(order: int) -> Array:
    """Return the signs (k,) of the derivatives when time is reversed: 1, -1, 1, ..."""
    return np.asarray((-1.0) ** np.arange(order))


@dataclass(frozen=True, eq=False)
class Noise:
    """Noise per joint: intensity s [rad2/s^(2k-1)] of the k-th derivative, std of q and qd.

    Standard deviations are [rad] and [rad/s]; infinite for signals that are not used.

    The smoother's position response is 1 / (1 + (f/f0)^2k), f0 = (s / r dt)^(1/2k) / 2 pi:
    the response of a Butterworth filter run forward and backward.
    """

    order: int
    intensity: Array
    sigma_q: Array
    sigma_qd: Array

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.intensity)

    def of(self, joints: slice | list[int]) -> Noise:
        """Return the noise of some joints."""
        return Noise(
            self.order, self.intensity[joints], self.sigma_q[joints], self.sigma_qd[joints]
        )

    def without_velocity(self) -> Noise:
        """Return the same noise without measured velocities."""
        return Noise(self.order, self.intensity, self.sigma_q, np.full(self.n, np.inf))

    def bandwidth(self, dt: float) -> Array:
        """Return the bandwidth (n,) [Hz] of the smoothed position, at most half the sampling rate.

        There it is 1/sqrt(2) of the measured position.

        s I(w) / w^2k = sqrt(2) + 1 with the information I = (1/r_q + w2/r_qd) / dt.
        Wiener's filter; Wecker and Ansley, J. American Statistical Association 78 (1983), p. 81.
        """
        low, high = np.full(self.n, 1e-9 / dt), np.full(self.n, np.pi / dt)
        for _ in range(60):
            w = np.sqrt(low * high)
            information = (self.sigma_q**-2 + (w / self.sigma_qd) ** 2) / dt
            passes = np.log(self.intensity * information) - 2 * self.order * np.log(w) > np.log(
                np.sqrt(2.0) + 1.0
            )
            low, high = np.where(passes, w, low), np.where(passes, high, w)
        return np.asarray(low / (2.0 * np.pi))

    def units(self, dt: float) -> Units:
        """Return units of time [s] and position [rad] that scale filter coefficients to one."""
        time = (self.sigma_q**2 * dt / self.intensity) ** (0.5 / self.order)
        time = np.clip(time, 0.1 * dt, 1e9 * dt)
        return Units(time=time, value=self.sigma_q * np.sqrt(dt / time))


@dataclass(frozen=True, eq=False)
class Units:
    """Per joint: unit of time T [s] and of position [rad]."""

    time: Array
    value: Array

    def scale(self, order: int) -> Array:
        """Return (n, k): what one unit of each derivative is in SI."""
        return np.asarray(self.value[:, None] * self.time[:, None] ** -np.arange(order))

    def information(self, noise: Noise) -> Array:
        """Return (n, k): information of one sample on each derivative, in these units."""
        sigma = np.full((noise.n, noise.order), np.inf)
        sigma[:, 0], sigma[:, 1] = noise.sigma_q, noise.sigma_qd
        return np.asarray((self.scale(noise.order) / sigma) ** 2)

    def intensity(self, noise: Noise) -> Array:
        """Return (n,): intensity of the white derivative, in these units."""
        return np.asarray(noise.intensity * self.time ** (2 * noise.order - 1) / self.value**2)
