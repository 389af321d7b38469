"""Simulations that go wrong in part: how they are reported, and what stays of the rest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import steelyard as sy
from steelyard.algebra.spatial import Inertia, Pose
from steelyard.algebra.vector import Symmetric
from steelyard.mechanism.model import Joint, Limits, Link, Mechanism


def test_the_adaptive_method_finds_the_side_to_which_joints_leave_rest() -> None:
    """Once the first joint falls, the second is pushed to the other side than the one to which it
    fell when the first was held.
    """
    robot = sy.load("planar_2r").with_friction(coulomb=1.0)
    run, stepped = (
        sy.simulate(robot, seconds=1.0, method="adaptive"),
        sy.simulate(robot, seconds=1.0, step=1e-4, method="rk8", every=10),
    )
    assert run.drift < 1e-9
    np.testing.assert_allclose(run.q, stepped.q, atol=1e-3)
    # several events between two samples
    rare = sy.simulate(robot, seconds=4.0, step=2.0, method="adaptive")
    np.testing.assert_allclose(
        rare.q[1], sy.simulate(robot, seconds=2.0, method="adaptive").q[-1], atol=1e-7
    )


def test_bad_arguments_of_a_run_are_named() -> None:
    robot = sy.load("planar_2r")
    with pytest.raises(
        sy.CallError,
        match="progress must be None or a function of the fraction that is done, not 3",
    ):
        sy.simulate(robot, seconds=0.01, progress=3)  # type: ignore[arg-type]
    batch = sy.simulate(robot, q0=np.zeros((2, 2)), seconds=0.01)
    for index in (5, -3, 0.5, "a", None):
        with pytest.raises(sy.CallError, match="the index must be a whole number from -2 to 1"):
            batch[index]  # type: ignore[index]
    with pytest.raises(sy.CallError, match="sensors must be a Sensors, not 3"):
        batch[-1].log(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["rk4", "adaptive"])
def test_a_run_whose_controller_fails_leaves_the_others_alone(method: str) -> None:
    robot, q0 = sy.load("planar_2r"), np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])

    def law(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        bad = (np.abs(q[..., :1] - 0.3) < 0.01) & (t > 0.0105)
        return np.where(bad, [np.nan, 0.0], -qd)

    run = sy.simulate(robot, law, q0, seconds=0.02, method=method)
    assert run.finite.tolist() == [True, False, True]
    assert "run 1: " in run.status
    assert "energy drift of the others" in run.status
    assert "diverged" not in run.status
    np.testing.assert_array_equal(
        run[2].q, sy.simulate(robot, law, q0[2], seconds=0.02, method=method).q
    )
    assert "run 1" not in run[1].status
    assert "not finite" in run[1].status or "NaN at 0.011 s" in run[1].status
    with pytest.raises(sy.CallError, match="returned a torque that is not finite"):
        sy.simulate(robot, law, q0[1], seconds=0.02, method=method)


@pytest.mark.parametrize("start", [np.zeros(2), np.zeros((2, 2))])
def test_a_run_that_diverges_does_not_blame_the_controller(start: np.ndarray) -> None:
    run = sy.simulate(sy.load("planar_2r"), lambda t, q, qd: 1e9 * qd + 1, start, seconds=0.2)
    assert not np.any(run.finite)
    assert f"{run.finite.size} diverged" in run.status
    assert "returned" not in run.status


def test_a_start_that_is_not_finite_is_named() -> None:
    with pytest.raises(sy.CallError, match="q0 is not finite: number 1 of run 2 is nan"):
        sy.simulate(sy.load("planar_2r"), q0=[[0.0, 0.0], [0.0, 0.0], [0.0, np.nan]])


def flat_triangle() -> sy.Robot:
    """A triangle whose corners are in line.

    Closed there alone, where one of its closures depends on the others.
    """
    bars = [("crank", "base", 0.0), ("rod", "crank", 0.2), ("rocker", "base", 0.5)]
    steel = Inertia(1.0, (0.1, 0.0, 0.0), Symmetric(0.02, 0.0, 0.0, 0.03, 0.0, 0.02))
    joints = tuple(
        Joint(name, "revolute", parent, name, Pose(p=(x, 0.0, 0.0)), (0.0, 1.0, 0.0))
        for name, parent, x in bars
    )
    result = sy.Robot(
        Mechanism("triangle", (Link("base"), *(Link(name, steel) for name, _, _ in bars)), joints)
    )
    return result.with_loop("corner", "weld", "rod", "rocker", at_a=(0.3, 0.0, 0.0))


def test_a_run_checks_all_its_closures() -> None:
    run = sy.simulate(flat_triangle(), seconds=1.0)
    assert run.gap > 0.01
    assert "the loops do not stay closed" in run.status
    closed = sy.simulate(sy.load("four_bar"), seconds=0.1)
    assert closed.gap < 1e-11
    assert "loops" not in closed.status
    one = replace(closed, q=closed.q + [0.0, 0.0, 1e-6]).gap
    messages = [
        replace(closed, q=closed.q + [0.0, 0.0, 1e-6 * gap / one]) for gap in (0.6e-9, 1.6e-9)
    ]
    assert ["loops" in run.status for run in messages] == [False, True]


def test_the_books_of_a_free_fall_and_of_rest_close() -> None:
    body = Inertia(2.0, (0.0, 0.0, 0.0), Symmetric(0.1, 0.0, 0.0, 0.1, 0.0, 0.1))
    arm = Joint("arm", "revolute", "hull", "arm", Pose(), (0.0, 1.0, 0.0))
    probe = sy.Robot(Mechanism("probe", (Link("hull", body), Link("arm", body)), (arm,)))
    fall = sy.simulate(probe, seconds=1.0, base_twist0=np.zeros(6))
    assert fall.drift < 1e-12
    hung = sy.load("planar_2r")
    rest = sy.simulate(hung, lambda t, q, qd: hung.gravity_torque(q), [0.3, 0.4], seconds=0.1)
    assert rest.drift < 1e-12
    moved = sy.simulate(hung, q0=[0.3, 0.4], seconds=0.1)
    false = replace(moved, work=moved.work + 1.0)
    assert (
        1.0 / np.abs(moved.energy).max()
        < false.drift
        <= 1.0 / np.abs(false.work).max() * (1 + 1e-9)
    ), "what is turned over, not the energy"


def test_a_start_beyond_stops_is_named_and_a_step_beyond_is_not() -> None:
    slide = Joint(
        "slide", "prismatic", "base", "block", Pose(), (0.0, 0.0, 1.0), limits=Limits(-0.5, 0.5)
    )
    block = sy.Robot(
        Mechanism(
            "block",
            (
                Link("base"),
                Link("block", Inertia(1.0, (0.0, 0.0, 0.0), Symmetric(1, 0, 0, 1, 0, 1))),
            ),
            (slide,),
        )
    )
    for q0, end in ((0.6, "0.5"), (-0.6, "-0.5")):
        with pytest.raises(
            sy.CallError, match=rf"q0 of joint 'slide' is {q0:g}, beyond its stop at {end}"
        ):
            sy.simulate(block, q0=[[0.0], [q0]], stops=True)
    struck = sy.simulate(block, seconds=1.0, stops=True)
    assert struck.q[-1, 0] < -0.5
    assert sy.simulate(block, q0=struck.q[-1], seconds=0.1, stops=True).finite


def test_a_log_that_is_shorter_than_the_run_is_said() -> None:
    robot = sy.load("planar_2r")
    log = sy.simulate(robot, [1.0, 0.0], seconds=0.1).log()
    assert "the log's torques end at 0.1 s" in sy.simulate(robot, log, seconds=0.2).status
    assert "torques end" not in sy.simulate(robot, log, seconds=0.1).status
    dt = log.t[1] - log.t[0]
    assert "torques end" not in sy.simulate(robot, log, seconds=0.1 + 2.2 * dt, step=dt).status, (
        "the last one counts for its own step"
    )
    assert "torques end" in sy.simulate(robot, log, seconds=0.1 + 3.2 * dt, step=dt).status


def test_a_motion_that_diverges_ends_the_adaptive_method() -> None:
    """Steps become ever shorter; the method gives up with a sentence instead of going on for hours.

    Others of the batch are done.
    """

    def runaway(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        return np.where(q[..., :1] < 5.0, 1e4 * (qd + 1.0), 0.0 * qd)

    with pytest.raises(
        sy.ProblemError,
        match=r"needs ever shorter steps at .* the motion diverges; check the controller's gains",
    ):
        sy.simulate(sy.load("planar_2r"), runaway, seconds=1.0, method="adaptive")
    run = sy.simulate(
        sy.load("planar_2r").without_friction(),
        runaway,
        [[0.0, 0.0], [9.0, 0.0]],
        seconds=0.02,
        method="adaptive",
    )
    assert "run 0: the adaptive method needs ever shorter steps" in run.status
    assert np.isfinite(run.q[1]).all()


def test_no_runs_are_no_error() -> None:
    for name, n in (("planar_2r", 2), ("four_bar", 3)):
        assert sy.simulate(sy.load(name), q0=np.zeros((0, n)), seconds=0.01).status.startswith(
            "0 runs of 0.01 s"
        )
