"""Redundant arms: `auto` solves every pose that was computed from a position within the limits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import steelyard as sy
from benchmarks.kinematic_arms import arm, frame_of
from steelyard.motion.inverse_kinematics import free_joints
from steelyard.motion.inverse_kinematics.numerical import joint_range

REDUNDANT = ("xarm7", "panda", "z1", "iiwa14", "rail_6r")


def poses_within_limits(robot: sy.Robot, rng: np.random.Generator, count: int) -> np.ndarray:
    return robot.forward_kinematics(
        rng.uniform(*joint_range(robot.tree), (count, robot.n)), frame_of(robot)
    )


def assert_all_solved(
    robot: sy.Robot, poses: np.ndarray, s: sy.motion.inverse_kinematics.solutions.Solutions
) -> None:
    """Every pose has a solution within the limits, and every valid branch reaches its pose."""
    assert s.solved.all(), s.status
    pose, branch = np.nonzero(s.valid)
    q = s.q[pose, branch]
    assert np.abs(robot.forward_kinematics(q, frame_of(robot)) - poses[pose]).max() < 3e-9
    low, high = np.array([[limits.lower, limits.upper] for limits in robot.tree.limits]).T
    assert ((q >= low - 1e-8) & (q <= high + 1e-8)).all()
    np.testing.assert_array_equal(np.isnan(s.q).any(axis=-1), ~s.valid)
    assert np.isfinite(s.best).all()
    assert s.nearest.distance.max() == 0.0
    fixed = [robot.joint_names.index(name) for name in s.free_joints]
    np.testing.assert_allclose(s.q[pose, branch][:, fixed], s.free[pose, 0], atol=3e-8)


@pytest.mark.parametrize("name", REDUNDANT)
def test_auto_solves_every_pose_within_the_limits(name: str, rng: np.random.Generator) -> None:
    robot = arm(name)
    poses = poses_within_limits(robot, rng, 5000)
    assert_all_solved(robot, poses, sy.inverse_kinematics(robot, poses, frame_of(robot)))
    missed = ~sy.inverse_kinematics(robot, poses, frame_of(robot), method="closed form").solved
    if name in ("xarm7", "panda", "z1"):
        assert missed.any(), "no pose tests the numerical part"
        one = sy.inverse_kinematics(robot, poses[missed][0], frame_of(robot))
        assert one.solved
        assert "solution" in one.status


@pytest.mark.parametrize("seed", range(6))
def test_narrow_limits_leave_no_reachable_pose_unsolved(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = arm("panda")
    low, high = joint_range(robot.tree)
    width = rng.uniform(0.05, 0.6, robot.n) * (high - low)
    lower = rng.uniform(low, high - width)
    limits = dict(zip(robot.joint_names, zip(lower, lower + width, strict=True), strict=True))
    joints = tuple(
        (
            replace(
                joint,
                limits=replace(
                    joint.limits, lower=limits[joint.name][0], upper=limits[joint.name][1]
                ),
            )
            if joint.name in limits
            else joint
        )
        for joint in robot.mechanism.joints
    )
    narrow = sy.Robot(replace(robot.mechanism, joints=joints))
    poses = poses_within_limits(narrow, rng, 1000)
    assert_all_solved(narrow, poses, sy.inverse_kinematics(narrow, poses, frame_of(narrow)))


@pytest.mark.parametrize("method", ["auto", "numerical"])
def test_joints_off_the_chain_stay_at_q0(method: str, rng: np.random.Generator) -> None:
    robot = arm("panda")
    poses = poses_within_limits(robot, rng, 2000)
    q0 = np.append(rng.uniform(-0.1, 0.1, 7), 0.0123)
    s = sy.inverse_kinematics(robot, poses, frame_of(robot), q0=q0, method=method)
    assert s.solved.all()
    assert (s.best[:, 7] == 0.0123).all()


def test_poses_beyond_the_stretched_arm_are_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    robot, poses = arm("iiwa14"), np.tile(np.eye(4), (3, 1, 1))
    poses[:, :3, 3] = [[3.0, 0.0, 0.0], [0.0, 0.0, 0.3], [0.4, 0.1, 0.5]]
    sizes = []

    def counting(robot, frame, pose, *more):  # type: ignore[no-untyped-def]
        sizes.append(len(pose))
        return search(robot, frame, pose, *more)

    search = free_joints.search_position
    monkeypatch.setattr(free_joints, "search_position", counting)
    s = sy.inverse_kinematics(robot, poses)
    assert sizes in ([], [1])
    assert not s.solved[0]
    assert s.nearest.distance[0] > 1.5
    assert "out of reach" in s.status
