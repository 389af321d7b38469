"""Articulated inertias on their way to the base: freed of what a joint lets go, then seen from the parent."""

from __future__ import annotations

from collections.abc import Iterable

from ..algebra import vector as v3
from ..algebra.scalar import Scalar
from ..algebra.spatial import ArticulatedInertia, Force, Motion
from ..algebra.vector import ZERO, Matrix, Symmetric, Vector
from .joint_motion import JointMotion, principal
from .newton_euler import cross_constant

UPPER = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))  # where the entries of a Symmetric stand


def axis_force(joint: JointMotion, inertia: ArticulatedInertia) -> Force:
    """Force of a unit acceleration of the joint on the articulated body: U = I s."""
    return inertia.force(Motion(w=joint.axis) if joint.revolute else Motion(v=joint.axis))


def freed(joint: JointMotion, inertia: ArticulatedInertia, unit: Force, pull: Force, keeps_axis: bool) -> ArticulatedInertia:
    """The inertia less what the joint lets go, I - U U^T / D, given U and U / D.

    Without a rotor nothing is left about the axis: those entries are written as exact zeros, so that they cost nothing further down.
    """
    M, I = _less(inertia.M, unit.f, pull.f), _less(inertia.I, unit.n, pull.n)  # noqa: E741
    H = _rows(v3.sub(row, v3.scale(n, unit.f)) for row, n in zip(inertia.H, pull.n, strict=True))
    k = principal(joint.axis)
    if keeps_axis or k is None:
        return ArticulatedInertia(M, H, I)
    if joint.revolute:
        return ArticulatedInertia(M, _without_row(H, k), _without_axis(I, k))
    return ArticulatedInertia(_without_axis(M, k), v3.transpose(_without_row(v3.transpose(H), k)), I)


def turned(joint: JointMotion, inertia: ArticulatedInertia) -> ArticulatedInertia:
    """The inertia of a child in its parent's axes, still about the child's origin."""
    return ArticulatedInertia(joint.up_symmetric(inertia.M), joint.up_matrix(inertia.H), joint.up_symmetric(inertia.I))


def shifted(inertia: ArticulatedInertia, p: Vector) -> ArticulatedInertia:
    """The inertia about an origin from which its own is at p: H' = H + [p]x M, I' = I - H [p]x + [p]x H'^T."""
    M, H, I = inertia  # noqa: E741
    columns = _rows(cross_constant(p, column) for column in v3.full(M))
    moved = _rows(v3.add(row, extra) for row, extra in zip(H, v3.transpose(columns), strict=True))
    left, right = [cross_constant(p, row) for row in H], [cross_constant(p, row) for row in moved]
    return ArticulatedInertia(M, moved, v3.add_symmetric(I, Symmetric(*(left[i][j] + right[j][i] for i, j in UPPER))))


def scaled(s: Scalar, force: Force) -> Force:
    """s times a force."""
    return Force(v3.scale(s, force.f), v3.scale(s, force.n))


def _less(a: Symmetric, u: Vector, t: Vector) -> Symmetric:
    return Symmetric(*(entry - u[i] * t[j] for entry, (i, j) in zip(a, UPPER, strict=True)))


def _without_row(m: Matrix, k: int) -> Matrix:
    return _rows(ZERO if i == k else row for i, row in enumerate(m))


def _without_axis(a: Symmetric, k: int) -> Symmetric:
    return Symmetric(*(0.0 if k in at else entry for entry, at in zip(a, UPPER, strict=True)))


def _rows(rows: Iterable[Vector]) -> Matrix:
    x, y, z = rows
    return (x, y, z)
