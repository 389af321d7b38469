"""The model to identify: tau = Y_b(q, qd, qdd) base + known torque, with a column for each unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arguments import instance, names, per_joint, real_number, whole_number, yes_or_no
from ...cached import cached_property
from ...dynamics.joint_torques import joint_states
from ...dynamics.regressor import regressor
from ...errors import CallError, suggest
from ...kernels import kernel
from ...mechanism.joint_terms import COUPLING_TERMS, FRICTION, KNOWN_TORQUE
from ...mechanism.model import Coupling, Mechanism
from ...mechanism.parameter_vector import with_joint_values
from ...mechanism.tree import TermUse
from ...parameters.base import BaseParameters, exciting_states, group_parameters, short_parameter_names, stack_samples
from ...robot import Robot
from .bounds import Bounds, check_bounds
from .known import Known, KnownFunction, check_known, with_known

Array = NDArray[np.float64]
USUAL = ("viscous", "coulomb", "offset")
TERMS = {**{row.key: row.key for row in FRICTION if row.linear}, "stribeck": "stiction"}  # words of `friction`: key of the table
START = {"stribeck": 0.1}
"""Values of the shapes from which a search starts where the robot has none [rad/s|m/s]."""


@dataclass(frozen=True)
class ModelOptions:
    """What is to be found, and what is known about it.

    friction: terms of every joint, of 'viscous', 'coulomb', 'offset', 'negative' (Coulomb friction of backward motion) and 'stribeck'
    (stiction that fades with speed). rotor: whether rotor inertias are unknown. coulomb_width [rad/s|m/s]: speed over which Coulomb
    friction rises, one number or one per joint, 0 for sign(qd), or 'estimate'. hold: parameters, links or joints that keep the robot's
    values, or name -> value. bounds: name -> (lowest, highest), see `inequalities`. prior: 'cad' makes the description count for more.
    coupling: pairs of joints that share a motor, by name. known: torque that is not to be found, a function (q, qd, qdd) -> (N, n) or
    joint -> expression. drive_gains: joints whose measured torque is wrong by an unknown factor. A single name stands for a list of one.
    """

    friction: Sequence[str] = USUAL
    rotor: bool = True
    coulomb_width: str | float | Sequence[float] | Mapping[str, float] = "estimate"
    hold: Sequence[str] | Mapping[str, float | None] = ()
    bounds: Bounds | None = None
    prior: str | None = None
    coupling: Sequence[Coupling] = ()
    known: Known | None = None
    drive_gains: Sequence[str] = ()

    def __post_init__(self) -> None:
        checked = {
            "friction": names("friction", self.friction),
            "rotor": yes_or_no("rotor", self.rotor),
            "hold": dict(self.hold) if isinstance(self.hold, Mapping) else names("hold", self.hold),
            "bounds": check_bounds(self.bounds),
            "coupling": check_couplings(self.coupling),
            "known": check_known(self.known),
            "drive_gains": names("drive_gains", self.drive_gains),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        for term in self.friction:
            if term not in TERMS:
                raise CallError(f"friction {term!r} is unknown; {suggest(str(term), TERMS)}")
        if isinstance(self.coulomb_width, str) and self.coulomb_width != "estimate":
            raise CallError(f"coulomb_width must be 'estimate' or speeds [rad/s|m/s], not {self.coulomb_width!r}")

    def given_width(self, joint_names: Sequence[str]) -> Array | None:
        """The width of each joint's Coulomb step, (n,) [rad/s|m/s]; None if it is to be estimated."""
        return (
            None if isinstance(self.coulomb_width, str) else per_joint("coulomb_width", self.coulomb_width, joint_names, 0.0, "rad/s|m/s")
        )


def check_couplings(given: Any) -> tuple[Coupling, ...]:
    """Return couplings from one or several, each a Coupling or a pair of joint names."""
    pair = isinstance(given, tuple) and len(given) == 2 and all(isinstance(x, str) for x in given)
    several = (given,) if pair or not isinstance(given, (list, tuple)) else tuple(given)
    made = [Coupling(*each) if isinstance(each, (tuple, list)) and len(each) == 2 else each for each in several]
    return tuple(instance("coupling", each, Coupling, "or a pair of joint names") for each in made)


