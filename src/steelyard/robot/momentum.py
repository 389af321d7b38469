"""Momentum and energy, and the external torque that a momentum observer estimates."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..errors import CallError
from .description import Array, Description


class MomentumMethods(Description):
    """Generalised momentum, its rate, and energies."""

    def momentum(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        *,
        parameters: ArrayLike | None = None,
        out: Array | None = None,
    ) -> Array:
        """Compute the generalised momentum p = M(q) qd (..., n) [kg m2/s|kg m/s].

        Lecture "Inverse dynamics": NE(q, 0, qd; 0).

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        qd : (..., n) joint velocities [rad/s|m/s].
        parameters : (..., p) parameters in place of the robot's own, in the order and units of
            `parameter_names`.
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., n) [kg m2/s|kg m/s].

        Examples
        --------
        >>> sy.load("planar_2r").momentum([0.1, 0.2], [0.5, 0.5]).round(3)
        array([26.963,  7.064])
        """
        return self._call("momentum", (q, qd), parameters, out)

    def momentum_rate(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        *,
        parameters: ArrayLike | None = None,
        out: Array | None = None,
    ) -> Array:
        """Compute dp/dt = tau + C^T qd - g - friction without contact (..., n) [N m|N].

        A collision observer compares it with the momentum. De Luca and Mattone 2003, eq. (7).

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        qd : (..., n) joint velocities [rad/s|m/s].
        tau : (..., n) joint torques [N m|N].
        parameters : (..., p) parameters in place of the robot's own, in the order and units of
            `parameter_names`.
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., n) [N m|N].

        Examples
        --------
        >>> sy.load("planar_2r").momentum_rate([0.1, 0.2], [0.5, 0.5], [100.0, 50.0]).round(3)
        array([-264.056,  -21.981])
        """
        return self._call("momentum_rate", (q, qd, tau), parameters, out)

    def momentum_residual(
        self,
        t: ArrayLike,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        gain: ArrayLike = 25.0,
        *,
        out: Array | None = None,
    ) -> Array:
        """Estimate the external torque (N, n) [N m|N] through a low-pass of `gain` [1/s].

        Zero without contact. t (N,) [s]; q, qd, tau (N, n). From the generalised momentum, so no
        acceleration is needed. De Luca and Mattone 2003, eq. (9).

        Parameters
        ----------
        t : (N,) times that increase [s].
        q, qd, tau : (N, n) measured positions [rad|m], velocities [rad/s|m/s] and torques [N m|N].
        gain : bandwidth of the low-pass [1/s], one for all joints or (n,).
        out : (N, n) array that the result is written to.

        Returns
        -------
        (N, n) [N m|N].

        Examples
        --------
        >>> robot = sy.load("planar_2r")
        >>> t, q, qd = np.arange(3) * 0.01, np.zeros((3, 2)), np.zeros((3, 2))
        >>> robot.momentum_residual(t, q, qd, robot.gravity_torque(q) - [0.0, 4.0]).round(2)
        array([[0.  , 0.  ],
               [0.  , 0.89],
               [0.  , 1.58]])
        """
        times, torques = np.asarray(t, dtype=float), np.asarray(tau, dtype=float)
        momentum, rate = (
            self._call("momentum", (q, qd), None, None),
            self.momentum_rate(q, qd, torques),
        )
        return residual(times, momentum, rate, np.asarray(gain, dtype=float), out)

    def coriolis_transpose(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        *,
        parameters: ArrayLike | None = None,
        out: Array | None = None,
    ) -> Array:
        """Compute C(q, qd)^T qd = dT/dq (..., n) [N m|N], without the matrix.

        De Luca and Mattone 2003, eq. (6).

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        qd : (..., n) joint velocities [rad/s|m/s].
        parameters : (..., p) parameters in place of the robot's own, in the order and units of
            `parameter_names`.
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., n) [N m|N].

        Examples
        --------
        >>> sy.load("planar_2r").coriolis_transpose([0.1, 0.2], [0.5, 0.5]).round(3)
        array([ 0.   , -0.755])
        """
        return self._call("coriolis_transpose", (q, qd), parameters, out)

    def kinetic_energy(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        *,
        parameters: ArrayLike | None = None,
        out: Array | None = None,
    ) -> Array:
        """Compute the kinetic energy T = 1/2 qd^T M(q) qd (...) [J].

        Lagrangian lecture, "Kinetic energy".

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        qd : (..., n) joint velocities [rad/s|m/s].
        parameters : (..., p) parameters in place of the robot's own, in the order and units of
            `parameter_names`.
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (...) [J].

        Examples
        --------
        >>> sy.load("planar_2r").kinetic_energy([0.1, 0.2], [0.5, 0.5]).round(3)
        np.float64(8.507)
        """
        return self._call("kinetic_energy", (q, qd), parameters, out)

    def potential_energy(
        self, q: ArrayLike, *, parameters: ArrayLike | None = None, out: Array | None = None
    ) -> Array:
        """Compute the potential energy U = -sum of m g . c (...) [J], zero at the base's origin.

        Lagrangian lecture, "Potential energy".

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        parameters : (..., p) parameters in place of the robot's own, in the order and units of
            `parameter_names`.
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (...) [J].

        Examples
        --------
        >>> sy.load("planar_2r").potential_energy([0.1, 0.2]).round(3)
        np.float64(51.414)
        """
        return self._call("potential_energy", (q,), parameters, out)


def residual(
    t: Array, momentum: Array, rate: Array, gain: Array, out: Array | None = None
) -> Array:
    """Compute the momentum observer's residual r: dr/dt = gain (dp/dt - rate - r).

    The external torque through a first-order low-pass of that gain [1/s], (N, n) [N m|N]. momentum
    p (N, n) and its rate without contact (N, n) at times t (N,). By the trapezoidal rule, for steps
    of any length. De Luca and Mattone 2003, eq. (9).
    """
    dt = np.diff(t)
    if t.ndim != 1 or len(t) < 2 or not np.all(dt > 0):
        raise CallError("momentum_residual: t must be at least two times that increase [s]")
    if momentum.shape != (len(t), momentum.shape[-1]):
        raise CallError(
            f"momentum_residual: q, qd and tau need one row for each of {len(t)} times; got shape"
            f" {momentum.shape}"
        )
    if not np.all(gain > 0):
        raise CallError(f"momentum_residual: the gain must be positive [1/s], not {gain}")
    surplus = np.diff(momentum, axis=0) - 0.5 * dt[:, None] * (rate[1:] + rate[:-1])
    if out is not None and out.shape != momentum.shape:
        raise CallError(f"momentum_residual: out has shape {out.shape}; expected {momentum.shape}")
    r = np.empty_like(momentum) if out is None else out
    r[0] = 0.0
    for k, (step, change) in enumerate(zip(dt, surplus, strict=True)):
        half = 0.5 * step * gain
        r[k + 1] = ((1.0 - half) * r[k] + gain * change) / (1.0 + half)
    return r
