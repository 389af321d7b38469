"""Forward dynamics through the mass matrix, for short chains and for coupled joints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...algebra.scalar import Scalar, Scalars, dot, is_zero, iteration
from ...mechanism.tree import Tree
from ..crba import mass_matrix
from ..rnea import bias_torque


def forward_by_crba(
    tree: Tree, q: Scalars, qd: Scalars, tau: Scalars, wrench: Sequence[Scalars] | None = None
) -> list[Scalar]:
    """Return qdd with (M + diag(Ia)) qdd = tau - C qd - g - tau_f(qd) + J^T wrench.

    q [rad|m], qd, tau [N m|N]: n scalars each; wrench: six scalars per body as in `rnea`. Returns n
    accelerations [rad/s2|m/s2]. Walker and Orin 1982, method 3; Featherstone 2008, section 6.5 for
    the factors L^T D L.
    """
    bias = bias_torque(tree, q, qd, wrench)
    return solve_factored(
        factorise(mass_matrix(tree, q)), [a - b for a, b in zip(tau, bias, strict=True)]
    )


class Factors(NamedTuple):
    """M = L^T D L: strict lower triangle of the unit triangular L by rows, and reciprocals of D."""

    L: list[list[Scalar]]
    inverse: list[Scalar]


def factorise(M: Sequence[Scalars]) -> Factors:
    """Return the factors M = L^T D L of a symmetric positive-definite matrix.

    M: n x n scalars, of which the lower triangle is read. Starting at the last row keeps the float
    0.0 between branches. Featherstone 2008, table 6.3 (LTDL).
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


def solve_factored(factors: Factors, b: Scalars) -> list[Scalar]:
    """Return x with L^T D L x = b. Featherstone 2008, table 6.4."""
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
    """Return the inverse of L^T D L, n x n: N D^-1 N^T with the unit lower triangle N = L^-1."""
    n = len(factors.inverse)
    N: list[list[Scalar]] = [[0.0] * i for i in range(n)]
    for distance in range(1, n):
        for i in range(distance, n):
            iteration(factors)
            j = i - distance
            N[i][j] = -(
                factors.L[i][j] + dot(factors.L[i][j + 1 :], [N[k][j] for k in range(j + 1, i)])
            )
    result: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
    for j in range(n):
        scaled = [*(a * b for a, b in zip(N[j], factors.inverse, strict=False)), factors.inverse[j]]
        for i in range(j, n):
            iteration(factors)
            result[i][j] = result[j][i] = dot(scaled, [*N[i], 1.0][: j + 1])
    return result
