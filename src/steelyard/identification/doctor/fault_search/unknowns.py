"""Unknowns: what a hypothesis leaves to be estimated, and how it enters each torque."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ....cached import cached_property
from ....kernels import kernel
from ...model.linear_model import Model
from ...model.prior import BodyPrior, body_prior
from ..doctor_thresholds import THRESHOLDS
from .fault_correction import Gravity, Pair

Array = NDArray[np.float64]
States = tuple[Array, Array, Array]
SHARED = 3  # terms of a coupling: inertia, viscous and Coulomb friction


@dataclass(frozen=True, eq=False)
class Unknowns:
    """The unknowns u of a model: bodies, joint terms and smooth friction steps.

    Bodies enter as svec(S - S0) of their pseudo-inertia in the metric of the description. pi =
    origin + to_pi u[:p], with pi the parameters (p,) of the model; joint terms are zero in
    `origin`. With `described` False the description is a placeholder: each body is one of 1 kg and
    0.1 m with next to no weight.
    """

    model: Model
    described: bool = True
    _layouts: dict[tuple[bool, tuple[Pair, ...]], UnknownsLayout] = field(
        default_factory=dict, repr=False
    )

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
        return THRESHOLDS.description_weight if self.described else THRESHOLDS.placeholder_weight

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

    def full_rows(self, states: States, gravity: Gravity) -> Array:
        """Return the regressor over all parameters, (N, n, p), under another gravity [m/s^2]."""
        robot = self.model.structure
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

    def layout(self, any_gravity: bool, pairs: tuple[Pair, ...]) -> UnknownsLayout:
        """Return how the unknowns enter: through base columns, or all columns for any gravity."""
        key = any_gravity, pairs
        if key not in self._layouts:
            self._layouts[key] = make_layout(self, any_gravity, pairs)
        return self._layouts[key]


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


def make_layout(unknowns: Unknowns, any_gravity: bool, pairs: Sequence[Pair]) -> UnknownsLayout:
    """Return the layout with joints that share motors."""
    model, p, n = unknowns.model, unknowns.p, unknowns.n
    lift, reach = (
        (np.eye(p), unknowns.full_reach) if any_gravity else (model.base.matrix, model.reach)
    )
    K = p + len(THRESHOLDS.friction_widths) * n + SHARED * len(pairs)
    joint_columns = tuple(np.array(columns, np.intp) for columns in reach)
    to_u, zero = [], []
    for j, columns in enumerate(joint_columns):
        places = places_beside(unknowns, j, pairs)
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


def places_beside(unknowns: Unknowns, joint: int, pairs: Sequence[Pair]) -> list[int]:
    """Return the unknowns of a joint's smooth steps and of the motors that it shares."""
    steps = unknowns.p + len(THRESHOLDS.friction_widths) * joint
    shared = unknowns.p + len(THRESHOLDS.friction_widths) * unknowns.n
    places = list(range(steps, steps + len(THRESHOLDS.friction_widths)))
    return places + [
        shared + SHARED * c + e
        for c, pair in enumerate(pairs)
        if joint in pair
        for e in range(SHARED)
    ]


def runs(indices: NDArray[np.intp]) -> tuple[slice, ...]:
    """Return slices that hold increasing indices, consecutive ones together."""
    parts = np.split(indices, np.flatnonzero(np.diff(indices) != 1) + 1)
    return tuple(slice(int(part[0]), int(part[-1]) + 1) for part in parts if len(part))
