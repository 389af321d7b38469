"""Inverse kinematics of what cannot be.

A sentence that names the offender, and no NaN in silence.
"""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy
from benchmarks.kinematic_arms import arm, by_axes


@pytest.fixture(scope="module")
def robot() -> sy.Robot:
    return sy.load("elbow_6r")


@pytest.fixture(scope="module")
def pose(robot: sy.Robot) -> np.ndarray:
    return robot.forward_kinematics(np.full(6, 0.2))


WRONG = {
    "shape (3, 3); expected (..., 4, 4)": lambda T: T[:3, :3],
    "shape (16,)": lambda T: T.ravel(),
    "pose must be an array of numbers": lambda T: "home",
    "pose contains NaN or infinity": lambda T: T * np.nan,
    "pose contains NaN or infinity;": lambda T: np.where(np.eye(4)[::-1] > 0, np.inf, T),
    "is off a rotation and the last row": lambda T: T + 0.1,
    "pose is off a rotation": lambda T: T @ np.diag([1.0, 1.0, -1.0, 1.0]),
}


@pytest.mark.parametrize("message", WRONG)
@pytest.mark.parametrize("method", ["auto", "numerical"])
def test_what_is_no_pose_is_refused(
    robot: sy.Robot, pose: np.ndarray, message: str, method: str
) -> None:
    with np.errstate(invalid="ignore"), pytest.raises(sy.CallError) as error:
        sy.inverse_kinematics(robot, WRONG[message](pose), method=method)
    assert message in str(error.value)


@pytest.mark.parametrize("method", ["auto", "numerical"])
def test_a_bad_pose_among_good_ones_leaves_them_alone(
    robot: sy.Robot, pose: np.ndarray, method: str
) -> None:
    mirrored = pose @ np.diag([1.0, 1.0, -1.0, 1.0])
    far = pose.copy()
    far[:3, 3] = (5.0, 0.0, 0.0)
    scaled, projected = pose.copy(), pose.copy()
    scaled[:3, :3] *= 3.0
    projected[3, 3] = 7.0
    s = sy.inverse_kinematics(
        robot,
        np.stack([pose, pose * np.nan, far, mirrored, pose, scaled, projected]),
        method=method,
    )
    assert s.solved.tolist() == [True, False, False, False, True, False, False]
    assert np.isnan(s.q[~s.valid]).all()
    assert np.isfinite(s.q[s.valid]).all()
    assert s.status.startswith("2 of 7 poses solved")
    assert "1 out of reach, pose 2 the furthest" in s.status
    assert "4 matrices that are not poses, first pose 1" in s.status


def test_out_of_reach_is_said_with_the_distance() -> None:
    """The nearest pose is that of the stretched arm."""
    robot = arm("lecture_6r")
    pose = robot.forward_kinematics(np.zeros(6))
    pose[1, 3] += 0.75
    s = sy.inverse_kinematics(robot, pose)
    assert not s.solved
    np.testing.assert_allclose(s.nearest.distance, 0.75, atol=1e-6)
    assert s.nearest.angle < 1e-6
    assert "out of reach; the nearest pose found is 0.75 m and" in s.status
    np.testing.assert_allclose(robot.forward_kinematics(s.nearest.q)[1, 3], 1.25, atol=1e-6)


def test_half_reachable_poses_of_arms_with_few_joints() -> None:
    """A SCARA arm reaches the place but not a tilted tool."""
    robot = arm("scara")
    pose = robot.forward_kinematics([0.3, 0.5, 0.1, 0.2])
    tilt = np.eye(4)
    tilt[1:3, 1:3] = [[np.cos(0.1), -np.sin(0.1)], [np.sin(0.1), np.cos(0.1)]]
    assert sy.inverse_kinematics(robot, pose).solved
    s = sy.inverse_kinematics(robot, pose @ tilt)
    assert not s.solved
    assert s.nearest.distance + s.nearest.angle == pytest.approx(0.1, abs=0.02)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r, T: sy.inverse_kinematics("ur5", T), "takes a robot, not its name"),
        (lambda r, T: sy.inverse_kinematics(r, T, "hand"), "no frame is called 'hand'"),
        (lambda r, T: sy.inverse_kinematics(r, T, "base"), "no joint moves the frame 'base'"),
        (
            lambda r, T: sy.inverse_kinematics(r, T, q0=[1.0, 2.0]),
            "q0 has shape (2,); expected (..., 6)",
        ),
        (lambda r, T: sy.inverse_kinematics(r, T, q0=np.full(6, np.nan)), "q0 contains NaN"),
        (
            lambda r, T: sy.inverse_kinematics(r, T, q0=np.zeros((3, 6))),
            "q0 has shape (3, 6); expected (6,)",
        ),
        (lambda r, T: sy.inverse_kinematics(r, T, method="newton"), "method 'newton' is unknown"),
        (
            lambda r, T: sy.inverse_kinematics(r, T, free=1.0),
            "no joint is free: this arm has no more than six",
        ),
        (lambda r, T: sy.inverse_kinematics(r, T, free={"elbow": 1.0}), "is called 'elbow'"),
        (
            lambda r, T: sy.inverse_kinematics(arm("ur10e"), T, free={"joint1": 1.0}),
            "with joint1 fixed the arm has no closed form",
        ),
    ],
)
def test_wrong_arguments_are_named(robot: sy.Robot, pose: np.ndarray, call, message: str) -> None:
    with pytest.raises(sy.SteelyardError) as error:
        call(robot, pose)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("free", "message"),
    [
        (np.nan, "free position of joint3 contains NaN"),
        (np.zeros((3, 2)), "free has shape (3, 2)"),
        ({"joint3": "x"}, "free position of joint3 must be an array of numbers"),
        ({}, "expected a dict with the position of each"),
    ],
)
def test_wrong_free_positions_are_named(free, message: str) -> None:
    robot = arm("iiwa14")
    with pytest.raises(sy.CallError) as error:
        sy.inverse_kinematics(robot, robot.forward_kinematics(np.full(7, 0.3)), free=free)
    assert message in str(error.value)


