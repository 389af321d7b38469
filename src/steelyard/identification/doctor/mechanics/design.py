"""Design: the columns that may explain each joint's torque along a motion, and their products over parts of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ....cached import cached_property
from ...model.rows import Rows
from .hypothesis import Hypothesis, Pair
from .joint_information import JointInformation
from .unknowns import WIDTHS, Layout, States, Unknowns

Array = NDArray[np.float64]
SLOWEST = 0.05  # [rad/s|m/s] rms speed, below which a joint hardly moves
FOLDS = 5


@dataclass(frozen=True, eq=False)
class Design:
    """Columns A_j (N, k_j) of each joint: tau_j = known_j + A_j (zero_j + to_u_j u) + noise, with the unknowns u (K,).

    `signs` (2 n, K): rows whose product with u no real joint has below zero: the power that friction takes out, and the rotor's inertia,
    over the joint's speed and times its acceleration, so that both are torques. Rows that are not in use are zero; `counts` (n,) are the
    others.
    """

    columns: tuple[Array, ...]
    layout: Layout
    known: Array
    counts: Array
    signs: Array
    inner: int
    weight: float

    @property
    def to_u(self) -> tuple[Array, ...]:
        return self.layout.to_u

    @property
    def zero(self) -> tuple[Array, ...]:
        return self.layout.zero

    @property
    def n(self) -> int:
        return len(self.columns)

    @property
    def N(self) -> int:
        return len(self.known)

    @property
    def K(self) -> int:
        return self.layout.K

    @cached_property
    def parts(self) -> tuple[slice, ...]:
        """FOLDS consecutive parts of the rows."""
        edges = np.linspace(0, self.N, FOLDS + 1).astype(int).tolist()
        return tuple(slice(a, b) for a, b in pairwise(edges))

    @cached_property
    def squares(self) -> tuple[Array, ...]:
        """A_j^T A_j of each joint."""
        return tuple(A.T @ A for A in self.columns)

    @cached_property
    def information(self) -> JointInformation:
        """D_j = to_u^T A^T A to_u of each joint."""
        return self._information(self.squares)

    def _information(self, squares: Sequence[Array]) -> JointInformation:
        blocks = tuple(E.T @ (S @ E) for E, S in zip(self.layout.blocks, squares, strict=True))
        return JointInformation(self.K, self.layout.used, blocks)

    def targets(self, tau: Array) -> tuple[Array, Array]:
        """Return to_u^T A_j^T r_j (n, K) and |r_j|^2 (n,), r being what the description leaves of the torque tau (N, n)."""
        return self._targets(tau, self.squares)

    def _targets(self, tau: Array, S: Sequence[Array]) -> tuple[Array, Array]:
        c, squares = np.zeros((self.n, self.K)), np.zeros(self.n)
        left = np.ascontiguousarray((tau - self.known).T)
        for j, (A, z, used) in enumerate(zip(self.columns, self.zero, self.layout.used, strict=True)):
            cross, stored = A.T @ left[j], S[j] @ z
            c[j, used] = self.layout.blocks[j].T @ (cross - stored)
            squares[j] = left[j] @ left[j] - 2 * z @ cross + z @ stored
        return c, squares

    def without(self, part: slice, tau: Array) -> tuple[JointInformation, Array]:
        """Return the information of each joint, and to_u^T A_j^T r_j (n, K), without a part of the rows."""
        inside = tuple(A[part].T @ A[part] for A in self.columns)
        D, c = self.information, self.targets(tau)[0]
        here = Design(tuple(A[part] for A in self.columns), self.layout, self.known[part], self.counts, self.signs, self.inner, self.weight)
        return D - here._information(inside), c - here._targets(tau[part], inside)[0]

    def predicted(self, u: Array) -> Array:
        """Return the torque (N, n) of the unknowns u."""
        return self.known + np.stack([A @ (z + E @ u) for A, z, E in zip(self.columns, self.zero, self.to_u, strict=True)], axis=1)


def make_design(unknowns: Unknowns, states: States, rows: Rows, hypothesis: Hypothesis, keep: NDArray[np.bool_], payload: Array) -> Design:
    """Return the design along a motion with the couplings of a hypothesis.

    `rows` are those of the regressor: of its base columns, or of all p if the hypothesis has a gravity of its own. `keep` (N, n) are those
    in use, `payload` (N, n) [N m|N] is a torque that is known.
    """
    layout = unknowns.layout(hypothesis.gravity is not None, hypothesis.couplings)
    steps = [smooth_steps(speed) for speed in np.ascontiguousarray(states[1].T)]
    columns = []
    for j, own in enumerate(layout.own):
        beside = [*steps[j], *shared_columns(states, j, hypothesis.couplings)]
        entries = [rows.row(j)] if hypothesis.gravity is None else [rows.row(j)[:, run] for run in own]
        A = np.concatenate([*entries, np.stack(beside, axis=1)], axis=1)
        columns.append(A if np.all(keep[:, j]) else np.multiply(A, keep[:, j, None], out=A))
    known = known_torque(unknowns, states, hypothesis) + payload
    signs = sign_rows(unknowns, states, steps, layout.K)
    return Design(tuple(columns), layout, known * keep, keep.sum(axis=0).astype(float), signs, unknowns.inner, unknowns.weight)


def known_torque(unknowns: Unknowns, states: States, hypothesis: Hypothesis) -> Array:
    """Return the torque (N, n) along a motion that does not depend on the unknowns, a payload apart."""
    known = unknowns.model.known_torque(*states)
    return known - hypothesis.lifted * described_gravity(unknowns, states[0]) if hypothesis.lifted else known


def body_torque(unknowns: Unknowns, states: States, rows: Rows, hypothesis: Hypothesis, u: Array) -> Array:
    """Return the torque (N, n) along a motion of the model's own terms with the unknowns u, and what is known; rows as in a design."""
    pi = unknowns.origin + unknowns.to_pi @ u[: unknowns.p]
    values = pi if hypothesis.gravity is not None else unknowns.model.base.matrix @ pi
    return known_torque(unknowns, states, hypothesis) + rows @ values


