"""Torques, accelerations, matrices, energies and regressors: each method one compiled kernel."""

from __future__ import annotations

from numpy.typing import ArrayLike

from .description import Array, Description, Wrench


class Dynamics(Description):
    """The equations of motion and their parts."""

    def inverse_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        wrench: Wrench | None = None,
        *,
        parameters: ArrayLike | None = None,
        out: Array | None = None,
    ) -> Array:
        """Torques that give a motion, (..., n) [N m|N]: tau = M(q) qdd + C(q, qd) qd + g(q) + friction(qd) - J^T wrench.

        q [rad|m], qd, qdd: (..., n). `wrench` is what the environment applies, force [N] then moment [N m], in the base frame about the
        frame's origin: {"tool0": (..., 6)} for any frames, or (..., bodies, 6) in the order of `body_names`.
        Luh, Walker and Paul 1980; lecture "Newton-Euler formulation", algorithms 1 and 2.
        """
        return self._call("inverse_dynamics", (q, qd, qdd), parameters, out, wrench)

    def forward_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        wrench: Wrench | None = None,
        *,
        parameters: ArrayLike | None = None,
        out: Array | None = None,
    ) -> Array:
        """Accelerations that torques give, (..., n) [rad/s2|m/s2]: M(q) qdd = tau - C(q, qd) qd - g(q) - friction(qd) + J^T wrench.

        q, qd, tau: (..., n); wrench as in `inverse_dynamics`. By articulated bodies (Featherstone 2008, section 7.3; recursive direct
        dynamics lecture, three phases) or through the mass matrix (ibid., section 6.5), whichever is shorter for this robot.
        """
        return self._call("forward_dynamics", (q, qd, tau), parameters, out, wrench)

    def mass_matrix(self, q: ArrayLike, *, parameters: ArrayLike | None = None, out: Array | None = None) -> Array:
        """M(q), (..., n, n) [kg m2|kg m|kg], symmetric and positive definite, rotors included. Walker and Orin 1982, method 3."""
        return self._call("mass_matrix", (q,), parameters, out)

    def coriolis_matrix(self, q: ArrayLike, qd: ArrayLike, *, parameters: ArrayLike | None = None, out: Array | None = None) -> Array:
        """C(q, qd), (..., n, n) [N m s/rad], the one built on Christoffel symbols: dM/dt - 2 C is skew-symmetric.

        Lecture "Properties of the dynamic model", property 2; structure lecture, property 4.
        """
        return self._call("coriolis_matrix", (q, qd), parameters, out)

    def gravity_torque(self, q: ArrayLike, *, parameters: ArrayLike | None = None, out: Array | None = None) -> Array:
        """g(q), (..., n) [N m|N]: the torque that holds the robot still, g(q) = dU/dq. Lecture "Inverse dynamics": NE(q, 0, 0; g0)."""
        return self._call("gravity_torque", (q,), parameters, out)

    def friction_torque(self, qd: ArrayLike, *, parameters: ArrayLike | None = None, out: Array | None = None) -> Array:
        """Fv qd + Fc sign(qd) + F0, (..., n) [N m|N], with sign(0) = 0. Lecture "Dynamic parameter identification", friction."""
        return self._call("friction_torque", (qd,), parameters, out)

    def momentum(self, q: ArrayLike, qd: ArrayLike, *, parameters: ArrayLike | None = None, out: Array | None = None) -> Array:
        """Generalised momentum p = M(q) qd, (..., n) [kg m2/s|kg m/s]. Lecture "Inverse dynamics": NE(q, 0, qd; 0)."""
        return self._call("momentum", (q, qd), parameters, out)

    def kinetic_energy(self, q: ArrayLike, qd: ArrayLike, *, parameters: ArrayLike | None = None, out: Array | None = None) -> Array:
        """T = 1/2 qd^T M(q) qd, (...) [J]. Lagrangian lecture, "Kinetic energy"."""
        return self._call("kinetic_energy", (q, qd), parameters, out)

    def potential_energy(self, q: ArrayLike, *, parameters: ArrayLike | None = None, out: Array | None = None) -> Array:
        """U = - sum of m g . c, (...) [J], zero with all mass at the base's origin. Lagrangian lecture, "Potential energy"."""
        return self._call("potential_energy", (q,), parameters, out)

    def regressor(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, out: Array | None = None) -> Array:
        """Y(q, qd, qdd), (..., n, p), with Y @ parameters = inverse_dynamics. Lecture "Linearity in the dynamic parameters"."""
        return self._call("regressor", (q, qd, qdd), None, out)

    def momentum_regressor(self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None) -> Array:
        """Y(q, qd), (..., n, p), with Y @ parameters = momentum (the columns of friction are zero). Gautier and Khalil 1988."""
        return self._call("momentum_regressor", (q, qd), None, out)

    def energy_regressor(self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None) -> Array:
        """y(q, qd), (..., p), with y @ parameters = kinetic_energy + potential_energy [J]. Lecture "Linearity": T_i = a_T theta_i, U_i =
        a_U theta_i.
        """
        return self._call("energy_regressor", (q, qd), None, out)
