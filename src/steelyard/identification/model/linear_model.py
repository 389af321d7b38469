"""The model to identify.

Tau = Y_b(q, qd, qdd) base + known torque, with a column for each unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...algebra.spatial import Inertia
from ...cached import cached_property
from ...compiler.runtime.kernel import Kernel
from ...dynamics.joint_torques import joint_states
from ...dynamics.regressor import regressor
from ...kernels import kernel, kernel_of
from ...kernels import on_moving_base as on_moving_base
from ...mechanism.joint_terms import JointState
from ...mechanism.parameter_vector import with_scalars
from ...mechanism.tree import TermUse
from ...option_groups.identification import Bounds
from ...parameters.base import (
    BaseParameters,
    exciting_states,
    group_parameters,
    short_parameter_names,
    stack_samples,
)
from ...robot import Robot
from ..observations.joint_torques import JOINT_TORQUES
from ..observations.observation import Observation, exciting_base
from ..samples.samples import Samples
from . import own_rows
from .friction_memory import presliding_states
from .held_parameters import held_parameters, known_masses
from .joint_terms import (
    complete,
    coupled,
    gear_ratios,
    is_plain,
    structural,
    with_shape,
    with_usual_terms,
)
from .known import KnownFunction, with_known
from .model_options import ModelOptions
from .rows import ColumnSupport, Rows, entries_program, gathered

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Model:
    """A robot with a column for every unknown, and what is held or known.

    `robot` also has the shapes of friction, such as the width of the Coulomb step. `held`: indices
    and values of the parameters that are not to be found; `known` gives a torque (N, n) [N m|N]
    that is not to be found and that the robot cannot carry; `total_mass` [kg] is the mass of all
    moving links, where it is known. `load` has the inertias whose weight friction depends on, ()
    for the links of the robot. Where the base is `moving`, its motion (N, 9) is part of a state and
    shows more combinations of the parameters. `observation` says what the rows of a sample are.
    `own_prior` has the rows of a Gaussian prior that was given, `equalities` linear equalities of
    the parameters.
    """

    robot: Robot
    held: tuple[tuple[int, float], ...] = ()
    known: KnownFunction | None = None
    bounds: Bounds | None = None
    total_mass: float | None = None
    load: tuple[Inertia, ...] = ()
    moving: bool = False
    observation: Observation = JOINT_TORQUES
    own_prior: own_rows.NamedRows | None = None
    equalities: own_rows.NamedRows | None = None

    @property
    def n(self) -> int:
        """How many rows a sample has."""
        return self.robot.n if self.observation.has_joint_rows else len(self.row_names)

    @property
    def row_names(self) -> tuple[str, ...]:
        """Names of the n rows of a sample: joints, or components of a wrench."""
        return self.observation.row_names(self.robot)

    @property
    def row_units(self) -> tuple[str, ...]:
        """Unit of each row."""
        return self.observation.row_units(self.robot)

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
        fixed = dict(self.held)
        return tuple(i for i in range(len(self.names)) if i not in fixed)

    @cached_property
    def start(self) -> Array:
        """The initial parameters with the held ones at their values, (p,)."""
        pi = self.initial.copy()
        for index, value in self.held:
            pi[index] = value
        return pi

    @cached_property
    def base_equalities(self) -> own_rows.BaseEqualities | None:
        """The equalities as far as base parameters show them, None without any."""
        if self.equalities is None:
            return None
        rows, fixed = self.equalities.over(self.names), [i for i, _ in self.held]
        target = self.equalities.target - rows[:, fixed] @ self.start[fixed]
        rows[:, fixed] = 0.0
        return own_rows.base_equalities(rows, target, self.base.matrix)

    @cached_property
    def structure(self) -> Robot:
        """The robot with shapes at which random states show every term.

        Its base parameters serve for other shapes too.
        """
        return structural(self.robot)

    @cached_property
    def _sampled(self) -> Array:
        """The regressor at random states, (N n, p)."""
        if not self.observation.has_joint_rows:
            return self.observation.sampled_regressor(self.robot, self.moving)
        tree = replace(self.structure.tree, load=self.load)
        q, qd, qdd = exciting_states(tree)
        if tree.has_memory:  # random states separate it from sliding friction
            z = np.random.default_rng(2).uniform(-1.0, 1.0, (tree.n, len(q)))
            tree = replace(tree, memory=tuple(z))
        tree = on_moving_base(tree, list(exciting_base(len(q)).T)) if self.moving else tree
        return stack_samples(regressor(tree, list(q.T), list(qd.T), list(qdd.T)), len(q))

    @cached_property
    def base(self) -> BaseParameters:
        """The combinations of the free parameters that torques depend on.

        Its matrix is over all parameters.
        """
        Y = self._sampled.copy()
        Y[:, [i for i, _ in self.held]] = 0.0
        return group_parameters(Y, self.names, short_parameter_names(self.robot.tree, self.names))

    @cached_property
    def reach(self) -> ColumnSupport:
        """For each joint the base columns that its torque depends on.

        The block-triangular structure.
        """
        rows = self._sampled[:, list(self.base.columns)].reshape(
            len(self._sampled) // self.n, self.n, self.base.n_base
        )
        return ColumnSupport(
            tuple(np.flatnonzero(np.any(rows[:, j] != 0, axis=0)).tolist()) for j in range(self.n)
        )

    def rows(
        self, q: Array, qd: Array, qdd: Array, *base: Array, memory: Array | None = None
    ) -> Array:
        """Return Y_b, (N, n, b).

        The base columns of the regressor; base (N, 9) is the motion of the base, at rest if not
        given. `memory` (N, n) has the presliding states, None for joints that slide.
        """
        return self.columns(q, qd, qdd, self.base.columns, *base, memory=memory)

    @cached_property
    def _entry_kernels(self) -> dict[bool, Kernel]:
        """The kernels of `entries` that were used: of a base at rest, and of one that moves."""
        return {}

    def entries(
        self, q: Array, qd: Array, qdd: Array, *base: Array, memory: Array | None = None
    ) -> Array:
        """Return the entries of Y_b in reach, (N, P), see `Rows`.

        What `rows` has beside the zeros of its structure.
        """
        if not self.observation.has_joint_rows:
            return gathered(self.rows(q, qd, qdd, *base), self.reach)
        if not self.reach.size:
            return np.zeros((len(q), 0))
        if bool(base) not in self._entry_kernels:
            columns = tuple(self.plain_columns.get(c, 0) for c in self.base.columns)
            self._entry_kernels[bool(base)] = kernel_of(
                entries_program, self.plain.tree, columns, self.reach, bool(base)
            )
        entries = np.asarray(self._entry_kernels[bool(base)](q, qd, qdd, *base))
        others = [
            (k, self.term(c))
            for k, c in enumerate(self.base.columns)
            if c not in self.plain_columns
        ]
        states = self.joint_states([use for _, use in others], q, qd, qdd, memory)
        positions = (
            {
                (j, k): i
                for j, span in enumerate(self.reach.places)
                for i, k in enumerate(self.reach[j], span.start)
            }
            if others
            else {}
        )
        for k, use in others:
            for joint, factor in use.column(states).items():
                entries[:, positions[joint, k]] = factor
        return entries

    def rows_in_reach(
        self, q: Array, qd: Array, qdd: Array, *base: Array, memory: Array | None = None
    ) -> Rows:
        """Return what `rows` has, without the zeros of its structure."""
        entries = self.entries(q, qd, qdd, *base, memory=memory)
        return Rows(entries, self.reach, self.base.n_base)

    def feasible_states(self, q: Array, qd: Array, qdd: Array) -> tuple[Array, Array, Array]:
        """Return the states near these (N, n) that the robot can have."""
        return self.observation.feasible_states(self.robot, q, qd, qdd)

    def gravity_torque(self, base: Array, q: Array) -> Array:
        """Return the gravity torque (N, n) at q (N, n) of links with base parameters (b,)."""
        inner, pi = 10 * len(self.robot.tree.bodies), np.zeros(len(self.plain.parameters))
        for column, value in (*zip(self.base.columns, base, strict=True), *self.held):
            if column < inner:
                pi[column] = value
        return np.asarray(self.plain.gravity_torque(q, parameters=pi))

    def nearest(self, base: Array) -> Array:
        """Return the parameters (p,) nearest to the initial ones that have base values (b,).

        They need not be physical.
        """
        return np.asarray(
            self.start + np.linalg.pinv(self.base.matrix) @ (base - self.base.values(self.start))
        )

    def columns(
        self,
        q: Array,
        qd: Array,
        qdd: Array,
        columns: Sequence[int],
        *base: Array,
        memory: Array | None = None,
    ) -> Array:
        """Return some columns of the regressor, (N, n, k).

        Of the plain robot by its kernel, of other joint terms one by one.
        """
        if not self.observation.has_joint_rows:
            return self.observation.regressor(self.robot, q, qd, qdd, *base)[..., list(columns)]
        if not len(columns):
            return np.zeros((*q.shape, 0))
        plain_columns = tuple(self.plain_columns.get(c, 0) for c in columns)
        Y = np.asarray(
            kernel(self.plain.tree, "regressor", columns=plain_columns, base=bool(base))(
                q, qd, qdd, *base
            )
        )
        others = [(k, self.term(c)) for k, c in enumerate(columns) if c not in self.plain_columns]
        states = self.joint_states([use for _, use in others], q, qd, qdd, memory)
        for k, use in others:
            Y[:, :, k] = 0.0
            for joint, factor in use.column(states).items():
                Y[:, joint, k] = factor
        return Y

    def joint_states(
        self,
        uses: Sequence[TermUse],
        q: Array,
        qd: Array,
        qdd: Array,
        memory: Array | None = None,
    ) -> list[JointState]:
        """Return the arguments of some joint terms at states (N, n), joint by joint.

        `memory` (N, n) has the presliding states, None for joints that slide.
        """
        presliding = () if memory is None else tuple(memory.T)
        tree = replace(self.robot.tree, load=self.load, memory=presliding)
        return joint_states(tree, uses, list(q.T), list(qd.T), list(qdd.T))

    def memory(self, samples: Samples) -> Array | None:
        """Return the presliding states (N, n) along samples; None without friction with memory."""
        if not self.observation.has_joint_rows:
            return None
        distances = self.robot.tree.memory_distances
        return presliding_states(distances, samples.t, samples.q, samples.qd)

    def term(self, column: int) -> TermUse:
        """Return the joint term that a parameter is the value of."""
        return self.robot.tree.joint_terms[column - 10 * len(self.robot.tree.bodies)]

    @cached_property
    def plain(self) -> Robot:
        """The robot with rotor inertia, viscous and sharp Coulomb friction and offsets alone.

        One kernel serves all other terms of the joints.
        """
        return with_usual_terms(self.robot)

    @cached_property
    def plain_columns(self) -> dict[int, int]:
        """Parameters that have a column in the plain robot's regressor, with its index."""
        there = {name: i for i, name in enumerate(self.plain.parameter_names)}
        inner = 10 * len(self.robot.tree.bodies)
        return {
            i: there[name]
            for i, name in enumerate(self.names)
            if name in there and (i < inner or is_plain(self.term(i)))
        }

    @property
    def load_parameters(self) -> Array:
        """Masses and first moments (4 bodies,) [kg, kg m] of the links that load the joints."""
        inertias = self.load or tuple(body.inertia for body in self.robot.tree.bodies)
        return np.array([x for inertia in inertias for x in (inertia.m, *inertia.h)])

    @property
    def reads_load(self) -> bool:
        """Whether the friction of some joint depends on what it carries."""
        return self.observation.has_joint_rows and any(
            "load" in use.row.reads for use in self.robot.tree.joint_terms
        )

    def known_torque(
        self, q: Array, qd: Array, qdd: Array, *base: Array, memory: Array | None = None
    ) -> Array:
        """Return the torque (N, n) of the held parameters plus the known torque."""
        if not self.observation.has_joint_rows:
            return self._fixed_rows(q, qd, qdd, *base)
        tau = np.zeros(q.shape)
        fixed = [(i, value) for i, value in self.held if value]
        if fixed:
            tau += self.columns(q, qd, qdd, [i for i, _ in fixed], *base, memory=memory) @ np.array(
                [value for _, value in fixed]
            )
        if self.known is not None:
            tau += self.known(q, qd, qdd)
        return tau

    def _fixed_rows(self, q: Array, qd: Array, qdd: Array, *base: Array) -> Array:
        """Return the part (N, n) of the rows by held and by constant parameters."""
        values = np.zeros(len(self.names))
        for index, value in self.held:
            values[index] = value
        constant = self.observation.constant_parameters(self.robot)
        Y = self.observation.regressor(self.robot, q, qd, qdd, *base)
        return np.asarray(Y @ np.concatenate([values, constant]))

    def shape(self, key: str) -> tuple[float, ...]:
        """Return a shape of every joint, (n,), such as 'width' [rad/s|m/s].

        0 for a joint that has none.
        """
        return tuple(terms.get(key) or 0.0 for terms in self.robot.tree.terms)

    def with_shape(self, key: str, values: Sequence[float]) -> Model:
        """Return this model with another value of a shape at every joint; 0 takes it away."""
        changed = replace(self, robot=with_shape(self.robot, key, values))
        if changed.structure == self.structure:
            changed.__dict__.update(
                {
                    name: self.__dict__[name]
                    for name in ("base", "_sampled", "reach")
                    if name in self.__dict__
                }
            )
        return changed

    def with_robot(self, robot: Robot) -> Model:
        """Return this model of a robot that has other joint terms.

        Parameters that are held are found by name.
        """
        columns = {name: i for i, name in enumerate(robot.parameter_names)}
        return replace(
            self,
            robot=robot,
            held=tuple(
                sorted(
                    (columns[self.names[i]], x) for i, x in self.held if self.names[i] in columns
                )
            ),
        )

    def with_load(self, pi: ArrayLike) -> Model:
        """Return this model with load friction by the weight of links with parameters pi (p,)."""
        bodies = with_scalars(self.robot.tree, np.asarray(pi, float).tolist()).bodies
        changed = replace(self, load=tuple(body.inertia for body in bodies))
        # which columns there are does not depend on how heavy the links are
        if self.load is not None:
            changed.__dict__.update(
                {
                    name: self.__dict__[name]
                    for name in ("base", "reach", "structure", "plain")
                    if name in self.__dict__
                }
            )
        return changed

    def identified(self, pi: ArrayLike) -> Robot:
        """Return the robot with the parameters pi (p,)."""
        return self.robot.with_parameters(pi)

    def __getstate__(self) -> dict[str, Any]:
        # what is derived is computed again
        return {f.name: getattr(self, f.name) for f in fields(self)}


