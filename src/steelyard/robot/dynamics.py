"""Every method that computes: torques, accelerations, matrices, energies, regressors, reactions, derivatives, frames. One kernel each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import CallError
from .description import Array, Description, Wrench


class Dynamics(Description):
    """The equations of motion, their parts and derivatives; where frames are and how fast they move."""

    def inverse_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        wrench: Wrench | None = None,
        base: ArrayLike | None = None,
        *,
        parameters: ArrayLike | None = None,
        out: Array | None = None,
    ) -> Array:
        """Torques that give a motion, (..., n) [N m|N]: tau = M(q) qdd + C(q, qd) qd + g(q) + friction(qd) - J^T wrench.

        q [rad|m], qd, qdd: (..., n). `wrench` is what the environment applies, force [N] then moment [N m], in the base frame about the
        frame's origin: {"tool0": (..., 6)} for any frames, or (..., bodies, 6) in the order of `body_names`. `base` (..., 9) is the motion
        of the base as an inertial sensor at its origin feels it, in its own frame: proper acceleration a - g [m/s2], angular velocity
        [rad/s], angular acceleration [rad/s2]. At rest it is (-g, 0, 0): gravity that is given at run time.
        Luh, Walker and Paul 1980; lecture "Newton-Euler formulation", algorithms 1 and 2.
        """
        return self._call("inverse_dynamics", (q, qd, qdd), parameters, out, wrench, base=base)

    def forward_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        wrench: Wrench | None = None,
        base: ArrayLike | None = None,
        *,
        parameters: ArrayLike | None = None,
        out: Array | None = None,
    ) -> Array:
        """Accelerations that torques give, (..., n) [rad/s2|m/s2]: M(q) qdd = tau - C(q, qd) qd - g(q) - friction(qd) + J^T wrench.

        q, qd, tau: (..., n); wrench and base as in `inverse_dynamics`. By articulated bodies (Featherstone 2008, section 7.3; recursive
        direct dynamics lecture, three phases) or through the mass matrix (ibid., section 6.5), whichever is shorter for this robot.
        """
        return self._call("forward_dynamics", (q, qd, tau), parameters, out, wrench, base=base)

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

    def friction_torque(
        self, qd: ArrayLike, q: ArrayLike | None = None, *, parameters: ArrayLike | None = None, out: Array | None = None
    ) -> Array:
        """Fv qd + Fc sign(qd) + F0 and further terms, (..., n) [N m|N], with sign(0) = 0. qd [rad/s|m/s]: (..., n).

        q [rad|m] (..., n) is needed where friction depends on position or load; with it, known torques are part of the result.
        Lecture "Dynamic parameter identification", friction.
        """
        if q is None:
            return self._call("friction_torque", (qd,), parameters, out)
        return self._call("friction_torque_at", (q, qd), parameters, out)

    def momentum(self, q: ArrayLike, qd: ArrayLike, *, parameters: ArrayLike | None = None, out: Array | None = None) -> Array:
        """Generalised momentum p = M(q) qd, (..., n) [kg m2/s|kg m/s]. Lecture "Inverse dynamics": NE(q, 0, qd; 0)."""
        return self._call("momentum", (q, qd), parameters, out)

    def kinetic_energy(self, q: ArrayLike, qd: ArrayLike, *, parameters: ArrayLike | None = None, out: Array | None = None) -> Array:
        """T = 1/2 qd^T M(q) qd, (...) [J]. Lagrangian lecture, "Kinetic energy"."""
        return self._call("kinetic_energy", (q, qd), parameters, out)

    def potential_energy(self, q: ArrayLike, *, parameters: ArrayLike | None = None, out: Array | None = None) -> Array:
        """U = - sum of m g . c, (...) [J], zero with all mass at the base's origin. Lagrangian lecture, "Potential energy"."""
        return self._call("potential_energy", (q,), parameters, out)

    def regressor(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, base: ArrayLike | None = None, *, out: Array | None = None) -> Array:
        """Y(q, qd, qdd), (..., n, p), with Y @ parameters = inverse_dynamics, on a base that moves as `base` says there.

        Lecture "Linearity in the dynamic parameters".
        """
        return self._call("regressor", (q, qd, qdd), None, out, base=base)

    def momentum_regressor(self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None) -> Array:
        """Y(q, qd), (..., n, p), with Y @ parameters = momentum (the columns of friction are zero). Gautier and Khalil 1988."""
        return self._call("momentum_regressor", (q, qd), None, out)

    def momentum_rate_regressor(self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None) -> Array:
        """Y(q, qd), (..., n, p), with Y @ parameters = C^T qd - g - friction: dp/dt = tau + Y @ parameters, without acceleration.

        De Luca and Mattone 2003, eq. (7).
        """
        return self._call("momentum_rate_regressor", (q, qd), None, out)

    def energy_regressor(self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None) -> Array:
        """y(q, qd), (..., p), with y @ parameters = kinetic_energy + potential_energy [J]. Lecture "Linearity": T_i = a_T theta_i, U_i =
        a_U theta_i.
        """
        return self._call("energy_regressor", (q, qd), None, out)

    def christoffel(self, q: ArrayLike, *, parameters: ArrayLike | None = None, out: Array | None = None) -> Array:
        """c(q), (..., n, n, n) [kg m2]: C_ij = sum over k of c_ijk qd_k, c_ijk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2.

        Lagrangian lecture, "Let's plug it all together"; structure lecture, property 4.
        """
        return self._call("christoffel", (q,), parameters, out)

    def coriolis_transpose(self, q: ArrayLike, qd: ArrayLike, *, parameters: ArrayLike | None = None, out: Array | None = None) -> Array:
        """C(q, qd)^T qd = dT/dq, (..., n) [N m|N], without the matrix. De Luca and Mattone 2003, eq. (6)."""
        return self._call("coriolis_transpose", (q, qd), parameters, out)

    def momentum_rate(
        self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, *, parameters: ArrayLike | None = None, out: Array | None = None
    ) -> Array:
        """dp/dt = tau + C^T qd - g - friction, (..., n) [N m|N]: without contact. What a collision observer compares with the momentum.

        De Luca and Mattone 2003, eq. (7).
        """
        return self._call("momentum_rate", (q, qd, tau), parameters, out)

    def momentum_residual(
        self, t: ArrayLike, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, gain: ArrayLike = 25.0, *, out: Array | None = None
    ) -> Array:
        """The torque that the environment applied, (N, n) [N m|N], seen through a low-pass of `gain` [1/s]: zero without contact.

        t (N,) [s]; q, qd, tau (N, n). From the generalised momentum, so no acceleration is needed. De Luca and Mattone 2003, eq. (9).
        """
        times, torques = np.asarray(t, dtype=float), np.asarray(tau, dtype=float)
        momentum, rate = self._call("momentum", (q, qd), None, None), self.momentum_rate(q, qd, torques)
        return residual(times, momentum, rate, np.asarray(gain, dtype=float), out)

    def slotine_li_torque(
        self, q: ArrayLike, qd: ArrayLike, qrd: ArrayLike, qrdd: ArrayLike, *, parameters: ArrayLike | None = None, out: Array | None = None
    ) -> Array:
        """M(q) qrdd + C(q, qd) qrd + g(q) + friction(qd), (..., n) [N m|N], with the reference velocity qrd and acceleration qrdd.

        Slotine and Li 1987, eq. (6).
        """
        return self._call("slotine_li", (q, qd, qrd, qrdd), parameters, out)

    def slotine_li_regressor(self, q: ArrayLike, qd: ArrayLike, qrd: ArrayLike, qrdd: ArrayLike, *, out: Array | None = None) -> Array:
        """Y_r(q, qd, qrd, qrdd), (..., n, p), with Y_r @ parameters = slotine_li_torque. Slotine and Li 1987, eq. (7)."""
        return self._call("slotine_li_regressor", (q, qd, qrd, qrdd), None, out)

    def wrench_torque(self, q: ArrayLike, wrench: Wrench, *, out: Array | None = None) -> Array:
        """J^T h, (..., n) [N m|N]: the joint torques that wrenches cause, given as in `inverse_dynamics`."""
        return self._call("wrench_torque", (q,), None, out, wrench)

    def joint_reactions(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        wrench: Wrench | None = None,
        base: ArrayLike | None = None,
        *,
        parameters: ArrayLike | None = None,
        out: Array | None = None,
    ) -> Array:
        """What each joint passes on to its link in a motion, (..., bodies, 6): force [N], then moment [N m], in the link's own frame
        about its origin.

        The drive gives the part about (or along) the axis, the bearing the rest. Lecture "Newton-Euler formulation", algorithm 2, lines 7
        and 8.
        """
        return self._call("joint_reactions", (q, qd, qdd), parameters, out, wrench, base=base)

    def forward_reactions(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        wrench: Wrench | None = None,
        base: ArrayLike | None = None,
        *,
        parameters: ArrayLike | None = None,
        out: Array | None = None,
    ) -> Array:
        """The same under given torques, (..., bodies, 6). Recursive direct dynamics lecture, phase
        3.
        """
        return self._call("forward_reactions", (q, qd, tau), parameters, out, wrench, base=base)

    def bias_torque(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        wrench: Wrench | None = None,
        base: ArrayLike | None = None,
        *,
        parameters: ArrayLike | None = None,
        out: Array | None = None,
    ) -> Array:
        """Torques without acceleration, (..., n) [N m|N]: C(q, qd) qd + g(q) + friction(qd) - J^T wrench, = inverse_dynamics(q, qd, 0).

        wrench and base as in `inverse_dynamics`. Featherstone 2008, section 6.1 (the bias force).
        """
        return self._call("bias_torque", (q, qd), parameters, out, wrench, base=base)

    def inverse_dynamics_derivatives(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        wrench: Wrench | None = None,
        base: ArrayLike | None = None,
        *,
        parameters: ArrayLike | None = None,
        out: Any = None,
    ) -> tuple[Array, Array, Array]:
        """(dtau/dq, dtau/dqd, M), each (..., n, n), exact, friction and drives included; sign() has derivative zero.

        Carpentier and Mansard 2018; here from the graph of Newton-Euler.
        """
        return self._call("inverse_dynamics_derivatives", (q, qd, qdd), parameters, out, wrench, base=base)

    def forward_dynamics_derivatives(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        wrench: Wrench | None = None,
        base: ArrayLike | None = None,
        *,
        parameters: ArrayLike | None = None,
        out: Any = None,
    ) -> tuple[Array, Array, Array]:
        """(dqdd/dq, dqdd/dqd, dqdd/dtau = M^-1), each (..., n, n): minus M^-1 times those of the torque. Carpentier and Mansard 2018, eq.
        (11).
        """
        return self._call("forward_dynamics_derivatives", (q, qd, tau), parameters, out, wrench, base=base)

    def forward_kinematics(self, q: ArrayLike, frame: str | None = None, *, out: Array | None = None) -> Array:
        """The pose of a frame in the base frame, (..., 4, 4) homogeneous: rotation [-] and position [m]. The end-effector by default.

        Lynch and Park 2017, section 4.1.
        """
        return self._call("forward_kinematics", (q,), None, out, frame=self._frame(frame))

    def jacobian(self, q: ArrayLike, frame: str | None = None, *, out: Array | None = None) -> Array:
        """J(q), (..., 6, n): linear velocity of the frame's origin [m/s], then angular velocity [rad/s], in the base frame, = J qd.

        Siciliano et al. 2009, section 3.1 (geometric Jacobian).
        """
        return self._call("jacobian", (q,), None, out, frame=self._frame(frame))

    def jacobian_rate(self, q: ArrayLike, qd: ArrayLike, frame: str | None = None, *, out: Array | None = None) -> Array:
        """dJ/dt, (..., 6, n), along qd: the frame accelerates by J qdd + dJ/dt qd."""
        return self._call("jacobian_rate", (q, qd), None, out, frame=self._frame(frame))


def residual(t: Array, momentum: Array, rate: Array, gain: Array, out: Array | None = None) -> Array:
    """r with dr/dt = gain (dp/dt - rate - r): the external torque through a first-order low-pass of that gain [1/s], (N, n) [N m|N].

    momentum p (N, n) and its rate without contact (N, n) at times t (N,). By the trapezoidal rule, for steps of any length.
    De Luca and Mattone 2003, eq. (9).
    """
    dt = np.diff(t)
    if t.ndim != 1 or len(t) < 2 or not np.all(dt > 0):
        raise CallError("momentum_residual: t must be at least two times that increase [s]")
    if momentum.shape != (len(t), momentum.shape[-1]):
        raise CallError(f"momentum_residual: q, qd and tau need one row for each of {len(t)} times; got shape {momentum.shape}")
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
