"""Inverse and forward dynamics of robots with loops, with the multipliers of the loops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...cached import cached_property
from ...errors import CallError
from ...kernels import kernel
from ...mechanism.tree import Tree
from ..description import Array, Wrench
from .closures import ClosureMethods, write_to
from .constrained_torque import ConstrainedTorque, drive_weights, warn_of_singular


class ConstrainedDynamicsMethods(ClosureMethods):
    """The equations of motion of a tree with closed loops."""

    def constrained_inverse_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        weight: ArrayLike | Mapping[str, float] | None = None,
        wrench: Wrench | None = None,
        *,
        parameters: ArrayLike | None = None,
        base: ArrayLike | None = None,
    ) -> ConstrainedTorque:
        """Compute drive torques and multipliers of a motion that keeps the loops closed.

        M qdd + h = T tau + Phi^T lambda.

        With more drives than degrees of freedom, torques minimise the sum of weight tau^2 (weight:
        one per drive or joint, or by name, 1 by default), within the effort limits; with fewer
        drives they minimise the residual. See `ConstrainedTorque`. Lecture "Recursive direct
        dynamics", equations of mixed type; Nakamura and Ghodoussi 1989.

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        qd : (..., n) joint velocities [rad/s|m/s].
        qdd : (..., n) joint accelerations [rad/s2|m/s2].
        weight : of the square of each drive's torque [-].
        wrench : external wrench, force [N] then moment [N m], in the base frame:
            {"tool0": (..., 6)} about the origin of any frames, or (..., bodies, 6) in the order of
            `body_names`; nothing by default.
        parameters : (..., p) parameters in place of the robot's own, in the order and units of
            `parameter_names`.
        base : (..., 9) motion of the base as an inertial sensor measures it: proper acceleration
            [m/s2], angular velocity [rad/s], angular acceleration [rad/s2], in the base's own
            frame; at rest by default.

        Returns
        -------
        A `ConstrainedTorque`: .tau (..., n) [N m|N], .multipliers (..., m) [N|N m], .case.

        Examples
        --------
        >>> robot = sy.load("four_bar")
        >>> q = robot.assemble([0.5, 0, 0], hold=["crank"])
        >>> robot.constrained_inverse_dynamics(q, [0, 0, 0], [0, 0, 0]).case
        'exact'
        """
        W = drive_weights(self, weight)
        structure = self.loop_structure
        motion = tuple(self._states("constrained_inverse_dynamics", q=q, qd=qd, qdd=qdd))
        options = {"wrench": wrench, "base": base, "parameters": parameters}
        if structure.case == "underactuated" or not structure.rows:
            return ConstrainedTorque.least_residual(self, motion, options)
        # of motions that are not finite, or singular: a warning counts them
        with np.errstate(all="ignore"):
            outputs = self._constrained("constrained_torque", (*motion, W), **options)
        return ConstrainedTorque.from_kernel(self, motion, outputs, W, options)

    def constrained_forward_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        wrench: Wrench | None = None,
        *,
        parameters: ArrayLike | None = None,
        base: ArrayLike | None = None,
        out: Any = None,
    ) -> tuple[Array, Array]:
        """Compute accelerations (..., n) with closed loops, and multipliers (..., m) [N|N m].

        M qdd = tau - h + Phi^T lambda, Phi qdd = -(dPhi/dt) qd. At singular configurations, where
        closures depend on each other, results are wrong or not finite; a SteelyardWarning counts
        them.

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        qd : (..., n) joint velocities [rad/s|m/s].
        tau : (..., n) joint torques [N m|N].
        wrench : external wrench, force [N] then moment [N m], in the base frame:
            {"tool0": (..., 6)} about the origin of any frames, or (..., bodies, 6) in the order of
            `body_names`; nothing by default.
        parameters : (..., p) parameters in place of the robot's own, in the order and units of
            `parameter_names`.
        base : (..., 9) motion of the base as an inertial sensor measures it: proper acceleration
            [m/s2], angular velocity [rad/s], angular acceleration [rad/s2], in the base's own
            frame; at rest by default.
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        qdd (..., n) [rad/s2|m/s2] and multipliers (..., m) [N|N m].

        Examples
        --------
        >>> robot = sy.load("four_bar")
        >>> q = robot.assemble([0.5, 0, 0], hold=["crank"])
        >>> qdd, multipliers = robot.constrained_forward_dynamics(q, [0, 0, 0], [0, 0, 0])
        """
        if not self.loop_structure.rows:
            qdd = self._call("forward_dynamics", (q, qd, tau), parameters, None, wrench, base=base)
            results = qdd, np.zeros((*qdd.shape[:-1], self.tree.closures))
            return (
                results
                if out is None
                else (write_to(out[0], results[0]), write_to(out[1], results[1]))
            )
        targets = (*out, None) if isinstance(out, tuple) else out
        with np.errstate(all="ignore"):
            outputs = self._constrained(
                "constrained_forward_dynamics", (q, qd, tau), wrench, base, parameters, targets
            )
        warn_of_singular(outputs[0], outputs[1], outputs[2], (q, qd, tau))
        return outputs[0], outputs[1]

    def constrained_regressor(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, out: Array | None = None
    ) -> Array:
        """Compute N^T Y (..., f, p), the regressor of the independent coordinates.

        N^T Y @ parameters = `independent_torque` of the drive torques, without the multipliers.
        Khalil and Dombre 2002, section 12.4 (identification of robots with closed loops).

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        qd : (..., n) joint velocities [rad/s|m/s].
        qdd : (..., n) joint accelerations [rad/s2|m/s2].
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., f, p) [N m|N] per unit of the parameter.

        Examples
        --------
        >>> robot = sy.load("four_bar")
        >>> q = robot.assemble([0.5, 0, 0], hold=["crank"])
        >>> robot.constrained_regressor(q, [0, 0, 0], [0, 0, 0]).shape
        (1, 30)
        """
        self._require_freedom("constrained_regressor")
        return self._constrained("constrained_regressor", (q, qd, qdd), out=out)

    def freedom_basis(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """Compute N(q) (..., n, f): qd = N qd_independent.

        Independent coordinates are `loop_structure.independent`.

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., n, f) [-].

        Examples
        --------
        >>> robot = sy.load("four_bar")
        >>> q = robot.assemble([0.5, 0, 0], hold=["crank"])
        >>> robot.freedom_basis(q).shape
        (3, 1)
        """
        self._require_freedom("freedom_basis")
        return self._constrained("freedom_basis", (q,), out=out)

    def independent_torque(
        self, q: ArrayLike, tau: ArrayLike, *, out: Array | None = None
    ) -> Array:
        """Project joint torques (..., n) onto the independent coordinates: N^T tau (..., f).

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        tau : (..., n) joint torques [N m|N].
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., f) [N m|N].

        Examples
        --------
        >>> robot = sy.load("four_bar")
        >>> q = robot.assemble([0.5, 0, 0], hold=["crank"])
        >>> robot.independent_torque(q, [1.0, 0, 0]).round(3)
        array([1.])
        """
        q, tau = self._states("independent_torque", q=q, tau=tau)
        return write_to(out, np.einsum("...ij,...i->...j", self.freedom_basis(q), tau))

    def _require_freedom(self, what: str) -> None:
        """Raise CallError where loops leave nothing free, or hold nothing."""
        structure = self.loop_structure
        if not structure.rows or not structure.freedoms:
            why = (
                "has no loops that hold it: take `regressor`"
                if not structure.rows
                else "is rigid: its loops leave no freedom"
            )
            raise CallError(f"{what}: {self.name!r} {why}")

    @cached_property
    def closed_tree(self) -> Tree:
        """The tree with its independent closures and coordinates, for the algorithms of loops."""
        structure = self.loop_structure
        loops = self.tree.loops if structure.rows else ()  # loops that hold nothing are none
        return replace(
            self.tree, loops=loops, rows=structure.rows, independent=structure.independent
        )

    def _constrained(
        self,
        name: str,
        arrays: tuple[Any, ...],
        wrench: Any = None,
        base: Any = None,
        parameters: Any = None,
        out: Any = None,
    ) -> Any:
        """Call the kernel of an algorithm with the independent closures."""
        tree = self.closed_tree
        frames, wrenches = self._wrenches(wrench)
        compiled = kernel(
            tree, name, wrench=frames, base=base is not None, parameters=parameters is not None
        )
        return compiled(
            *arrays, *(x for x in (wrenches, base, parameters) if x is not None), out=out
        )
