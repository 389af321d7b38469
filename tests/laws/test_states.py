"""States to try a robot on: within its limits, and a swing whose derivatives are derivatives."""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy
from steelyard.checks.states import random_states, swing


def limits(robot: sy.Robot) -> np.ndarray:
    return np.array([[limit.lower, limit.upper, limit.velocity] for limit in robot.tree.limits]).T


@pytest.mark.parametrize("name", sy.robots())
def test_states_respect_the_limits(name: str) -> None:
    robot = sy.load(name)
    lower, upper, velocity = limits(robot)
    for q, qd, qdd in (random_states(robot, 100), swing(robot, 1000)):
        assert q.shape == qd.shape == qdd.shape
        assert q.flags.c_contiguous
        assert np.all((q >= lower - 1e-12) & (q <= upper + 1e-12))
    assert np.all(np.abs(swing(robot, 1000).qd) <= velocity)
    assert np.all(np.ptp(swing(robot, 1000).q, axis=0) > 0)


def test_random_states_repeat() -> None:
    robot = sy.load("planar_rp")
    assert all(np.array_equal(a, b) for a, b in zip(random_states(robot, 5, seed=3), random_states(robot, 5, seed=3), strict=True))
    assert not np.array_equal(random_states(robot, 5, seed=3).q, random_states(robot, 5, seed=4).q)


def test_rates_of_a_swing_are_its_derivatives() -> None:
    seconds, samples = 4.0, 40001
    q, qd, qdd = swing(sy.load("elbow_6r"), samples, seconds)
    step = seconds / (samples - 1)
    inner = slice(1, -1)
    assert np.allclose(np.gradient(q, step, axis=0)[inner], qd[inner], atol=1e-6)
    assert np.allclose(np.gradient(qd, step, axis=0)[inner], qdd[inner], atol=1e-5)