def described_gravity(unknowns: Unknowns, q: Array) -> Array:
    """Return the torque of gravity (N, n) of the description."""
    return unknowns.model.gravity_torque(unknowns.model.base.values(unknowns.origin), q)


def shared_columns(states: States, joint: int, pairs: Sequence[Pair]) -> list[Array]:
    """Return what the motors that a joint shares add to its torque per unit of their terms, each (N,)."""
    _, qd, qdd = states
    columns: list[Array] = []
    for a, b in pairs:
        if joint in (a, b):
            other = b if joint == a else a
            columns += [qdd[:, other], qd[:, other], smooth_steps(qd[:, a] + qd[:, b])[0]]
    return columns


def smooth_steps(speed: Array) -> list[Array]:
    """Return tanh of a speed (N,) over each of WIDTHS times its root mean square."""
    usual = max(float(np.sqrt(np.mean(speed**2))), SLOWEST)
    return [np.tanh(speed / (width * usual)) for width in WIDTHS]


def sign_rows(unknowns: Unknowns, states: States, steps: Sequence[Sequence[Array]], K: int) -> Array:
    """Return the rows (2 n, K) of mean friction power over rms speed, and of rotor inertia times rms acceleration [N m|N].

    `steps` are the smooth steps of each joint.
    """
    n, p = unknowns.n, unknowns.p
    _, qd, qdd = states
    rows = np.zeros((2 * n, K))
    speed = np.maximum(np.sqrt(np.mean(qd**2, axis=0)), 1e-300)
    slide, strength = np.mean(np.abs(qd), axis=0) / speed, np.sqrt(np.mean(qdd**2, axis=0))
    for j, own in enumerate(unknowns.own_terms):
        for key, row, value in (("viscous", j, speed[j]), ("coulomb", j, slide[j]), ("armature", n + j, strength[j])):
            if key in own:
                rows[row, own[key]] = value
        for e, step in enumerate(steps[j]):
            rows[j, p + len(WIDTHS) * j + e] = float(qd[:, j] @ step) / len(qd) / speed[j]
    return rows
