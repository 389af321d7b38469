"""`time_optimal` against toppra.

As fast on the same path, and within the limits at every instant, where toppra is not.
"""

from __future__ import annotations

import logging
from functools import cache

import numpy as np
import pytest
import toppra
import toppra.algorithm
import toppra.constraint

import steelyard as sy
from steelyard.kernels import customised
from steelyard.motion import time_optimal
from steelyard.motion.trajectories.time_optimal import joint_path
from steelyard.motion.trajectories.timed_path import TimedPath

ROUNDING = 1e-9
TORQUE = np.array([100.0, 120.0, 60.0, 15.0, 10.0, 8.0])


@cache
def puma(friction: bool = False) -> sy.Robot:
    robot = sy.load("puma560")
    return robot if friction else robot.without_friction()


def random_case(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Way points, limits of velocity and of acceleration."""
    rng = np.random.default_rng(seed)
    points = int(rng.integers(2, 12))
    return (
        np.cumsum(rng.uniform(-0.7, 0.7, (points, 6)), axis=0),
        rng.uniform(1.0, 3.0, 6),
        rng.uniform(2.0, 8.0, 6),
    )


def by_toppra(
    method: np.ndarray, velocity: np.ndarray, acceleration: np.ndarray, intervals: np.ndarray
) -> float:
    """The duration of toppra's motion along the same curve, on a grid [s]."""
    logging.getLogger("toppra").setLevel(logging.ERROR)
    curve = joint_path(puma(), method, None, None)
    dense = np.linspace(0.0, curve.length, 4001)
    limits = [
        toppra.constraint.JointVelocityConstraint(np.c_[-velocity, velocity]),
        toppra.constraint.JointAccelerationConstraint(np.c_[-acceleration, acceleration]),
    ]
    path = toppra.SplineInterpolator(dense, curve.curve(dense))
    solver = toppra.algorithm.TOPPRA(
        limits, path, gridpoints=intervals, parametrizer="ParametrizeConstAccel"
    )
    return float(solver.compute_trajectory().duration)


@pytest.mark.parametrize("seed", range(12))
def test_as_fast_as_toppra_and_within_limits_between_grid_points(seed: int) -> None:
    method, velocity, acceleration = random_case(seed)
    trajectory = time_optimal(puma(), method, 1e6, velocity, acceleration)
    motion = trajectory.motion
    assert isinstance(motion, TimedPath)
    assert (motion.velocity_bounds() <= velocity * (1 + ROUNDING)).all()
    assert (motion.acceleration_bounds() <= acceleration * (1 + ROUNDING)).all()
    dense = motion(np.linspace(0.0, trajectory.duration, 100_001))
    assert (np.abs(dense.qd) <= velocity * (1 + ROUNDING)).all()
    assert (np.abs(dense.qdd) <= acceleration * (1 + ROUNDING)).all()
    finer = time_optimal(puma(), method, 1e6, velocity, acceleration, points=1000)
    assert finer.duration <= by_toppra(method, velocity, acceleration, motion.s) * (1 + 1e-6)
    assert trajectory.duration <= by_toppra(method, velocity, acceleration, motion.s) * (
        1 + 1e-3
    ), "it exceeds limits by that much"


@pytest.mark.parametrize("friction", [False, True], ids=["smooth", "friction"])
@pytest.mark.parametrize("seed", range(4))
def test_torques_are_within_limits_at_every_instant(seed: int, friction: bool) -> None:
    method, velocity, _ = random_case(seed)
    robot = puma(friction)
    trajectory = time_optimal(robot, method, TORQUE, velocity)
    motion = trajectory.motion
    bounds = motion.torque_bounds(customised(robot.tree), TORQUE)
    assert (bounds <= TORQUE * (1 + ROUNDING)).all()
    # at rest, Coulomb friction would have no sign
    states = motion(np.linspace(0.0, trajectory.duration, 50_001)[1:-1])
    tau = np.abs(robot.inverse_dynamics(*states)) / TORQUE
    assert tau.max() <= 1 + ROUNDING
    used = np.maximum(tau, np.abs(states.qd) / velocity).max(axis=1)
    assert np.quantile(used, 0.1) > 0.95, "some limit is nearly reached at nearly every instant"


def test_bounds_hold_and_are_tight() -> None:
    """Bounds of every interval against a dense grid within it."""
    method, velocity, acceleration = random_case(3)
    motion = time_optimal(puma(), method, TORQUE, velocity, acceleration, points=120).motion
    t = np.linspace(motion.t[:-1], motion.t[1:], 41)[1:-1]  # (39, N)
    states = motion(t.ravel())
    tau = puma().inverse_dynamics(*states)
    bounds = (
        motion.velocity_bounds(),
        motion.acceleration_bounds(),
        motion.torque_bounds(customised(puma().tree), 0.0 * TORQUE),
    )
    for bound, values in zip(bounds, (states.qd, states.qdd, tau), strict=True):
        reached = np.abs(values).reshape(*t.shape, 6).max(axis=0)
        assert (reached <= bound + 1e-9).all()
        assert (bound - reached).max() < 0.02 * reached.max()


def test_three_points_have_no_corner() -> None:
    """A polygon would pass its corner with an infinite acceleration."""
    values = np.array([[0.0] * 6, [0.4, -0.3, 0.2, 0.1, 0.0, 0.3], [0.1, 0.2, 0.6, 0.0, 0.4, 0.0]])
    trajectory = time_optimal(puma(), values, 1e6, 2.0, 5.0, rate=20_000.0)
    jumps = np.abs(np.diff(trajectory.qd, axis=0)) * (len(trajectory.t) - 1) / trajectory.duration
    assert jumps.max() < 5.0 * (1 + 1e-6)
    curve = joint_path(puma(), values, None, None)
    s = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(values, axis=0), axis=1))])
    np.testing.assert_allclose(curve.curve(s), values, atol=1e-12)
