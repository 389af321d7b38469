"""CasADi: values and Jacobians of every function on the zoo are those of the kernels.

Functions are named and sparse.
"""

from __future__ import annotations

from typing import Any

import casadi
import numpy as np
import pytest

import steelyard as sy
from tests import zoo
from tests.bridged_calls import ROBOTS, Call, NumpyFunctions, assert_close, change, to_differentiate

by_robot = pytest.mark.parametrize(
    ("name", "asked", "robot"), ROBOTS, ids=[row[0] for row in ROBOTS]
)


def function(robot: sy.Robot, call: Call) -> Any:
    """The function that takes what a call takes."""
    wrench = call.options.get("wrench", {})
    frames = sorted(wrench) if isinstance(wrench, dict) else ()
    options = {"base": "base" in call.options, "parameters": "parameters" in call.options}
    return getattr(
        robot.to_casadi(frame=call.options.get("frame"), wrench=frames, **options), call.name
    )


def matrix(x: np.ndarray) -> np.ndarray:
    """An array as CasADi has it: a column, or all but the first axis as columns."""
    return x.reshape(x.shape[0] if x.ndim else 1, -1)


def columns(x: np.ndarray) -> np.ndarray:
    """The entries of an array in the order of CasADi: column by column."""
    return matrix(x).ravel(order="F")


@by_robot
def test_values_are_the_kernels(name: str, asked: Any, robot: Any) -> None:
    for call in asked(name):
        outcome = function(robot(name), call)
        _, arrays = NumpyFunctions(robot(name)._catalogue())._form(
            call.name, call.arrays, call.options
        )
        for k in range(2):
            result = outcome(
                *(matrix(x[k] if len(x) == len(call.arrays[0]) else x) for x in arrays)
            )
            result = result if isinstance(result, tuple) else (result,)
            assert_close(
                call.label,
                tuple(map(np.array, result)),
                tuple(matrix(y[k]) for y in call.results),
                call.tolerance,
            )


@by_robot
def test_jacobians_are_exact(name: str, asked: Any, robot: Any) -> None:
    """Jacobians times a direction are the rates of the complex step."""
    for call in to_differentiate(asked(name)):
        result = change(robot(name), call)
        jacobian = function(robot(name), call).jacobian()
        blocks = jacobian.call(
            [casadi.DM(matrix(x)) for x in result.arrays]
            + [
                casadi.DM(*jacobian.size_in(len(result.arrays) + k))
                for k in range(len(result.rates))
            ]
        )
        count = len(result.arrays)
        results = tuple(
            sum(
                np.array(blocks[i * count + k]) @ columns(v)
                for k, v in enumerate(result.directions)
            )
            for i in range(len(result.rates))
        )
        assert_close(
            call.label, results, tuple(columns(rate) for rate in result.rates), call.tolerance
        )


def test_a_function_names_what_it_takes_and_gives() -> None:
    here = sy.load("planar_2r").to_casadi(wrench=["link2"], base=True, parameters=True)
    assert (
        str(here.inverse_dynamics)
        == "inverse_dynamics:(q[2],qd[2],qdd[2],wrench[1x6],base[9],parameters[20])->(tau[2])"
        " SXFunction"
    )
    assert str(here.mass_matrix) == "mass_matrix:(q[2],parameters[20])->(M[2x2]) SXFunction"
    assert here.forward_dynamics.name_out() == ["qdd"]
    assert sy.load("planar_2r").to_casadi(frame="link1").jacobian.sparsity_out(0).nnz() < 6, (
        "zeros are structural"
    )


def test_jacobians_of_the_dynamics_are_those_of_composite_bodies_also_within_expressions() -> None:
    robot = sy.load("puma560")
    q, qd, tau = np.random.default_rng(0).normal(size=(3, 6))
    here = robot.to_casadi().forward_dynamics
    x = casadi.MX.sym("x", 6)
    result = casadi.Function("f", [x], [casadi.jacobian(here(x, qd, tau), x)])(q)
    assert_close("by q", (np.array(result),), (robot.forward_dynamics_derivatives(q, qd, tau)[0],))
    plain = casadi.Function("plain", here.sx_in(), [here(*here.sx_in())])
    assert here.jacobian().n_instructions() < 0.6 * plain.jacobian().n_instructions()


def test_hessians_are_symmetric_and_those_of_differences() -> None:
    robot = sy.load("puma560")
    q, qd, tau = np.random.default_rng(0).normal(size=(3, 6))
    here = robot.to_casadi()
    x = casadi.MX.sym("x", 6)
    hessian, gradient = casadi.hessian(casadi.sumsqr(here.forward_dynamics(x, qd, tau)), x)
    H = casadi.Function("H", [x], [hessian])
    g = casadi.Function("g", [x], [gradient])
    values = np.array(H(q))
    differences = np.array(
        [np.array(g(q + 1e-6 * e) - g(q - 1e-6 * e)).ravel() / 2e-6 for e in np.eye(6)]
    )
    assert_close("symmetric", (values,), (values.T,))
    assert_close("differences", (values,), (differences,), 1e-7)
    U = casadi.Function("U", [x], [casadi.hessian(here.potential_energy(x), x)[0]])
    assert_close("dg/dq", (np.array(U(q)),), (np.array(here.gravity_torque.jacobian()(q, 0)),))


def test_friction_takes_both() -> None:
    case = zoo.case("pendulum")
    here = case.robot.to_casadi().friction_torque
    assert here.name_in() == ["q", "qd"]
    assert_close(
        "friction",
        (np.array(here(case.q[0], case.qd[0])).ravel(),),
        (case.robot.friction_torque(case.qd[0], case.q[0]),),
    )


def test_wrong_options_are_told_in_words() -> None:
    robot = sy.load("planar_2r")
    with pytest.raises(sy.CallError, match="'hand'"):
        robot.to_casadi(frame="hand")
    with pytest.raises(sy.CallError, match="'hand'"):
        robot.to_casadi(wrench=["hand"])
    with pytest.raises(
        AttributeError, match="not a function of a robot in CasADi; did you mean 'mass_matrix'"
    ):
        _ = robot.to_casadi().mas_matrix