def build_model(
    robot: Robot,
    options: ModelOptions | None = None,
    observation: Observation = JOINT_TORQUES,
    moving: bool = False,
) -> Model:
    """Build the model to identify: a column for each requested term, held parameters by name.

    Parameters
    ----------
    robot : the robot as described
    options : what is to be identified, and what is known
    observation : what the rows of a sample are
    moving : whether the base moves

    Returns
    -------
    Model
    """
    options = observation.model_options(options or ModelOptions())
    full = complete(
        robot, options.first_terms, options.rotor, gear_ratios(robot, options.gear_ratio).tolist()
    )
    for each in options.couplings:
        full = coupled(full, each)
    full, known = with_known(full, options.known)
    masses, total = known_masses(full, options.known_mass)
    fixed = dict(held_parameters(full, options.hold)) | masses
    bounds = (
        options.bounds
        if total is None
        else {"total_mass": (total, total), **(options.bounds or {})}
    )
    model_robot = observation.model_robot(robot, full)
    robot_names, model_names = robot.parameter_names, model_robot.parameter_names
    columns = {name: i for i, name in enumerate(model_names)}
    names = full.parameter_names
    fixed = {columns[names[i]]: value for i, value in fixed.items() if names[i] in columns}
    fixed |= observation.unobservable(robot, model_robot, moving)
    return Model(
        robot=model_robot,
        held=tuple(sorted(fixed.items())),
        known=known if observation.has_joint_rows else None,
        bounds=bounds,
        total_mass=total,
        moving=moving,
        observation=observation,
        own_prior=own_rows.prior_rows_of(options.parameter_prior, robot_names, model_names),
        equalities=own_rows.equality_rows_of(options.constraints, robot_names, model_names),
    )
