"""Closed configurations of a robot with loops, and motion that keeps them closed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...arguments import numbers, short_repr
from ...cached import cached_property
from ...compiler.runtime.kernel import Kernel
from ...errors import CallError, ProblemError, suggest
from ...kernels import kernel
from ...mechanism.tree import Tree
from ..description import Array, Description
from .assembly import Assembly, closed_configurations, least_squares_step
from .loop_structure import LoopStructure, loop_structure


class ClosureMethods(Description):
    """Closures of loops: residual, Jacobian and closed states. q is (..., n), of all joints.

    `closure` is zero where the loops are closed.
    """

    @property
    def closure_names(self) -> tuple[str, ...]:
        """Labels of `closure` and of the multipliers: loop and direction, such as pin.x."""
        return tuple(row for each in self.tree.loops for row in each.loop.rows)

    @cached_property
    def loop_structure(self) -> LoopStructure:
        """Independent closures and coordinates, redundant closures, and the case of the drives.

        Raises ModelError with the loop that conflicts with others.
        """
        if not self.tree.loops:
            case = "exact" if len(self.tree.driven) == self.n else "underactuated"
            return LoopStructure(
                closures=(),
                coordinates=self.joint_names,
                rows=(),
                independent=tuple(range(self.n)),
                driven=self.tree.driven,
                case=case,
            )
        return loop_structure(
            self.tree, self._assembly_of_first, self._loop_kernel("closure_jacobian")
        )

    @property
    def driven_joints(self) -> tuple[str, ...]:
        """Names of the joints with a drive; all unless the description names them."""
        return tuple(self.joint_names[c] for c in self.tree.driven)

    @property
    def measured_joints(self) -> tuple[str, ...]:
        """Names of the joints that a log must have.

        All joints, or with loops those that have a drive or determine the others.
        """
        if not self.tree.loops:
            return self.joint_names
        structure = self.loop_structure
        return tuple(
            name
            for c, name in enumerate(self.joint_names)
            if c in (*structure.driven, *structure.independent)
        )

    def closure(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """Compute the residual phi(q) of the loops (..., m) [m|rad], rows as in `closure_names`.

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., m) [m|rad].

        Examples
        --------
        >>> np.abs(sy.load("four_bar").closure([0.0, 0.0, 0.0])).max() > 0.01
        np.False_
        """
        return self._loop_kernel("closure")(q, out=out)

    def closure_jacobian(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """Compute Phi(q) = dphi/dq (..., m, n): the loops stay closed where Phi qd = 0.

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., m, n) [m|rad] per [rad|m].

        Examples
        --------
        >>> sy.load("four_bar").closure_jacobian([0.0, 0.0, 0.0]).shape
        (5, 3)
        """
        return self._loop_kernel("closure_jacobian")(q, out=out)

    def closure_bias(self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None) -> Array:
        """Compute (dPhi/dt) qd (..., m): the loops stay closed where Phi qdd = -bias.

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        qd : (..., n) joint velocities [rad/s|m/s].
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., m) [m/s2|rad/s2].

        Examples
        --------
        >>> sy.load("four_bar").closure_bias([0, 0, 0], [1, 1, 1]).shape
        (5,)
        """
        return self._loop_kernel("closure_bias")(q, qd, out=out)

    def assemble(
        self, q: ArrayLike, hold: Sequence[str] = (), *, out: Array | None = None
    ) -> Array:
        """Return the closed configuration nearest to q (..., n) in joint coordinates [rad|m].

        Joints named in `hold` keep their positions. Raises ProblemError where the loops cannot be
        closed; `assembly` reports which configurations of a batch can.

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        hold : names of joints that stay as they are.
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., n) [rad|m].

        Examples
        --------
        >>> robot = sy.load("four_bar")
        >>> q = robot.assemble([0.5, 0, 0], hold=["crank"])
        >>> bool(np.abs(robot.closure(q)).max() < 1e-12)
        True
        """
        assembly = self.assembly(q, hold)
        if not np.all(assembly.closed):
            raise ProblemError(f"assemble: {assembly.status}; `assembly` returns what was reached")
        return write_to(out, assembly.q)

    def assembly(self, q: ArrayLike, hold: Sequence[str] = ()) -> Assembly:
        """Close the loops as `assemble` does, and report gaps, success and a status sentence.

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        hold : names of joints that stay as they are.

        Returns
        -------
        A `Assembly`.

        Examples
        --------
        >>> sy.load("four_bar").assembly([0.5, 0, 0]).closed
        array(True)
        """
        start = self._states("assemble", q=q)[0]
        residual, jacobian = self._loop_kernel("closure"), self._loop_kernel("closure_jacobian")
        names = [each.loop.name for each in self.tree.loops]
        return closed_configurations(residual, jacobian, start, self._free(hold), names)

    def consistent_velocity(
        self, q: ArrayLike, qd: ArrayLike, hold: Sequence[str] = (), *, out: Array | None = None
    ) -> Array:
        """Return the velocity nearest to qd that keeps the loops closed (..., n).

        qd - Phi^+ Phi qd; joints in `hold` keep their velocities.

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        qd : (..., n) joint velocities [rad/s|m/s].
        hold : names of joints that stay as they are.
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., n) [rad/s|m/s].

        Examples
        --------
        >>> robot = sy.load("four_bar")
        >>> q = robot.assemble([0.5, 0, 0], hold=["crank"])
        >>> robot.consistent_velocity(q, [1, 0, 0], hold=["crank"])[0]
        np.float64(1.0)
        """
        q, qd = self._states("consistent_velocity", q=q, qd=qd)
        Phi = self.closure_jacobian(q)
        return write_to(
            out,
            qd - least_squares_step(Phi, np.einsum("...ij,...j->...i", Phi, qd), self._free(hold)),
        )

    def consistent_acceleration(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        hold: Sequence[str] = (),
        *,
        out: Array | None = None,
    ) -> Array:
        """Return the acceleration nearest to qdd that keeps the loops closed (..., n).

        The velocities must keep them closed. Joints in `hold` keep their accelerations.

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        qd : (..., n) joint velocities [rad/s|m/s].
        qdd : (..., n) joint accelerations [rad/s2|m/s2].
        hold : names of joints that stay as they are.
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., n) [rad/s2|m/s2].

        Examples
        --------
        >>> robot = sy.load("four_bar")
        >>> q = robot.assemble([0.5, 0, 0], hold=["crank"])
        >>> robot.consistent_acceleration(q, [0, 0, 0], [1, 0, 0], hold=["crank"])[0]
        np.float64(1.0)
        """
        q, qd, qdd = self._states("consistent_acceleration", q=q, qd=qd, qdd=qdd)
        Phi = self.closure_jacobian(q)
        excess = np.einsum("...ij,...j->...i", Phi, qdd) + self.closure_bias(q, qd)
        return write_to(out, qdd - least_squares_step(Phi, excess, self._free(hold)))

    def closed_states(
        self, count: int, seed: int = 0, reach: float = 0.3
    ) -> tuple[Array, Array, Array]:
        """Draw random q, qd, qdd, at most (count, n), that keep the loops closed.

        `reach` [rad|m] is the standard deviation of q before the loops are closed.

        Parameters
        ----------
        count : number of states that are tried.
        seed : number that random draws start from; equal seeds give equal results.
        reach : spread of the positions [rad|m].

        Returns
        -------
        q, qd, qdd, each (k, n).

        Examples
        --------
        >>> [x.shape for x in sy.load("four_bar").closed_states(4)]
        [(4, 3), (4, 3), (4, 3)]
        """
        rng = np.random.default_rng(seed)
        assembly = self.assembly(rng.normal(scale=reach, size=(count, self.n)))
        q = assembly.q[assembly.closed]
        qd = self.consistent_velocity(q, 2.0 * rng.normal(size=q.shape))
        return q, qd, self.consistent_acceleration(q, qd, 2.0 * rng.normal(size=q.shape))

    @property
    def _with_loops(self) -> Tree:
        """The tree; raises CallError where it has no loops."""
        if not self.tree.loops:
            raise CallError(
                f"{self.name!r} has no loops: give it some with with_loop, or [[loops]] in its TOML"
                " file"
            )
        return self.tree

    def _loop_kernel(self, name: str) -> Kernel:
        return kernel(self._with_loops, name)

    def _assembly_of_first(
        self, q: Array, count: int, free: Sequence[int] | None = None
    ) -> Assembly:
        """Close the first loops only, by the free coordinates, all by default."""
        rows = sum(len(each.loop.rows) for each in self.tree.loops[:count])
        names = [each.loop.name for each in self.tree.loops[:count]]
        residual, jacobian = self._loop_kernel("closure"), self._loop_kernel("closure_jacobian")
        return closed_configurations(
            lambda x: residual(x)[..., :rows],
            lambda x: jacobian(x)[..., :rows, :],
            q,
            range(self.n) if free is None else free,
            names,
        )

    def _free(self, hold: Sequence[str]) -> list[int]:
        """Return the coordinates that may change."""
        hold = [hold] if isinstance(hold, str) else hold
        for name in hold:
            if name not in self.joint_names:
                raise CallError(
                    f"hold: no joint moves on its own that is called {name!r};"
                    f" {suggest(str(name), self.joint_names)}"
                )
        return [c for c, name in enumerate(self.joint_names) if name not in hold]

    def _states(self, what: str, **arguments: Any) -> list[Array]:
        """Return arrays (..., n) of one batch shape; raise CallError if they do not broadcast."""
        arrays = [numbers(f"{what}: {name}", value) for name, value in arguments.items()]
        for name, value in zip(arguments, arrays, strict=True):
            if value.shape[-1:] != (self.n,):
                raise CallError(
                    f"{what}: {name} has shape {value.shape}; expected (..., {self.n}):"
                    f" {', '.join(self.joint_names)}"
                )
        if all(value.shape == arrays[0].shape for value in arrays):
            return arrays
        try:
            return [np.array(x) for x in np.broadcast_arrays(*arrays)]
        except ValueError:
            shapes = ", ".join(
                f"{name} {value.shape}" for name, value in zip(arguments, arrays, strict=True)
            )
            raise CallError(
                f"{what}: {shapes} cannot be broadcast; expected (..., {self.n})"
            ) from None


def write_to(out: Array | None, values: Array) -> Array:
    """Write values to `out` if it is not None; raise CallError where its shape does not fit."""
    if out is None:
        return np.asarray(values)
    target: object = out
    if not (
        isinstance(target, np.ndarray)
        and target.shape == values.shape
        and target.dtype == values.dtype
    ):
        raise CallError(f"out must be an array {values.shape} of float64, not {short_repr(out)}")
    out[...] = values
    return out
