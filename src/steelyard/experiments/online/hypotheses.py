"""Hypotheses of a change: a load at the end of the arm, or the friction of a joint."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...algebra.scalar import Scalar, Scalars, dot
from ...compiler.ir.program import Operand, Program, trace
from ...compiler.runtime.kernel import Kernel
from ...dynamics.forward.by_crba import factorise, solve_factored
from ...identification.model.linear_model import Model
from ...kernels import kernel_of
from .online_thresholds import THRESHOLDS

Array = NDArray[np.float64]
FRICTION = ("Fv", "Fc", "F0")
LOAD = ("m", "mcx", "mcy", "mcz")


@dataclass(frozen=True, eq=False)
class ChangeHypothesis:
    """A change of base parameters by D x: `names` (d,) of x, D (b, d).

    `joint` is the joint whose friction changed, None for a load on `link`.
    """

    names: tuple[str, ...]
    D: Array
    joint: int | None = None
    link: str = ""

    @property
    def d(self) -> int:
        return len(self.names)

    @property
    def size(self) -> int:
        """How many numbers a window of samples is summed into.

        Score (d), information (d (d + 1) / 2), influence of the modes (d, r).
        """
        return self.d + self.d * (self.d + 1) // 2 + self.d * THRESHOLDS.uncertain_modes


def change_hypotheses(model: Model) -> tuple[ChangeHypothesis, ...]:
    """Return a load on every end link, then the friction of every joint that has any."""
    tree = model.robot.tree
    parents = {body.parent for body in tree.bodies}
    ends = [i for i in range(len(tree.bodies)) if i not in parents]
    payloads = [
        ChangeHypothesis(
            LOAD, model.base.matrix[:, 10 * i : 10 * i + 4], None, model.robot.body_names[i]
        )
        for i in ends
    ]
    column = {name: k for k, name in enumerate(model.base.names)}
    friction = []
    for j, joint in enumerate(model.row_names):
        names = tuple(name for name in FRICTION if f"{joint}.{name}" in column)
        if names:
            friction.append(
                ChangeHypothesis(
                    names,
                    np.eye(model.base.n_base)[:, [column[f"{joint}.{name}"] for name in names]],
                    j,
                )
            )
    return (*payloads, *friction)


@dataclass(frozen=True, eq=False)
class ChangeSums:
    """The two kernels of a set of hypotheses, and the layout of their sums.

    `terms(columns (n, 1 + r + l), tau (n), friction (n, 3), weights (n))` gives the terms (c,) that
    a sample adds to the sums. `tests(sums)` gives b^T (A + B B^T)^-1 b of every hypothesis, (h,),
    with A the information, b the score and B the influence of the uncertain modes. It tests the
    score against the noise and the uncertainty of the parameters.
    """

    every: tuple[ChangeHypothesis, ...]
    n: int

    @property
    def edges(self) -> list[tuple[int, int]]:
        return list(pairwise(accumulate((h.size for h in self.every), initial=0)))

    @property
    def width(self) -> int:
        return sum(h.size for h in self.every)

    @property
    def payload_indices(self) -> list[int]:
        """Indices of the hypotheses that are payloads."""
        return [k for k, h in enumerate(self.every) if h.joint is None]

    @property
    def _shapes(self) -> tuple[tuple[int, int | None], ...]:
        return tuple((h.d, h.joint) for h in self.every)

    @property
    def terms(self) -> Kernel:
        return kernel_of(terms_program, self.n, self._shapes)

    @property
    def tests(self) -> Kernel:
        return kernel_of(tests_program, self.n, self._shapes)

    def _terms(self, columns: Any, tau: Scalars, friction: Any, weights: Scalars) -> list[Scalar]:
        terms: list[Scalar] = []
        error = [t - row[0] for t, row in zip(tau, columns, strict=True)]
        first = 1 + THRESHOLDS.uncertain_modes
        for h in self.every:
            if h.joint is None:
                joints: Any = range(self.n)
                Z = [row[first : first + 4] for row in columns]
                first += 4
            else:
                joints, Z = [h.joint], [row[: h.d] for row in friction]
            weighted = {j: [weights[j] * z for z in Z[j]] for j in joints}
            terms += [
                dot([weighted[j][i] for j in joints], [error[j] for j in joints])
                for i in range(h.d)
            ]
            terms += [
                dot([weighted[j][i] for j in joints], [Z[j][k] for j in joints])
                for i in range(h.d)
                for k in range(i + 1)
            ]
            terms += [
                dot([weighted[j][i] for j in joints], [columns[j][1 + m] for j in joints])
                for i in range(h.d)
                for m in range(THRESHOLDS.uncertain_modes)
            ]
        return terms

    def _tests(self, sums: Scalars) -> list[Scalar]:
        statistics = []
        for h, (a, b) in zip(self.every, self.edges, strict=True):
            score, A, B = split_sums(h.d, sums[a:b])
            C = [[A[i][j] + dot(B[i], B[j]) for j in range(i + 1)] for i in range(h.d)]
            for i in range(h.d):
                C[i][i] = C[i][i] * (1.0 + THRESHOLDS.normal_ridge) + 1e-300
            statistics.append(dot(score, solve_factored(factorise(C), score)))
        return statistics


def split_sums(d: int, sums: Any) -> tuple[Any, list[Any], list[Any]]:
    """Return score (d,), rows of A's lower triangle, and rows of B (d, r) of one hypothesis."""
    edges = list(accumulate(range(1, d + 1), initial=d))
    A = [sums[a:b] for a, b in pairwise(edges)]
    B = [
        sums[
            edges[-1] + i * THRESHOLDS.uncertain_modes : edges[-1]
            + (i + 1) * THRESHOLDS.uncertain_modes
        ]
        for i in range(d)
    ]
    return sums[:d], A, B


