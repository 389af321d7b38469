"""Rotation matrices: from and to roll-pitch-yaw, axis and angle, quaternion."""

from __future__ import annotations

import math

from . import vector as v3
from .scalar import Scalar
from .vector import Matrix, Vector


def rotation_x(angle: float) -> Matrix:
    c, s = math.cos(angle), math.sin(angle)
    return ((1.0, 0.0, 0.0), (0.0, c, -s), (0.0, s, c))


def rotation_y(angle: float) -> Matrix:
    c, s = math.cos(angle), math.sin(angle)
    return ((c, 0.0, s), (0.0, 1.0, 0.0), (-s, 0.0, c))


def rotation_z(angle: float) -> Matrix:
    c, s = math.cos(angle), math.sin(angle)
    return ((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0))


def unit(v: Vector) -> Vector | None:
    """Return the unit vector along v, or None for a zero vector.

    A vector of unit length up to rounding is returned unchanged.
    """
    length = math.sqrt(v3.dot(v, v))
    if length == 0.0:
        return None
    return v if abs(length - 1.0) < 1e-14 else (v[0] / length, v[1] / length, v[2] / length)


def from_rpy(rpy: Vector) -> Matrix:
    """Return R = Rz(yaw) Ry(pitch) Rx(roll), angles [rad] about fixed axes, as in URDF.

    Siciliano et al. 2009, eq. (2.22).
    """
    roll, pitch, yaw = rpy
    return v3.matmul(rotation_z(yaw), v3.matmul(rotation_y(pitch), rotation_x(roll)))


def to_rpy(R: Matrix) -> Vector:
    """Return roll, pitch, yaw [rad] of a rotation; at pitch = +-90 deg exactly, yaw is zero.

    The roll is taken from Rz(-yaw) R. Near pitch = +-90 deg, where yaw is ill-conditioned, the
    three angles still give R up to rounding. Siciliano et al. 2009, eq. (2.23).
    """
    yaw = math.atan2(R[1][0], R[0][0]) + 0.0
    c, s = math.cos(yaw), math.sin(yaw)
    roll = math.atan2(s * R[0][2] - c * R[1][2], c * R[1][1] - s * R[0][1])
    return (roll, math.atan2(-R[2][0], math.hypot(R[0][0], R[1][0])), yaw)


def about(axis: Vector, angle: float) -> Matrix:
    """Return R = 1 + sin(angle) [axis] + (1 - cos(angle)) [axis]^2 of a unit axis (Rodrigues).

    Siciliano et al. 2009, eq. (2.25).
    """
    c, s = math.cos(angle), math.sin(angle)
    x, y, z = axis
    t = 1.0 - c
    return (
        (t * x * x + c, t * x * y - s * z, t * x * z + s * y),
        (t * x * y + s * z, t * y * y + c, t * y * z - s * x),
        (t * x * z - s * y, t * y * z + s * x, t * z * z + c),
    )


def from_quaternion(q: tuple[float, float, float, float]) -> Matrix:
    """Return the rotation of a quaternion (w, x, y, z) of any length but zero.

    Siciliano et al. 2009, eq. (2.33).
    """
    n = math.sqrt(sum(x * x for x in q))
    w, x, y, z = (v / n for v in q)
    return from_unit_quaternion(w, x, y, z)


def from_unit_quaternion(w: Scalar, x: Scalar, y: Scalar, z: Scalar) -> Matrix:
    """Return the rotation of a unit quaternion."""
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
