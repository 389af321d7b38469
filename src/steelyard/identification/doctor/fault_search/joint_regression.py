"""JointRegression: the columns that explain each joint's torque along a motion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ....cached import cached_property
from ...model.joint_gram import JointGram
from ...model.rows import Rows
from ..doctor_thresholds import THRESHOLDS
from .fault_correction import FaultCorrection, Pair
from .unknowns import States, Unknowns, UnknownsLayout

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class JointRegression:
    """Columns A_j (N, k_j) of each joint: tau_j = known_j + A_j (zero_j + to_u_j u) + noise.

    u (K,) are the unknowns. `signs` (2 n, K) are rows whose products with u are positive for every
    real joint: friction power over speed, and rotor inertia times acceleration, both as torques.
    Unused rows are zero; `counts` (n,) is the number of used rows.
    """

    columns: tuple[Array, ...]
    layout: UnknownsLayout
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
        """`folds` consecutive parts of the rows."""
        edges = np.linspace(0, self.N, THRESHOLDS.folds + 1).astype(int).tolist()
        return tuple(slice(a, b) for a, b in pairwise(edges))

    @cached_property
    def squares(self) -> tuple[Array, ...]:
        """A_j^T A_j of each joint."""
        return tuple(A.T @ A for A in self.columns)

    @cached_property
    def information(self) -> JointGram:
        """The normal matrices to_u^T A_j^T A_j to_u of the unknowns, without a torque."""
        normal = [E.T @ (S @ E) for E, S in zip(self.layout.blocks, self.squares, strict=True)]
        return JointGram.of_normal(self.K, self.layout.used, normal, self.counts)

    def gram(self, tau: Array) -> JointGram:
        """Return the normal equations for a torque tau (N, n) less its known part."""
        rhs, squares = [], []
        residual = np.ascontiguousarray((tau - self.known).T)
        for j, (A, z, E) in enumerate(
            zip(self.columns, self.zero, self.layout.blocks, strict=True)
        ):
            cross, at_zero = A.T @ residual[j], self.squares[j] @ z
            rhs.append(E.T @ (cross - at_zero))
            squares.append(residual[j] @ residual[j] - 2 * z @ cross + z @ at_zero)
        return self.information.with_torque(rhs, squares)

    def gram_without(self, part: slice, tau: Array) -> JointGram:
        """Return the normal equations for the torque tau (N, n) without a part of the rows."""
        inside = replace(self, columns=tuple(A[part] for A in self.columns), known=self.known[part])
        return self.gram(tau) - inside.gram(tau[part])

    def low_passed(
        self, filtered: Callable[[Array], Array], keep: NDArray[np.bool_]
    ) -> JointRegression:
        """Return the regression of a torque that went through a filter, in the kept rows."""
        columns = tuple(filtered(A) * keep[:, j, None] for j, A in enumerate(self.columns))
        counts = keep.sum(axis=0).astype(float)
        return replace(self, columns=columns, known=filtered(self.known) * keep, counts=counts)

    def predicted(self, u: Array) -> Array:
        """Return the torque (N, n) of the unknowns u."""
        return self.known + np.stack(
            [A @ (z + E @ u) for A, z, E in zip(self.columns, self.zero, self.to_u, strict=True)],
            axis=1,
        )


def build_joint_regression(
    unknowns: Unknowns,
    states: States,
    rows: Rows,
    correction: FaultCorrection,
    keep: NDArray[np.bool_],
    payload: Array,
) -> JointRegression:
    """Return the regression along a motion with the couplings of a correction.

    `rows` are regressor rows: of its base columns, or of all p parameters if the correction has its
    own gravity or geometry. `keep` (N, n) marks used rows, `payload` (N, n) [N m|N] is a known
    torque.
    """
    layout = unknowns.layout(correction)
    steps = [smooth_steps(speed) for speed in np.ascontiguousarray(states[1].T)]
    columns = []
    for j, runs in enumerate(layout.runs):
        beside = [*steps[j], *shared_columns(states, j, correction.couplings)]
        beside += spring_columns(states[0][:, j]) if j in correction.springs else []
        entries = [rows.row(j)[:, run] for run in runs] if correction.any_model else [rows.row(j)]
        A = np.concatenate([*entries, np.stack(beside, axis=1)], axis=1)
        columns.append(A if np.all(keep[:, j]) else np.multiply(A, keep[:, j, None], out=A))
    known = known_torque(unknowns, states, correction) + payload
    signs = sign_rows(unknowns, states, steps, layout.K)
    return JointRegression(
        columns=tuple(columns),
        layout=layout,
        known=known * keep,
        counts=keep.sum(axis=0).astype(float),
        signs=signs,
        inner=unknowns.inner,
        weight=unknowns.weight,
    )


def known_torque(unknowns: Unknowns, states: States, correction: FaultCorrection) -> Array:
    """Return the torque (N, n) that does not depend on the unknowns, without the payload."""
    known = unknowns.model.known_torque(*states)
    return (
        known - correction.lifted * described_gravity(unknowns, states[0])
        if correction.lifted
        else known
    )


def body_torque(
    unknowns: Unknowns, states: States, rows: Rows, correction: FaultCorrection, u: Array
) -> Array:
    """Return the torque (N, n) of the model's terms with unknowns u, and the known torque.

    Rows are as in `build_joint_regression`.
    """
    pi = unknowns.origin + unknowns.to_pi @ u[: unknowns.p]
    values = pi if correction.any_model else unknowns.model.base.matrix @ pi
    return known_torque(unknowns, states, correction) + rows @ values


def described_gravity(unknowns: Unknowns, q: Array) -> Array:
    """Return the torque of gravity (N, n) of the description."""
    return unknowns.model.gravity_torque(unknowns.model.base.values(unknowns.origin), q)


def shared_columns(states: States, joint: int, pairs: Sequence[Pair]) -> list[Array]:
    """Return the columns (N,) that shared motors add to a joint's torque."""
    _, qd, qdd = states
    columns: list[Array] = []
    for a, b in pairs:
        if joint in (a, b):
            other = b if joint == a else a
            columns += [qdd[:, other], qd[:, other], smooth_steps(qd[:, a] + qd[:, b])[0]]
    return columns


