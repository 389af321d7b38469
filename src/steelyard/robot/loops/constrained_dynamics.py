"""Torques and accelerations of a robot with loops, with the multipliers of the loops."""

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
from .closures import Closures, into
from .constrained_torque import ConstrainedTorque, warn_of_singular, weights


class ConstrainedDynamics(Closures):
    """The equations of motion of a tree whose loops are closed."""

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
        """Drive torques and multipliers of a motion that keeps the loops closed: M qdd + h = T tau + Phi^T lambda.

        Where there are more drives than freedoms, the torques of least sum of weight tau^2 (weight: one per drive or joint, or by name,
        1 by default), within the effort limits of the joints; where there are fewer, those that leave the least. See `ConstrainedTorque`.
        Lecture "Recursive direct dynamics", equations of mixed type; Nakamura and Ghodoussi 1989.

        Parameters:
            weight: of the square of each drive's torque [-].
        Returns:
            A `ConstrainedTorque`: .tau (..., n) [N m|N], .multipliers (..., m) [N|N m], .case.
        Example:
            >>> robot = sy.load("four_bar")
            >>> q = robot.assemble([0.5, 0, 0], hold=["crank"])
            >>> robot.constrained_inverse_dynamics(q, [0, 0, 0], [0, 0, 0]).case
            'exact'
        """
        W = weights(self, weight)
        structure = self.loop_structure
        motion = tuple(self._states("constrained_inverse_dynamics", q=q, qd=qd, qdd=qdd))
        options = {"wrench": wrench, "base": base, "parameters": parameters}
        if structure.case == "underactuated" or not structure.rows:
            return ConstrainedTorque.least(self, motion, options)
        with np.errstate(all="ignore"):  # of motions that are not finite, or singular: a warning counts them
            found = self._constrained("constrained_torque", (*motion, W), **options)
        return ConstrainedTorque.made(self, motion, found, W, options)

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
        """(qdd, multipliers): accelerations (..., n) that keep the loops closed, and what the loops pass on, (..., m) [N|N m].

        M qdd = tau - h + Phi^T lambda, Phi qdd = -(dPhi/dt) qd. At singular configurations, where closures that are independent elsewhere
        depend on each other, results are wrong or not finite; a SteelyardWarning counts them.

        Returns:
            qdd (..., n) [rad/s2|m/s2] and multipliers (..., m) [N|N m].
        Example:
            >>> robot = sy.load("four_bar")
            >>> q = robot.assemble([0.5, 0, 0], hold=["crank"])
            >>> qdd, multipliers = robot.constrained_forward_dynamics(q, [0, 0, 0], [0, 0, 0])
        """
        if not self.loop_structure.rows:
            qdd = self._call("forward_dynamics", (q, qd, tau), parameters, None, wrench, base=base)
            made = qdd, np.zeros((*qdd.shape[:-1], self.tree.closures))
            return made if out is None else (into(out[0], made[0]), into(out[1], made[1]))
        given = (*out, None) if isinstance(out, tuple) else out
        with np.errstate(all="ignore"):
            found = self._constrained("constrained_forward_dynamics", (q, qd, tau), wrench, base, parameters, given)
        warn_of_singular(found[0], found[1], found[2], (q, qd, tau))
        return found[0], found[1]

    def constrained_regressor(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, out: Array | None = None) -> Array:
        """N^T Y, (..., f, p): N^T Y @ parameters = `independent_torque` of the drive torques, without the multipliers.

        Khalil and Dombre 2002, section 12.4 (identification of robots with closed loops).

        Returns:
            (..., f, p) [N m|N] per unit of the parameter.
        Example:
            >>> robot = sy.load("four_bar")
            >>> q = robot.assemble([0.5, 0, 0], hold=["crank"])
            >>> robot.constrained_regressor(q, [0, 0, 0], [0, 0, 0]).shape
            (1, 30)
        """
        self._require_freedom("constrained_regressor")
        return self._constrained("constrained_regressor", (q, qd, qdd), out=out)

    def freedom_basis(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """N(q), (..., n, f): qd = N qd_independent for the coordinates `loop_structure.independent`.

        Returns:
            (..., n, f) [-].
        Example:
            >>> robot = sy.load("four_bar")
            >>> q = robot.assemble([0.5, 0, 0], hold=["crank"])
            >>> robot.freedom_basis(q).shape
            (3, 1)
        """
        self._require_freedom("freedom_basis")
        return self._constrained("freedom_basis", (q,), out=out)

    def independent_torque(self, q: ArrayLike, tau: ArrayLike, *, out: Array | None = None) -> Array:
        """N^T tau, (..., f): torques (..., n) of all joints as felt by the independent coordinates.

        Returns:
            (..., f) [N m|N].
        Example:
            >>> robot = sy.load("four_bar")
            >>> q = robot.assemble([0.5, 0, 0], hold=["crank"])
            >>> robot.independent_torque(q, [1.0, 0, 0]).round(3)
            array([1.])
        """
        q, tau = self._states("independent_torque", q=q, tau=tau)
        return into(out, np.einsum("...ij,...i->...j", self.freedom_basis(q), tau))

    def _require_freedom(self, what: str) -> None:
        """Raise CallError where loops leave nothing free, or hold nothing."""
        made = self.loop_structure
        if not made.rows or not made.freedoms:
            why = "has no loops that hold it: take `regressor`" if not made.rows else "is rigid: its loops leave no freedom"
            raise CallError(f"{what}: {self.name!r} {why}")

    @cached_property
    def closed_tree(self) -> Tree:
        """The tree with those of its closures and coordinates that are independent, as the algorithms for loops see it."""
        made = self.loop_structure
        loops = self.tree.loops if made.rows else ()  # loops that hold nothing are none
        return replace(self.tree, loops=loops, rows=made.rows, independent=made.independent)

    def _constrained(
        self, name: str, arrays: tuple[Any, ...], wrench: Any = None, base: Any = None, parameters: Any = None, out: Any = None
    ) -> Any:
        """The kernel of an algorithm with the independent closures, on some arrays."""
        tree = self.closed_tree
        frames, wrenches = self._wrenches(wrench)
        made = kernel(tree, name, wrench=frames, base=base is not None, parameters=parameters is not None)
        return made(*arrays, *(x for x in (wrenches, base, parameters) if x is not None), out=out)
