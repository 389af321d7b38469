"""A method called with one state becomes the built-in function, with all its arguments."""

from __future__ import annotations

import gc
import inspect
import pickle
import weakref
from typing import Any

import numpy as np
import pytest

import steelyard as sy
from steelyard.compiler.runtime.single_call import unsupported_reason
from steelyard.errors import CallError
from steelyard.kernels import ALGORITHMS
from steelyard.robot import SINGLE_CALLS

pytestmark = pytest.mark.skipif(bool(unsupported_reason()), reason=unsupported_reason())
METHODS = [
    method
    for method, name in SINGLE_CALLS.items()
    if not ALGORITHMS[name].needs_frame and name != "free_forward_dynamics"
]


def arrays(robot: sy.Robot, method: str, *batch: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [
        rng.normal(size=(*batch, *each.shape))
        for each in robot._kernel(SINGLE_CALLS[method]).inputs
    ]


@pytest.mark.parametrize("method", METHODS)
def test_it_is_bound_by_a_call_with_one_state_and_not_by_a_batch(method: str) -> None:
    robot = sy.load("elbow_6r")
    batch = getattr(robot, method)(*arrays(robot, method, 2))
    assert method not in vars(robot)
    one = arrays(robot, method)
    first, second = (getattr(robot, method)(*one) for _ in range(2))
    assert type(vars(robot)[method]) is type(len)
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(getattr(robot, method)(*arrays(robot, method, 2)), batch)
    lists = getattr(robot, method)(*(x.tolist() for x in one))
    np.testing.assert_array_equal(lists, first)
    assert str(inspect.signature(getattr(robot, method))) == shown(type(robot), method)
    assert getattr(robot, method).__name__ == method


def shown(kind: type, method: str) -> str:
    """The signature of a method without self and annotations."""
    signature = inspect.signature(getattr(kind, method))
    plain = [
        each.replace(annotation=inspect.Parameter.empty) for each in signature.parameters.values()
    ]
    return str(inspect.Signature(plain[1:]))


def test_options_and_errors_are_those_of_the_method() -> None:
    robot, fresh = (sy.load("planar_2r") for _ in range(2))
    q = np.array([0.3, 0.4])
    robot.inverse_dynamics(q, q, q)
    out = np.empty(2)
    assert robot.inverse_dynamics(q, q, q, out=out) is out
    wrench = {"tool0": np.ones(6)} if "tool0" in robot.frame_names else np.ones((2, 6))
    np.testing.assert_array_equal(
        robot.inverse_dynamics(q, q, q, wrench), fresh.inverse_dynamics(q, q, q, wrench)
    )
    np.testing.assert_array_equal(robot.inverse_dynamics(qdd=q, qd=q, q=q), out)
    for wrong in ((q, q, np.zeros(3)), (q, q, "x"), (q, q, q, None, None, None, q)):
        errors = []
        for each in (robot, fresh):
            with pytest.raises((CallError, TypeError)) as raised:
                each.inverse_dynamics(*wrong)
            errors.append(f"{raised.type} {raised.value}")
        assert errors[0] == errors[1]


def test_a_method_of_a_subclass_stays_its_own() -> None:
    class Doubled(sy.Robot):
        def gravity_torque(self, *args: Any, **kwargs: Any) -> Any:
            return 2 * super().gravity_torque(*args, **kwargs)

    robot = sy.load("planar_2r")
    double, q = Doubled(robot.mechanism), np.array([0.3, 0.4])
    for _ in range(3):
        np.testing.assert_array_equal(double.gravity_torque(q), 2 * robot.gravity_torque(q))


def test_a_robot_with_bound_methods_is_pickled_and_freed() -> None:
    robot = sy.load("planar_2r")
    robot.gravity_torque(np.zeros(2))
    gravity_torque = robot.gravity_torque
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(robot)).gravity_torque(np.zeros(2)), gravity_torque(np.zeros(2))
    )
    gone = weakref.ref(robot)
    del robot
    np.testing.assert_array_equal(gravity_torque([0.0, 0.0]), gravity_torque(np.zeros(2)))
    del gravity_torque
    gc.collect()
    assert gone() is None
