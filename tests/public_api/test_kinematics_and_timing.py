"""Inverse kinematics and timing through public names: all reachable poses, shortest motions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import ruckig

import steelyard as sy
from steelyard.motion import point_to_point, time_optimal

ROUNDING = 1e-9
ARMS = {
    "panda": ("panda_description/urdf/panda.urdf", "panda_link8", 3000),
    "z1": ("z1_description/urdf/z1.urdf", None, 500),
}


@pytest.mark.parametrize("name", ARMS)
def test_every_pose_of_a_position_within_limits_is_solved(name: str, example_robots: Path) -> None:
    path, frame, count = ARMS[name]
    robot = sy.load(example_robots / path)
    limits = {joint.name: joint.limits for joint in robot.mechanism.joints}
    rows = [limits[joint] for joint in robot.joint_names]
    low, high = np.array([(row.lower, row.upper) for row in rows]).T
    q = np.random.default_rng(8).uniform(low, high, (count, robot.n))
    poses = robot.forward_kinematics(q, frame)
    solutions = sy.inverse_kinematics(robot, poses, frame)
    assert np.isfinite(solutions.best).all(), solutions.status
    np.testing.assert_allclose(robot.forward_kinematics(solutions.best, frame), poses, atol=3e-9)
    assert np.all((solutions.best >= low - 1e-8) & (solutions.best <= high + 1e-8))


@pytest.mark.parametrize("seed", range(20))
def test_motions_between_two_points_are_as_short_as_those_of_ruckig(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    velocity, acceleration = rng.uniform(0.5, 3.0, n), rng.uniform(1.0, 10.0, n)
    end = rng.uniform(-12.0, 12.0, n)
    motion = point_to_point(np.zeros(n), end, velocity=velocity, acceleration=acceleration)
    problem = ruckig.InputParameter(n)
    problem.current_position, problem.target_position = np.zeros(n), end
    problem.max_velocity, problem.max_acceleration = velocity, acceleration
    problem.max_jerk = np.full(n, np.inf)
    peer = ruckig.Trajectory(n)
    assert ruckig.Ruckig(n).calculate(problem, peer) == ruckig.Result.Working
    assert motion.duration <= peer.duration * (1 + 1e-6)
    states = motion.sample(5000 / motion.duration)
    assert np.all(np.abs(states.qd) <= velocity * (1 + ROUNDING))
    assert np.all(np.abs(states.qdd) <= acceleration * (1 + ROUNDING))


def test_twelve_radians_take_the_shortest_time() -> None:
    """v = 1 rad/s and a = 4 rad/s2: T = 12 / v + v / a."""
    motion = point_to_point([0.0], [12.0], velocity=1.0, acceleration=4.0)
    assert motion.duration == pytest.approx(12.25, rel=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_time_optimal_motions_are_within_limits_between_grid_points(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    robot = sy.load("puma560").without_friction()
    method = np.cumsum(rng.uniform(-0.7, 0.7, (int(rng.integers(3, 9)), 6)), axis=0)
    velocity, acceleration = rng.uniform(1.0, 3.0, 6), rng.uniform(2.0, 8.0, 6)
    motion = time_optimal(robot, method, 1e6, velocity, acceleration)
    states = motion.sample(50_000 / motion.duration)
    assert np.all(np.abs(states.qd) <= velocity * (1 + ROUNDING))
    assert np.all(np.abs(states.qdd) <= acceleration * (1 + ROUNDING))
