"""Design: the columns that may explain each joint's torque along a motion, and their products over parts of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ....cached import cached_property
from ....dynamics.regressor import regressor
from ....parameters.base import stack_samples
from ...model.model import Model
from ...model.prior import BodyPrior, body_prior
from .hypothesis import Gravity, Hypothesis, Pair

Array = NDArray[np.float64]
States = tuple[Array, Array, Array]
WIDTHS = (0.03, 0.3)  # of two smooth steps of each joint, over its rms speed: friction beyond the model's, the same whatever the clock is
SLOWEST = 0.05  # [rad/s|m/s] rms speed, below which a joint hardly moves
SHARED = 3  # terms of a coupling: inertia, viscous and Coulomb friction
FOLDS = 5
WEIGHT = 30.0  # of a body of the description: right to about a fifth of its own size, before the samples
NO_WEIGHT = 1e-4  # of a body without one


@dataclass(frozen=True, eq=False)
class Unknowns:
    """The unknowns u of a model: svec(S - S0) of each body in the metric of its description, joint terms, smooth steps of friction.

    pi = origin + to_pi u[:p], with pi the parameters (p,) of the model, and joint terms at zero in `origin`. Without a description that
    is worth anything (`described` False) each body is one of 1 kg and 0.1 m, and its weight is next to nothing.
    """

    model: Model
    described: bool = True

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
        return WEIGHT if self.described else NO_WEIGHT

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
        bodies = np.concatenate([T @ centre for T, centre in zip(self._prior.to_pi, self._prior.centre, strict=True)])
        return np.concatenate([bodies, np.zeros(self.p - self.inner)])

    @cached_property
    def own_terms(self) -> tuple[dict[str, int], ...]:
        """For each joint the unknown of each of its terms, by key."""
        places: tuple[dict[str, int], ...] = tuple({} for _ in range(self.n))
        for k, use in enumerate(self.model.robot.tree.joint_terms):
            if len(use.at) == 1:
                places[use.at[0]][use.row.key] = self.inner + k
        return places

    def full_rows(self, states: States, gravity: Gravity) -> Array:
        """Return the regressor over all parameters, (N, n, p), under another gravity [m/s^2]."""
        tree = replace(self.model.structure.tree, gravity=gravity)
        rows = regressor(tree, *(list(x.T) for x in states))
        return stack_samples(rows, len(states[0])).reshape(len(states[0]), self.n, -1)

    @cached_property
    def full_reach(self) -> tuple[tuple[int, ...], ...]:
        """For each joint the free parameters that its torque may depend on, whatever gravity is."""
        q, qd, qdd = np.random.default_rng(0).normal(size=(3, 64, self.n))  # each joint moves both ways
        Y = self.full_rows((q, qd, qdd), (3.0, 4.0, 5.0))
        Y[:, :, [i for i, _ in self.model.held]] = 0.0
        return tuple(tuple(np.flatnonzero(np.any(Y[:, j] != 0, axis=0)).tolist()) for j in range(self.n))


@dataclass(frozen=True, eq=False)
class Design:
    """Columns A_j (N, k_j) of each joint: tau_j = known_j + A_j (zero_j + to_u_j u) + noise, with the unknowns u (K,).

    `signs` (2 n, K): rows whose product with u no real joint has below zero: the power that friction takes out, and the rotor's inertia,
    over the joint's speed and times its acceleration, so that both are torques. Rows that are not in use are zero; `counts` (n,) are the
    others.
    """

    columns: tuple[Array, ...]
    to_u: tuple[Array, ...]
    zero: tuple[Array, ...]
    known: Array
    counts: Array
    signs: Array
    inner: int
    weight: float

    @property
    def n(self) -> int:
        return len(self.columns)

    @property
    def N(self) -> int:
        return len(self.known)

    @property
    def K(self) -> int:
        return int(self.signs.shape[1])

    @cached_property
    def parts(self) -> tuple[slice, ...]:
        """FOLDS consecutive parts of the rows."""
        edges = np.linspace(0, self.N, FOLDS + 1).astype(int).tolist()
        return tuple(slice(a, b) for a, b in pairwise(edges))

    @cached_property
    def squares(self) -> tuple[tuple[Array, ...], ...]:
        """A_j^T A_j of each part and joint."""
        return tuple(tuple(A[part].T @ A[part] for A in self.columns) for part in self.parts)

    @cached_property
    def information(self) -> Array:
        """D_j = to_u^T A^T A to_u of each joint, (n, K, K)."""
        return self.information_of(range(FOLDS))

    def information_of(self, parts: Sequence[int]) -> Array:
        """D_j over some of the parts, (n, K, K)."""
        sums = (sum(self.squares[f][j] for f in parts) for j in range(self.n))
        return np.array([E.T @ S @ E for E, S in zip(self.to_u, sums, strict=True)])

    def targets(self, tau: Array, parts: Sequence[int] = range(FOLDS)) -> tuple[Array, Array]:
        """Return to_u^T A_j^T r_j (n, K) and |r_j|^2 (n,), r being what the description leaves of the torque tau (N, n)."""
        c, squares = np.zeros((self.n, self.K)), np.zeros(self.n)
        for f in parts:
            part = self.parts[f]
            for j, (A, z) in enumerate(zip(self.columns, self.zero, strict=True)):
                own = tau[part, j] - self.known[part, j]
                cross, S = A[part].T @ own, self.squares[f][j]
                c[j] += self.to_u[j].T @ (cross - S @ z)
                squares[j] += own @ own - 2 * z @ cross + z @ S @ z
        return c, squares

    def predicted(self, u: Array) -> Array:
        """Return the torque (N, n) of the unknowns u."""
        return self.known + np.stack([A @ (z + E @ u) for A, z, E in zip(self.columns, self.zero, self.to_u, strict=True)], axis=1)


def make_design(unknowns: Unknowns, states: States, hypothesis: Hypothesis, keep: NDArray[np.bool_], payload: Array) -> Design:
    """Return the design along a motion under the gravity and the couplings of a hypothesis.

    `keep` (N, n) are the rows in use, `payload` (N, n) [N m|N] is a torque that is known.
    """
    model, p = unknowns.model, unknowns.p
    if hypothesis.gravity is None:
        Y, lift, reach = model.rows(*states), model.base.matrix, model.reach
    else:
        Y, lift, reach = unknowns.full_rows(states, hypothesis.gravity), np.eye(p), unknowns.full_reach
    pairs = hypothesis.couplings
    K = p + len(WIDTHS) * unknowns.n + SHARED * len(pairs)
    columns, to_u, zero = [], [], []
    for j, own in enumerate(map(list, reach)):
        beside, places = beside_columns(states, j, p + len(WIDTHS) * unknowns.n, p + len(WIDTHS) * j, pairs)
        columns.append(np.concatenate([Y[:, j][:, own], beside], axis=1) * keep[:, j, None])
        E = np.zeros((len(own) + len(places), K))
        E[: len(own), :p] = lift[own] @ unknowns.to_pi
        E[len(own) + np.arange(len(places)), places] = 1.0
        to_u.append(E)
        zero.append(np.concatenate([lift[own] @ unknowns.origin, np.zeros(len(places))]))
    known = model.known_torque(*states) + payload
    if hypothesis.lifted:
        known = known - hypothesis.lifted * described_gravity(unknowns, states[0])
    signs = sign_rows(unknowns, states, K)
    return Design(
        tuple(columns), tuple(to_u), tuple(zero), known * keep, keep.sum(axis=0).astype(float), signs, unknowns.inner, unknowns.weight
    )


def described_gravity(unknowns: Unknowns, q: Array) -> Array:
    """Return the torque of gravity (N, n) of the description."""
    still = np.zeros_like(q)
    model = unknowns.model
    return np.asarray(model.rows(q, still, still) @ model.base.values(unknowns.origin))


def beside_columns(states: States, joint: int, shared: int, own: int, pairs: Sequence[Pair]) -> tuple[Array, list[int]]:
    """Return a joint's smooth steps and what the motors that it shares add per unit of their terms, (N, k), and their places in u."""
    _, qd, qdd = states
    columns = smooth_steps(qd[:, joint])
    places = [own + e for e in range(len(WIDTHS))]
    for c, (a, b) in enumerate(pairs):
        if joint in (a, b):
            other = b if joint == a else a
            columns += [qdd[:, other], qd[:, other], smooth_steps(qd[:, a] + qd[:, b])[0]]
            places += [shared + SHARED * c + e for e in range(SHARED)]
    return np.stack(columns, axis=1), places


