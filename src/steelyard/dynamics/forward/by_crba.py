"""Forward dynamics through the mass matrix: fewer operations than articulated bodies on short arms, and mimic joints are no obstacle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...algebra.scalar import Scalar, Scalars, is_zero, iteration
from ...mechanism.tree import Tree
from ..crba import mass_matrix
from ..rnea import bias_torque


def forward_by_crba(tree: Tree, q: Scalars, qd: Scalars, tau: Scalars, wrench: Sequence[Scalars] | None = None) -> list[Scalar]:
    """Accelerations under given torques: (M + diag(Ia)) qdd = tau - C qd - g - tau_f(qd) + J^T wrench.

    q [rad|m], qd, tau [N m|N]: n scalars each; wrench: six scalars per body as in `rnea`. Returns n accelerations [rad/s2|m/s2].
    Walker and Orin 1982, method 3; Featherstone 2008, section 6.5 for the factors L^T D L.
    """
    bias = bias_torque(tree, q, qd, wrench)
    return solve(factorise(mass_matrix(tree, q)), [a - b for a, b in zip(tau, bias, strict=True)])


class Factors(NamedTuple):
    """M = L^T D L: the strict lower triangle of the unit matrix L by rows, and the reciprocals of D."""

    L: list[list[Scalar]]
    inverse: list[Scalar]


def factorise(M: Sequence[Scalars]) -> Factors:
    """M = L^T D L of a symmetric positive-definite matrix, last row first, so that the float 0.0 between branches stays 0.0.

    M: n x n scalars, of which the lower triangle is read. Featherstone 2008, table 6.3 (LTDL).
    """
    A = [list(row[: k + 1]) for k, row in enumerate(M)]
    inverse: list[Scalar] = [0.0] * len(A)
    for k in reversed(range(len(A))):
        inverse[k] = 1.0 / A[k][k]
        present = [i for i in range(k) if not is_zero(A[k][i])]
        scaled = {i: A[k][i] * inverse[k] for i in present}
        for i in present:
            iteration(A[k])
            for j in (j for j in present if j <= i):
                A[i][j] = A[i][j] - scaled[i] * A[k][j]
        A[k] = [scaled.get(i, 0.0) for i in range(k)]
    return Factors(A, inverse)


def solve(factors: Factors, b: Scalars) -> list[Scalar]:
    """x with L^T D L x = b. Featherstone 2008, table 6.4."""
    x = list(b)
    iteration(factors)
    for k in reversed(range(len(x))):
        for i, entry in enumerate(factors.L[k]):
            if not is_zero(entry):
                x[i] = x[i] - entry * x[k]
    iteration(factors)
    for k in range(len(x)):
        x[k] = x[k] * factors.inverse[k]
        for i, entry in enumerate(factors.L[k]):
            if not is_zero(entry):
                x[k] = x[k] - entry * x[i]
    return x


def inverse(factors: Factors) -> list[list[Scalar]]:
    """The inverse of L^T D L, n x n: of column k the entries down to the diagonal; symmetry gives the others."""
    n = len(factors.inverse)
    columns = []
    for k in range(n):
        head = Factors(factors.L[: k + 1], factors.inverse[: k + 1])
        columns.append(solve(head, [1.0 if i == k else 0.0 for i in range(k + 1)]))
    return [[columns[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)]
