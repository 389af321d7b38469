"""Lagrange's equations of the first kind: M qdd = Phi^T lambda + T tau - h, Phi qdd = -bias.

All linear systems are symmetric and positive definite where the loops are independent, so that no
pivoting is needed: a kernel has no branches. At singular configurations results are not finite, or
have a residual.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...algebra.scalar import Scalar, Scalars, dot
from ..forward.by_crba import Factors, factorise, solve_factored

Rows = Sequence[Scalars]


class Solution(NamedTuple):
    """Accelerations or torques (n), and a Lagrange multiplier for every closure."""

    values: list[Scalar]
    multipliers: list[Scalar]


def constrained_accelerations(M: Rows, Phi: Rows, bias: Scalars, force: Scalars) -> Solution:
    """Return qdd and lambda with M qdd = force + Phi^T lambda and Phi qdd = -bias.

    (Phi M^-1 Phi^T) lambda = -bias - Phi M^-1 force. M: n x n, Phi: r x n of full rank,
    bias = dPhi/dt qd: r, force = tau - h: n. Lecture "Recursive direct dynamics", mixed type.
    """
    factors = factorise(M)
    free = solve_factored(factors, force)
    solved = [solve_factored(factors, row) for row in Phi]  # M^-1 Phi^T, column by column
    mobility = [[dot(row, column) for column in solved] for row in Phi]
    multipliers = solve_factored(
        factorise(mobility), [-(a + dot(row, free)) for a, row in zip(bias, Phi, strict=True)]
    )
    return Solution(
        [
            a + dot(multipliers, column)
            for a, column in zip(free, transposed_rows(solved), strict=True)
        ],
        multipliers,
    )


def drive_torques(Phi: Rows, force: Scalars, driven: Sequence[int], weight: Scalars) -> Solution:
    """Return torques of driven joints and lambda with T tau + Phi^T lambda = force.

    Of all such torques, the sum of weight tau^2 is least. Phi: r x n; force = M qdd + h: n scalars;
    weight: one scalar per driven joint. The passive joints alone give G^T lambda = force_P, where G
    has their columns of Phi; these must be independent. Nakamura and Ghodoussi 1989 (redundant
    drives).
    """
    passive = [c for c in range(len(force)) if c not in driven]
    G, target = [[row[c] for c in passive] for row in Phi], [force[c] for c in passive]
    multipliers = (
        _square(G, target) if len(passive) == len(Phi) else _least(Phi, G, force, driven, weight)
    )
    for _ in range(1 if passive else 0):  # one refinement: restores digits lost by squaring
        residual = [
            a - dot(column, multipliers)
            for a, column in zip(target, transposed_rows(G), strict=True)
        ]
        multipliers = [a + b for a, b in zip(multipliers, _smallest(G, residual), strict=True)]
    torques: list[Scalar] = [0.0] * len(force)
    for c, column in enumerate(transposed_rows(Phi)):
        torques[c] = force[c] - dot(column, multipliers) if c in driven else 0.0
    return Solution(torques, multipliers)


def _square(G: Rows, target: Scalars) -> list[Scalar]:
    """Return x with G^T x = target, by (G G^T) x = G target."""
    return solve_factored(gram(G), [dot(row, target) for row in G])


def _smallest(G: Rows, target: Scalars) -> list[Scalar]:
    """Return the smallest x with G^T x = target: x = G (G^T G)^-1 target.

    G has at least as many rows as columns.
    """
    if len(G) == len(target):
        return _square(G, target)
    y = solve_factored(gram(transposed_rows(G)), target)
    return [dot(row, y) for row in G]


def _least(
    Phi: Rows, G: Rows, force: Scalars, driven: Sequence[int], weight: Scalars
) -> list[Scalar]:
    """Return lambda of the smallest torques with G^T lambda = force_P.

    Minimises the sum of weight (force_D - Phi_D^T lambda)^2. H = Phi diag(weight on drives, 1 on
    passive joints) Phi^T is positive definite; mu are the multipliers of the passive joints.
    """
    share = {c: weight[k] for k, c in enumerate(driven)}
    weighed = [[share.get(c, 1.0) * x for c, x in enumerate(row)] for row in Phi]
    H = factorise([[dot(a, b) for b in weighed] for a in Phi])
    free = solve_factored(H, [dot(row, force) for row in weighed])
    if not G[0]:
        return free
    solved = [solve_factored(H, column) for column in transposed_rows(G)]
    residual = [
        dot(column, free) - force[c]
        for column, c in zip(transposed_rows(G), _others(driven, len(force)), strict=True)
    ]
    mu = solve_factored(
        factorise([[dot(column, x) for x in solved] for column in transposed_rows(G)]), residual
    )
    return [a - dot(mu, row) for a, row in zip(free, transposed_rows(solved), strict=True)]


def _others(driven: Sequence[int], n: int) -> list[int]:
    return [c for c in range(n) if c not in driven]


def motion_basis(Phi: Rows, independent: Sequence[int]) -> list[list[Scalar]]:
    """Return N, n x f, with Phi N = 0 and the identity in the rows of the independent coordinates.

    qd = N qd_independent. Wehage and Haug 1982, "Generalized coordinate partitioning".
    """
    return transposed_rows(
        [_with_dependent(Phi, independent, [-row[c] for row in Phi], c) for c in independent]
    )


def dependent_acceleration(Phi: Rows, bias: Scalars, independent: Sequence[int]) -> list[Scalar]:
    """Return gamma, n, zero at the independent coordinates, with Phi gamma = -bias.

    qdd = N qdd_independent + gamma.
    """
    return _with_dependent(Phi, independent, [-b for b in bias], None)


def _with_dependent(
    Phi: Rows, independent: Sequence[int], target: Scalars, unit: int | None
) -> list[Scalar]:
    """Return n scalars: 1 at coordinate `unit`, 0 at the other independent ones, Phi_D x = target.

    Normal equations with one refinement, which restores the digits lost by squaring the condition.
    """
    n = len(Phi[0])
    dependent = _others(independent, n)
    D = [[row[c] for c in dependent] for row in Phi]
    factors, residual, x = gram(transposed_rows(D)), list(target), [0.0] * len(dependent)
    for _ in range(2):
        change = solve_factored(factors, [dot(column, residual) for column in transposed_rows(D)])
        x = [a + b for a, b in zip(x, change, strict=True)]
        residual = [a - dot(row, change) for a, row in zip(residual, D, strict=True)]
    result: list[Scalar] = [1.0 if c == unit else 0.0 for c in range(n)]
    for c, value in zip(dependent, x, strict=True):
        result[c] = value
    return result


def project_onto_constraints(Phi: Rows, excess: Scalars, x: Scalars) -> list[Scalar]:
    """Project x onto the constraints: x - Phi^T (Phi Phi^T)^-1 excess."""
    multipliers = solve_factored(gram(Phi), excess)
    return [a - dot(multipliers, column) for a, column in zip(x, transposed_rows(Phi), strict=True)]


def gram(A: Rows) -> Factors:
    """Return the factors of A A^T."""
    return factorise([[dot(a, b) for b in A[: i + 1]] for i, a in enumerate(A)])


def transposed_rows(rows: Rows) -> list[list[Scalar]]:
    """Return the transpose."""
    return [list(column) for column in zip(*rows, strict=True)]
