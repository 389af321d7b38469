"""Drives of mechanisms with loops: exactly, redundantly and under-actuated ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import steelyard as sy
from steelyard.errors import ModelError, SteelyardWarning
from tests.loop_robots import Motion, motion, moved, robot
from tests.random_robots import close


def mixed(x: Motion, tau: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
    """The residual of M qdd + h = tau + Phi^T lambda."""
    return (
        x.robot.inverse_dynamics(x.q, x.qd, x.qdd)
        - tau
        - np.einsum("...ij,...i->...j", x.robot.closure_jacobian(x.q), multipliers)
    )


@pytest.mark.parametrize("weight", [None, [1.0, 4.0, 0.5, 2.0], {"elbow1": 50.0}])
def test_redundant_torques_are_the_smallest_that_satisfy_the_equations(weight: object) -> None:
    x = motion("planar_3rrr")
    a = x.robot.constrained_inverse_dynamics(x.q, x.qd, x.qdd, weight)
    assert a.case == "redundant"
    assert np.abs(mixed(x, a.tau, a.multipliers)).max() < 1e-10
    price = np.array([1.0, 50.0, 1.0, 1.0] if isinstance(weight, dict) else weight or [1.0] * 4)
    full = np.zeros(x.robot.n)
    full[list(x.robot.tree.driven)] = price
    assert a.nullspace.shape == (5, 7, 1)
    assert np.abs(np.einsum("bi,i,bij->bj", a.tau, full, a.nullspace)).max() < 1e-9, (
        "weighted torques stand upright on the null space"
    )
    strained = x.robot.constrained_forward_dynamics(x.q, x.qd, a.tau + 3.0 * a.nullspace[..., 0])[0]
    close(strained, x.qdd, 1e-9)


def test_redundant_torques_agree_with_least_squares_of_the_projected_equations() -> None:
    """A second route: N^T T tau = N^T (M qdd + h), smallest by the pseudo-inverse."""
    x = motion("planar_3rrr")
    N, driven = x.robot.freedom_basis(x.q), list(x.robot.tree.driven)
    product = np.einsum("bij,bi->bj", N, x.robot.inverse_dynamics(x.q, x.qd, x.qdd))
    tau = np.einsum("bij,bj->bi", np.linalg.pinv(np.swapaxes(N[:, driven], -1, -2)), product)
    close(x.robot.constrained_inverse_dynamics(x.q, x.qd, x.qdd).tau[:, driven], tau, 1e-9)


def test_effort_limits_are_kept_where_drives_are_spare() -> None:
    x = motion("planar_3rrr")
    free = x.robot.constrained_inverse_dynamics(x.q, x.qd, x.qdd)
    # the drive that the others can relieve most
    worst = int(np.argmax(np.abs(free.nullspace[0, :, 0])))
    limits = 0.9 * abs(free.tau[0, worst])
    tight = limited(x.robot, limits, x.robot.joint_names[worst])
    a = tight.constrained_inverse_dynamics(x.q, x.qd, x.qdd)
    assert a.limited[0]
    for k in np.flatnonzero(a.limited):
        assert abs(a.tau[k, worst]) <= limits * (1 + 1e-9)
        along = (a.tau[k] - free.tau[k]) @ free.nullspace[k, :, 0]
        close(a.tau[k], free.tau[k] + along * free.nullspace[k, :, 0], 1e-9)
        nearer = free.tau[k] + 0.99 * along * free.nullspace[k, :, 0]
        assert abs(nearer[worst]) > limits, "the smallest change that keeps the limits"
    assert np.abs(mixed(x, a.tau, a.multipliers)).max() < 1e-9
    close(a.tau[~a.limited], free.tau[~a.limited], 1e-12)


def test_limits_that_no_torques_keep_are_said() -> None:
    x = motion("planar_3rrr")
    a = limited(x.robot, 1e-3).constrained_inverse_dynamics(x.q, x.qd, x.qdd)
    assert a.exceeded.all()
    assert "5 of 5 motions need more than the effort limits" in a.status
    close(a.tau, x.robot.constrained_inverse_dynamics(x.q, x.qd, x.qdd).tau, 1e-12)


def limited(result: sy.Robot, effort: float, joint: str | None = None) -> sy.Robot:
    """The robot with this limit at one joint, or at all."""
    joints = tuple(
        replace(
            each,
            limits=replace(each.limits, effort=effort if joint in (None, each.name) else np.inf),
        )
        for each in result.mechanism.joints
    )
    return sy.Robot(replace(result.mechanism, joints=joints))


def test_an_underactuated_mechanism_says_what_is_impossible_and_what_is_nearest() -> None:
    result = robot("five_bar").with_drives("left_shoulder")
    x = motion("five_bar")
    a = result.constrained_inverse_dynamics(x.q, x.qd, x.qdd)
    assert a.case == "underactuated"
    assert not a.possible.any()
    close(mixed(x, a.tau, a.multipliers), a.residual, 1e-10)
    close(result.constrained_forward_dynamics(x.q, x.qd, a.tau)[0], a.nearest, 1e-9)
    # any other torque leads further away in the metric of kinetic energy
    for change in (0.1, -0.1):
        other = a.tau + change * np.eye(4)[0]
        away = result.constrained_forward_dynamics(x.q, x.qd, other)[0] - x.qdd
        assert np.all(norm(result, x.q, away) > norm(result, x.q, a.nearest - x.qdd))
    assert "5 of 5 motions are impossible by up to" in a.status
    again = result.constrained_inverse_dynamics(x.q, x.qd, a.nearest)
    assert again.possible.all()
    close(again.tau, a.tau, 1e-9)


def norm(result: sy.Robot, q: np.ndarray, a: np.ndarray) -> np.ndarray:
    return np.einsum("bi,bij,bj->b", a, result.mass_matrix(q), a)


def test_a_tree_with_a_joint_that_is_not_driven_is_underactuated_without_any_loop() -> None:
    result = sy.load("planar_2r").with_drives("joint1")
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 4, 2))
    a = result.constrained_inverse_dynamics(q, qd, qdd)
    assert a.case == "underactuated"
    assert a.multipliers.shape == (4, 0)
    close(result.forward_dynamics(q, qd, a.tau), a.nearest, 1e-9)
    close(result.constrained_forward_dynamics(q, qd, a.tau)[0], a.nearest, 1e-9)


def test_a_motion_that_opens_the_loops_is_said() -> None:
    x = motion("four_bar")
    assert "open" not in x.robot.constrained_inverse_dynamics(x.q, x.qd, x.qdd).status
    opened = x.robot.constrained_inverse_dynamics(x.q + [1e-4, 0, 0], x.qd, x.qdd)
    assert "the motion does not keep the loops closed" in opened.status


def test_a_singular_configuration_warns_and_leaves_the_others_alone() -> None:
    """Driven at the coupler's far end only, a four-bar whose crank and coupler are in line cannot
    be held by its rocker's drive.
    """
    result = robot("four_bar").with_drives("rocker")
    q = result.assemble(aligned(result), hold=["coupler"])
    x = moved(result)
    both = [
        np.stack([a, b])
        for a, b in zip((q, 0 * q, 0 * q), (x.q[0], x.qd[0], x.qdd[0]), strict=True)
    ]
    with pytest.warns(
        SteelyardWarning, match="1 of 2 configurations are singular for these drives"
    ):
        a = result.constrained_inverse_dynamics(*both)
    assert a.possible.tolist() == [False, True]
    close(a.tau[1], x.tau[0], 1e-8)
    assert "1 of 2 motions are impossible" in a.status


def aligned(result: sy.Robot) -> np.ndarray:
    """A start at which the coupler is in line with the crank.

    Directions (1, 2) and (2, 1) at zero.
    """
    return np.array([0.5, np.arctan2(2, 1) - np.arctan2(1, 2), 0.0])


def test_massless_mechanisms_are_refused_by_name() -> None:
    bare = sy.load("planar_2r").with_parameters(np.zeros(20)).with_drives("joint1")
    with pytest.raises(ModelError, match="no mass moves with joint1, joint2"):
        bare.constrained_inverse_dynamics(np.zeros(2), np.zeros(2), np.zeros(2))
