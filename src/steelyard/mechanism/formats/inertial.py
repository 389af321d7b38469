"""Inertias in description files: mass, centre of mass and inertia about it.

A mechanism holds ten numbers about a link's origin. Converting them to the form of a file and back
rounds: the file gets the shortest decimal within 1e-13 of the conversion's scale, so that an
inertia product that is zero but for rounding is written as 0. It reads back within `TOLERANCE` of
the trace and of mass times length. Everything else is written as the shortest decimal that reads
back to the same float.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from decimal import Context, Decimal, localcontext

from ...algebra.spatial import Inertia, Pose, at_com, from_com, moved, rotated
from ...algebra.vector import ZERO, Symmetric, Vector
from ..loops import Loop
from ..model import Joint, Mechanism

HERE = Pose()
LARGEST = 1e60  # squares and products of what is read must not overflow
TOLERANCE = 1e-12
_DIGITS = 13

ComForm = tuple[float, Vector, Symmetric]


def about_frame(m: float, c: Vector, I_c: Symmetric, pose: Pose = HERE) -> Inertia:
    """Return the ten numbers in frame A of a body that is described in frame B, X_AB = pose.

    c_A = R c + p, I = R I_c R^T + m (c_A.c_A 1 - c_A c_A^T). Computed in decimals and rounded once:
    3 kg at 0.1 m have a first moment of 0.3 kg m, not 0.30000000000000004.
    """
    with localcontext(Context(prec=40)):
        m = _decimal(m)  # type: ignore[assignment]
        c = tuple(map(_decimal, c))  # type: ignore[assignment]
        I_c = Symmetric(*map(_decimal, I_c))
        if pose != HERE:
            exact = Pose(
                tuple(tuple(map(_decimal, row)) for row in pose.R),  # type: ignore[arg-type]
                tuple(map(_decimal, pose.p)),  # type: ignore[arg-type]
            )
            c, I_c = exact.point(c), rotated(I_c, exact.R)
        body = from_com(m, c, I_c)
        h = (float(body.h[0]), float(body.h[1]), float(body.h[2]))
        return Inertia(float(body.m), h, Symmetric(*map(float, body.I)))


def _decimal(x: float) -> Decimal:
    return Decimal(repr(x))


def com_form(inertia: Inertia, pose: Pose = HERE) -> ComForm:
    """Return mass [kg], centre of mass [m] and inertia about it [kg m2] in frame B, X_AB = pose.

    Rounded to the accuracy of the conversion. A body without mass must have no first moment; its
    centre is the origin of B.
    """
    length, moment = _scales(inertia)
    length += max(map(abs, pose.p))
    local = inertia if pose == HERE else moved(inertia, pose.inverse())
    m, c, I_c = at_com(local) if inertia.m else (0.0, ZERO, local.I)
    x, y, z = _rounded(c, length)
    return m, (x, y, z), Symmetric(*_rounded(I_c, moment + m * length * length))


def motor_side(Ia: float, ratio: float) -> float:
    """Return the inertia Jm of a rotor [kg m2|kg] with Ia = ratio^2 Jm at its joint."""
    return float(f"{Ia / ratio**2:.15g}")


def _rounded(values: Iterable[float], scale: float) -> list[float]:
    places = _DIGITS - math.floor(math.log10(scale)) if scale > 0.0 else 0
    return [round(x, places) + 0.0 for x in values]


def _scales(inertia: Inertia) -> tuple[float, float]:
    """Return the distance of the centre of mass [m] and the scale of the inertia [kg m2]."""
    length = max(map(abs, inertia.h)) / inertia.m if inertia.m else 0.0
    return length, sum(map(abs, inertia.I)) + inertia.m * length * length


def changed_elements(expected: Mechanism, actual: Mechanism) -> list[str]:
    """Return the names of elements that do not read back.

    Inertias and rotations may differ by rounding within `TOLERANCE`.
    """
    if [link.name for link in expected.links] != [link.name for link in actual.links] or len(
        expected.joints
    ) != len(actual.joints):
        return ["the names of links and joints"]
    links = zip(expected.links, actual.links, strict=True)
    joints = zip(expected.joints, actual.joints, strict=True)
    wrong = [f"link {a.name!r}" for a, b in links if not _same_inertia(a.inertia, b.inertia)]
    wrong += [f"joint {a.name!r}" for a, b in joints if not same_joint(a, b, TOLERANCE)]
    if expected.driven != actual.driven or len(expected.loops) != len(actual.loops):
        wrong.append("the loops or drives")
    wrong += [
        f"loop {a.name!r}"
        for a, b in zip(expected.loops, actual.loops, strict=False)
        if not _same_loop(a, b)
    ]
    return wrong + (
        ["the name or gravity"]
        if (expected.name, expected.gravity) != (actual.name, actual.gravity)
        else []
    )


def _same_inertia(expected: Inertia | None, actual: Inertia | None) -> bool:
    if expected == actual or expected is None or actual is None:
        return expected == actual
    length, moment = _scales(expected)
    first = max(abs(a - b) for a, b in zip(expected.h, actual.h, strict=True))
    second = max(abs(a - b) for a, b in zip(expected.I, actual.I, strict=True))
    return (
        expected.m == actual.m
        and first <= TOLERANCE * expected.m * length
        and second <= TOLERANCE * moment
    )


def _same_loop(expected: Loop, actual: Loop) -> bool:
    """Return whether a loop reads back, with rotations of its frames within the tolerance."""
    for a, b in ((expected.at_a, actual.at_a), (expected.at_b, actual.at_b)):
        if max(abs(x - y) for x, y in zip(sum(a.R, ()), sum(b.R, ()), strict=True)) > TOLERANCE:
            return False
    return (
        replace(
            actual,
            at_a=actual.at_a._replace(R=expected.at_a.R),
            at_b=actual.at_b._replace(R=expected.at_b.R),
        )
        == expected
    )


def same_joint(expected: Joint, actual: Joint, tolerance: float) -> bool:
    """Return whether a joint reads back, with rotation and terms within the tolerance."""
    pairs = zip(sum(expected.origin.R, ()), sum(actual.origin.R, ()), strict=True)
    turned = max(abs(a - b) for a, b in pairs)
    a, b = expected.terms, actual.terms
    close = a.keys() == b.keys() and all(
        math.isclose(a[name], b[name], rel_tol=tolerance) for name in a
    )
    return (
        turned <= tolerance
        and close
        and replace(actual, terms=a, origin=actual.origin._replace(R=expected.origin.R)) == expected
    )
