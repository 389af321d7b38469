"""What the bridges share, over NumPy.

Every function of the robot with all options; and the sentences of calls that cannot be right.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import steelyard as sy
from steelyard.bridges import casadi_functions, jax_functions, torch_functions
from tests import loop_robots, zoo
from tests.bridged_calls import Call, NumpyFunctions, assert_close, calls, loop_calls


def bridge(robot: sy.Robot) -> NumpyFunctions:
    return NumpyFunctions(robot._catalogue())


def assert_same(robot: sy.Robot, call: Call) -> None:
    result = getattr(bridge(robot), call.name)(*call.arrays, **call.options)
    assert_close(
        call.label, result if isinstance(result, tuple) else (result,), call.results, call.tolerance
    )


@pytest.mark.parametrize("name", ["pendulum", "crusher"])
def test_every_function_is_the_robots_own(name: str) -> None:
    for call in calls(name):
        assert_same(zoo.robot(name), call)


@pytest.mark.parametrize("name", ["four_bar", "delta"])
def test_functions_of_loops_are_the_robots_own(name: str) -> None:
    for call in loop_calls(name):
        assert_same(loop_robots.robot(name), call)


def test_every_method_that_is_one_algorithm_is_offered() -> None:
    offered = set(dir(bridge(sy.load("planar_2r"))))
    assert {
        "inverse_dynamics",
        "mass_matrix",
        "regressor",
        "forward_kinematics",
        "jacobian",
        "friction_torque",
        "slotine_li_torque",
    } <= offered
    assert not {"closure", "friction_torque_at", "slotine_li", "coriolis"} & offered
    assert {"closure", "constrained_forward_dynamics"} <= set(dir(bridge(sy.load("four_bar"))))


def test_friction_takes_a_position_where_it_is_given() -> None:
    case = zoo.case("pendulum")
    here = bridge(case.robot)
    np.testing.assert_allclose(
        here.friction_torque(case.qd, case.q),
        case.robot.friction_torque(case.qd, case.q),
        rtol=1e-12,
    )
    with pytest.raises(sy.CallError, match="give q too"):
        here.friction_torque(case.qd)


def test_functions_are_made_once_and_say_what_they_are() -> None:
    here = bridge(sy.load("planar_2r"))
    assert here.mass_matrix is here.mass_matrix
    assert here.mass_matrix.__name__ == "mass_matrix"
    assert repr(here) == f"<{len(here._catalogue.entries)} functions of 'planar_2r' in NumPy>"
    assert copy.copy(here).mass_matrix([0.0, 0.0]).shape == (2, 2)


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (
            lambda here: here.closure,
            "'closure' is not a function of 'planar_2r' in NumPy; ",
        ),
        (
            lambda here: here.mass_matrix(),
            r"mass_matrix\(q, \*, parameters=None\): missing a required argument: 'q'",
        ),
        (lambda here: here.mass_matrix([0, 0], out=1), "unexpected keyword argument 'out'"),
        (
            lambda here: here.mass_matrix([0.0]),
            r"mass_matrix: q has shape \(1,\); expected \(\.\.\., 2\) \[rad\|m\]",
        ),
        (lambda here: here.mass_matrix(0.0), r"q has shape \(\); expected \(\.\.\., 2\)"),
        (
            lambda here: here.bias_torque(np.zeros((3, 2)), np.zeros((4, 2))),
            r"q \(3, 2\), qd \(4, 2\) cannot be combined",
        ),
        (lambda here: here.jacobian([0, 0], "hand"), "'hand'"),
        (lambda here: here.wrench_torque([0, 0], {"hand": np.zeros(6)}), "'hand'"),
        (
            lambda here: here.wrench_torque([0, 0], {"link2": np.zeros(3)}),
            r"wrench: link2 has shape \(3,\); expected \(\.\.\., 6\)",
        ),
        (lambda here: here.wrench_torque([0, 0], {}), "wrench is empty"),
        (
            lambda here: here.mass_matrix([0, 0], parameters=[1.0]),
            r"parameters has shape \(1,\); expected \(\.\.\., 20\)",
        ),
    ],
)
def test_a_wrong_call_is_told_in_words(ask: Callable[[Any], Any], says: str) -> None:
    with pytest.raises(sy.CallError, match=says):
        ask(bridge(sy.load("planar_2r")))


@pytest.mark.parametrize("name", ["mas_matrix", "closure"])
def test_an_unknown_name_is_an_attribute_error(name: str) -> None:
    assert not hasattr(bridge(sy.load("planar_2r")), name)


@pytest.mark.parametrize("extra", ["casadi", "jax", "torch"])
def test_a_missing_package_is_named_with_the_line_that_installs_it(
    extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, extra, None)
    with pytest.raises(
        sy.MissingExtra,
        match=rf"^to_{extra}\(\) needs the package '{extra}'.* pip install 'steelyard\[{extra}\]'",
    ):
        getattr(sy.load("planar_2r"), f"to_{extra}")()


def test_one_frame_is_not_a_list_of_frames() -> None:
    with pytest.raises(
        sy.CallError,
        match=r"wrench='link2' is one name; expected several frames, such as \['link2'\]",
    ):
        sy.load("planar_2r").to_casadi(wrench="link2")


def test_the_bridges_are_three() -> None:
    assert {
        casadi_functions.CasadiFunctions.library,
        jax_functions.JaxFunctions.library,
        torch_functions.TorchFunctions.library,
    } == {"CasADi", "JAX", "PyTorch"}
