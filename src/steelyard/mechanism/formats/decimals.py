"""Decimals of a file, exactly, and sentences about those that are none."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from ...algebra.spatial import Inertia, Pose, from_com, rotated
from ...algebra.vector import IDENTITY, ZERO, Matrix, Symmetric, Vector, apply, sub

_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")
LARGEST = 10**60  # squares and products of what is read must not overflow
_INFINITE = {"inf": float("inf"), "+inf": float("inf"), "-inf": float("-inf")}


@dataclass
class Notes:
    """What a reader found wrong or odd, gathered so that a user sees all of it at once."""

    where: str
    problems: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def at(self, line: int) -> str:
        return f"{self.where}, line {line}"

    def problem(self, line: int, sentence: str) -> None:
        self.problems.append(f"{self.at(line)}: {sentence}")


def decimal(text: str) -> Fraction | None:
    """The exact value of a decimal number, None where the text is none (NaN, infinity and what no robot is made of are none)."""
    text = text.strip()
    if len(text) > 400 or not _DECIMAL.fullmatch(text):
        return None
    value = Fraction(text)
    return value if abs(value) < LARGEST else None


def decimals(text: str, count: int) -> tuple[Fraction, ...] | None:
    """The exact values of `count` decimals parted by white space."""
    values = [decimal(word) for word in text.split()]
    return tuple(x for x in values if x is not None) if len(values) == count and None not in values else None


def bound(text: str) -> float | None:
    """A limit: a decimal, inf or -inf."""
    word = text.strip().lower()
    if word in _INFINITE:
        return _INFINITE[word]
    return float(word) if len(word) < 400 and _DECIMAL.fullmatch(word) else None


HERE = Pose()
_DIGITS = (15, 16, 17, 20, 24, 30, 40, 60, 90)


class Given(NamedTuple):
    """What a file says of a body: mass [kg], centre of mass [m], inertia about it [kg m2], in some frame, exactly."""

    m: Fraction
    c: Vector
    I: Symmetric  # noqa: E741


def read(given: Given, pose: Pose = HERE) -> Inertia:
    """Ten numbers in frame A of what is given in frame B, X_AB = pose: c_A = R c + p, I = R I_c R^T + m (c.c 1 - c c^T), rounded once."""
    if pose != HERE:
        exact = _exact(pose)
        given = Given(given.m, exact.point(given.c), rotated(given.I, exact.R))
    body = from_com(*given)
    return Inertia(float(body.m), _floats(body.h), Symmetric(*(float(x) for x in body.I)))


def turned(I: Symmetric, R: Matrix) -> Symmetric:  # noqa: E741
    """R I R^T, without rounding."""
    return I if R == IDENTITY else rotated(I, _exact(Pose(R)).R)


def written(inertia: Inertia, pose: Pose = HERE) -> tuple[str, list[str], list[str]]:
    """Short decimals of mass, centre of mass and inertia about it in frame B that `read` turns back into exactly this inertia.

    Six inertias in the order xx xy xz yy yz zz. A body without mass must have no first moment.
    """
    m, here = Fraction(repr(inertia.m)), _exact(pose)
    inverse = _inverse(here.R)  # a rotation in floats is not quite orthogonal: not its transpose
    apart = pose == HERE  # then every number can be as short as it may by itself

    def moment(c: Any) -> list[bool]:
        return [float(m * x) == h for x, h in zip(here.point(c), inertia.h, strict=True)]

    def moments(six: Any) -> list[bool]:
        return [a == b for a, b in zip(read(Given(m, c, Symmetric(*six)), pose).I, inertia.I, strict=True)]

    centres = _shortest(apply(inverse, sub(_over(inertia.h, m), here.p)), moment, apart)
    c = _fractions(centres)
    about_centre = from_com(-m, here.point(c), Symmetric(*(Fraction(x) for x in inertia.I))).I
    return repr(inertia.m), centres, _shortest(rotated(about_centre, inverse), moments, apart)


def _shortest(values: Iterable[Fraction], right: Callable[[Any], list[bool]], apart: bool) -> list[str]:
    """Decimals with as few digits as make everything right; apart: those that are right already stay as they are."""
    values = list(values)
    texts = [_text(x, _DIGITS[0]) for x in values]
    for digits in _DIGITS[1:]:
        good = right(tuple(Fraction(text) for text in texts))
        if all(good):
            break
        texts = [text if apart and fine else _text(x, digits) for x, text, fine in zip(values, texts, good, strict=True)]
    return texts


def _over(h: Vector, m: Fraction) -> Vector:
    return (Fraction(h[0]) / m, Fraction(h[1]) / m, Fraction(h[2]) / m) if m else ZERO


def _fractions(texts: list[str]) -> Vector:
    return (Fraction(texts[0]), Fraction(texts[1]), Fraction(texts[2]))


def _text(x: Fraction, digits: int) -> str:
    if digits < 18:
        return repr(float(f"{float(x):.{digits}g}"))
    return str(Context(prec=digits).divide(Decimal(x.numerator), Decimal(x.denominator)))


def _exact(pose: Pose) -> Pose:
    R = tuple(tuple(Fraction(x) for x in row) for row in pose.R)
    return Pose(R, (Fraction(pose.p[0]), Fraction(pose.p[1]), Fraction(pose.p[2])))  # type: ignore[arg-type]


def _inverse(m: Matrix) -> Matrix:
    (a, b, c), (d, e, f), (g, h, i) = m
    rows = (
        (e * i - f * h, c * h - b * i, b * f - c * e),
        (f * g - d * i, a * i - c * g, c * d - a * f),
        (d * h - e * g, b * g - a * h, a * e - b * d),
    )
    determinant = a * rows[0][0] + b * rows[1][0] + c * rows[2][0]
    return tuple(tuple(x / determinant for x in row) for row in rows)  # type: ignore[return-value]


def _floats(v: Vector) -> Vector:
    return (float(v[0]), float(v[1]), float(v[2]))
