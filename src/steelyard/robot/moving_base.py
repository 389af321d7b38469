"""Robots with a moving or free base: base wrench and motion of a free base."""

from __future__ import annotations

from numpy.typing import ArrayLike

from .description import Array, Description, Wrench


class BaseMotionMethods(Description):
    """Wrench on the base, and motion of a free base.

    A prescribed motion of the base is the argument `base` of the dynamics.
    """

    def base_wrench(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        base: ArrayLike | None = None,
        wrench: Wrench | None = None,
        *,
        parameters: ArrayLike | None = None,
        out: Array | None = None,
    ) -> Array:
        """Compute the wrench of the support on the base in a motion (..., 6).

        Force [N], then moment [N m], in the base frame about its origin. A force plate under the
        robot measures it, with the weight of the base and all that is fixed to it. base and wrench
        as in `inverse_dynamics`. Lecture "Newton-Euler formulation", algorithm 2, continued to link
        0.

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        qd : (..., n) joint velocities [rad/s|m/s].
        qdd : (..., n) joint accelerations [rad/s2|m/s2].
        base : (..., 9) motion of the base as an inertial sensor measures it: proper acceleration
            [m/s2], angular velocity [rad/s], angular acceleration [rad/s2], in the base's own
            frame; at rest by default.
        wrench : external wrench, force [N] then moment [N m], in the base frame:
            {"tool0": (..., 6)} about the origin of any frames, or (..., bodies, 6) in the order of
            `body_names`; nothing by default.
        parameters : (..., p) parameters in place of the robot's own, in the order and units of
            `parameter_names`.
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., 6) [N, N m].

        Examples
        --------
        >>> sy.load("planar_2r").base_wrench([0, 0], [0, 0], [0, 0]).round(2)
        array([ -0.  , 402.21,   0.  ,   0.  ,   0.  , 368.86])
        """
        return self._call("base_wrench", (q, qd, qdd), parameters, out, wrench, base=base)

    def base_wrench_regressor(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        base: ArrayLike | None = None,
        *,
        out: Array | None = None,
    ) -> Array:
        """Compute Y(q, qd, qdd) (..., 6, p) with Y @ parameters = base_wrench.

        A base with inertia adds ten columns: `Y @ [*parameters, *root_parameters]` is the wrench
        then. Khalil and Dombre 2002, section 12.5 (identification from base reactions).

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
        (..., 6, p) [N, N m] per unit.

        Examples
        --------
        >>> sy.load("planar_2r").base_wrench_regressor([0, 0], [0, 0], [0, 0]).shape
        (6, 20)
        """
        return self._call("base_wrench_regressor", (q, qd, qdd), None, out, base=base)

    def free_forward_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        angular_velocity: ArrayLike,
        wrench: Wrench | None = None,
        *,
        parameters: ArrayLike | None = None,
        out: tuple[Array, Array] | None = None,
    ) -> tuple[Array, Array]:
        """Compute joint accelerations (..., n) and the motion of a free base (..., 9).

        `angular_velocity` of the base in its own frame (..., 3) [rad/s]. The motion of the base is
        as an inertial sensor measures it: with it `inverse_dynamics` returns tau, and `base_wrench`
        zero. A falling robot measures no gravity: add it to the proper acceleration for the
        acceleration in space. Featherstone 2008, section 9.4.

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        qd : (..., n) joint velocities [rad/s|m/s].
        tau : (..., n) joint torques [N m|N].
        angular_velocity : (..., 3) angular velocity of the base in its own frame [rad/s].
        wrench : external wrench, force [N] then moment [N m], in the base frame:
            {"tool0": (..., 6)} about the origin of any frames, or (..., bodies, 6) in the order of
            `body_names`; nothing by default.
        parameters : (..., p) parameters in place of the robot's own, in the order and units of
            `parameter_names`.
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., n) [rad/s2|m/s2] and (..., 9) [m/s2, rad/s, rad/s2].

        Examples
        --------
        >>> from pathlib import Path
        >>> link = "[[links]]; name = '{}'; mass = 9.0; inertia = [1, 1, 1]; "
        >>> joint = "[[joints]]; name = 'hinge'; parent = 'body'; child = 'arm'"
        >>> text = link.format("body") + link.format("arm") + joint
        >>> _ = Path("satellite.toml").write_text(text.replace("; ", chr(10)))
        >>> qdd, base = sy.load("satellite.toml").free_forward_dynamics([0], [0], [1.0], [0, 0, 0])
        >>> qdd.round(3), base.round(3)[6:]
        (array([2.]), array([-0., -0., -1.]))
        """
        return self._call(
            "free_forward_dynamics", (q, qd, tau, angular_velocity), parameters, out, wrench
        )
