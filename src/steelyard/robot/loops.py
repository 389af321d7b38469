"""Robots with loops: closed configurations, torques with the multipliers of the loops, and motion that keeps them closed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import brief, numbers
from ..cached import cached_property
from ..compiler.runtime.kernel import Kernel
from ..errors import CallError, ProblemError, suggest
from ..kernels import kernel
from ..mechanism.tree import Tree
from .assembly import Assembly, assembled, step
from .constrained_torque import ConstrainedTorque, warn_of_singular, weights
from .description import Array, Description, Wrench
from .loop_structure import LoopStructure, loop_structure


class Loops(Description):
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
        """phi(q), (..., m): how far the loops are from closed, [m] and [rad], in the order of `closure_names`."""
        return self._loop_kernel("closure")(q, out=out)

    def closure_jacobian(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """Phi(q) = dphi/dq, (..., m, n): the loops stay closed where Phi qd = 0."""
        return self._loop_kernel("closure_jacobian")(q, out=out)

    def closure_bias(self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None) -> Array:
        """(dPhi/dt) qd, (..., m): the loops stay closed where Phi qdd = -bias."""
        return self._loop_kernel("closure_bias")(q, qd, out=out)

    def assemble(self, q: ArrayLike, hold: Sequence[str] = (), *, out: Array | None = None) -> Array:
        """The closed configuration nearest to q (..., n) in joint coordinates [rad|m]; joints named in `hold` stay where they are.

        Raises ProblemError where the loops cannot be closed; `assembly` gives those of a batch that can.
        """
        found = self.assembly(q, hold)
        if not np.all(found.closed):
            raise ProblemError(f"assemble: {found.status}; `assembly` returns what was reached")
        return _into(out, found.q)

    def assembly(self, q: ArrayLike, hold: Sequence[str] = ()) -> Assembly:
        """As `assemble`, with the gap of every configuration, which of them are closed, and a status sentence."""
        start = self._states("assemble", q=q)[0]
        residual, jacobian = self._loop_kernel("closure"), self._loop_kernel("closure_jacobian")
        names = [each.loop.name for each in self.tree.loops]
        return assembled(residual, jacobian, start, self._free(hold), names)

    def consistent_velocity(self, q: ArrayLike, qd: ArrayLike, hold: Sequence[str] = (), *, out: Array | None = None) -> Array:
        """The velocity nearest to qd that keeps the loops closed, (..., n): qd - Phi^+ Phi qd; joints in `hold` keep theirs."""
        q, qd = self._states("consistent_velocity", q=q, qd=qd)
        Phi = self.closure_jacobian(q)
        return _into(out, qd - step(Phi, np.einsum("...ij,...j->...i", Phi, qd), self._free(hold)))

    def consistent_acceleration(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, hold: Sequence[str] = (), *, out: Array | None = None
    ) -> Array:
        """The acceleration nearest to qdd that keeps the loops closed, (..., n), at velocities that do; joints in `hold` keep theirs."""
        q, qd, qdd = self._states("consistent_acceleration", q=q, qd=qd, qdd=qdd)
        Phi = self.closure_jacobian(q)
        excess = np.einsum("...ij,...j->...i", Phi, qdd) + self.closure_bias(q, qd)
        return _into(out, qdd - step(Phi, excess, self._free(hold)))

    def closed_states(self, count: int, seed: int = 0, reach: float = 0.3) -> tuple[Array, Array, Array]:
        """Random q, qd, qdd, at most (count, n), that keep the loops closed: `reach` [rad|m] is how far q was from zero."""
        rng = np.random.default_rng(seed)
        found = self.assembly(rng.normal(scale=reach, size=(count, self.n)))
        q = found.q[found.closed]
        qd = self.consistent_velocity(q, 2.0 * rng.normal(size=q.shape))
        return q, qd, self.consistent_acceleration(q, qd, 2.0 * rng.normal(size=q.shape))

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
        """
        if not self.loop_structure.rows:
            qdd = self._call("forward_dynamics", (q, qd, tau), parameters, None, wrench, base=base)
            made = qdd, np.zeros((*qdd.shape[:-1], self.tree.closures))
            return made if out is None else (_into(out[0], made[0]), _into(out[1], made[1]))
        into = (*out, None) if isinstance(out, tuple) else out
        with np.errstate(all="ignore"):
            found = self._constrained("constrained_forward_dynamics", (q, qd, tau), wrench, base, parameters, into)
        warn_of_singular(found[0], found[1], found[2], (q, qd, tau))
        return found[0], found[1]

    def constrained_regressor(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, out: Array | None = None) -> Array:
        """N^T Y, (..., f, p): N^T Y @ parameters = `independent_torque` of the drive torques, without the multipliers.

        Khalil and Dombre 2002, section 12.4 (identification of robots with closed loops).
        """
        self._require_freedom("constrained_regressor")
        return self._constrained("constrained_regressor", (q, qd, qdd), out=out)

    def freedom_basis(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """N(q), (..., n, f): qd = N qd_independent for the coordinates `loop_structure.independent`."""
        self._require_freedom("freedom_basis")
        return self._constrained("freedom_basis", (q,), out=out)

    def independent_torque(self, q: ArrayLike, tau: ArrayLike, *, out: Array | None = None) -> Array:
        """N^T tau, (..., f): torques (..., n) of all joints as felt by the independent coordinates."""
        q, tau = self._states("independent_torque", q=q, tau=tau)
        return _into(out, np.einsum("...ij,...i->...j", self.freedom_basis(q), tau))

    def _require_freedom(self, what: str) -> None:
        """Raise CallError where loops leave nothing free, or hold nothing."""
        made = self.loop_structure
        if not made.rows or not made.freedoms:
            why = "has no loops that hold it: take `regressor`" if not made.rows else "is rigid: its loops leave no freedom"
            raise CallError(f"{what}: {self.name!r} {why}")

    @property
    def _with_loops(self) -> Tree:
        """The tree; raises CallError where it has no loops."""
        if not self.tree.loops:
            raise CallError(f"{self.name!r} has no loops: give it some with with_loop, or [[loops]] in its TOML file")
        return self.tree

    @cached_property
    def closed_tree(self) -> Tree:
        """The tree with those of its closures and coordinates that are independent, as the algorithms for loops see it."""
        made = self.loop_structure
        loops = self.tree.loops if made.rows else ()  # loops that hold nothing are none
        return replace(self.tree, loops=loops, rows=made.rows, independent=made.independent)

    def _loop_kernel(self, name: str) -> Kernel:
        return kernel(self.fingerprint, self._with_loops, name)

    def _constrained(
        self, name: str, arrays: tuple[Any, ...], wrench: Any = None, base: Any = None, parameters: Any = None, out: Any = None
    ) -> Any:
        """The kernel of an algorithm with the independent closures, on some arrays."""
        tree = self.closed_tree
        frames, wrenches = self._wrenches(wrench)
        key = f"{self.fingerprint} {tree.rows} {tree.independent}"
        made = kernel(key, tree, name, wrench=frames, base=base is not None, parameters=parameters is not None)
        return made(*arrays, *(x for x in (wrenches, base, parameters) if x is not None), out=out)

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


def _into(out: Array | None, values: Array) -> Array:
    """Values, written to `out` where it is given; raises CallError where it does not hold them."""
    if out is None:
        return np.asarray(values)
    given: object = out
    if not (isinstance(given, np.ndarray) and given.shape == values.shape and given.dtype == values.dtype):
        raise CallError(f"out must be an array {values.shape} of float64, not {brief(out)}")
    out[...] = values
    return out
