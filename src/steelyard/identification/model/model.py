"""The linear model that a log is held against: tau = Y_b(q, qd, qdd) base + what is known, with the columns that are to be found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...compiler.ir.program import Operand, trace
from ...compiler.runtime.kernel import Kernel
from ...dynamics.regressor import regressor
from ...errors import CallError, choices
from ...parameters.base import BaseParameters, exciting_states, group_parameters, short_parameter_names, stack_samples
from ...robot import Robot
from .extra_terms import Extra

Array = NDArray[np.float64]
Known = Callable[[Array, Array, Array], Array]
FRICTION = ("viscous", "coulomb", "offset")
TERMS = (*FRICTION, "stribeck")


@dataclass(frozen=True, eq=False)
class Model:
    """A robot whose every term that is to be found has a column, further terms, and what is held.

    `held`: indices and values of the parameters that are not to be found; `known` gives a torque (N, n) [N m|N] that is no unknown.
    `widths` (n,) [rad/s|m/s] make Coulomb friction Fc tanh(qd / width); 0 stands for sign(qd).
    """

    robot: Robot
    extras: tuple[Extra, ...] = ()
    held: tuple[tuple[int, float], ...] = ()
    known: Known | None = None
    widths: tuple[float, ...] = ()

    @property
    def n(self) -> int:
        return self.robot.n

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Labels of every parameter: the robot's, then those of the further terms."""
        return self.robot.parameter_names + tuple(name for extra in self.extras for name in extra.names)

    @cached_property
    def initial(self) -> Array:
        """The parameters before, (p,): the robot's own, zero for further terms."""
        return np.concatenate([self.robot.parameters, np.zeros(len(self.names) - len(self.robot.parameters))])

    @cached_property
    def free(self) -> tuple[int, ...]:
        """Indices of the parameters that are to be found."""
        held = dict(self.held)
        return tuple(i for i in range(len(self.names)) if i not in held)

    @cached_property
    def start(self) -> Array:
        """The initial parameters with the held ones in place, (p,)."""
        pi = self.initial.copy()
        for index, value in self.held:
            pi[index] = value
        return pi

    @cached_property
    def _sampled(self) -> Array:
        """The regressor at random states, (N n, p), further terms included."""
        tree = self.robot.tree
        q, qd, qdd = exciting_states(tree)
        Y = stack_samples(regressor(tree, list(q.T), list(qd.T), list(qdd.T)), len(q))
        extra = [e.structural().columns(q, qd, qdd).reshape(len(Y), -1) for e in self.extras]
        return np.hstack([Y, *extra])

    @cached_property
    def base(self) -> BaseParameters:
        """The combinations of the free parameters that can be seen at all; its matrix is over all parameters."""
        short = short_parameter_names(self.robot.tree, self.names)
        Y = self._sampled.copy()
        Y[:, [i for i, _ in self.held]] = 0.0
        return group_parameters(Y, self.names, short)

    @cached_property
    def reach(self) -> tuple[tuple[int, ...], ...]:
        """For each joint the base columns that its torque depends on: the block-triangular structure."""
        rows = self._sampled[:, list(self.base.columns)].reshape(-1, self.n, self.base.n_base)
        return tuple(tuple(np.flatnonzero(np.any(rows[:, j] != 0, axis=0))) for j in range(self.n))

    def rows(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Y_b, (N, n, b): the regressor's base columns."""
        inner = [c for c in self.base.columns if c < len(self.robot.parameters)]
        outer = [c - len(self.robot.parameters) for c in self.base.columns if c >= len(self.robot.parameters)]
        Y = self._kernel(q, qd, qdd) if inner else np.zeros((len(q), self.n, 0))
        self._smooth_coulomb(Y, inner, qd)
        if outer:
            extra = np.concatenate([e.columns(q, qd, qdd, self.widths) for e in self.extras], axis=2)[:, :, outer]
            Y = np.concatenate([Y, extra], axis=2)
        return np.asarray(Y)

    def known_torque(self, q: Array, qd: Array, qdd: Array) -> Array:
        """What is not to be found, (N, n): the held parameters' share and the known torque."""
        tau = np.zeros(q.shape)
        if self.held:
            pi = np.zeros(len(self.names))
            for index, value in self.held:
                pi[index] = value
            tau += self.torque(q, qd, qdd, pi)
        if self.known is not None:
            tau += np.broadcast_to(self.known(q, qd, qdd), q.shape)
        return tau

    def torque(self, q: Array, qd: Array, qdd: Array, pi: ArrayLike) -> Array:
        """Y pi over all parameters (p,), (N, n), what is known not included."""
        pi = np.asarray(pi, float)
        count = len(self.robot.parameters)
        own = pi[:count].copy()
        Fc = [(j, c) for c, j in self._coulomb.items() if self.widths and self.widths[j] > 0]
        smooth = {j: own[c] for j, c in Fc}
        own[[c for _, c in Fc]] = 0.0
        tau = np.array(self.robot.inverse_dynamics(q, qd, qdd, parameters=own))
        for j, value in smooth.items():
            tau[:, j] += value * np.tanh(qd[:, j] / self.widths[j])
        if self.extras:
            tau += np.concatenate([e.columns(q, qd, qdd, self.widths) for e in self.extras], axis=2) @ pi[count:]
        return tau

    def identified(self, pi: ArrayLike) -> Robot:
        """The robot with the parameters pi and the widths of its Coulomb friction; it has no place for further terms."""
        made = self.robot.with_parameters(np.asarray(pi, float)[: len(self.robot.parameters)])
        names = self.robot.joint_names
        smooth = {names[j]: self.widths[j] for j in self._coulomb.values() if self.widths and self.widths[j] > 0}
        return made.with_friction(width=smooth) if smooth else made

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}  # what is derived, such as a kernel, is made again

    def with_widths(self, widths: Sequence[float]) -> Model:
        """The same model with other widths of the Coulomb friction."""
        changed = replace(self, widths=tuple(float(w) for w in widths))
        for name in ("base", "_sampled", "reach", "_kernel", "names"):  # none of them depends on the widths
            if name in self.__dict__:
                changed.__dict__[name] = self.__dict__[name]
        return changed

    @cached_property
    def _coulomb(self) -> dict[int, int]:
        """Column of Fc -> joint."""
        joints = {f"{name}.Fc": j for j, name in enumerate(self.robot.joint_names)}
        return {c: joints[name] for c, name in enumerate(self.robot.parameter_names) if name in joints}

    def _smooth_coulomb(self, Y: Array, inner: list[int], qd: Array) -> None:
        for k, c in enumerate(inner):
            j = self._coulomb.get(c)
            if j is not None and self.widths and self.widths[j] > 0:
                Y[:, j, k] = np.tanh(qd[:, j] / self.widths[j])

    @cached_property
    def _kernel(self) -> Kernel:
        tree, n = self.robot.tree, self.robot.n
        columns = [c for c in self.base.columns if c < len(self.robot.parameters)]
        inputs = [Operand("q", (n,), "[rad|m]"), Operand("qd", (n,), "[rad/s|m/s]"), Operand("qdd", (n,), "[rad/s2|m/s2]")]
        output = Operand("Y", (n, len(columns)), "[N m|N per unit of the parameter]")
        return Kernel(trace("base_regressor", lambda *x: [[row[c] for c in columns] for row in regressor(tree, *x)], inputs, [output]))


