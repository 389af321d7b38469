"""Poses as quaternions and angles, against SciPy's Rotation.

Degrees for joints that turn, metres for those that slide.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import steelyard as sy


def rotations(rng: np.random.Generator, number: int = 500) -> Rotation:
    """Random ones, turns by half and quarter turns about the axes and their mixtures."""
    quarter = [[a, b, c] for a in range(4) for b in range(4) for c in range(4)]
    exact = Rotation.from_euler("xyz", np.array(quarter) * np.pi / 2)
    return Rotation.concatenate([Rotation.from_quat(rng.normal(size=(number, 4))), exact])


def test_quaternions_are_those_of_scipy(rng: np.random.Generator) -> None:
    turned = rotations(rng)
    p = rng.normal(size=(len(turned), 3))
    pose = sy.pose_from_quaternion(p, 3.7 * turned.as_quat())
    np.testing.assert_allclose(pose[:, :3, :3], turned.as_matrix(), atol=1e-14)
    np.testing.assert_array_equal(pose[:, :3, 3], p)
    np.testing.assert_array_equal(pose[:, 3], np.tile([0, 0, 0, 1], (len(p), 1)))
    result, q = sy.pose_to_quaternion(pose)
    np.testing.assert_array_equal(result, p)
    np.testing.assert_allclose(np.linalg.norm(q, axis=1), 1.0, atol=1e-14)
    assert np.all(q[:, 3] >= 0)
    np.testing.assert_allclose((Rotation.from_quat(q) * turned.inv()).magnitude(), 0.0, atol=1e-13)


def test_the_order_is_that_of_ros_unless_another_is_named(rng: np.random.Generator) -> None:
    np.testing.assert_allclose(
        sy.pose_from_quaternion([0, 0, 0], [0, 0, 1, 1])[:3, 0], [0, 1, 0], atol=1e-15
    )
    x, y, z, w = rng.normal(size=4)
    np.testing.assert_array_equal(
        sy.pose_from_quaternion([1, 2, 3], [w, x, y, z], order="wxyz"),
        sy.pose_from_quaternion([1, 2, 3], [x, y, z, w]),
    )
    pose = sy.pose_from_quaternion([1, 2, 3], [x, y, z, w])
    np.testing.assert_array_equal(
        sy.pose_to_quaternion(pose, order="wxyz")[1][[1, 2, 3, 0]], sy.pose_to_quaternion(pose)[1]
    )


@pytest.mark.parametrize("degrees", [False, True])
def test_angles_are_those_of_scipy_about_fixed_axes(
    rng: np.random.Generator, degrees: bool
) -> None:
    rpy = rng.uniform(-1, 1, (300, 3)) * np.array([np.pi, np.pi / 2, np.pi])
    argument = np.degrees(rpy) if degrees else rpy
    p = rng.normal(size=3)
    pose = sy.pose_from_rpy(p, argument, degrees=degrees)
    np.testing.assert_allclose(
        pose[:, :3, :3], Rotation.from_euler("xyz", rpy).as_matrix(), atol=1e-14
    )
    result, angles = sy.pose_to_rpy(pose, degrees=degrees)
    np.testing.assert_array_equal(result, np.broadcast_to(p, (300, 3)))
    np.testing.assert_allclose(angles, argument, atol=1e-9)


def test_angles_give_the_rotation_back_where_roll_and_yaw_are_one_turn(
    rng: np.random.Generator,
) -> None:
    turned = rotations(rng, 50)
    pose = sy.pose_from_quaternion(np.zeros(3), turned.as_quat())
    np.testing.assert_allclose(sy.pose_from_rpy(*sy.pose_to_rpy(pose)), pose, atol=1e-12)


def test_any_shape_of_batch(rng: np.random.Generator) -> None:
    q = rng.normal(size=(2, 5, 4))
    pose = sy.pose_from_quaternion([0.1, 0.2, 0.3], q)
    assert pose.shape == (2, 5, 4, 4)
    p, back = sy.pose_to_quaternion(pose)
    assert p.shape == (2, 5, 3)
    assert back.shape == (2, 5, 4)
    assert sy.pose_to_rpy(pose[0, 0])[1].shape == (3,)
    assert sy.pose_from_quaternion(np.zeros((0, 3)), np.zeros((0, 4))).shape == (0, 4, 4)


def test_a_robot_goes_where_the_quaternion_says() -> None:
    robot = sy.load("puma560")
    pose = sy.pose_from_quaternion([0.4, 0.1, 0.3], [0, 1, 0, 0])
    solutions = sy.inverse_kinematics(robot, pose)
    position, quaternion = sy.pose_to_quaternion(
        robot.forward_kinematics(solutions.q[solutions.valid][0])
    )
    np.testing.assert_allclose(position, [0.4, 0.1, 0.3], atol=1e-9)
    np.testing.assert_allclose(np.abs(quaternion), [0, 1, 0, 0], atol=1e-9)


def test_degrees_are_for_joints_that_turn() -> None:
    robot = sy.load("planar_rp")
    np.testing.assert_allclose(
        sy.joints_from_degrees(robot, [[90.0, 0.5], [-180.0, 1.0]]),
        [[np.pi / 2, 0.5], [-np.pi, 1.0]],
    )
    q = np.array([0.3, 0.7])
    np.testing.assert_allclose(
        sy.joints_from_degrees(robot, sy.joints_to_degrees(robot, q)), q, atol=1e-15
    )
    assert sy.joints_to_degrees(robot, q)[0] == pytest.approx(np.degrees(0.3))
    assert sy.joints_to_degrees(robot, q)[1] == 0.7


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: sy.pose_from_quaternion([0, 0, 0], [0, 0, 0, 0]), "zeros is not a rotation"),
        (
            lambda: sy.pose_from_quaternion([0, 0], [0, 0, 0, 1]),
            r"position must be \(\.\.\., 3\), not \(2,\)",
        ),
        (
            lambda: sy.pose_from_quaternion([0, 0, 0], [0, 0, 1]),
            r"quaternion must be \(\.\.\., 4\)",
        ),
        (
            lambda: sy.pose_from_quaternion([0, 0, 0], [0, 0, np.nan, 1]),
            "quaternion must be finite",
        ),
        (lambda: sy.pose_from_quaternion([0, 0, 0], [0, 0, 0, 1], order="wxzy"), "wxyz"),
        (lambda: sy.pose_from_rpy([0, 0, 0], [0, 0]), r"rpy must be \(\.\.\., 3\)"),
        (lambda: sy.pose_to_quaternion(np.eye(3)), r"pose must be \(\.\.\., 4, 4\)"),
        (lambda: sy.pose_to_quaternion(2 * np.eye(4)), "must have a rotation"),
        (lambda: sy.pose_to_rpy(np.diag([1.0, 1.0, -1.0, 1.0])), "right-handed"),
        (lambda: sy.pose_to_rpy(np.full((4, 4), np.nan)), "pose"),
        (lambda: sy.joints_from_degrees(sy.load("planar_2r"), [1.0]), r"q must be \(\.\.\., 2\)"),
        (lambda: sy.joints_to_degrees(sy.load("planar_2r"), "a"), "q"),
    ],
)
def test_what_is_no_pose_is_told(call: Any, words: str) -> None:
    with pytest.raises(sy.CallError, match=words):
        call()