@dataclass(frozen=True, eq=False)
class Model:
    """A robot with a column for every unknown, and what is held or known.

    `robot` also has the shapes of friction, such as the width of the Coulomb step. `held`: indices and values of the parameters that are
    not to be found; `known` gives a torque (N, n) [N m|N] that is not to be found and that the robot cannot carry.
    """

    robot: Robot
    held: tuple[tuple[int, float], ...] = ()
    known: KnownFunction | None = None
    bounds: Bounds | None = None

    @property
    def n(self) -> int:
        return self.robot.n

    @property
    def names(self) -> tuple[str, ...]:
        """Labels of every parameter."""
        return self.robot.parameter_names

    @property
    def initial(self) -> Array:
        """The parameters of the robot as given, (p,)."""
        return self.robot.parameters

    @cached_property
    def free(self) -> tuple[int, ...]:
        """Indices of the parameters that are to be found."""
        held = dict(self.held)
        return tuple(i for i in range(len(self.names)) if i not in held)

    @cached_property
    def start(self) -> Array:
        """The initial parameters with the held ones at their values, (p,)."""
        pi = self.initial.copy()
        for index, value in self.held:
            pi[index] = value
        return pi

    @cached_property
    def structure(self) -> Robot:
        """The robot with shapes at which random states show every term: its kernel and base parameters serve for other shapes too."""
        return structural(self.robot)

    @cached_property
    def _sampled(self) -> Array:
        """The regressor at random states, (N n, p)."""
        tree = self.structure.tree
        q, qd, qdd = exciting_states(tree)
        return stack_samples(regressor(tree, list(q.T), list(qd.T), list(qdd.T)), len(q))

    @cached_property
    def base(self) -> BaseParameters:
        """The combinations of the free parameters that torques depend on; its matrix is over all parameters."""
        Y = self._sampled.copy()
        Y[:, [i for i, _ in self.held]] = 0.0
        return group_parameters(Y, self.names, short_parameter_names(self.robot.tree, self.names))

    @cached_property
    def reach(self) -> tuple[tuple[int, ...], ...]:
        """For each joint the base columns that its torque depends on: the block-triangular structure."""
        rows = self._sampled[:, list(self.base.columns)].reshape(-1, self.n, self.base.n_base)
        return tuple(tuple(np.flatnonzero(np.any(rows[:, j] != 0, axis=0))) for j in range(self.n))

    def rows(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return Y_b, (N, n, b): the base columns of the regressor."""
        return self.columns(q, qd, qdd, self.base.columns)

    def columns(self, q: Array, qd: Array, qdd: Array, columns: Sequence[int]) -> Array:
        """Return some columns of the regressor, (N, n, k): those of the structure, with the shapes of friction as they are."""
        tree = self.structure.tree
        Y = np.asarray(kernel(self.structure.fingerprint, tree, "regressor", columns=tuple(columns))(q, qd, qdd))
        shaped = [(k, self.term(c)) for k, c in enumerate(columns) if c in self._shaped]
        states = joint_states(self.robot.tree, [use for _, use in shaped], list(q.T), list(qd.T), list(qdd.T))
        for k, use in shaped:
            for joint, factor in use.column(states).items():
                Y[:, joint, k] = factor
        return Y

    def term(self, column: int) -> TermUse:
        """Return the joint term that a parameter is the value of."""
        return self.robot.tree.joint_terms[column - 10 * len(self.robot.tree.bodies)]

    @cached_property
    def _shaped(self) -> frozenset[int]:
        """Parameters whose column has another shape than in the structure."""
        inner = 10 * len(self.robot.tree.bodies)
        pairs = zip(self.robot.tree.joint_terms, self.structure.tree.joint_terms, strict=True)
        return frozenset(
            inner + k for k, (own, other) in enumerate(pairs) if any(own.values.get(s) != other.values.get(s) for s in own.row.shapes)
        )

    def known_torque(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the torque (N, n) of the held parameters plus the known torque."""
        tau = np.zeros(q.shape)
        held = [(i, value) for i, value in self.held if value]
        if held:
            tau += self.columns(q, qd, qdd, [i for i, _ in held]) @ np.array([value for _, value in held])
        if self.known is not None:
            tau += self.known(q, qd, qdd)
        return tau

    def shape(self, key: str) -> tuple[float, ...]:
        """Return a shape of every joint, (n,), such as 'width' [rad/s|m/s]; 0 for a joint that has none."""
        return tuple(terms.get(key) or 0.0 for terms in self.robot.tree.terms)

    def with_shape(self, key: str, values: Sequence[float]) -> Model:
        """Return this model with another value of a shape at every joint; 0 takes it away."""
        changed = replace(self, robot=with_shape(self.robot, key, values))
        if changed.structure == self.structure:
            changed.__dict__.update({name: self.__dict__[name] for name in ("base", "_sampled", "reach") if name in self.__dict__})
        return changed

    def identified(self, pi: ArrayLike) -> Robot:
        """Return the robot with the parameters pi (p,)."""
        return self.robot.with_parameters(pi)

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}  # what is derived is computed again