def test_no_closed_form_is_said() -> None:
    axes = ((0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 1, 0), (1, 0, 0), (0, 0, 1))
    robot = by_axes(
        "offsets",
        [("revolute", axis, (0.1 * i, 0.05 * i * i, 0.2 * i)) for i, axis in enumerate(axes)],
        (0.6, 0.0, 1.0),
    )
    pose = robot.forward_kinematics(np.full(6, 0.3))
    with pytest.raises(sy.ProblemError, match="no closed form for 'tool'"):
        sy.inverse_kinematics(robot, pose, method="closed form")
    assert sy.inverse_kinematics(robot, pose).status == "1 solution by the numerical solver"


@pytest.mark.parametrize(("off", "accepted"), [(0.6e-6, True), (1.7e-6, False)])
def test_how_far_from_a_rotation_a_pose_may_be(
    robot: sy.Robot, pose: np.ndarray, off: float, accepted: bool
) -> None:
    """The sum of the errors of R R^T, det R and the last row: here of the last row alone."""
    wrong = pose.copy()
    wrong[3, 0] = off
    if accepted:
        assert sy.inverse_kinematics(robot, wrong).solved
        return
    with pytest.raises(sy.CallError, match="is off a rotation"):
        sy.inverse_kinematics(robot, wrong)


@pytest.mark.parametrize(("beyond", "solved"), [(0.6e-11, True), (1.7e-11, False)])
def test_how_far_beyond_its_reach_an_arm_reaches(beyond: float, solved: bool) -> None:
    """The stretched arm of 0.6 and 0.5 m.

    The cosine of its elbow would pass 1 by 1.1 / 0.3 of what is missing.
    """
    robot = arm("lecture_6r")
    pose = robot.forward_kinematics(np.zeros(6))
    pose[1, 3] += beyond * 0.3 / 1.1
    assert sy.inverse_kinematics(robot, pose).solved == solved


@pytest.mark.parametrize(("off", "solved"), [(0.6e-9, True), (1.7e-9, False)])
def test_how_near_an_arm_with_few_joints_must_come(off: float, solved: bool) -> None:
    """A SCARA arm whose tool is tilted by so much.

    Two of the three points that are compared are 1 m apart.
    """
    robot = arm("scara")
    tilt = np.eye(4)
    tilt[0, 2], tilt[2, 0] = off, -off
    pose = robot.forward_kinematics([0.3, 0.5, 0.1, 0.2]) @ tilt
    pose[:3, 3] = robot.forward_kinematics([0.3, 0.5, 0.1, 0.2])[:3, 3]
    assert sy.inverse_kinematics(robot, pose).solved == solved


@pytest.mark.parametrize(("beyond", "inside"), [(0.6e-9, True), (1.7e-9, False)])
def test_how_far_beyond_a_limit_a_joint_may_be(beyond: float, inside: bool) -> None:
    robot = arm("scara")
    limit = robot.tree.limits[2].upper
    s = sy.inverse_kinematics(robot, robot.forward_kinematics([0.3, 0.5, limit + beyond, 0.2]))
    assert s.solved == inside
    if not inside:
        assert "joint3 in 2 exceed their limits" in s.status


def test_the_numerical_solver_says_which_joint_would_pass_its_limit() -> None:
    robot = arm("scara")
    q = np.zeros(robot.n)
    name = next(
        name
        for name, limits in zip(robot.joint_names, robot.tree.limits, strict=True)
        if np.isfinite(limits.upper)
    )
    c = robot.joint_names.index(name)
    q[c] = robot.tree.limits[c].upper + 0.05
    s = sy.inverse_kinematics(robot, robot.forward_kinematics(q), method="numerical")
    assert not s.solved
    assert "within the joint limits" in s.status
    assert name in s.status
