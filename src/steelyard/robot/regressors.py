"""Regressors: matrices whose product with the parameters is a torque, momentum or energy."""

from __future__ import annotations

from numpy.typing import ArrayLike

from .description import Array, Description


class RegressorMethods(Description):
    """Regressors: each result @ `parameters` (p,) is the quantity of its name."""

    def regressor(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        base: ArrayLike | None = None,
        *,
        out: Array | None = None,
    ) -> Array:
        """Compute the regressor Y(q, qd, qdd) (..., n, p) with Y @ parameters = inverse_dynamics.

        `base` as in `inverse_dynamics`. Lecture "Linearity in the dynamic parameters".

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        qd : (..., n) joint velocities [rad/s|m/s].
        qdd : (..., n) joint accelerations [rad/s2|m/s2].
        base : (..., 9) motion of the base as an inertial sensor measures it: proper acceleration
            [m/s2], angular velocity [rad/s], angular acceleration [rad/s2], in the base's own
            frame; at rest by default.
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., n, p) [N m|N] per unit of the parameter.

        Examples
        --------
        >>> robot = sy.load("planar_2r")
        >>> Y = robot.regressor([0.1, 0.2], [0.5, 0.5], [1.0, -1.0])
        >>> Y.shape, (Y @ robot.parameters).round(3)
        ((2, 20), array([395.272,  79.052]))
        """
        return self._call("regressor", (q, qd, qdd), None, out, base=base)

    def momentum_regressor(self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None) -> Array:
        """Compute Y(q, qd) (..., n, p) with Y @ parameters = momentum; friction columns are zero.

        Gautier and Khalil 1988.

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        qd : (..., n) joint velocities [rad/s|m/s].
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., n, p) [kg m2/s] per unit.

        Examples
        --------
        >>> sy.load("planar_2r").momentum_regressor([0.1, 0.2], [0.5, 0.5]).shape
        (2, 20)
        """
        return self._call("momentum_regressor", (q, qd), None, out)

    def momentum_rate_regressor(
        self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None
    ) -> Array:
        """Compute Y(q, qd) (..., n, p) with Y @ parameters = C^T qd - g - friction.

        dp/dt = tau + Y @ parameters, without acceleration. De Luca and Mattone 2003, eq. (7).

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        qd : (..., n) joint velocities [rad/s|m/s].
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., n, p) [N m|N] per unit.

        Examples
        --------
        >>> sy.load("planar_2r").momentum_rate_regressor([0.1, 0.2], [0.5, 0.5]).shape
        (2, 20)
        """
        return self._call("momentum_rate_regressor", (q, qd), None, out)

    def energy_regressor(self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None) -> Array:
        """Compute y(q, qd) (..., p) with y @ parameters = kinetic_energy + potential_energy [J].

        Lecture "Linearity": T_i = a_T theta_i, U_i = a_U theta_i.

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        qd : (..., n) joint velocities [rad/s|m/s].
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., p) [J] per unit.

        Examples
        --------
        >>> sy.load("planar_2r").energy_regressor([0.1, 0.2], [0.5, 0.5]).shape
        (20,)
        """
        return self._call("energy_regressor", (q, qd), None, out)

    def slotine_li_torque(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qrd: ArrayLike,
        qrdd: ArrayLike,
        *,
        parameters: ArrayLike | None = None,
        out: Array | None = None,
    ) -> Array:
        """Compute M(q) qrdd + C(q, qd) qrd + g(q) + friction(qd) (..., n) [N m|N].

        qrd and qrdd are the reference velocity and acceleration. Slotine and Li 1987, eq. (6).

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        qd : (..., n) joint velocities [rad/s|m/s].
        qrd : (..., n) reference velocities [rad/s|m/s].
        qrdd : (..., n) reference accelerations [rad/s2|m/s2].
        parameters : (..., p) parameters in place of the robot's own, in the order and units of
            `parameter_names`.
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., n) [N m|N].

        Examples
        --------
        >>> robot = sy.load("planar_2r")
        >>> robot.slotine_li_torque([0.1, 0.2], [0.5, 0.5], [0.4, 0.6], [0, 0]).round(3)
        array([362.848,  71.528])
        """
        return self._call("slotine_li", (q, qd, qrd, qrdd), parameters, out)

    def slotine_li_regressor(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qrd: ArrayLike,
        qrdd: ArrayLike,
        *,
        out: Array | None = None,
    ) -> Array:
        """Compute Y_r(q, qd, qrd, qrdd) (..., n, p) with Y_r @ parameters = slotine_li_torque.

        Slotine and Li 1987, eq. (7).

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        qd : (..., n) joint velocities [rad/s|m/s].
        qrd : (..., n) reference velocities [rad/s|m/s].
        qrdd : (..., n) reference accelerations [rad/s2|m/s2].
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., n, p) [N m|N] per unit.

        Examples
        --------
        >>> robot = sy.load("planar_2r")
        >>> robot.slotine_li_regressor([0.1, 0.2], [0.5, 0.5], [0.4, 0.6], [0, 0]).shape
        (2, 20)
        """
        return self._call("slotine_li_regressor", (q, qd, qrd, qrdd), None, out)