def smooth_steps(speed: Array) -> list[Array]:
    """Return tanh of a speed (N,) over each of WIDTHS times its root mean square."""
    usual = max(float(np.sqrt(np.mean(speed**2))), SLOWEST)
    return [np.tanh(speed / (width * usual)) for width in WIDTHS]


def sign_rows(unknowns: Unknowns, states: States, K: int) -> Array:
    """Return the rows (2 n, K) of mean friction power over rms speed, and of rotor inertia times rms acceleration [N m|N]."""
    n, p = unknowns.n, unknowns.p
    _, qd, qdd = states
    rows = np.zeros((2 * n, K))
    for j, own in enumerate(unknowns.own_terms):
        speed = max(float(np.sqrt(np.mean(qd[:, j] ** 2))), 1e-300)
        if "viscous" in own:
            rows[j, own["viscous"]] = speed
        if "coulomb" in own:
            rows[j, own["coulomb"]] = float(np.mean(np.abs(qd[:, j]))) / speed
        for e, step in enumerate(smooth_steps(qd[:, j])):
            rows[j, p + len(WIDTHS) * j + e] = float(np.mean(qd[:, j] * step)) / speed
        if "armature" in own:
            rows[n + j, own["armature"]] = float(np.sqrt(np.mean(qdd[:, j] ** 2)))
    return rows
