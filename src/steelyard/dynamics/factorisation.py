"""Solving M x = b for a mass matrix, in scalars, without filling the zeros that a branching tree leaves in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..algebra.scalar import Scalar, Scalars


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
            for j in (j for j in present if j <= i):
                A[i][j] = A[i][j] - scaled[i] * A[k][j]
        A[k] = [scaled.get(i, 0.0) for i in range(k)]
    return Factors(A, inverse)


def solve(factors: Factors, b: Scalars) -> list[Scalar]:
    """x with L^T D L x = b. Featherstone 2008, table 6.4."""
    x = list(b)
    for k in reversed(range(len(x))):
        for i, entry in enumerate(factors.L[k]):
            if not is_zero(entry):
                x[i] = x[i] - entry * x[k]
    for k in range(len(x)):
        x[k] = x[k] * factors.inverse[k]
        for i, entry in enumerate(factors.L[k]):
            if not is_zero(entry):
                x[k] = x[k] - entry * x[i]
    return x


def is_zero(x: Scalar) -> bool:
    """Whether a scalar is a zero of the structure: the float 0.0, not a value that happens to vanish."""
    return isinstance(x, float) and x == 0.0
