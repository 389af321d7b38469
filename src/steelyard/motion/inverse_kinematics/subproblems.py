"""Canonical subproblems.

The angles that bring vectors to given places by turns about given axes, over any scalar.

Every arm that has a closed form falls into these. They use + - * /, sqrt, atan2 and `where` only; a
turn is carried as cosine and sine, so that one subproblem feeds the next without a sine of an
angle. Where no turn reaches the place, `reach` is 0 and the turn is the nearest. Paden 1986; Kahan
1983; Elias and Wen, "IK-Geo", Mechanism and Machine Theory 209 (2025), whose numbers 1 to 4 they
bear.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from ...algebra import vector as v3
from ...algebra.scalar import Scalar, atan2, sqrt, where
from ...algebra.vector import Vector
from .inverse_kinematics_thresholds import THRESHOLDS

_CLOSE2 = THRESHOLDS.axis_distance * THRESHOLDS.axis_distance


class Turn(NamedTuple):
    """An angle by its cosine, sine and value [rad].

    The value may be off by whole turns unless it is `principal`: within [-pi, pi].
    """

    c: Scalar
    s: Scalar
    value: Scalar
    principal: bool = False

    @property
    def opposite(self) -> Turn:
        """Half a turn further, or back where that stays principal."""
        half = where(self.value > 0.0, -math.pi, math.pi) if self.principal else math.pi
        return Turn(-self.c, -self.s, self.value + half, self.principal)

    @property
    def inverse(self) -> Turn:
        return Turn(self.c, -self.s, -self.value, self.principal)

    def plus(self, other: Turn) -> Turn:
        """Return the sum of two turns about one axis."""
        return Turn(
            self.c * other.c - self.s * other.s,
            self.s * other.c + self.c * other.s,
            self.value + other.value,
        )

    def apply(self, k: Vector, v: Vector) -> Vector:
        """Rotate the vector v about the unit axis k.

        k (k.v) + cos (v - k (k.v)) + sin k x v (Rodrigues).
        """
        along = v3.scale(v3.dot(k, v), k)
        across = v3.sub(v, along)
        return v3.add(along, v3.add(v3.scale(self.c, across), v3.scale(self.s, v3.cross(k, v))))


class Pair(NamedTuple):
    """Two turns, base + delta and base - delta, and whether they reach (1) or not (0)."""

    plus: Turn
    minus: Turn
    reach: Scalar

    def items(self) -> tuple[tuple[str, Turn], tuple[str, Turn]]:
        return ("+", self.plus), ("-", self.minus)


AT_REST = Turn(1.0, 0.0, 0.0, True)


def both(a: Scalar, b: Scalar) -> Scalar:
    """Return the product of two conditions that are 1 or 0."""
    return a * b


def turn_of(c: Scalar, s: Scalar) -> Turn:
    """Return the turn of a cosine and sine."""
    return Turn(c, s, atan2(s, c), True)


def angle_between(k: Vector, p: Vector, q: Vector, rest: Turn) -> Turn:
    """Solve subproblem 1: the turn about k that brings p to q.

    Both are equally far from the axis. Returns `rest` where both lie on it.
    """
    kp, kq = v3.dot(k, p), v3.dot(k, q)
    c, s = v3.dot(p, q) - kp * kq, v3.dot(k, v3.cross(p, q))
    size = c * c + s * s
    free = size < _CLOSE2 * _CLOSE2
    scale = 1.0 / sqrt(where(free, 1.0, size))
    value = where(free, rest.value, atan2(s, c))
    return Turn(
        where(free, rest.c, c * scale), where(free, rest.s, s * scale), value, rest.principal
    )


def linear_in_turn(
    A: Scalar, B: Scalar, C: Scalar, rest: Turn, square: Scalar | None = None
) -> Pair:
    """Solve A sin x + B cos x = C: x = atan2(A, B) +- acos(C / |(A, B)|), for subproblem 4.

    `square` is A^2 + B^2 - C^2 where a more accurate form of it is known. Where none is, rounding
    of C parts a double solution by 1e-8; the equation holds as well at the double one, which is
    taken. Where A = B = 0 the angle is free: `rest` and its opposite.
    """
    size = A * A + B * B
    accurate = square is not None
    square = size - C * C if square is None else square
    reach = where(square >= -2.0 * THRESHOLDS.axis_distance * size - _CLOSE2, 1.0, 0.0)
    if not isinstance(size, float):
        free = size < _CLOSE2
        A, B, C = where(free, -rest.c, A), where(free, rest.s, B), where(free, 0.0, C)
        size, square = where(free, 1.0, size), where(free, 1.0, square)
    S = sqrt(where(square > (0.0 if accurate else THRESHOLDS.double_solution * size), square, 0.0))
    base, delta = atan2(A, B), atan2(S, C)
    scale = (
        1.0 / sqrt(size * (C * C + S * S))
        if accurate and not isinstance(size, float)
        else 1.0 / size
    )
    # delta is within [0, pi]
    low, high = (base <= 0.0, base >= 0.0) if isinstance(base, float) else (False, False)
    plus = Turn((B * C - A * S) * scale, (A * C + B * S) * scale, base + delta, bool(low))
    minus = Turn((B * C + A * S) * scale, (A * C - B * S) * scale, base - delta, bool(high))
    return Pair(plus, minus, reach)


def angle_to_plane(h: Vector, k: Vector, p: Vector, d: Scalar, rest: Turn) -> Pair:
    """Solve subproblem 4: the turns R about k with h . R p = d."""
    hk = v3.dot(h, k) * v3.dot(k, p)
    return linear_in_turn(v3.dot(h, v3.cross(k, p)), v3.dot(h, p) - hk, d - hk, rest)


def second_of_two(k1: Vector, k2: Vector, p: Vector, q: Vector, rest: Turn, c: Scalar) -> Pair:
    """Solve subproblem 2 for its second turn: R(k1, x1) R(k2, x2) p = q.

    With |p| = |q| it has two solutions x2; c = k1 . k2.

    k1 . R2 p = k1 . q. The square under the root is the Gram determinant of k1, k2 and R2 p, with
    the distance of q from the axis k1 as a cross product, so that nothing cancels where q nears
    that axis.
    """
    a, b = v3.dot(k1, q), v3.dot(k2, p)
    across = v3.cross(k1, q)
    square = v3.dot(across, across) - b * b - c * (c * v3.dot(q, q) - 2.0 * a * b)
    return linear_in_turn(
        v3.dot(k1, v3.cross(k2, p)), v3.dot(k1, p) - c * b, a - c * b, rest, square
    )


def perpendicular(k: Vector) -> Vector:
    """Return a unit vector perpendicular to a unit vector, of floats."""
    least = min(range(3), key=lambda i: (round(abs(k[i]), 12), i))
    e = [0.0, 0.0, 0.0]
    e[least] = 1.0
    across = v3.sub((e[0], e[1], e[2]), v3.scale(k[least], k))
    return v3.scale(1.0 / math.sqrt(v3.dot(across, across)), across)
