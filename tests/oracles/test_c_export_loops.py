"""Generated C of robots with loops against the kernels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from steelyard.c_export.c_functions import LOOP_EQUATIONS
from steelyard.c_export.c_module import header, module
from tests.oracles.test_c_export import call, library


@pytest.mark.parametrize("name", ["four_bar", "planar_3rrr"])
def test_loops_in_c_equal_the_kernels(name: str, rng: np.random.Generator, tmp_path: Path) -> None:
    robot = sy.load(name)
    q = robot.assemble(0.1 * rng.normal(size=(4, robot.n)))
    qd = robot.consistent_velocity(q, rng.normal(size=q.shape))
    qdd, tau = (
        robot.consistent_acceleration(q, qd, rng.normal(size=q.shape)),
        rng.normal(size=q.shape),
    )
    result = module(robot.closed_tree, name, None, functions=list(LOOP_EQUATIONS))
    lib = library(result, tmp_path)
    weight = rng.uniform(1.0, 3.0, len(robot.driven_joints))
    state = {"q": q, "qd": qd, "qdd": qdd, "tau": tau, "weight": np.tile(weight, (4, 1))}
    got = {quantity: call(lib, result, quantity, state) for quantity in LOOP_EQUATIONS}
    reference = robot.constrained_inverse_dynamics(q, qd, qdd, weight)
    accelerations, multipliers = robot.constrained_forward_dynamics(q, qd, tau)
    expected = {
        "closure": [robot.closure(q)],
        "closure_jacobian": [robot.closure_jacobian(q)],
        "closure_bias": [robot.closure_bias(q, qd)],
        "constrained_torque": [reference.tau, reference.multipliers],
        "constrained_forward_dynamics": [accelerations, multipliers],
        "constrained_regressor": [robot.constrained_regressor(q, qd, qdd)],
        "freedom_basis": [robot.freedom_basis(q)],
    }
    assert expected.keys() == LOOP_EQUATIONS.keys()
    for quantity, arrays in expected.items():
        for a, b in zip(got[quantity], arrays, strict=False):
            np.testing.assert_allclose(
                a, b, rtol=1e-10, atol=1e-10 * max(1.0, np.abs(b).max()), err_msg=quantity
            )
    text = header(result)
    assert (
        "Closures of the loops, in the order of phi and of the multipliers"
        f" ({len(robot.closure_names)})" in text
    )
    assert f"Driven coordinates, in the order of weight: {', '.join(robot.driven_joints)}." in text


def test_functions_of_loops_are_there_by_default_and_not_for_arms(tmp_path: Path) -> None:
    _, source = sy.load("four_bar").to_c(tmp_path / "linkage")
    assert "four_bar_constrained_torque(" in source.read_text()
    with pytest.raises(
        sy.CallError, match="'closure' is for robots with loops, and this one has none"
    ):
        sy.load("planar_2r").to_c(tmp_path, functions=["closure"])
    with pytest.raises(sy.CallError, match="constrained_torque"):
        sy.load("four_bar").to_c(tmp_path, functions=["constrained_torques"])
