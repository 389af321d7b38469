"""The number of solutions against EAIK, which decomposes the same arms by its own subproblems.

Ostermeier, Kuelz and Althoff 2025.
"""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy
from benchmarks.eaik_robot import eaik_robot, pose_for_eaik
from benchmarks.kinematic_arms import arm, frame_of
from steelyard.motion.inverse_kinematics.analytic import analytic
from steelyard.motion.inverse_kinematics.numerical import joint_range

SIX = (
    "ur5",
    "ur10e",
    "puma560",
    "elbow_6r",
    "kuka_like",
    "lecture_6r",
    "oblique_wrist",
    "meeting_shoulder",
    "parallel_shoulder",
    "wrist_at_the_base",
)
SEVEN = {"panda": 0.6, "iiwa14": 0.6}


def unlimited(
    robot: sy.Robot, frame: str, T: np.ndarray, fixed: float | None
) -> tuple[np.ndarray, np.ndarray]:
    """All solutions without limits, and which branches reach."""
    closed = analytic(robot, frame, None, False)
    start = (
        np.zeros(robot.n) if fixed is None else closed.start(np.zeros(robot.n), np.array([fixed]))
    )
    q, code, _ = closed.kernel(T, start)
    return q, code == 2.0


def regular(robot: sy.Robot, frame: str, q: np.ndarray, valid: np.ndarray) -> np.ndarray:
    """Poses whose solutions are all away from singularities, by the least singular value."""
    J = robot.jacobian(np.where(valid[..., None], q, 0.3), frame)
    J = J[..., [i for i in range(robot.n) if np.abs(J[..., i]).max() > 1e-12]]
    least = np.linalg.svd(J, compute_uv=False)[..., 5]
    return np.where(valid, least, 1.0).min(axis=-1) > 1e-6


@pytest.mark.parametrize("name", [*SIX, *SEVEN])
def test_as_many_solutions_as_eaik_finds(name: str, rng: np.random.Generator) -> None:
    robot, fixed = arm(name), SEVEN.get(name)
    frame = frame_of(robot)
    low, high = joint_range(robot.tree)
    q = rng.uniform(low, high, (200, robot.n))
    if fixed is not None:
        (joint,) = analytic(robot, frame, None).fixed
        q[:, robot.joint_names.index(joint)] = fixed
    T = robot.forward_kinematics(q, frame)
    result, valid = unlimited(robot, frame, T, fixed)
    peer = eaik_robot(robot, frame, {} if fixed is None else {joint: fixed})
    counts = np.array([number_of_solutions(peer, pose_for_eaik(robot, frame, pose)) for pose in T])
    good = regular(robot, frame, result, valid)
    assert good.mean() > 0.95
    np.testing.assert_array_equal(valid.sum(axis=1)[good], counts[good])


def number_of_solutions(peer, pose: np.ndarray) -> int:
    """Solutions of EAIK that reach the pose, whole turns apart counted once."""
    answer = peer.IK(pose)
    q = np.atleast_2d(answer.Q)
    reached = [row for row in q if np.abs(peer.fwdKin(row) - pose).max() < 1e-8]
    points = np.array([np.concatenate([np.cos(row), np.sin(row)]) for row in reached])
    distinct: list[np.ndarray] = []
    for point in points:
        if all(np.abs(point - other).max() > 1e-6 for other in distinct):
            distinct.append(point)
    return len(distinct)
