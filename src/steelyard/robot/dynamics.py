"""Equations of motion: torques, accelerations, matrices, reactions and derivatives."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import numbers, short_repr
from ..errors import CallError
from .description import Array, Description, Wrench
from .presliding import presliding_along


class DynamicsMethods(Description):
    """The equations of motion, their terms and derivatives."""

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
        """Compute the torques of a motion (..., n) [N m|N] by the recursive Newton-Euler algorithm.

        tau = M(q) qdd + C(q, qd) qd + g(q) + friction(qd) - J^T wrench.

        q [rad|m], qd, qdd: (..., n). `wrench` is applied by the environment: force [N], then moment
        [N m], in the base frame about the frame's origin: {"tool0": (..., 6)} for any frames, or
        (..., bodies, 6) in the order of `body_names`. `base` (..., 9) is the motion of the base in
        its own frame, as an inertial sensor at its origin measures it: proper acceleration a - g
        [m/s2], angular velocity [rad/s], angular acceleration [rad/s2]. At rest it is (-g, 0, 0).
        Luh, Walker and Paul 1980; lecture "Newton-Euler formulation", algorithms 1 and 2.

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        qd : (..., n) joint velocities [rad/s|m/s].
        qdd : (..., n) joint accelerations [rad/s2|m/s2].
        wrench : external wrench, force [N] then moment [N m], in the base frame:
            {"tool0": (..., 6)} about the origin of any frames, or (..., bodies, 6) in the order of
            `body_names`; nothing by default.
        base : (..., 9) motion of the base as an inertial sensor measures it: proper acceleration
            [m/s2], angular velocity [rad/s], angular acceleration [rad/s2], in the base's own
            frame; at rest by default.
        parameters : (..., p) parameters in place of the robot's own, in the order and units of
            `parameter_names`.
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., n) [N m|N].

        Examples
        --------
        >>> robot = sy.load("planar_2r")
        >>> robot.inverse_dynamics([0.1, 0.2], [0.5, 0.5], [1.0, -1.0]).round(3)
        array([395.272,  79.052])
        >>> wrench = {"link2": [0, 10, 0, 0, 0, 0]}
        >>> robot.inverse_dynamics([0.1, 0.2], [0, 0], [0, 0], wrench).round(3)
        array([354.106,  71.226])
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
        """Compute the accelerations under torques (..., n) [rad/s2|m/s2].

        M(q) qdd = tau - C(q, qd) qd - g(q) - friction(qd) + J^T wrench.

        q, qd, tau: (..., n); wrench and base as in `inverse_dynamics`. By articulated bodies
        (Featherstone 2008, section 7.3; recursive direct dynamics lecture, three phases) or through
        the mass matrix (ibid., section 6.5), whichever is shorter for this robot.

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        qd : (..., n) joint velocities [rad/s|m/s].
        tau : (..., n) joint torques [N m|N].
        wrench : external wrench, force [N] then moment [N m], in the base frame:
            {"tool0": (..., 6)} about the origin of any frames, or (..., bodies, 6) in the order of
            `body_names`; nothing by default.
        base : (..., 9) motion of the base as an inertial sensor measures it: proper acceleration
            [m/s2], angular velocity [rad/s], angular acceleration [rad/s2], in the base's own
            frame; at rest by default.
        parameters : (..., p) parameters in place of the robot's own, in the order and units of
            `parameter_names`.
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., n) [rad/s2|m/s2].

        Examples
        --------
        >>> robot = sy.load("planar_2r")
        >>> tau = robot.inverse_dynamics([0.1, 0.2], [0.5, 0.5], [1.0, -1.0])
        >>> robot.forward_dynamics([0.1, 0.2], [0.5, 0.5], tau).round(6)
        array([ 1., -1.])
        """
        return self._call("forward_dynamics", (q, qd, tau), parameters, out, wrench, base=base)

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
        """Compute the torques at zero acceleration (..., n) [N m|N].

        C(q, qd) qd + g(q) + friction(qd) - J^T wrench = inverse_dynamics(q, qd, 0).

        wrench and base as in `inverse_dynamics`. Featherstone 2008, section 6.1 (the bias force).

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        qd : (..., n) joint velocities [rad/s|m/s].
        wrench : external wrench, force [N] then moment [N m], in the base frame:
            {"tool0": (..., 6)} about the origin of any frames, or (..., bodies, 6) in the order of
            `body_names`; nothing by default.
        base : (..., 9) motion of the base as an inertial sensor measures it: proper acceleration
            [m/s2], angular velocity [rad/s], angular acceleration [rad/s2], in the base's own
            frame; at rest by default.
        parameters : (..., p) parameters in place of the robot's own, in the order and units of
            `parameter_names`.
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., n) [N m|N].

        Examples
        --------
        >>> sy.load("planar_2r").bias_torque([0.1, 0.2], [0.5, 0.5]).round(3)
        array([362.923,  71.604])
        """
        return self._call("bias_torque", (q, qd), parameters, out, wrench, base=base)

    def mass_matrix(
        self, q: ArrayLike, *, parameters: ArrayLike | None = None, out: Array | None = None
    ) -> Array:
        """Compute the mass matrix M(q) (..., n, n) [kg m2|kg m|kg], rotors included.

        Symmetric and positive definite. Walker and Orin 1982, method 3.

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        parameters : (..., p) parameters in place of the robot's own, in the order and units of
            `parameter_names`.
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., n, n) [kg m2|kg m|kg].

        Examples
        --------
        >>> sy.load("planar_2r").mass_matrix([0.1, 0.2]).round(3)
        array([[43.137, 10.789],
               [10.789,  3.34 ]])
        """
        return self._call("mass_matrix", (q,), parameters, out)

    def coriolis_matrix(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        *,
        parameters: ArrayLike | None = None,
        out: Array | None = None,
    ) -> Array:
        """Compute the Coriolis matrix C(q, qd) (..., n, n) [N m s/rad] from Christoffel symbols.

        dM/dt - 2 C is skew-symmetric. Lecture "Properties of the dynamic model", property 2;
        structure lecture, property 4.

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        qd : (..., n) joint velocities [rad/s|m/s].
        parameters : (..., p) parameters in place of the robot's own, in the order and units of
            `parameter_names`.
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., n, n) [N m s/rad|N s/m].

        Examples
        --------
        >>> sy.load("planar_2r").coriolis_matrix([0.1, 0.2], [0.5, 0.5]).round(3)
        array([[-0.755, -1.51 ],
               [ 0.755,  0.   ]])
        """
        return self._call("coriolis_matrix", (q, qd), parameters, out)

    def christoffel(
        self, q: ArrayLike, *, parameters: ArrayLike | None = None, out: Array | None = None
    ) -> Array:
        """Compute the Christoffel symbols c(q) (..., n, n, n) [kg m2].

        C_ij = sum over k of c_ijk qd_k, c_ijk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2.
        Lagrangian lecture, "Let's plug it all together"; structure lecture, property 4.

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        parameters : (..., p) parameters in place of the robot's own, in the order and units of
            `parameter_names`.
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., n, n, n) [kg m2|kg m|kg].

        Examples
        --------
        >>> sy.load("planar_2r").christoffel([0.1, 0.2]).shape
        (2, 2, 2)
        """
        return self._call("christoffel", (q,), parameters, out)

    def gravity_torque(
        self, q: ArrayLike, *, parameters: ArrayLike | None = None, out: Array | None = None
    ) -> Array:
        """Compute the gravity torque g(q) = dU/dq (..., n) [N m|N], which keeps the robot at rest.

        Lecture "Inverse dynamics": NE(q, 0, 0; g0).

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        parameters : (..., p) parameters in place of the robot's own, in the order and units of
            `parameter_names`.
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., n) [N m|N].

        Examples
        --------
        >>> sy.load("planar_2r").gravity_torque([0.0, 0.5]).round(3)
        array([359.729,  65.429])
        """
        return self._call("gravity_torque", (q,), parameters, out)

    def friction_torque(
        self,
        qd: ArrayLike,
        q: ArrayLike | None = None,
        *,
        parameters: ArrayLike | None = None,
        out: Array | None = None,
    ) -> Array:
        """Compute the friction torque Fv qd + Fc sign(qd) + F0 and further terms (..., n) [N m|N].

        sign(0) = 0; qd [rad/s|m/s]: (..., n). q [rad|m] (..., n) is needed where friction depends
        on position or load; with it, known torques are part of the result. Lecture "Dynamic
        parameter identification", friction.

        Parameters
        ----------
        qd : (..., n) joint velocities [rad/s|m/s].
        q : (..., n) joint positions [rad|m].
        parameters : (..., p) parameters in place of the robot's own, in the order and units of
            `parameter_names`.
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., n) [N m|N].

        Examples
        --------
        >>> robot = sy.load("planar_2r").with_friction(viscous=0.5, coulomb=2.0)
        >>> robot.friction_torque([1.0, -1.0])
        array([ 2.5, -2.5])
        """
        if q is None:
            return self._call("friction_torque", (qd,), parameters, out)
        return self._call("friction_torque_at", (q, qd), parameters, out)

    def presliding_state(
        self,
        z: ArrayLike,
        dq: ArrayLike,
        *,
        parameters: ArrayLike | None = None,
        out: Array | None = None,
    ) -> Array:
        """Compute the presliding states after displacements dq, (..., n) in [-1, 1].

        z -> s - (s - z) exp(-|dq| / d), s = sign(dq), exact for any time step; 0 for joints whose
        friction has no memory. d [rad|m] is the presliding distance. A joint that has moved by
        several d slides: z = sign(qd). P. Dahl, "A solid friction model", Aerospace Corporation
        TOR-158 (1968).

        Parameters
        ----------
        z : (..., n) presliding states before [-].
        dq : (..., n) displacements, each in one direction [rad|m].
        parameters : (..., p) parameters in place of the robot's own, in the order and units of
            `parameter_names`.
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., n) [-].

        Examples
        --------
        >>> robot = sy.load("planar_2r").with_friction(presliding=2.0, distance=0.01)
        >>> robot.presliding_state([0.0, 1.0], [0.01, -0.01]).round(3)
        array([ 0.632, -0.264])
        """
        return self._call("presliding_state", (z, dq), parameters, out)

    def presliding_torque(
        self,
        qd: ArrayLike,
        z: ArrayLike,
        *,
        parameters: ArrayLike | None = None,
        out: Array | None = None,
    ) -> Array:
        """Compute what presliding states add to the sliding friction, (..., n) [N m|N].

        Fp (z - sign(qd)), to be added to `inverse_dynamics` and `friction_torque`, which have the
        sliding value Fp sign(qd). Canudas de Wit et al., IEEE Trans. Automatic Control 40 (1995),
        p. 419.

        Parameters
        ----------
        qd : (..., n) joint velocities [rad/s|m/s].
        z : (..., n) presliding states in [-1, 1], of `presliding_state` or `presliding_along`.
        parameters : (..., p) parameters in place of the robot's own, in the order and units of
            `parameter_names`.
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., n) [N m|N].

        Examples
        --------
        >>> robot = sy.load("planar_2r").with_friction(presliding=2.0, distance=0.01)
        >>> robot.presliding_torque([0.1, 0.1], [1.0, 0.25])
        array([ 0. , -1.5])
        """
        return self._call("presliding_torque", (qd, z), parameters, out)

    def presliding_along(self, q: ArrayLike, start: ArrayLike | None = None) -> Array:
        """Compute the presliding states z along a motion, (N, n) in [-1, 1].

        `presliding_state` from each position to the next, for all positions at once.

        Parameters
        ----------
        q : (N, n) joint positions in order of time [rad|m].
        start : (n,) states at the first position; 0 by default.

        Returns
        -------
        (N, n) [-].

        Examples
        --------
        >>> robot = sy.load("planar_2r").with_friction(presliding=2.0, distance=0.01)
        >>> robot.presliding_along([[0.0, 0.0], [0.1, 0.0], [0.09, 0.0]]).round(3)
        array([[ 0.   ,  0.   ],
               [ 1.   ,  0.   ],
               [-0.264,  0.   ]])
        """
        positions = numbers("q", q)
        if positions.ndim != 2 or positions.shape[1] != self.n:
            raise CallError(
                f"presliding_along: q has shape {positions.shape}; expected (N, {self.n}),"
                " positions in order of time",
                argument="q",
            )
        first = np.zeros(self.n) if start is None else numbers("start", start)
        if first.shape != (self.n,) or not np.all(np.abs(first) <= 1.0):
            raise CallError(
                f"presliding_along: start must be {self.n} numbers from -1 to 1; found"
                f" {short_repr(start)}",
                argument="start",
            )
        return presliding_along(self.tree.memory_distances, positions, first)

    def wrench_torque(self, q: ArrayLike, wrench: Wrench, *, out: Array | None = None) -> Array:
        """Compute the joint torques J^T h of external wrenches (..., n) [N m|N].

        Wrenches as in `inverse_dynamics`.

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        wrench : external wrench, force [N] then moment [N m], in the base frame:
            {"tool0": (..., 6)} about the origin of any frames, or (..., bodies, 6) in the order of
            `body_names`; nothing by default.
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., n) [N m|N].

        Examples
        --------
        >>> sy.load("planar_2r").wrench_torque([0.0, 0.5], {"link2": [0, 10, 0, 0, 0, 0]}).round(3)
        array([10.,  0.])
        """
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
        """Compute the wrench that each joint transmits to its link in a motion (..., bodies, 6).

        Force [N], then moment [N m], in the link's frame about its origin. The drive gives the
        component about (or along) the axis, the bearing the others. Lecture "Newton-Euler
        formulation", algorithm 2, lines 7 and 8.

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        qd : (..., n) joint velocities [rad/s|m/s].
        qdd : (..., n) joint accelerations [rad/s2|m/s2].
        wrench : external wrench, force [N] then moment [N m], in the base frame:
            {"tool0": (..., 6)} about the origin of any frames, or (..., bodies, 6) in the order of
            `body_names`; nothing by default.
        base : (..., 9) motion of the base as an inertial sensor measures it: proper acceleration
            [m/s2], angular velocity [rad/s], angular acceleration [rad/s2], in the base's own
            frame; at rest by default.
        parameters : (..., p) parameters in place of the robot's own, in the order and units of
            `parameter_names`.
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., bodies, 6) [N, N m].

        Examples
        --------
        >>> sy.load("planar_2r").joint_reactions([0, 0], [0, 0], [0, 0]).round(1)
        array([[  0. , 402.2,   0. ,   0. ,   0. , 368.9],
               [  0. , 186.4,   0. ,   0. ,   0. ,  74.6]])
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
        """Compute the joint reactions under torques (..., bodies, 6); see `joint_reactions`.

        Recursive direct dynamics lecture, phase 3.

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        qd : (..., n) joint velocities [rad/s|m/s].
        tau : (..., n) joint torques [N m|N].
        wrench : external wrench, force [N] then moment [N m], in the base frame:
            {"tool0": (..., 6)} about the origin of any frames, or (..., bodies, 6) in the order of
            `body_names`; nothing by default.
        base : (..., 9) motion of the base as an inertial sensor measures it: proper acceleration
            [m/s2], angular velocity [rad/s], angular acceleration [rad/s2], in the base's own
            frame; at rest by default.
        parameters : (..., p) parameters in place of the robot's own, in the order and units of
            `parameter_names`.
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., bodies, 6) [N, N m].

        Examples
        --------
        >>> sy.load("planar_2r").forward_reactions([0, 0], [0, 0], [0, 0]).shape
        (2, 6)
        """
        return self._call("forward_reactions", (q, qd, tau), parameters, out, wrench, base=base)

    def inverse_dynamics_derivatives(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        wrench: Wrench | None = None,
        base: ArrayLike | None = None,
        *,
        parameters: ArrayLike | None = None,
        out: tuple[Array, Array, Array] | None = None,
    ) -> tuple[Array, Array, Array]:
        """Compute the derivatives (dtau/dq, dtau/dqd, M) of inverse dynamics, (..., n, n) each.

        Exact, friction and drives included; sign() has derivative zero. Carpentier and Mansard
        2018; here from the graph of Newton-Euler.

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        qd : (..., n) joint velocities [rad/s|m/s].
        qdd : (..., n) joint accelerations [rad/s2|m/s2].
        wrench : external wrench, force [N] then moment [N m], in the base frame:
            {"tool0": (..., 6)} about the origin of any frames, or (..., bodies, 6) in the order of
            `body_names`; nothing by default.
        base : (..., 9) motion of the base as an inertial sensor measures it: proper acceleration
            [m/s2], angular velocity [rad/s], angular acceleration [rad/s2], in the base's own
            frame; at rest by default.
        parameters : (..., p) parameters in place of the robot's own, in the order and units of
            `parameter_names`.
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        A tuple of (..., n, n) [N m|N] per [rad|m], (..., n, n) [N m|N] per [rad/s|m/s], (..., n, n)
        [kg m2|kg] or its inverse.

        Examples
        --------
        >>> robot = sy.load("planar_2r")
        >>> by_q, by_qd, M = robot.inverse_dynamics_derivatives([0.1, 0.2], [0, 0], [0, 0])
        >>> by_q.round(3)
        array([[-51.414, -22.033],
               [-22.033, -22.033]])
        """
        return self._call(
            "inverse_dynamics_derivatives", (q, qd, qdd), parameters, out, wrench, base=base
        )

    def forward_dynamics_derivatives(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        wrench: Wrench | None = None,
        base: ArrayLike | None = None,
        *,
        parameters: ArrayLike | None = None,
        out: tuple[Array, Array, Array] | None = None,
    ) -> tuple[Array, Array, Array]:
        """Compute the derivatives (dqdd/dq, dqdd/dqd, dqdd/dtau = M^-1) of forward dynamics.

        (..., n, n) each; -M^-1 times the derivatives of the torque. Carpentier and Mansard 2018,
        eq. (11).

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        qd : (..., n) joint velocities [rad/s|m/s].
        tau : (..., n) joint torques [N m|N].
        wrench : external wrench, force [N] then moment [N m], in the base frame:
            {"tool0": (..., 6)} about the origin of any frames, or (..., bodies, 6) in the order of
            `body_names`; nothing by default.
        base : (..., 9) motion of the base as an inertial sensor measures it: proper acceleration
            [m/s2], angular velocity [rad/s], angular acceleration [rad/s2], in the base's own
            frame; at rest by default.
        parameters : (..., p) parameters in place of the robot's own, in the order and units of
            `parameter_names`.
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        A tuple of (..., n, n) [rad/s2|m/s2] per [rad|m], (..., n, n) [rad/s2|m/s2] per [rad/s|m/s],
        (..., n, n) [kg m2|kg] or its inverse.

        Examples
        --------
        >>> robot = sy.load("planar_2r")
        >>> by_q, by_qd, by_tau = robot.forward_dynamics_derivatives([0.1, 0.2], [0, 0], [0, 0])
        >>> by_tau.round(4)
        array([[ 0.1206, -0.3897],
               [-0.3897,  1.5581]])
        """
        return self._call(
            "forward_dynamics_derivatives", (q, qd, tau), parameters, out, wrench, base=base
        )
