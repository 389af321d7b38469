"""Fourier motions: periodic, band-limited, with exact derivatives of every order."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...checks.states import States
from ...errors import CallError
from .basis import read_only, require_frequency
from .limits import MotionBounds
from .trajectory_thresholds import THRESHOLDS

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Fourier:
    """A finite Fourier series per joint.

    Q(t) = c + sum over k of (a_k sin(k w t) - b_k cos(k w t)) / (k w), with w = 2 pi f.

    centre c is (n,) [rad|m]; a, b are (n, H) [rad/s|m/s], the spectrum of the velocity; f is the
    base frequency [Hz]. Nothing in q, qd or qdd lies above H f: no elastic mode beyond it is
    excited. Swevers, Ganseman, Tukel, De Schutter and Van Brussel, IEEE Trans. Robotics and
    Automation 13 (1997), p. 732.
    """

    centre: Array
    a: Array
    b: Array
    base_frequency: float

    def __post_init__(self) -> None:
        read_only(self, "centre", "a", "b")
        if (
            self.a.ndim != 2
            or self.a.shape != self.b.shape
            or self.centre.shape != self.a.shape[:1]
        ):
            raise CallError(
                f"expected centre (n,), a and b (n, H); found {self.centre.shape}, {self.a.shape}"
                f" and {self.b.shape}"
            )
        require_frequency(self.base_frequency)

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.centre)

    @property
    def harmonics(self) -> int:
        """Number of harmonics H of the base frequency."""
        return self.a.shape[1]

    @property
    def period(self) -> float:
        """Time after which it repeats [s]."""
        return 1.0 / self.base_frequency

    @property
    def density(self) -> int:
        """The number of the finest details in a period, H: sample some times as often."""
        return self.harmonics

    def __call__(self, t: ArrayLike) -> States:
        """Evaluate the states at times t (...,) [s]: q, qd, qdd are (..., n)."""
        kw = 2.0 * math.pi * self.base_frequency * np.arange(1, self.harmonics + 1)
        phase = np.asarray(t, dtype=float)[..., None] * kw
        sin, cos = np.sin(phase), np.cos(phase)
        q = self.centre + sin @ (self.a / kw).T - cos @ (self.b / kw).T
        return States(
            q, cos @ self.a.T + sin @ self.b.T, cos @ (self.b * kw).T - sin @ (self.a * kw).T
        )

    def jerk(self, t: ArrayLike) -> Array:
        """Evaluate the jerk at times t (...,) [s], (..., n) [rad/s3|m/s3]."""
        kw = 2.0 * math.pi * self.base_frequency * np.arange(1, self.harmonics + 1)
        phase = np.asarray(t, dtype=float)[..., None] * kw
        return np.asarray(-np.sin(phase) @ (self.b * kw**2).T - np.cos(phase) @ (self.a * kw**2).T)

    def bounds(self, fine: bool = True) -> MotionBounds:
        """Bound the motion over all t, within 0.01 % of the largest values; 0.5 % if not `fine`."""
        return motion_bounds(
            self, THRESHOLDS.fine_harmonic_samples if fine else THRESHOLDS.coarse_harmonic_samples
        )

    def scaled(self, factors: ArrayLike, centre: ArrayLike | None = None) -> Fourier:
        """Scale the amplitudes by `factors` (a number or (n,)), optionally about another centre."""
        s = np.broadcast_to(np.asarray(factors, dtype=float), (self.n,))[:, None]
        return Fourier(
            self.centre if centre is None else np.asarray(centre, dtype=float),
            s * self.a,
            s * self.b,
            self.base_frequency,
        )


def at_rest(a: ArrayLike, b: ArrayLike) -> tuple[Array, Array]:
    """Project a, b (n, H) onto motions at rest at t = 0: sum a_k = 0 and sum k b_k = 0.

    qd = qdd = 0 then holds at every whole period.
    """
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    k = np.arange(1, a.shape[-1] + 1)
    if len(k) < 2:
        raise CallError(f"{len(k)} harmonics cannot start at rest; expected at least 2")
    return a - a.mean(axis=-1, keepdims=True), b - (b @ k)[..., None] * k / (k @ k)


def motion_bounds(
    motion: Fourier, density: int = THRESHOLDS.coarse_harmonic_samples
) -> MotionBounds:
    """Bound the motion at all times, also between samples.

    A trigonometric polynomial of degree H has max |p| <= max |p(t_i)| / cos(pi H / M), M
    points.

    Ehlich and Zeller, Mathematische Zeitschrift 86 (1964), p. 41. With M = 32 H they are at most
    0.5 % too wide.
    """
    M = density * motion.harmonics
    t = np.arange(M) * motion.period / M
    q, qd, qdd = motion(t)
    slack = 1.0 / math.cos(math.pi / density)
    middle, reach = (q.max(axis=0) + q.min(axis=0)) / 2, slack * (q.max(axis=0) - q.min(axis=0)) / 2
    rates = (slack * np.abs(x).max(axis=0) for x in (qd, qdd, motion.jerk(t)))
    return MotionBounds(middle - reach, middle + reach, *rates)


@dataclass(frozen=True)
class FourierBasis:
    """The Fourier motions of H harmonics that are at rest at every whole period, as a linear space.

    2 H - 1 coefficients a joint.

    The first coefficient is the centre [rad|m], the others span the a with sum a_k = 0 and the b
    with sum k b_k = 0 [rad/s|m/s].
    """

    harmonics: int
    base_frequency: float

    @property
    def period(self) -> float:
        """Time after which the motions repeat [s]."""
        return 1.0 / self.base_frequency

    @property
    def size(self) -> int:
        """Number of coefficients of a joint."""
        return 2 * self.harmonics - 1

    @property
    def density(self) -> int:
        """The number of the finest details in a period: sample some times as often."""
        return self.harmonics

    def rows(self, t: Array) -> Array:
        """Return q, qd, qdd and jerk of unit coefficients at times t (N,) [s]: (4, N, m)."""
        unit = self.motion(np.eye(self.size))
        return np.stack([*unit(t), unit.jerk(t)])

    def motion(self, x: Array) -> Fourier:
        """Return the motion with coefficients x (n, m)."""
        H = self.harmonics
        za, zb = self._rest
        return Fourier(x[:, 0], x[:, 1:H] @ za.T, x[:, H:] @ zb.T, self.base_frequency)

    def coefficients(self, motion: Fourier) -> Array:
        """Return the coefficients (n, m) of a motion of this space."""
        za, zb = self._rest
        return np.column_stack([motion.centre, motion.a @ za, motion.b @ zb])

    @property
    def _rest(self) -> tuple[Array, Array]:
        k = np.arange(1.0, self.harmonics + 1)
        return _complement(np.ones_like(k)), _complement(k)


def _complement(normal: Array) -> Array:
    """Return an orthonormal basis (H, H - 1) of the vectors orthogonal to one."""
    return np.asarray(np.linalg.qr(normal[:, None], mode="complete")[0][:, 1:])
