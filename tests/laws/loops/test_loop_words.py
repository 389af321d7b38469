"""Words about loops at their thresholds, singular configurations, and functions that take no
loops.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import steelyard as sy
from steelyard.errors import CallError, SteelyardWarning
from steelyard.identification.validate import validate_robot
from steelyard.robot.loops.assembly import closed_configurations
from steelyard.robot.loops.constrained_torque import warn_of_singular
from steelyard.robot.loops.loop_structure import best_columns, independent_rows
from tests.loop_robots import four_bar_with, motion, robot


@pytest.mark.parametrize(("gap", "closed"), [(0.7e-11, True), (1.4e-11, False)])
def test_closed_is_1e_11(gap: float, closed: bool) -> None:
    result = closed_configurations(
        lambda q: np.full((len(q), 1), gap),
        lambda q: np.zeros((len(q), 1, 2)),
        np.zeros((1, 2)),
        [0, 1],
        ["pin"],
    )
    assert result.closed[0] == closed
    assert (result.status == "closed") == closed


@pytest.mark.parametrize(("left", "possible"), [(0.7e-8, True), (1.4e-8, False)])
def test_possible_is_1e_8_of_the_torque(left: float, possible: bool) -> None:
    x = motion("four_bar")
    a = x.robot.constrained_inverse_dynamics(x.q, x.qd, x.qdd)
    size = np.maximum(np.abs(a.tau).max(axis=-1, keepdims=True), 1.0)
    changed = replace(a, residual=left * size * np.eye(3)[1])
    assert changed.possible.all() == possible
    assert ("impossible" in changed.status) != possible


@pytest.mark.parametrize(("gap", "said"), [(0.7e-8, False), (1.4e-8, True)])
def test_open_is_1e_8(gap: float, said: bool) -> None:
    x = motion("four_bar")
    rest = np.zeros_like(x.q)
    derivative = np.abs(x.robot.closure_jacobian(x.q)[:, :, 0]).max()
    status = x.robot.constrained_inverse_dynamics(x.q + [gap / derivative, 0, 0], rest, rest).status
    assert ("does not keep the loops closed" in status) == said


@pytest.mark.parametrize(("angle", "rank"), [(0.7e-7, 1), (1.4e-7, 2)])
def test_a_closure_is_independent_from_1e_7(angle: float, rank: int) -> None:
    rows = np.array([[[1.0, 0.0], [np.cos(angle), np.sin(angle)]]] * 3)
    assert len(independent_rows(rows, [np.arange(2)])) == rank


@pytest.mark.parametrize(("size", "chosen"), [(0.15, [1]), (0.6, [0])])
def test_the_first_closure_with_a_third_of_the_largest_is_taken(
    size: float, chosen: list[int]
) -> None:
    rows = np.array([[[size, 0.0], [1.0, 0.0]]] * 3)
    assert independent_rows(rows, [np.arange(2)]) == chosen


def test_the_best_drives_determine_the_others() -> None:
    Phi = np.array([[[1.0, 0.1, 0.9]]] * 4)
    assert best_columns(Phi, [], [0, 1, 2]) == [0]
    assert best_columns(Phi, [2], [0, 1]) == []


@pytest.mark.parametrize(("speed", "warned"), [(0.7e-6, False), (1.4e-6, True)])
def test_forward_dynamics_warn_from_1e_6(speed: float, warned: bool) -> None:
    qdd, none = np.zeros((2, 3)), np.zeros((2, 2))
    opening = np.array([[0.0, speed], [0.0, 0.0]])
    if warned:
        with pytest.warns(SteelyardWarning, match="1 of 2 configurations are singular"):
            warn_of_singular(qdd, none, opening)
    else:
        warn_of_singular(qdd, none, opening)


def test_a_linkage_in_line_is_singular_and_leaves_others_alone() -> None:
    """A parallelogram that is flat: the loop has rank 1 there."""
    text = """
    [[links]]
    name = "ground"
    [[links]]
    name = "a"
    mass = 1.0
    inertia = [0.01, 0.01, 0.02]
    [[links]]
    name = "b"
    mass = 1.0
    inertia = [0.01, 0.01, 0.02]
    [[links]]
    name = "c"
    mass = 1.0
    inertia = [0.01, 0.01, 0.02]
    [[joints]]
    name = "left"
    parent = "ground"
    child = "a"
    [[joints]]
    name = "top"
    parent = "a"
    child = "b"
    origin = { xyz = [0.5, 0, 0] }
    [[joints]]
    name = "right"
    parent = "ground"
    child = "c"
    origin = { xyz = [0.5, 0, 0] }
    [[loops]]
    name = "pin"
    kind = "point"
    a = { link = "b", xyz = [0.5, 0, 0] }
    b = { link = "c", xyz = [0.5, 0, 0] }
    """
    from steelyard.mechanism.formats.toml.read_toml import read_toml

    flat = sy.Robot(read_toml(text, warn=False))
    assert flat.loop_structure.freedoms == 1
    upright = flat.assemble([0.7, -0.7, 0.7])
    with pytest.warns(SteelyardWarning, match="1 of 2 configurations are singular"):
        qdd, _ = flat.constrained_forward_dynamics(
            [np.zeros(3), upright], np.ones((2, 3)) * [1, -1, 1], np.eye(3)[:2] * 3.0
        )
    alone, _ = flat.constrained_forward_dynamics(upright, [1, -1, 1], np.eye(3)[1] * 3.0)
    np.testing.assert_allclose(qdd[1], alone, rtol=1e-9)


@pytest.mark.parametrize(
    "call",
    [
        lambda result, log: sy.joint_velocity(
            result, np.zeros(3), np.zeros(6), frame="rocker_link"
        ),
        lambda result, log: sy.excite(result),
        lambda result, log: sy.doctor(result, log),
        lambda result, log: validate_robot(result, log),
    ],
)
def test_functions_for_arms_refuse_loops(call: object) -> None:
    log = sy.Log(t=np.arange(20) * 0.01, q=np.zeros((20, 3)), tau=np.zeros((20, 3)))
    with pytest.raises(CallError, match="takes a robot without loops, and 'four_bar' has 1; "):
        call(robot("four_bar"), log)  # type: ignore[operator]


def test_base_parameters_of_a_linkage_are_those_of_its_one_freedom() -> None:
    """Fewer than those of the tree: with one torque, much can no longer be distinguished."""
    closed, tree = (
        sy.base_parameters(robot("four_bar")),
        sy.base_parameters(robot("four_bar").without_loops()),
    )
    assert 0 < closed.n_base < tree.n_base
    x = motion("four_bar")
    Y = x.robot.constrained_regressor(x.q, x.qd, x.qdd)
    predicted = Y[..., list(closed.columns)] @ closed.values(x.robot.parameters)
    np.testing.assert_allclose(predicted[:, 0], x.tau[:, 0], atol=1e-9)


def test_loops_that_hold_nothing_and_loops_that_hold_everything() -> None:
    """A frame of the base that is joined to another one of it, and a linkage that is welded."""
    arm = sy.load("planar_2r")
    idle = arm.with_loop("idle", "point", "base", "link1")  # the first joint turns about that point
    q, qd, tau = np.random.default_rng(0).normal(size=(3, 4, 2))
    assert idle.loop_structure.rows == ()
    qdd, multipliers = idle.constrained_forward_dynamics(q, qd, tau)
    np.testing.assert_allclose(qdd, arm.forward_dynamics(q, qd, tau))
    assert multipliers.shape == (4, 3)
    np.testing.assert_allclose(idle.constrained_inverse_dynamics(q, qd, qdd).tau, tau, rtol=1e-9)
    assert sy.simulate(idle, seconds=0.01).finite
    with pytest.raises(CallError, match="has no loops that hold it"):
        idle.freedom_basis(q)
    rigid = four_bar_with("weld")
    qdd, _ = rigid.constrained_forward_dynamics(np.zeros(3), np.zeros(3), np.ones(3))
    assert np.abs(qdd).max() < 1e-9
    with pytest.raises(CallError, match="is rigid: its loops leave no freedom"):
        rigid.constrained_regressor(np.zeros(3), np.zeros(3), np.zeros(3))


def test_motions_that_are_not_finite_are_said_and_leave_others_alone() -> None:
    x = motion("four_bar")
    q = x.q.copy()
    q[1, 0] = np.nan
    with pytest.warns(SteelyardWarning, match="1 of 5 motions are not finite") as caught:
        a = x.robot.constrained_inverse_dynamics(q, x.qd, x.qdd)
    assert len(caught) == 1
    np.testing.assert_allclose(a.tau[[0, 2, 3, 4]], x.tau[[0, 2, 3, 4]], atol=1e-9)
    assert x.robot.assemble(x.q[0], hold="crank").shape == (3,)


def test_torques_that_are_not_finite_are_no_singular_configuration() -> None:
    x = motion("four_bar")
    tau = np.zeros_like(x.q)
    tau[1, 0] = np.nan
    with pytest.warns(SteelyardWarning, match="1 of 5 states or torques are not finite") as caught:
        qdd, _ = x.robot.constrained_forward_dynamics(x.q, x.qd, tau)
    assert len(caught) == 1
    assert np.isfinite(qdd).all(axis=-1).tolist() == [True, False, True, True, True]


def test_an_infinite_motion_warns_in_words_alone() -> None:
    x = motion("four_bar")
    qdd = x.qdd.copy()
    qdd[2] = np.inf
    with pytest.warns(SteelyardWarning) as caught:
        x.robot.constrained_inverse_dynamics(x.q, x.qd, qdd)
    assert [str(w.message).count("not finite") for w in caught] == [1]


def test_bars_that_close_in_line_only_have_no_freedom() -> None:
    """Two bars of a metre between points two metres apart.

    Closures in line say that they move, and they do not.
    """
    arm = sy.load("planar_2r")
    loop_structure = arm.with_loop(
        "pin", "point", "link2", "base", [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]
    ).loop_structure
    assert (loop_structure.freedoms, len(loop_structure.independent)) == (0, 1)
    assert "0 freedoms" in str(loop_structure)
    assert "close at singular configurations only, from which joint2 cannot move" in str(
        loop_structure
    )
    slack = arm.with_loop(
        "pin", "point", "link2", "base", [1.0, 0.0, 0.0], [1.999, 0.0, 0.0]
    ).loop_structure
    assert (slack.freedoms, slack.stuck) == (0, ()), "a triangle"
    for name in ("four_bar", "five_bar", "planar_3rrr", "delta", "stewart"):
        assert not robot(name).loop_structure.stuck
