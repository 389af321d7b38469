"""Closed configurations of a robot with loops, and motion that keeps them closed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...arguments import brief, numbers
from ...cached import cached_property
from ...compiler.runtime.kernel import Kernel
from ...errors import CallError, ProblemError, suggest
from ...kernels import kernel
from ...mechanism.tree import Tree
from ..description import Array, Description
from .assembly import Assembly, assembled, step
from .loop_structure import LoopStructure, loop_structure


class Closures(Description):
    """What loops add. q is (..., n), of all joints of the tree; `closure` is zero where the loops are closed."""

    @property
    def closure_names(self) -> tuple[str, ...]:
        """Labels of `closure` and of the multipliers: the loop and the direction, such as pin.x."""
        return tuple(row for each in self.tree.loops for row in each.loop.rows)

    @cached_property
    def loop_structure(self) -> LoopStructure:
        """Independent closures and coordinates, redundant closures by name, and the case of the drives.

        Raises ModelError with the loop that conflicts with others.
        """
        if not self.tree.loops:
            case = "exact" if len(self.tree.driven) == self.n else "underactuated"
            return LoopStructure((), self.joint_names, (), tuple(range(self.n)), self.tree.driven, case)
        return loop_structure(self.tree, self._assembly_of_first, self._loop_kernel("closure_jacobian"))

    @property
    def driven_joints(self) -> tuple[str, ...]:
        """The joints that have a drive; all of them unless the description says which."""
        return tuple(self.joint_names[c] for c in self.tree.driven)

    @property
    def measured_joints(self) -> tuple[str, ...]:
        """The joints that a log must have: all, or with loops those that have a drive or determine the others."""
        if not self.tree.loops:
            return self.joint_names
        made = self.loop_structure
        return tuple(name for c, name in enumerate(self.joint_names) if c in (*made.driven, *made.independent))

    def closure(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """phi(q), (..., m): how far the loops are from closed, [m] and [rad], in the order of `closure_names`.

        Returns:
            (..., m) [m|rad].
        Example:
            >>> np.abs(sy.load("four_bar").closure([0.0, 0.0, 0.0])).max() > 0.01
            np.False_
        """
        return self._loop_kernel("closure")(q, out=out)

    def closure_jacobian(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """Phi(q) = dphi/dq, (..., m, n): the loops stay closed where Phi qd = 0.

        Returns:
            (..., m, n) [m|rad] per [rad|m].
        Example:
            >>> sy.load("four_bar").closure_jacobian([0.0, 0.0, 0.0]).shape
            (5, 3)
        """
        return self._loop_kernel("closure_jacobian")(q, out=out)

    def closure_bias(self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None) -> Array:
        """(dPhi/dt) qd, (..., m): the loops stay closed where Phi qdd = -bias.

        Returns:
            (..., m) [m/s2|rad/s2].
        Example:
            >>> sy.load("four_bar").closure_bias([0, 0, 0], [1, 1, 1]).shape
            (5,)
        """
        return self._loop_kernel("closure_bias")(q, qd, out=out)

    def assemble(self, q: ArrayLike, hold: Sequence[str] = (), *, out: Array | None = None) -> Array:
        """The closed configuration nearest to q (..., n) in joint coordinates [rad|m]; joints named in `hold` stay where they are.

        Raises ProblemError where the loops cannot be closed; `assembly` gives those of a batch that can.

        Returns:
            (..., n) [rad|m].
        Example:
            >>> robot = sy.load("four_bar")
            >>> q = robot.assemble([0.5, 0, 0], hold=["crank"])
            >>> bool(np.abs(robot.closure(q)).max() < 1e-12)
            True
        """
        found = self.assembly(q, hold)
        if not np.all(found.closed):
            raise ProblemError(f"assemble: {found.status}; `assembly` returns what was reached")
        return into(out, found.q)

    def assembly(self, q: ArrayLike, hold: Sequence[str] = ()) -> Assembly:
        """As `assemble`, with the gap of every configuration, which of them are closed, and a status sentence.

        Example:
            >>> sy.load("four_bar").assembly([0.5, 0, 0]).closed
            array(True)
        """
        start = self._states("assemble", q=q)[0]
        residual, jacobian = self._loop_kernel("closure"), self._loop_kernel("closure_jacobian")
        names = [each.loop.name for each in self.tree.loops]
        return assembled(residual, jacobian, start, self._free(hold), names)

    def consistent_velocity(self, q: ArrayLike, qd: ArrayLike, hold: Sequence[str] = (), *, out: Array | None = None) -> Array:
        """The velocity nearest to qd that keeps the loops closed, (..., n): qd - Phi^+ Phi qd; joints in `hold` keep theirs.

        Returns:
            (..., n) [rad/s|m/s].
        Example:
            >>> robot = sy.load("four_bar")
            >>> q = robot.assemble([0.5, 0, 0], hold=["crank"])
            >>> robot.consistent_velocity(q, [1, 0, 0], hold=["crank"])[0]
            np.float64(1.0)
        """
        q, qd = self._states("consistent_velocity", q=q, qd=qd)
        Phi = self.closure_jacobian(q)
        return into(out, qd - step(Phi, np.einsum("...ij,...j->...i", Phi, qd), self._free(hold)))

    def consistent_acceleration(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, hold: Sequence[str] = (), *, out: Array | None = None
    ) -> Array:
        """The acceleration nearest to qdd that keeps the loops closed, (..., n), at velocities that do; joints in `hold` keep theirs.

        Returns:
            (..., n) [rad/s2|m/s2].
        Example:
            >>> robot = sy.load("four_bar")
            >>> q = robot.assemble([0.5, 0, 0], hold=["crank"])
            >>> robot.consistent_acceleration(q, [0, 0, 0], [1, 0, 0], hold=["crank"])[0]
            np.float64(1.0)
        """
        q, qd, qdd = self._states("consistent_acceleration", q=q, qd=qd, qdd=qdd)
        Phi = self.closure_jacobian(q)
        excess = np.einsum("...ij,...j->...i", Phi, qdd) + self.closure_bias(q, qd)
        return into(out, qdd - step(Phi, excess, self._free(hold)))

    def closed_states(self, count: int, seed: int = 0, reach: float = 0.3) -> tuple[Array, Array, Array]:
        """Random q, qd, qdd, at most (count, n), that keep the loops closed: `reach` [rad|m] is how far q was from zero.

        Parameters:
            count: number of states that are tried.
            reach: spread of the positions [rad|m].
        Returns:
            q, qd, qdd, each (k, n).
        Example:
            >>> [x.shape for x in sy.load("four_bar").closed_states(4)]
            [(4, 3), (4, 3), (4, 3)]
        """
        rng = np.random.default_rng(seed)
        found = self.assembly(rng.normal(scale=reach, size=(count, self.n)))
        q = found.q[found.closed]
        qd = self.consistent_velocity(q, 2.0 * rng.normal(size=q.shape))
        return q, qd, self.consistent_acceleration(q, qd, 2.0 * rng.normal(size=q.shape))

    @property
    def _with_loops(self) -> Tree:
        """The tree; raises CallError where it has no loops."""
        if not self.tree.loops:
            raise CallError(f"{self.name!r} has no loops: give it some with with_loop, or [[loops]] in its TOML file")
        return self.tree

    def _loop_kernel(self, name: str) -> Kernel:
        return kernel(self._with_loops, name)

    def _assembly_of_first(self, q: Array, count: int, free: Sequence[int] | None = None) -> Assembly:
        """Close the first loops only, by the free coordinates, all by default."""
        rows = sum(len(each.loop.rows) for each in self.tree.loops[:count])
        names = [each.loop.name for each in self.tree.loops[:count]]
        residual, jacobian = self._loop_kernel("closure"), self._loop_kernel("closure_jacobian")
        return assembled(
            lambda x: residual(x)[..., :rows], lambda x: jacobian(x)[..., :rows, :], q, range(self.n) if free is None else free, names
        )

    def _free(self, hold: Sequence[str]) -> list[int]:
        """The coordinates that may change."""
        hold = [hold] if isinstance(hold, str) else hold
        for name in hold:
            if name not in self.joint_names:
                raise CallError(f"hold: no joint moves on its own that is called {name!r}; {suggest(str(name), self.joint_names)}")
        return [c for c, name in enumerate(self.joint_names) if name not in hold]

    def _states(self, what: str, **given: Any) -> list[Array]:
        """Arrays (..., n) that go together; raises CallError where they do not."""
        made = [numbers(f"{what}: {name}", value) for name, value in given.items()]
        for name, value in zip(given, made, strict=True):
            if value.shape[-1:] != (self.n,):
                raise CallError(f"{what}: {name} has shape {value.shape}; expected (..., {self.n}): {', '.join(self.joint_names)}")
        if all(value.shape == made[0].shape for value in made):
            return made
        try:
            return [np.array(x) for x in np.broadcast_arrays(*made)]
        except ValueError:
            shapes = ", ".join(f"{name} {value.shape}" for name, value in zip(given, made, strict=True))
            raise CallError(f"{what}: {shapes} do not go together; expected (..., {self.n}) that broadcast") from None


def into(out: Array | None, values: Array) -> Array:
    """Values, written to `out` where it is given; raises CallError where it does not hold them."""
    if out is None:
        return np.asarray(values)
    given: object = out
    if not (isinstance(given, np.ndarray) and given.shape == values.shape and given.dtype == values.dtype):
        raise CallError(f"out must be an array {values.shape} of float64, not {brief(out)}")
    out[...] = values
    return out
