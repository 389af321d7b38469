"""Snapping of rotations and axes: entries within rounding of 0, 1 or -1 become exact.

Exact entries fold when traced. Loading snaps what is below `ROUNDING`, and reports the number. A
file with 1.57079632679 means a right angle, but its cosine is 4.9e-12:
`dynamics.customise.right_angles` decides whether to snap it too, from `LOOSE`, by the change of
accelerations.
"""

from __future__ import annotations

from dataclasses import replace

from ..algebra import vector as v3
from ..algebra.rotation import about
from ..algebra.spatial import Pose
from ..algebra.vector import Matrix, Vector
from .model import Joint, Mechanism

LOOSE = 1e-11  # rounding of an angle printed with eleven decimals
ROUNDING = 1e-15


def snap_number(x: float, tolerance: float = ROUNDING) -> float:
    """Return -1, 0 or 1 where x is within the tolerance of it, else x. -0.0 becomes 0.0."""
    nearest = float(round(x)) if abs(x) < 1.5 else x
    return nearest + 0.0 if abs(x - nearest) <= tolerance else x


def matrix(R: Matrix, tolerance: float = ROUNDING) -> Matrix:
    """Return a rotation with its near-integers snapped, normalised again."""
    loose = _matrix(R, tolerance)
    return loose if _is_rotation(loose) else _matrix(R, ROUNDING)


def axis(a: Vector, tolerance: float = ROUNDING) -> Vector:
    """Return a unit vector with its near-integers snapped, normalised again."""
    loose = _vector(a, tolerance)
    return loose if abs(v3.dot(loose, loose) - 1.0) <= 4 * ROUNDING else _vector(a, ROUNDING)


def snapped(mechanism: Mechanism) -> Mechanism:
    """Return the mechanism with rotations and axes of its joints snapped, and a remark."""
    joints = tuple(_joint(joint) for joint in mechanism.joints)
    changed = sum(_changes(old, new) for old, new in zip(mechanism.joints, joints, strict=True))
    loops = tuple(
        replace(loop, at_a=_pose(loop.at_a), at_b=_pose(loop.at_b)) for loop in mechanism.loops
    )
    remark = (
        f"snapped {changed} entries of rotations and axes that differed from -1, 0 or 1 by less"
        f" than {ROUNDING:g}"
    )
    return replace(
        mechanism,
        joints=joints,
        loops=loops,
        remarks=(*mechanism.remarks, remark) if changed else mechanism.remarks,
    )


def _joint(joint: Joint) -> Joint:
    return replace(joint, origin=_pose(joint.origin), axis=axis(joint.axis))


def _pose(pose: Pose) -> Pose:
    return Pose(matrix(pose.R), pose.p)


def _changes(old: Joint, new: Joint) -> int:
    before = (*old.origin.R[0], *old.origin.R[1], *old.origin.R[2], *old.axis)
    after = (*new.origin.R[0], *new.origin.R[1], *new.origin.R[2], *new.axis)
    return sum(x != y for x, y in zip(before, after, strict=True))


def _vector(v: Vector, tolerance: float) -> Vector:
    return (
        snap_number(v[0], tolerance),
        snap_number(v[1], tolerance),
        snap_number(v[2], tolerance),
    )


def _matrix(m: Matrix, tolerance: float) -> Matrix:
    return (_vector(m[0], tolerance), _vector(m[1], tolerance), _vector(m[2], tolerance))


def _is_rotation(R: Matrix) -> bool:
    product = v3.matmul(R, v3.transpose(R))
    return all(
        abs(product[i][j] - v3.IDENTITY[i][j]) <= 4 * ROUNDING for i in range(3) for j in range(3)
    )


def displaced(kind: str, origin: Pose, axis: Vector, q: float) -> Pose:
    """Return the pose of a joint's child in its parent at position q [rad|m]."""
    if kind == "prismatic":
        return origin.compose(Pose(v3.IDENTITY, v3.scale(q, axis)))
    return origin.compose(Pose(matrix(about(axis, q)), v3.ZERO))
