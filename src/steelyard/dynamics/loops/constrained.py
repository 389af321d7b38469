"""Lagrange's equations of mixed type, solved over any scalars: M qdd = Phi^T lambda + T tau - h, with Phi qdd = -bias.

All systems that are solved are symmetric and positive definite wherever the loops are independent of each other, so that no pivots are
searched for: a kernel has no branches. At singular configurations the results are not finite, or leave a residual.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...algebra.scalar import Scalar, Scalars, dot
from ..forward.by_crba import Factors, factorise, solve

Rows = Sequence[Scalars]


class Solution(NamedTuple):
    """Unknowns of the mixed equations: n accelerations or torques, and a multiplier for every closure."""

    values: list[Scalar]
    multipliers: list[Scalar]


def constrained_accelerations(M: Rows, Phi: Rows, bias: Scalars, force: Scalars) -> Solution:
    """qdd and lambda with M qdd = force + Phi^T lambda and Phi qdd = -bias: (Phi M^-1 Phi^T) lambda = -bias - Phi M^-1 force.

    M: n x n, Phi: r x n of full rank, bias = dPhi/dt qd: r, force = tau - h: n. Lecture "Recursive direct dynamics", mixed type.
    """
    factors = factorise(M)
    free = solve(factors, force)
    solved = [solve(factors, row) for row in Phi]  # M^-1 Phi^T, column by column
    mobility = [[dot(row, column) for column in solved] for row in Phi]
    multipliers = solve(factorise(mobility), [-(a + dot(row, free)) for a, row in zip(bias, Phi, strict=True)])
    return Solution([a + dot(multipliers, column) for a, column in zip(free, columns(solved), strict=True)], multipliers)


def drive_torques(Phi: Rows, force: Scalars, driven: Sequence[int], weight: Scalars) -> Solution:
    """Torques of the driven joints and lambda with T tau + Phi^T lambda = force; of all such torques those of least sum of weight tau^2.

    Phi: r x n; force = M qdd + h: n scalars; weight: one scalar per driven joint. The passive joints alone give G^T lambda = force_P,
    where G has their columns of Phi; they must not be more than the loops, nor dependent. Nakamura and Ghodoussi 1989 (redundant drives).
    """
    passive = [c for c in range(len(force)) if c not in driven]
    G, wanted = [[row[c] for c in passive] for row in Phi], [force[c] for c in passive]
    multipliers = _square(G, wanted) if len(passive) == len(Phi) else _least(Phi, G, force, driven, weight)
    for _ in range(1 if passive else 0):  # one refinement: what the squared system lost in digits
        left = [a - dot(column, multipliers) for a, column in zip(wanted, columns(G), strict=True)]
        multipliers = [a + b for a, b in zip(multipliers, _smallest(G, left), strict=True)]
    torques: list[Scalar] = [0.0] * len(force)
    for c, column in enumerate(columns(Phi)):
        torques[c] = force[c] - dot(column, multipliers) if c in driven else 0.0
    return Solution(torques, multipliers)


def _square(G: Rows, wanted: Scalars) -> list[Scalar]:
    """x with G^T x = wanted, by (G G^T) x = G wanted."""
    return solve(gram(G), [dot(row, wanted) for row in G])


def _smallest(G: Rows, wanted: Scalars) -> list[Scalar]:
    """The smallest x with G^T x = wanted, G of at least as many rows as columns: x = G (G^T G)^-1 wanted."""
    if len(G) == len(wanted):
        return _square(G, wanted)
    y = solve(gram(columns(G)), wanted)
    return [dot(row, y) for row in G]


def _least(Phi: Rows, G: Rows, force: Scalars, driven: Sequence[int], weight: Scalars) -> list[Scalar]:
    """lambda of the smallest torques, sum of weight (force_D - Phi_D^T lambda)^2, among those with G^T lambda = force_P.

    H = Phi diag(weight on drives, 1 on passive joints) Phi^T is positive definite; (G^T H^-1 G) mu sees to the passive joints.
    """
    share = {c: weight[k] for k, c in enumerate(driven)}
    weighed = [[share.get(c, 1.0) * x for c, x in enumerate(row)] for row in Phi]
    H = factorise([[dot(a, b) for b in weighed] for a in Phi])
    free = solve(H, [dot(row, force) for row in weighed])
    if not G[0]:
        return free
    solved = [solve(H, column) for column in columns(G)]
    left = [dot(column, free) - force[c] for column, c in zip(columns(G), _others(driven, len(force)), strict=True)]
    mu = solve(factorise([[dot(column, x) for x in solved] for column in columns(G)]), left)
    return [a - dot(mu, row) for a, row in zip(free, columns(solved), strict=True)]


def _others(driven: Sequence[int], n: int) -> list[int]:
    return [c for c in range(n) if c not in driven]


def motion_basis(Phi: Rows, independent: Sequence[int]) -> list[list[Scalar]]:
    """N, n x f, with Phi N = 0 and the unit matrix in the rows of the independent coordinates: qd = N qd_independent.

    Wehage and Haug 1982, "Generalized coordinate partitioning".
    """
    return columns([_with_dependent(Phi, independent, [-row[c] for row in Phi], c) for c in independent])


def dependent_acceleration(Phi: Rows, bias: Scalars, independent: Sequence[int]) -> list[Scalar]:
    """gamma, n, zero at the independent coordinates, with Phi gamma = -bias: qdd = N qdd_independent + gamma."""
    return _with_dependent(Phi, independent, [-b for b in bias], None)


def _with_dependent(Phi: Rows, independent: Sequence[int], wanted: Scalars, unit: int | None) -> list[Scalar]:
    """n scalars: 1 at the coordinate `unit`, 0 at the other independent ones, and the dependent ones with Phi_D x = wanted.

    Normal equations and one refinement: what the squared system lost in digits.
    """
    n = len(Phi[0])
    dependent = _others(independent, n)
    D = [[row[c] for c in dependent] for row in Phi]
    factors, left, x = gram(columns(D)), list(wanted), [0.0] * len(dependent)
    for _ in range(2):
        change = solve(factors, [dot(column, left) for column in columns(D)])
        x = [a + b for a, b in zip(x, change, strict=True)]
        left = [a - dot(row, change) for a, row in zip(left, D, strict=True)]
    made: list[Scalar] = [1.0 if c == unit else 0.0 for c in range(n)]
    for c, value in zip(dependent, x, strict=True):
        made[c] = value
    return made


def projected(Phi: Rows, excess: Scalars, x: Scalars) -> list[Scalar]:
    """x less the smallest change that takes the excess away: x - Phi^T (Phi Phi^T)^-1 excess."""
    multipliers = solve(gram(Phi), excess)
    return [a - dot(multipliers, column) for a, column in zip(x, columns(Phi), strict=True)]


def gram(A: Rows) -> Factors:
    """The factors of A A^T."""
    return factorise([[dot(a, b) for b in A[: i + 1]] for i, a in enumerate(A)])


def columns(rows: Rows) -> list[list[Scalar]]:
    """The transpose."""
    return [list(column) for column in zip(*rows, strict=True)]
