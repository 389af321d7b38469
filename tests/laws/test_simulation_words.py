"""Simulations that go wrong in part: what is said of them, and what stays of the rest."""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy


def test_the_adaptive_method_finds_the_side_to_which_joints_leave_rest() -> None:
    """Once the first joint falls, the second is pushed to the other side than the one to which it fell when the first was held."""
    robot = sy.load("planar_2r").with_friction(coulomb=1.0)
    run, stepped = sy.simulate(robot, seconds=1.0, method="adaptive"), sy.simulate(robot, seconds=1.0, step=1e-4, method="rk8", every=10)
    assert run.drift < 1e-9
    np.testing.assert_allclose(run.q, stepped.q, atol=1e-3)
    rare = sy.simulate(robot, seconds=4.0, step=2.0, method="adaptive")  # several events between two samples
    np.testing.assert_allclose(rare.q[1], sy.simulate(robot, seconds=2.0, method="adaptive").q[-1], atol=1e-7)


def test_bad_arguments_of_a_run_are_named() -> None:
    robot = sy.load("planar_2r")
    with pytest.raises(sy.CallError, match="progress must be a function of the part that is done, or None, not 3"):
        sy.simulate(robot, seconds=0.01, progress=3)  # type: ignore[arg-type]
    batch = sy.simulate(robot, q0=np.zeros((2, 2)), seconds=0.01)
    for index in (5, -3, 0.5, "a", None):
        with pytest.raises(sy.CallError, match="the index must be a whole number from -2 to 1"):
            batch[index]  # type: ignore[index]
    with pytest.raises(sy.CallError, match="sensors must be a Sensors, not 3"):
        batch[-1].log(3)  # type: ignore[arg-type]