def build_model(robot: Robot, options: ModelOptions | None = None) -> Model:
    """Return the model to identify: the robot with a column for each term that is asked for, held parameters resolved by name."""
    options = options or ModelOptions()
    full = complete(robot, [TERMS[term] for term in options.friction], options.rotor)
    for each in options.coupling:
        full = coupled(full, each)
    full, known = with_known(full, options.known)
    return Model(full, held_parameters(full, options.hold), known, options.bounds)


def complete(robot: Robot, keys: Sequence[str], rotor: bool = True) -> Robot:
    """Return the robot with these friction terms and, if asked, a rotor inertia at every joint; its torques stay what they are.

    A joint without the term gets zero; stiction and backward friction get the value of its Coulomb friction.
    """
    robot = robot.with_joint_terms([*(["armature"] if rotor else []), *(key for key in keys if key in USUAL)])
    for key in keys:
        lacking = {
            name: terms.get("coulomb", 0.0) for name, terms in zip(robot.joint_names, robot.tree.terms, strict=True) if key not in terms
        }
        shape = {"stribeck": dict.fromkeys(lacking, START["stribeck"])} if key == "stiction" else {}
        robot = robot.with_friction(**{key: lacking}, **shape) if lacking else robot
    return robot


def coupled(robot: Robot, coupling: Coupling) -> Robot:
    """Return the robot with every linear term of a coupling, zero where it has none; joints are given by name or by number from 0."""
    a, b = (place(joint, robot.joint_names) for joint in (coupling.joint_a, coupling.joint_b))
    if a == b:
        raise CallError(f"a coupling needs two joints, not {coupling.joint_a!r} twice")
    own: Mapping[str, float] = next((each.terms for each in robot.tree.couplings if each.coordinates == (a, b)), {})
    given = {row.key: coupling.terms.get(row.key, own.get(row.key, 0.0)) for row in COUPLING_TERMS if row.linear}
    return robot.with_coupling(robot.joint_names[a], robot.joint_names[b], **given)


def place(joint: str | int, joint_names: Sequence[str]) -> int:
    """Return the index of a joint given by name or by number from 0."""
    if isinstance(joint, str):
        if joint not in joint_names:
            raise CallError(f"coupling: no joint is called {joint!r}; {suggest(joint, joint_names)}")
        return list(joint_names).index(joint)
    return whole_number("coupling: a joint that is not given by name", joint, 0, len(joint_names) - 1)


def with_shape(robot: Robot, key: str, values: Sequence[float]) -> Robot:
    """Return the robot with a shape of friction at every coordinate, 0 for none; a coupling has the larger width of its two joints."""
    bare = replace(robot.mechanism, joints=tuple(replace(j, terms=j.terms.changed({key: None})) for j in robot.mechanism.joints))
    made: Mechanism = with_joint_values(bare, {name: {key: float(v)} for name, v in zip(robot.joint_names, values, strict=True) if v > 0})
    if key == "width" and made.couplings:
        width = dict(zip(robot.joint_names, values, strict=True))
        couplings = (
            replace(each, terms=each.terms.changed({key: max(width[each.joint_a], width[each.joint_b]) or None})) for each in made.couplings
        )
        made = replace(made, couplings=tuple(couplings))
    return type(robot)(made)


def structural(robot: Robot) -> Robot:
    """Return the robot with a Stribeck velocity of 1 where it has one, and steps without width.

    A smooth step keeps a width of 1 where forward and backward friction differ: only there an offset is independent of the two.
    """
    terms = robot.tree.terms
    robot = with_shape(robot, "stribeck", [1.0 if "stribeck" in own else 0.0 for own in terms])
    return with_shape(robot, "width", [1.0 if "negative" in own and "width" in own else 0.0 for own in terms])


def held_parameters(robot: Robot, hold: Sequence[str] | Mapping[str, float | None]) -> tuple[tuple[int, float], ...]:
    """Return index and value of what is held, given by parameter, link or joint name; None keeps the robot's own value.

    The factors of known torques are always held.
    """
    wanted: Mapping[str, float | None] = hold if isinstance(hold, Mapping) else dict.fromkeys(hold)
    names = robot.parameter_names
    found = {i: float(robot.parameters[i]) for i, name in enumerate(names) if name.endswith(f".{KNOWN_TORQUE.symbol}")}
    owners = [name.rpartition(".")[0] for name in names]
    for name, value in wanted.items():
        hits = [i for i, own in enumerate(names) if name in (own, owners[i])]
        if not hits:
            raise CallError(f"hold: no parameter, link or joint is called {name!r}; {suggest(str(name), (*names, *dict.fromkeys(owners)))}")
        found |= {i: float(robot.parameters[i]) if value is None else real_number(f"hold: the value of {name!r}", value) for i in hits}
    if len(found) == len(names):
        raise CallError("hold: every parameter is held, there is nothing to identify")
    return tuple(sorted(found.items()))
