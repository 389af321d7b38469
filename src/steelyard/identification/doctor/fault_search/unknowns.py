"""Unknowns: what a hypothesis leaves to be estimated, and how it enters each torque."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....algebra.spatial import Pose
from ....algebra.vector import scale
from ....cached import cached_property
from ....dynamics.regressor import regressor
from ....kernels import kernel
from ....mechanism.tree import Body, Tree
from ...model.linear_model import Model
from ...model.prior import BodyPrior, body_prior
from ..doctor_thresholds import THRESHOLDS
from .fault_correction import FaultCorrection, Gravity, Length, Pair

Array = NDArray[np.float64]
States = tuple[Array, Array, Array]
SHARED = 3  # terms of a coupling: inertia, viscous and Coulomb friction
SPRING = 4  # terms of a spring: a cubic polynomial of the position


@dataclass(frozen=True, eq=False)
class Unknowns:
    """The unknowns u of a model: bodies, joint terms and smooth friction steps.

    Bodies enter as svec(S - S0) of their pseudo-inertia in the metric of the description. pi =
    origin + to_pi u[:p], with pi the parameters (p,) of the model; joint terms are zero in
    `origin`. `described_weight` is the prior weight of a body. With `described` False the
    description is a placeholder: each body is one of 1 kg and 0.1 m with next to no weight.
    """

    model: Model
    described: bool = True
    described_weight: float = THRESHOLDS.description_weight
    _layouts: dict[LayoutKey, UnknownsLayout] = field(default_factory=dict, repr=False)

    @property
    def n(self) -> int:
        return self.model.n

    @property
    def p(self) -> int:
        return len(self.model.names)

    @property
    def inner(self) -> int:
        """How many of the unknowns belong to bodies."""
        return 10 * len(self.model.robot.tree.bodies)

    @property
    def weight(self) -> float:
        """Weight of a body of the description before the samples."""
        return self.described_weight if self.described else THRESHOLDS.placeholder_weight

    @property
    def gravity(self) -> Gravity:
        """The described gravity [m/s^2]."""
        x, y, z = (float(component) for component in self.model.robot.gravity)
        return x, y, z

    @cached_property
    def _prior(self) -> BodyPrior:
        return body_prior(self.model, () if self.described else range(self.inner // 10))

    @cached_property
    def to_pi(self) -> Array:
        T = np.eye(self.p)
        for i, block in enumerate(self._prior.to_pi):
            T[10 * i : 10 * i + 10, 10 * i : 10 * i + 10] = block
        return T

    @cached_property
    def origin(self) -> Array:
        bodies = np.concatenate(
            [T @ centre for T, centre in zip(self._prior.to_pi, self._prior.centre, strict=True)]
        )
        return np.concatenate([bodies, np.zeros(self.p - self.inner)])

    @cached_property
    def own_terms(self) -> tuple[dict[str, int], ...]:
        """For each joint the unknown of each of its terms, by key."""
        places: tuple[dict[str, int], ...] = tuple({} for _ in range(self.n))
        for k, use in enumerate(self.model.robot.tree.joint_terms):
            if len(use.coordinates) == 1:
                places[use.coordinates[0]][use.row.key] = self.inner + k
        return places

    def full_rows(
        self, states: States, gravity: Gravity | None = None, lengths: Sequence[Length] = ()
    ) -> Array:
        """Return the regressor over all parameters, (N, n, p).

        Parameters
        ----------
        states : q, qd, qdd (N, n)
        gravity : [m/s^2], None for the described one
        lengths : joints whose distance from the joint before differs, with the factor
        """
        robot = self.model.structure
        gravity = gravity or self.gravity
        if lengths:  # one call of another geometry is not worth a compilation
            tree = with_lengths(robot.tree, lengths, gravity)
            return stack_rows(regressor(tree, *map(columns_of, states)), len(states[0]))
        # as felt by one that stands
        base = np.broadcast_to(
            (*(-component for component in gravity), *[0.0] * 6), (len(states[0]), 9)
        )
        return np.asarray(kernel(robot.tree, "regressor", base=True)(*states, base))

    @cached_property
    def full_reach(self) -> tuple[tuple[int, ...], ...]:
        """For each joint the free parameters that its torque may depend on, for any gravity."""
        # each joint moves both ways
        q, qd, qdd = np.random.default_rng(0).normal(size=(3, 64, self.n))
        Y = self.full_rows((q, qd, qdd), (3.0, 4.0, 5.0))
        Y[:, :, [i for i, _ in self.model.held]] = 0.0
        return tuple(
            tuple(np.flatnonzero(np.any(Y[:, j] != 0, axis=0)).tolist()) for j in range(self.n)
        )

    def layout(self, correction: FaultCorrection) -> UnknownsLayout:
        """Return how the unknowns enter: through base columns, or all columns for any model."""
        key = correction.any_model, correction.couplings, correction.springs
        if key not in self._layouts:
            self._layouts[key] = make_layout(self, *key)
        return self._layouts[key]

    def first_of_coupling(self, index: int) -> int:
        """Return the first unknown of a coupling, by its index in the correction."""
        return self.p + len(THRESHOLDS.friction_widths) * self.n + SHARED * index

    def first_of_spring(self, correction: FaultCorrection, joint: int) -> int:
        """Return the first unknown of a joint's spring."""
        after_couplings = self.first_of_coupling(len(correction.couplings))
        return after_couplings + SPRING * correction.springs.index(joint)


