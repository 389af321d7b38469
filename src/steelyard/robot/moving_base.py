"""Robots whose base moves, or is held by nothing: the support's wrench and the motion of a free base."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from .description import Array, Description, Wrench


class MovingBase(Description):
    """What a robot does to its base. The motion of a base is an argument `base` of the dynamics themselves."""

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
        """What its support passes on to the base in a motion, (..., 6): force [N], then moment [N m], in the base's frame about its origin.

        A force plate under the robot measures it, with the weight of the base itself and all that is fixed to it. base and wrench as in
        `inverse_dynamics`. Lecture "Newton-Euler formulation", algorithm 2, continued to link 0.

        Example:
            >>> sy.load("planar_2r").base_wrench([0, 0], [0, 0], [0, 0]).round(2)
            array([ -0.  , 402.21,   0.  ,   0.  ,   0.  , 368.86])
        """
        return self._call("base_wrench", (q, qd, qdd), parameters, out, wrench, base=base)

    def base_wrench_regressor(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, base: ArrayLike | None = None, *, out: Array | None = None
    ) -> Array:
        """Y(q, qd, qdd), (..., 6, p), with Y @ parameters = base_wrench; where the base has an inertia of its own, ten columns more.

        `Y @ [*parameters, *root_parameters]` is the wrench then. Khalil and Dombre 2002, section 12.5 (identification from base reactions).

        Example:
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
        out: Any = None,
    ) -> tuple[Array, Array]:
        """(qdd, base): accelerations of the joints (..., n) and motion of the base (..., 9), where nothing holds the base.

        `angular_velocity` of the base in its own frame (..., 3) [rad/s]. `base` is what an inertial sensor on it feels, as in
        `inverse_dynamics`, which gives tau back with it, and `base_wrench` zero. A falling robot feels no gravity: add it to the proper
        acceleration for that of the origin in space. Featherstone 2008, section 9.4.

        Example:
            >>> from pathlib import Path
            >>> link = "[[links]]; name = '{}'; mass = 9.0; inertia = [1, 1, 1]; "
            >>> text = link.format("body") + link.format("arm") + "[[joints]]; name = 'hinge'; parent = 'body'; child = 'arm'"
            >>> _ = Path("satellite.toml").write_text(text.replace("; ", chr(10)))
            >>> qdd, base = sy.load("satellite.toml").free_forward_dynamics([0], [0], [1.0], [0, 0, 0])
            >>> qdd.round(3), base.round(3)[6:]
            (array([2.]), array([-0., -0., -1.]))
        """
        return self._call("free_forward_dynamics", (q, qd, tau, angular_velocity), parameters, out, wrench)
