"""A robot's arm as EAIK takes it: axes and the offsets between them at q = 0, some joints held."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import steelyard as sy
from steelyard.errors import needs_extra

Array = NDArray[np.float64]


def eaik_robot(robot: sy.Robot, frame: str, locked: Mapping[str, float]) -> Any:
    """EAIK's robot for a frame. Its poses have the orientation that `pose_for_eaik` gives."""
    try:
        from eaik.IK_HP import HPRobot
    except ImportError:
        raise needs_extra("eaik", "test", "the comparison with EAIK") from None
    J = robot.jacobian(np.zeros(robot.n), frame)
    on_the_way = [i for i in range(robot.n) if np.abs(J[:, i]).max() > 1e-12]
    H = J[3:, on_the_way].T
    end = robot.forward_kinematics(np.zeros(robot.n), frame)[:3, 3]
    # the foot of the frame's origin on the axis
    points = [end + np.cross(h, v) for h, v in zip(H, J[:3, on_the_way].T, strict=True)]
    ends = [np.zeros(3), *points, end]
    P = np.diff(ends, axis=0)
    fixed = [
        (on_the_way.index(robot.joint_names.index(name)), value) for name, value in locked.items()
    ]
    return HPRobot(H, P, fixed)


def pose_for_eaik(robot: sy.Robot, frame: str, pose: Array) -> Array:
    """Return a pose whose orientation is the rotation of the frame since q = 0."""
    home = robot.forward_kinematics(np.zeros(robot.n), frame)
    result = pose.copy()
    result[..., :3, :3] = pose[..., :3, :3] @ home[:3, :3].T
    return result
