"""The weight of the description: the samples choose it, and say so."""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy
from steelyard.identification import SDP
from steelyard.motion.trajectories.fourier import Fourier
from steelyard.motion.trajectories.trajectory import Trajectory, trajectory
from steelyard.robot import Robot
from steelyard.signals.log import Log

ROBOTS = ("planar_2r", "spatial_3r")
CLOSE = 1.03  # of the least held-out error of any fixed weight, and of plain least squares


def motion(robot: Robot, seed: int, seconds: float = 12.0, reach: float = 1.2) -> Trajectory:
    rng = np.random.default_rng(seed)
    result = Fourier(np.zeros(robot.n), *rng.normal(size=(2, robot.n, 5)), 0.1)
    size = np.abs(result(np.linspace(0, 10, 400)).q).max(axis=0)
    return trajectory(
        result.scaled(reach / size, rng.uniform(-0.5, 0.5, robot.n)),
        seconds,
        100.0,
        robot.joint_names,
        None,
    )


def logs(true: Robot, seed: int) -> tuple[Log, Log]:
    first, second = (sy.record(true, motion(true, seed + k), 250.0, seed + k) for k in (0, 50))
    return first, second


def placeholder(robot: Robot, mass: float = 0.1, inertia: float = 1e-6) -> Robot:
    pi = robot.parameters.copy()
    for i in range(len(robot.tree.bodies)):
        pi[10 * i : 10 * i + 10] = [mass, 0, 0, 0, inertia, 0, 0, inertia, 0, inertia]
    return robot.with_parameters(pi)


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("description", ["good", "wrong", "placeholder"])
def test_nothing_fixed_is_much_better_on_another_motion(name: str, description: str) -> None:
    robot = sy.load(name)
    true = sy.perturbed(robot, 5, {"good": 0.03, "wrong": 0.2, "placeholder": 0.1}[description])
    argument = placeholder(robot) if description == "placeholder" else robot
    log, other = logs(true, 3)
    error = sy.identify(argument, log, diagnose=False).validate(other).total_relative_error
    fixed = [
        sy.identify(argument, log, SDP(w), diagnose=False).validate(other).total_relative_error
        for w in (1.0, 1e3)
    ]
    plain = [
        sy.identify(argument, log, method, diagnose=False).validate(other).total_relative_error
        for method in ("wls",)
    ]
    assert error <= CLOSE * min(fixed + plain), (error, fixed, plain)


@pytest.mark.parametrize("name", ROBOTS)
def test_the_weight_follows_how_good_the_description_is(name: str) -> None:
    robot = sy.load(name)
    weights = [
        sy.identify(robot, logs(sy.perturbed(robot, 4, spread), 9)[0], diagnose=False).details[
            "prior_weight"
        ]
        for spread in (0.01, 0.05, 0.25)
    ]
    assert weights[0] > weights[1] > weights[2]
    assert weights[0] >= 100
    assert weights[2] <= 30


@pytest.mark.parametrize("name", ROBOTS)
def test_a_placeholder_is_set_aside_and_that_is_said(name: str) -> None:
    robot = sy.load(name)
    fit = sy.identify(placeholder(robot), logs(sy.perturbed(robot, 4), 9)[0], diagnose=False)
    assert len(fit.details["descriptions_not_used"]) == robot.n
    assert any("discarded" in note for note in fit.status)
    assert fit.verdict.word == "trusted within"
    assert any("known_mass" in reason for reason in fit.verdict.reasons)


def test_one_wrong_link_is_named() -> None:
    robot = sy.load("elbow_6r")
    pi = robot.parameters.copy()
    pi[20:30] *= 12
    fit = sy.identify(
        robot.with_parameters(pi), logs(sy.perturbed(robot, 4, 0.03), 9)[0], diagnose=False
    )
    assert fit.details["descriptions_not_used"] == (robot.tree.bodies[2].name,)
    assert any(
        f"The description of {robot.tree.bodies[2].name} contradicts the log and was discarded"
        in note
        for note in fit.status
    )


def test_a_true_description_sets_nothing_aside() -> None:
    robot = sy.load("elbow_6r")
    fit = sy.identify(robot, logs(sy.perturbed(robot, 4, 0.1), 9)[0], diagnose=False)
    assert fit.details["descriptions_not_used"] == ()
    assert not any("discarded" in note for note in fit.status)


def test_a_poor_log_leaves_a_good_description_as_it_is() -> None:
    """Where only friction is worth finding, the links hardly move."""
    robot = sy.load("elbow_6r")
    true = sy.perturbed(robot, 4, 0.01)
    log = sy.record(true, motion(robot, 1, 4.0, 0.1), 250.0, 3)
    fit = sy.identify(robot, log, diagnose=False)
    inner = 10 * len(robot.tree.bodies)
    moved = np.linalg.norm(fit.parameters[:inner] - robot.parameters[:inner]) / np.linalg.norm(
        robot.parameters[:inner]
    )
    assert moved < 0.05
    other = motion(robot, 2)
    errors = [
        error_of_links(each, true, other)
        for each in (fit.robot, sy.identify(robot, log, "wls", diagnose=False).robot)
    ]
    assert errors[0] < 0.3 * errors[1]


def error_of_links(robot: Robot, true: Robot, along: Trajectory) -> float:
    """Relative error of the torques of the links alone.

    A slow log says nothing about friction at speed.
    """
    got, expected = (
        each.without_friction()
        .with_rotors([0.0] * each.n)
        .inverse_dynamics(along.q, along.qd, along.qdd)
        for each in (robot, true)
    )
    return float(np.linalg.norm(got - expected) / np.linalg.norm(expected))


def test_an_override_is_obeyed() -> None:
    robot = sy.load("spatial_3r")
    log = logs(sy.perturbed(robot, 4), 9)[0]
    assert sy.identify(robot, log, SDP(7.0), diagnose=False).details["prior_weight"] == 7.0
    assert sy.identify(robot, log, prior="cad", diagnose=False).details["prior_weight"] == 30.0


def test_infinite_where_the_log_says_nothing() -> None:
    """Of a joint that turns about the vertical and never moves, the log shows no inertia."""
    robot = sy.load("elbow_6r")
    path_motion = motion(robot, 1)
    fixed = {robot.joint_names[j] for j in range(robot.n) if j != 2}
    log = sy.record(sy.perturbed(robot, 4, 0.05), path_motion, 250.0, 3)
    q = log.q.copy()
    rng = np.random.default_rng(0)
    for j, name in enumerate(robot.joint_names):
        if name in fixed:
            q[:, j] = 0.3 + 1e-5 * rng.normal(size=log.N)
    true = sy.perturbed(robot, 4, 0.05)
    qd, qdd = (np.gradient(q[:, 2], log.t), np.gradient(np.gradient(q[:, 2], log.t), log.t))
    zero = np.zeros_like(q)
    full = [zero.copy(), zero.copy()]
    full[0][:, 2], full[1][:, 2] = qd, qdd
    tau = true.inverse_dynamics(np.where(np.arange(robot.n) == 2, q, 0.3), *full)
    fit = sy.identify(
        robot, log.replace(q=q, tau=tau + 0.1 * rng.normal(size=tau.shape)), diagnose=False
    )
    still_columns = [f"{name}.{symbol}" for name in fixed for symbol in ("Fv", "Fc", "Ia")]
    std = dict(zip(fit.base.names, fit.base_std, strict=True))
    assert all(np.isinf(std[name]) for name in still_columns if name in std)
    assert fit.rank < 0.6 * fit.base.n_base