def spring_columns(q: Array) -> list[Array]:
    """Return the columns (N,) of a torque that depends on a joint's position: a cubic polynomial.

    Chebyshev polynomials over the joint's range, which springs and counterweights resemble.
    """
    middle, half = 0.5 * (np.max(q) + np.min(q)), 0.5 * np.ptp(q)
    x = (q - middle) / max(float(half), THRESHOLDS.standing)
    return [np.ones_like(x), x, 2 * x**2 - 1, 4 * x**3 - 3 * x]


def smooth_steps(speed: Array) -> list[Array]:
    """Return tanh of a speed (N,) over each of `friction_widths` times its root mean square."""
    usual = max(float(np.sqrt(np.mean(speed**2))), THRESHOLDS.slow_joint)
    return [np.tanh(speed / (width * usual)) for width in THRESHOLDS.friction_widths]


def sign_rows(
    unknowns: Unknowns, states: States, steps: Sequence[Sequence[Array]], K: int
) -> Array:
    """Return rows (2 n, K) of friction power and rotor inertia as torques [N m|N].

    Friction power is divided by the rms speed, rotor inertia multiplied by the rms acceleration.

    `steps` are the smooth steps of each joint.
    """
    n, p = unknowns.n, unknowns.p
    _, qd, qdd = states
    rows = np.zeros((2 * n, K))
    speed = np.maximum(np.sqrt(np.mean(qd**2, axis=0)), 1e-300)
    slide, strength = np.mean(np.abs(qd), axis=0) / speed, np.sqrt(np.mean(qdd**2, axis=0))
    for j, joint_terms in enumerate(unknowns.own_terms):
        for key, row, value in (
            ("viscous", j, speed[j]),
            ("coulomb", j, slide[j]),
            ("armature", n + j, strength[j]),
        ):
            if key in joint_terms:
                rows[row, joint_terms[key]] = value
        for e, step in enumerate(steps[j]):
            rows[j, p + len(THRESHOLDS.friction_widths) * j + e] = (
                float(qd[:, j] @ step) / len(qd) / speed[j]
            )
    return rows
