"""Three-vectors and 3x3 matrices of scalars, as plain tuples.

Products with a model constant that is 0.0 or 1.0 vanish when the scalar folds them (an expression
node does, an array does not).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from .scalar import Scalar

Vector = tuple[Scalar, Scalar, Scalar]
Matrix = tuple[Vector, Vector, Vector]  # rows

ZERO: Vector = (0.0, 0.0, 0.0)
IDENTITY: Matrix = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


class Symmetric(NamedTuple):
    """A symmetric 3x3 matrix by its six entries."""

    xx: Any
    xy: Any
    xz: Any
    yy: Any
    yz: Any
    zz: Any


def vector(x: Sequence[Scalar]) -> Vector:
    """Return three scalars as a Vector."""
    return (x[0], x[1], x[2])


def add(a: Vector, b: Vector) -> Vector:
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def sub(a: Vector, b: Vector) -> Vector:
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def neg(a: Vector) -> Vector:
    return (-a[0], -a[1], -a[2])


def scale(s: Scalar, a: Vector) -> Vector:
    return (s * a[0], s * a[1], s * a[2])


def dot(a: Vector, b: Vector) -> Scalar:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def apply(m: Matrix, v: Vector) -> Vector:
    """Return m v."""
    return (dot(m[0], v), dot(m[1], v), dot(m[2], v))


def transpose(m: Matrix) -> Matrix:
    return ((m[0][0], m[1][0], m[2][0]), (m[0][1], m[1][1], m[2][1]), (m[0][2], m[1][2], m[2][2]))


def matmul(a: Matrix, b: Matrix) -> Matrix:
    """Return a b."""
    columns = transpose(b)
    return (
        (dot(a[0], columns[0]), dot(a[0], columns[1]), dot(a[0], columns[2])),
        (dot(a[1], columns[0]), dot(a[1], columns[1]), dot(a[1], columns[2])),
        (dot(a[2], columns[0]), dot(a[2], columns[1]), dot(a[2], columns[2])),
    )


def apply_symmetric(s: Symmetric, v: Vector) -> Vector:
    """Return s v for a symmetric matrix."""
    return (
        s.xx * v[0] + s.xy * v[1] + s.xz * v[2],
        s.xy * v[0] + s.yy * v[1] + s.yz * v[2],
        s.xz * v[0] + s.yz * v[1] + s.zz * v[2],
    )


def full(s: Symmetric) -> Matrix:
    """Return a symmetric matrix with its nine entries."""
    return ((s.xx, s.xy, s.xz), (s.xy, s.yy, s.yz), (s.xz, s.yz, s.zz))


def symmetric(m: Matrix) -> Symmetric:
    """Return the upper triangle of a matrix that is symmetric by construction."""
    return Symmetric(m[0][0], m[0][1], m[0][2], m[1][1], m[1][2], m[2][2])


def add_symmetric(a: Symmetric, b: Symmetric) -> Symmetric:
    return Symmetric(*(x + y for x, y in zip(a, b, strict=True)))


def total(vectors: Iterable[Vector]) -> Vector:
    """Return the sum of vectors."""
    x, y, z = ZERO
    for v in vectors:
        x, y, z = x + v[0], y + v[1], z + v[2]
    return (x, y, z)


def cross_matrix(a: Vector) -> Matrix:
    """Return [a]x, with [a]x b = a x b."""
    return ((0.0, -a[2], a[1]), (a[2], 0.0, -a[0]), (-a[1], a[0], 0.0))


def congruence(m: Matrix, s: Symmetric) -> Symmetric:
    """Return m s m^T of a symmetric matrix, computing only its six distinct entries."""
    t = (apply_symmetric(s, m[0]), apply_symmetric(s, m[1]), apply_symmetric(s, m[2]))
    return Symmetric(
        dot(t[0], m[0]),
        dot(t[0], m[1]),
        dot(t[0], m[2]),
        dot(t[1], m[1]),
        dot(t[1], m[2]),
        dot(t[2], m[2]),
    )
