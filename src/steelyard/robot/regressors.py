"""Regressors: matrices whose product with the parameters is a torque, a momentum or an energy."""

from __future__ import annotations

from numpy.typing import ArrayLike

from .description import Array, Description


class Regressors(Description):
    """What is linear in the parameters pi (p,): each result @ `parameters` is the quantity of its name."""

    def regressor(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, base: ArrayLike | None = None, *, out: Array | None = None) -> Array:
        """Y(q, qd, qdd), (..., n, p), with Y @ parameters = inverse_dynamics, on a base that moves as `base` says there.

        Lecture "Linearity in the dynamic parameters".

        Example:
            >>> robot = sy.load("planar_2r")
            >>> Y = robot.regressor([0.1, 0.2], [0.5, 0.5], [1.0, -1.0])
            >>> Y.shape, (Y @ robot.parameters).round(3)
            ((2, 20), array([395.272,  79.052]))
        """
        return self._call("regressor", (q, qd, qdd), None, out, base=base)

    def momentum_regressor(self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None) -> Array:
        """Y(q, qd), (..., n, p), with Y @ parameters = momentum (the columns of friction are zero). Gautier and Khalil 1988.

        Example:
            >>> sy.load("planar_2r").momentum_regressor([0.1, 0.2], [0.5, 0.5]).shape
            (2, 20)
        """
        return self._call("momentum_regressor", (q, qd), None, out)

    def momentum_rate_regressor(self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None) -> Array:
        """Y(q, qd), (..., n, p), with Y @ parameters = C^T qd - g - friction: dp/dt = tau + Y @ parameters, without acceleration.

        De Luca and Mattone 2003, eq. (7).

        Example:
            >>> sy.load("planar_2r").momentum_rate_regressor([0.1, 0.2], [0.5, 0.5]).shape
            (2, 20)
        """
        return self._call("momentum_rate_regressor", (q, qd), None, out)

    def energy_regressor(self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None) -> Array:
        """y(q, qd), (..., p), with y @ parameters = kinetic_energy + potential_energy [J]. Lecture "Linearity": T_i = a_T theta_i, U_i =
        a_U theta_i.

        Example:
            >>> sy.load("planar_2r").energy_regressor([0.1, 0.2], [0.5, 0.5]).shape
            (20,)
        """
        return self._call("energy_regressor", (q, qd), None, out)

    def slotine_li_torque(
        self, q: ArrayLike, qd: ArrayLike, qrd: ArrayLike, qrdd: ArrayLike, *, parameters: ArrayLike | None = None, out: Array | None = None
    ) -> Array:
        """M(q) qrdd + C(q, qd) qrd + g(q) + friction(qd), (..., n) [N m|N], with the reference velocity qrd and acceleration qrdd.

        Slotine and Li 1987, eq. (6).

        Example:
            >>> sy.load("planar_2r").slotine_li_torque([0.1, 0.2], [0.5, 0.5], [0.4, 0.6], [0, 0]).round(3)
            array([362.848,  71.528])
        """
        return self._call("slotine_li", (q, qd, qrd, qrdd), parameters, out)

    def slotine_li_regressor(self, q: ArrayLike, qd: ArrayLike, qrd: ArrayLike, qrdd: ArrayLike, *, out: Array | None = None) -> Array:
        """Y_r(q, qd, qrd, qrdd), (..., n, p), with Y_r @ parameters = slotine_li_torque. Slotine and Li 1987, eq. (7).

        Example:
            >>> sy.load("planar_2r").slotine_li_regressor([0.1, 0.2], [0.5, 0.5], [0.4, 0.6], [0, 0]).shape
            (2, 20)
        """
        return self._call("slotine_li_regressor", (q, qd, qrd, qrdd), None, out)