@dataclass(frozen=True, eq=False)
class UnknownsLayout:
    """How the K unknowns enter the torques: A_j (zero_j + to_u_j u) for joint j.

    A_j has columns of the regressor and some further ones. `runs[j]` are the slices of regressor
    columns, `used[j]` the unknowns on which the torque depends, `blocks[j]` is to_u_j (k_j, used).
    """

    runs: tuple[tuple[slice, ...], ...]
    to_u: tuple[Array, ...]
    zero: tuple[Array, ...]
    used: tuple[NDArray[np.intp], ...]
    blocks: tuple[Array, ...]
    K: int


LayoutKey = tuple[bool, tuple[Pair, ...], tuple[int, ...]]


def with_lengths(tree: Tree, lengths: Sequence[Length], gravity: Gravity) -> Tree:
    """Return the tree with other distances between joints, and under another gravity [m/s^2]."""
    factors = dict(lengths)

    def scaled(body: Body) -> Body:
        factor = factors.get(body.coordinate, 1.0)
        R, p = body.placement
        return replace(body, placement=Pose(R, scale(factor, p)))

    return replace(tree, bodies=tuple(map(scaled, tree.bodies)), gravity=gravity)


def columns_of(x: Array) -> list[Array]:
    """Return the columns of an array (N, n)."""
    return list(np.ascontiguousarray(x.T))


def stack_rows(rows: Sequence[Sequence[Any]], count: int) -> Array:
    """Return rows of scalars or arrays (count,) as an array (count, rows, columns)."""
    result = np.empty((count, len(rows), len(rows[0])))
    for i, row in enumerate(rows):
        for k, value in enumerate(row):
            result[:, i, k] = value
    return result


def make_layout(
    unknowns: Unknowns, any_model: bool, pairs: Sequence[Pair], springs: Sequence[int]
) -> UnknownsLayout:
    """Return the layout with joints that share motors, and joints with springs."""
    model, p, n = unknowns.model, unknowns.p, unknowns.n
    lift, reach = (
        (np.eye(p), unknowns.full_reach) if any_model else (model.base.matrix, model.reach)
    )
    K = p + len(THRESHOLDS.friction_widths) * n + SHARED * len(pairs) + SPRING * len(springs)
    joint_columns = tuple(np.array(columns, np.intp) for columns in reach)
    to_u, zero = [], []
    for j, columns in enumerate(joint_columns):
        places = places_beside(unknowns, j, pairs, springs)
        E = np.zeros((len(columns) + len(places), K))
        E[: len(columns), :p] = lift[columns] @ unknowns.to_pi
        E[len(columns) + np.arange(len(places)), places] = 1.0
        to_u.append(E)
        zero.append(np.concatenate([lift[columns] @ unknowns.origin, np.zeros(len(places))]))
    used = tuple(np.flatnonzero(np.any(E != 0, axis=0)) for E in to_u)
    blocks = tuple(np.ascontiguousarray(E[:, u]) for E, u in zip(to_u, used, strict=True))
    return UnknownsLayout(
        runs=tuple(map(runs, joint_columns)),
        to_u=tuple(to_u),
        zero=tuple(zero),
        used=used,
        blocks=blocks,
        K=K,
    )


def places_beside(
    unknowns: Unknowns, joint: int, pairs: Sequence[Pair], springs: Sequence[int]
) -> list[int]:
    """Return the unknowns of a joint's smooth steps, of motors that it shares, of its spring."""
    steps = unknowns.p + len(THRESHOLDS.friction_widths) * joint
    shared = unknowns.first_of_coupling(0)
    first = unknowns.first_of_coupling(len(pairs))
    places = list(range(steps, steps + len(THRESHOLDS.friction_widths)))
    return (
        places
        + [
            shared + SHARED * c + e
            for c, pair in enumerate(pairs)
            if joint in pair
            for e in range(SHARED)
        ]
        + [
            first + SPRING * k + e
            for k, j in enumerate(springs)
            if j == joint
            for e in range(SPRING)
        ]
    )


def runs(indices: NDArray[np.intp]) -> tuple[slice, ...]:
    """Return slices that hold increasing indices, consecutive ones together."""
    parts = np.split(indices, np.flatnonzero(np.diff(indices) != 1) + 1)
    return tuple(slice(int(part[0]), int(part[-1]) + 1) for part in parts if len(part))
