"""Poses as position and quaternion or as angles, and joint positions in degrees.

The function's name states the representation; it is never guessed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..algebra.rotation import from_unit_quaternion
from ..arguments import numbers
from ..errors import CallError, suggest
from ..robot import Robot

Array = NDArray[np.float64]
# where x, y, z, w are in a quaternion of each order
ORDERS = {"xyzw": (0, 1, 2, 3), "wxyz": (1, 2, 3, 0)}
# by which the product of a rotation with its transpose may differ from the identity
RIGHT_ANGLES = 1e-6


def pose_from_quaternion(
    position: ArrayLike, quaternion: ArrayLike, *, order: str = "xyzw"
) -> Array:
    """Return poses (..., 4, 4) from positions (..., 3) [m] and quaternions (..., 4).

    Quaternions have any length but zero, in ROS order x y z w; MuJoCo and Eigen use order="wxyz".
    Siciliano et al. 2009, eq. (2.33).

    Parameters
    ----------
    position : (..., 3) positions [m].
    quaternion : (..., 4) quaternions of any length but zero [1].
    order : where the real part of a quaternion is: "xyzw", as in ROS, or "wxyz".

    Returns
    -------
    (..., 4, 4) poses, lengths in m.

    Examples
    --------
    >>> sy.pose_from_quaternion([0.4, 0.1, 0.5], [0, 1, 0, 0])[:3, 3].tolist()
    [0.4, 0.1, 0.5]
    """
    q = _finite_rows("quaternion", quaternion, 4)[..., _order(order)]
    length = np.linalg.norm(q, axis=-1, keepdims=True)
    if np.any(length == 0.0):
        raise CallError("pose_from_quaternion: a quaternion of zeros is not a rotation")
    x, y, z, w = np.moveaxis(q / length, -1, 0)
    return _pose(_finite_rows("position", position, 3), _matrix(from_unit_quaternion(w, x, y, z)))


def pose_to_quaternion(pose: ArrayLike, *, order: str = "xyzw") -> tuple[Array, Array]:
    """Return positions (..., 3) [m] and unit quaternions (..., 4) of poses (..., 4, 4).

    Quaternions are in ROS order x y z w, with w >= 0; MuJoCo and Eigen use order="wxyz". Shepperd,
    J. Guidance and Control 1 (1978), p. 223.

    Parameters
    ----------
    pose : (..., 4, 4) poses, lengths in m.
    order : where the real part of a quaternion is: "xyzw", as in ROS, or "wxyz".

    Returns
    -------
    (..., 3) positions [m] and (..., 4) unit quaternions [1].

    Examples
    --------
    >>> sy.pose_to_quaternion(np.eye(4))[1].tolist()
    [0.0, 0.0, 0.0, 1.0]
    """
    indices = _order(order)
    p, R = _split_pose(pose)
    trace = np.trace(R, axis1=-2, axis2=-1)
    # 4 x^2 - 1, ..., 4 w^2 - 1
    squares = np.stack([*(2 * R[..., k, k] - trace for k in range(3)), trace], axis=-1)
    K = np.empty((*trace.shape, 4, 4))  # 4 times the products of the components
    for i in range(3):
        for j in range(3):
            K[..., i, j] = R[..., i, j] + R[..., j, i]
        K[..., i, i] = 1.0 + squares[..., i]
        K[..., i, 3] = K[..., 3, i] = (
            R[..., (i + 2) % 3, (i + 1) % 3] - R[..., (i + 1) % 3, (i + 2) % 3]
        )
    K[..., 3, 3] = 1.0 + trace
    largest = np.argmax(squares, axis=-1)
    q = np.take_along_axis(K, largest[..., None, None], axis=-2)[..., 0, :]
    q = q / np.linalg.norm(q, axis=-1, keepdims=True)
    q = np.where(q[..., 3:] < 0.0, -q, q)
    ordered = np.empty_like(q)
    ordered[..., indices] = q
    return p, ordered


def pose_from_rpy(position: ArrayLike, rpy: ArrayLike, *, degrees: bool = False) -> Array:
    """Return poses (..., 4, 4) from positions (..., 3) [m] and roll, pitch, yaw (..., 3) [rad].

    The angles are about fixed axes, as in URDF.

    R = Rz(yaw) Ry(pitch) Rx(roll); degrees=True takes them in degrees. Siciliano et al. 2009, eq.
    (2.22).

    Parameters
    ----------
    position : (..., 3) positions [m].
    rpy : (..., 3) roll, pitch, yaw [rad].
    degrees : whether angles are in degrees instead of rad.

    Returns
    -------
    (..., 4, 4) poses, lengths in m.

    Examples
    --------
    >>> sy.pose_from_rpy([0.4, 0.1, 0.5], [180, 0, 90], degrees=True)[:3, 3].tolist()
    [0.4, 0.1, 0.5]
    """
    angles = _finite_rows("rpy", rpy, 3)
    half = np.moveaxis(np.radians(angles) if degrees else angles, -1, 0) / 2
    (cr, cp, cy), (sr, sp, sy) = np.cos(half), np.sin(half)
    w, x = cr * cp * cy + sr * sp * sy, sr * cp * cy - cr * sp * sy
    y, z = cr * sp * cy + sr * cp * sy, cr * cp * sy - sr * sp * cy
    return _pose(_finite_rows("position", position, 3), _matrix(from_unit_quaternion(w, x, y, z)))


def pose_to_rpy(pose: ArrayLike, *, degrees: bool = False) -> tuple[Array, Array]:
    """Return positions (..., 3) [m] and roll, pitch, yaw (..., 3) [rad] of poses (..., 4, 4).

    The angles are about fixed axes, as in URDF.

    degrees=True gives them in degrees. At pitch = +-90 deg, where roll and yaw are one turn, the
    three still give the rotation. Siciliano et al. 2009, eq. (2.23).

    Parameters
    ----------
    pose : (..., 4, 4) poses, lengths in m.
    degrees : whether angles are in degrees instead of rad.

    Returns
    -------
    (..., 3) positions [m] and (..., 3) roll, pitch, yaw [rad], or degrees.

    Examples
    --------
    >>> pose = sy.pose_from_rpy([0, 0, 0], [10, 20, 30], degrees=True)
    >>> sy.pose_to_rpy(pose, degrees=True)[1].round(3).tolist()
    [10.0, 20.0, 30.0]
    """
    p, R = _split_pose(pose)
    yaw = np.arctan2(R[..., 1, 0], R[..., 0, 0])
    c, s = np.cos(yaw), np.sin(yaw)
    roll = np.arctan2(s * R[..., 0, 2] - c * R[..., 1, 2], c * R[..., 1, 1] - s * R[..., 0, 1])
    rpy = np.stack(
        [roll, np.arctan2(-R[..., 2, 0], np.hypot(R[..., 0, 0], R[..., 1, 0])), yaw], axis=-1
    )
    return p, np.degrees(rpy) if degrees else rpy


def joints_from_degrees(robot: Robot, q: ArrayLike) -> Array:
    """Return joint positions, velocities or accelerations (..., n) [rad|m] from those in degrees.

    Joints that slide stay in metres.

    Parameters
    ----------
    robot : the `Robot`, described in SI units.
    q : (..., n) joint positions [rad|m].

    Returns
    -------
    (..., n) the same in [rad|m] and their rates.

    Examples
    --------
    >>> sy.joints_from_degrees(sy.load("planar_2r"), [180.0, 0.0]).round(3).tolist()
    [3.142, 0.0]
    """
    return _finite_rows("q", q, robot.n) * np.where(_slides(robot), 1.0, np.pi / 180.0)


def joints_to_degrees(robot: Robot, q: ArrayLike) -> Array:
    """Return joint positions, velocities or accelerations (..., n) [rad|m] in degrees.

    Joints that slide stay in metres.

    Parameters
    ----------
    robot : the `Robot`, described in SI units.
    q : (..., n) joint positions [rad|m].

    Returns
    -------
    (..., n) the same in degrees, or metres for joints that slide, and their rates.

    Examples
    --------
    >>> sy.joints_to_degrees(sy.load("planar_2r"), [np.pi, 0.0]).tolist()
    [180.0, 0.0]
    """
    return _finite_rows("q", q, robot.n) * np.where(_slides(robot), 1.0, 180.0 / np.pi)


def _slides(robot: Robot) -> NDArray[np.bool_]:
    return np.array(
        [robot.mechanism.joint(name).kind == "prismatic" for name in robot.joint_names], dtype=bool
    )


def _order(order: str) -> list[int]:
    if order not in ORDERS:
        raise CallError(
            f"there is no order of quaternions {order!r}; {suggest(str(order), ORDERS)}"
        )
    return list(ORDERS[order])


def _finite_rows(name: str, values: ArrayLike, n: int) -> Array:
    """Return finite numbers (..., n); CallError for others."""
    array = numbers(name, values)
    if array.ndim == 0 or array.shape[-1] != n:
        raise CallError(f"{name} must be (..., {n}), not {array.shape}")
    if not np.all(np.isfinite(array)):
        raise CallError(f"{name} must be finite")
    return array


def _split_pose(pose: ArrayLike) -> tuple[Array, Array]:
    """Return positions (..., 3) and rotations (..., 3, 3) of poses (..., 4, 4)."""
    array = numbers("pose", pose)
    if array.ndim < 2 or array.shape[-2:] != (4, 4):
        raise CallError(f"pose must be (..., 4, 4), not {array.shape}", argument="pose")
    R = array[..., :3, :3]
    away = np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max(initial=0.0)
    if not away <= RIGHT_ANGLES or np.any(np.linalg.det(R) < 0.0):
        raise CallError(
            "pose must have a rotation, columns of length one at right angles and right-handed, in"
            " its upper left corner",
            argument="pose",
        )
    return array[..., :3, 3], R


def _matrix(rows: tuple[tuple[Array, ...], ...]) -> Array:
    """Stack scalars of shape (...) into matrices (..., 3, 3)."""
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def _pose(position: Array, R: Array) -> Array:
    shape = np.broadcast_shapes(position.shape[:-1], R.shape[:-2])
    pose = np.zeros((*shape, 4, 4))
    pose[..., :3, :3], pose[..., :3, 3], pose[..., 3, 3] = R, position, 1.0
    return pose
