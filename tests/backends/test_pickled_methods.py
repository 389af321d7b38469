"""Robots, their methods and their bare functions are pickled before and after single calls."""

from __future__ import annotations

import multiprocessing
import pickle
from typing import Any

import numpy as np
import pytest

import steelyard as sy
from steelyard.kernels import ALGORITHMS
from steelyard.robot import SINGLE_CALLS

METHODS = [method for method, name in SINGLE_CALLS.items() if name != "free_forward_dynamics"]
PUBLIC = sorted(
    name for name in dir(sy.Robot) if not name.startswith("_") and callable(getattr(sy.Robot, name))
)


def arrays(robot: sy.Robot, method: str) -> list[np.ndarray]:
    """Return one state for a method."""
    rng = np.random.default_rng(0)
    frame = robot.end_effector if ALGORITHMS[SINGLE_CALLS[method]].needs_frame else None
    return [
        rng.normal(size=each.shape)
        for each in robot._kernel(SINGLE_CALLS[method], frame=frame).inputs
    ]


def used_robot(calls: int) -> sy.Robot:
    """Return a robot each of whose methods was called with one state this many times."""
    robot = sy.load("planar_2r").with_friction(1.0, 2.0)
    for method in METHODS:
        for _ in range(calls):
            getattr(robot, method)(*arrays(robot, method))
    return robot


@pytest.mark.parametrize("calls", [0, 1, 2, 3])
@pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
def test_every_public_method_survives_a_pickle(calls: int, protocol: int) -> None:
    robot = used_robot(calls)
    for name in PUBLIC:
        method = getattr(robot, name)
        copy = pickle.loads(pickle.dumps(method, protocol))
        assert copy.__name__ == method.__name__
        if name in METHODS:
            state = arrays(robot, name)
            expected, result = method(*state), copy(*state)
            for a, b in zip(np.atleast_1d(expected), np.atleast_1d(result), strict=True):
                np.testing.assert_array_equal(a, b)
    assert pickle.loads(pickle.dumps(robot, protocol)) == robot


def test_bare_functions_survive_a_pickle() -> None:
    robot = used_robot(0)
    q = np.array([0.3, 0.4])
    frame = robot.frame_names[1]
    functions = [
        robot.kernel("mass_matrix"),
        robot.kernel("jacobian", frame),
        robot.tick("gravity_torque", "mass_matrix"),
        robot.tick("jacobian", frame=frame),
        robot.interpreted("mass_matrix"),
    ]
    for function in functions:
        copy = pickle.loads(pickle.dumps(function))
        for a, b in zip(flat(function(q)), flat(copy(q)), strict=True):
            np.testing.assert_array_equal(a, b)


def flat(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("start", multiprocessing.get_all_start_methods())
def test_a_pool_maps_the_methods(start: str) -> None:
    robots = [used_robot(0), used_robot(3)]
    with multiprocessing.get_context(start).Pool(1) as pool:
        waiting = [
            (
                method,
                arrays(robot, method),
                pool.apply_async(getattr(robot, method), arrays(robot, method)),
            )
            for robot in robots
            for method in METHODS
        ]
        bare = pool.apply_async(robots[1].kernel("gravity_torque"), (np.zeros(2),))
        for method, state, result in waiting:
            for a, b in zip(
                flat(result.get(timeout=120)), flat(getattr(robots[0], method)(*state)), strict=True
            ):
                np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(bare.get(timeout=120), robots[0].gravity_torque(np.zeros(2)))