def build_model(
    robot: Robot,
    friction: Sequence[str] = FRICTION,
    rotor: bool = True,
    extras: Sequence[Extra] = (),
    hold: Sequence[str] | Mapping[str, float | None] = (),
    known: Known | None = None,
) -> Model:
    """The model to identify: the robot with a column for each friction term and rotor asked for, and the held parameters resolved."""
    for term in friction:
        if term not in TERMS:
            raise CallError(f"friction {term!r} is unknown; {choices(str(term), TERMS)}")
    full = robot.with_joint_terms([*(["armature"] if rotor else []), *(term for term in friction if term in FRICTION)])
    bound = tuple(extra.bound(full.joint_names) for extra in extras)
    bare = Model(full, bound)
    return Model(full, bound, held(bare, hold), known, (0.0,) * robot.n)


def held(model: Model, hold: Sequence[str] | Mapping[str, float | None]) -> tuple[tuple[int, float], ...]:
    """Index and value of what is held: parameters by name, or all of a link or joint by its name; None keeps the robot's own value."""
    wanted: Mapping[str, float | None] = hold if isinstance(hold, Mapping) else dict.fromkeys(hold)
    found: dict[int, float] = {}
    owners = [name.rpartition(".")[0] for name in model.names]
    for name, value in wanted.items():
        hits = [i for i, own in enumerate(model.names) if name in (own, owners[i])]
        if not hits:
            known = (*model.names, *dict.fromkeys(owners))
            raise CallError(f"hold: no parameter, link or joint is called {name!r}; {choices(name, known)}")
        found |= {i: float(model.initial[i] if value is None else value) for i in hits}
    if len(found) == len(model.names):
        raise CallError("hold: every parameter is held, there is nothing to identify")
    return tuple(sorted(found.items()))