def least_certain(covariance: Array, typical: Array, weights: Array) -> Array:
    """Return L (b, r), the uncertain directions that matter most to torques at typical states.

    `typical` (N, n, b) are the regressors there.

    L L^T is the nearest of rank r to the covariance (b, b) in the norm of the torques they cause,
    each joint's in its noise. Eckart and Young, Psychometrika 1 (1936), p. 211.
    """
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    rows = (typical * np.sqrt(weights)[:, None]).reshape(-1, len(covariance)) @ root
    _, _, Vt = np.linalg.svd(rows.T @ rows)
    L = np.zeros((len(covariance), THRESHOLDS.uncertain_modes))
    L[:, : min(THRESHOLDS.uncertain_modes, len(Vt))] = root @ Vt[: THRESHOLDS.uncertain_modes].T
    return L


def sums_of(n: int, shapes: tuple[tuple[int, int | None], ...]) -> ChangeSums:
    """Return the sums of hypotheses by their shapes (columns, joint), without their numbers."""
    return ChangeSums(
        tuple(ChangeHypothesis(("",) * d, np.zeros((0, d)), joint) for d, joint in shapes), n
    )


def terms_program(n: int, shapes: tuple[tuple[int, int | None], ...]) -> Program:
    """Return the program of the terms that a sample adds to the sums."""
    sums = sums_of(n, shapes)
    sizes = {
        "columns": (n, 1 + THRESHOLDS.uncertain_modes + 4 * len(sums.payload_indices)),
        "tau": (n,),
        "friction": (n, 3),
        "weights": (n,),
    }
    inputs = [Operand(name, size) for name, size in sizes.items()]
    return trace("change_terms", sums._terms, inputs, [Operand("terms", (sums.width,))])


def tests_program(n: int, shapes: tuple[tuple[int, int | None], ...]) -> Program:
    """Return the program of the statistics of all hypotheses."""
    sums = sums_of(n, shapes)
    return trace(
        "change_tests",
        sums._tests,
        [Operand("sums", (sums.width,))],
        [Operand("statistic", (len(shapes),))],
    )
