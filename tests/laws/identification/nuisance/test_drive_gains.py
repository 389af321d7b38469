"""Drive gains come back with the parameters, or a sentence says that the log does not hold them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import steelyard as sy
from steelyard.algebra.spatial import Pose, from_com
from steelyard.algebra.vector import Symmetric
from steelyard.errors import CallError, ProblemError
from steelyard.identification.model.linear_model import build_model
from steelyard.identification.model.model_options import ModelOptions
from steelyard.identification.model.problem import Problem
from steelyard.identification.nuisance.drive_gains import (
    GainSearch,
    asked_joints,
    estimate_gains,
    fold_rows,
)
from steelyard.identification.observations.prepare import prepare
from steelyard.identification.samples.preparation import Preparation
from steelyard.identification.samples.samples import payload_torque
from steelyard.mechanism.model import Joint, Link, Mechanism
from steelyard.signals.schema import Payload
from tests.motions import coloured, recorded, rubbing

LOAD = Payload(5.0, (0.1, 0.02, 0.05), 0.01)
FIXED = {"delay": 0, "coulomb_width": 0, "diagnose": False}


@cache
def arm() -> sy.Robot:
    return rubbing(sy.load("spatial_3r"))


def measured(gains, payload=None, robot=None, noise=0.0, seed=0, rho=0.0) -> sy.Log:
    """A log whose torques are too small by the gains, of the robot with a payload."""
    robot = robot or arm()
    carrying = (
        robot
        if payload is None
        else robot.with_payload(payload.mass, payload.com, payload.inertia, payload.frame)
    )
    log = recorded(carrying, seed=seed)
    tau = log.tau / np.asarray(gains) + noise * coloured(
        log.tau.shape, rho, np.random.default_rng(seed)
    )
    return log.replace(tau=tau, payload=payload)


def two(gains, **more) -> list[sy.Log]:
    seed = more.pop("seed", 0)
    return [
        measured(gains, seed=2 * seed, **more),
        measured(gains, LOAD, seed=2 * seed + 1, **more),
    ]


@pytest.mark.parametrize("estimator", ["wls", "sdp"])
def test_all_gains_come_back_with_one_log_that_has_a_payload_and_one_without(estimator):
    fit = sy.identify(
        arm().with_parameters(1.2 * arm().parameters),
        two([1.3, 1.3, 1.3]),
        estimator,
        drive_gains="all",
    )
    assert np.allclose(fit.drive_gains, 1.3, rtol=1e-6)
    assert np.all(fit.drive_gain_std < 1e-4)
    assert np.allclose(fit.base_values, fit.base.values(arm().parameters), rtol=1e-4, atol=1e-4)
    assert any("joint1 1.30000" in note for note in fit.status)


def test_gains_of_any_size_come_back():
    true = [0.01, 100.0, 3.0]
    fit = sy.identify(arm(), two(true), "wls", drive_gains=("joint1", "joint2", "joint3"), **FIXED)
    assert np.allclose(fit.drive_gains, true, rtol=1e-5)


@pytest.mark.parametrize("payload", [None, LOAD], ids=["no payload", "payload"])
@pytest.mark.parametrize("joint", [0, 1, 2])
def test_one_gain_is_told_by_the_parameters_that_its_joint_shares_with_the_others(joint, payload):
    true = np.where(np.arange(3) == joint, 1.3, 1.0)
    fit = sy.identify(arm(), measured(true, payload), "wls", drive_gains=f"joint{joint + 1}")
    assert np.allclose(fit.drive_gains, true, rtol=1e-6)
    assert (fit.drive_gain_std > 0).tolist() == (np.arange(3) == joint).tolist()
    others = " ".join(f"joint{j + 1}" for j in range(3) if j != joint).replace(" ", ", ")
    assert any(f"({others} taken as right)" in note for note in fit.status)


def test_a_link_that_is_held_whole_tells_all_gains():
    fit = sy.identify(
        arm(), measured([1.3, 0.8, 1.1]), "wls", hold=["link3"], drive_gains="all", **FIXED
    )
    assert np.allclose(fit.drive_gains, [1.3, 0.8, 1.1], rtol=1e-6)


@pytest.mark.parametrize(
    "case",
    [
        "nothing known",
        "one payload",
        "the same payload twice",
        "payload as a known torque",
        "a held mass",
    ],
)
def test_gains_that_cannot_be_told_are_refused_in_words(case):
    log, options = measured([1.3] * 3, LOAD), {}
    if case == "nothing known":
        log = measured([1.3] * 3)
    elif case == "the same payload twice":
        log = [log, measured([1.3] * 3, LOAD, seed=3)]
    elif case == "payload as a known torque":
        log, options = (
            log.replace(payload=None),
            {"known": lambda q, qd, qdd: payload_torque(arm(), LOAD, q, qd, qdd)},
        )
    elif case == "a held mass":
        log, options = measured([1.3] * 3), {"known_mass": {"link3": 6.0}}
    with pytest.raises(
        ProblemError,
        match=(
            r"the gain of joint1, joint2, joint3 cannot be separated from the mass: .* known "
            r"payload"
        ),
    ):
        sy.identify(arm(), log, drive_gains="all", **options, **FIXED)


@pytest.mark.parametrize("rho", [0.0, 0.9])
def test_gains_lie_within_their_standard_deviations(rho):
    """95 % of gains lie within two standard deviations, with white noise and with noise that
    remembers.
    """
    model = build_model(arm())
    z = []
    for seed in range(40):
        samples = tuple(
            prepare(arm(), log, Preparation())
            for log in two([1.3, 1.2, 0.9], noise=1.0, rho=rho, seed=seed)
        )
        result = estimate_gains(model, samples, ["all"], 1)
        z.append((result.values - [1.3, 1.2, 0.9]) / result.std)
    assert 0.8 < np.sqrt(np.mean(np.square(z))) < 1.2
    assert 0.9 <= np.mean(np.abs(z) < 2) <= 0.99


def pendulums() -> sy.Robot:
    """Two joints on one base that share nothing."""
    body = from_com(3.0, (0.3, 0.1, 0.0), Symmetric(0.05, 0.0, 0.0, 0.06, 0.0, 0.07))
    links = (Link("base"), Link("left", body), Link("right", body))
    joints = (
        Joint(f"to_{name}", "revolute", "base", name, Pose(p=(x, 0.0, 0.0)), (0.0, 1.0, 0.0))
        for name, x in (("left", 0), ("right", 1))
    )
    return sy.Robot(Mechanism("pendulums", links, tuple(joints)))


def test_a_gain_that_cannot_be_told_stays_one_beside_those_that_can():
    robot, load = pendulums(), Payload(2.0, (0.2, 0.0, 0.0), 0.0, "left")
    logs = [measured([1.3, 1.4], robot=robot), measured([1.3, 1.4], load, robot=robot, seed=1)]
    fit = sy.identify(robot, logs, "wls", drive_gains="all", **FIXED)
    assert fit.drive_gains == pytest.approx([1.3, 1.0], rel=1e-6)
    assert fit.drive_gain_std[0] < 1e-4
    assert np.isinf(fit.drive_gain_std[1])
    assert any(
        "The gain of to_right cannot be separated from the mass" in note for note in fit.status
    )
    assert fit.to_dict()["drive_gain_std"][1] is None
    assert fit.validate(logs[1]).total_relative_error < 1e-6


@pytest.mark.parametrize(("spread", "told"), [(0.4, True), (0.7, False)])
def test_a_gain_is_told_if_two_standard_deviations_do_not_reach_zero(spread, told):
    """The noise is scaled until the relative standard deviation is `spread`.

    With half of 0.5 or twice as much this would fail.
    """
    robot, load, model = (
        pendulums(),
        Payload(0.05, (0.2, 0.0, 0.0), 0.0, "left"),
        build_model(pendulums()),
    )
    clean = [
        prepare(robot, log, Preparation())
        for log in (measured([1, 1], robot=robot), measured([1, 1], load, robot=robot, seed=1))
    ]
    active = np.array([True, False])

    def noisy(size):
        return tuple(
            replace(s, tau=s.tau + size * np.random.default_rng(k).normal(size=s.tau.shape))
            for k, s in enumerate(clean)
        )

    def relative(size):
        problem = Problem(model, noisy(size))
        search = GainSearch(fold_rows(problem), problem.prior)
        base, inverse = search.solve(active)
        return (
            search.information(active, base, inverse, search.weights(base, inverse))[1] / inverse
        )[0]

    size = 0.1
    for _ in range(8):
        size *= np.sqrt(spread / relative(size))
    assert relative(size) == pytest.approx(spread, rel=0.1)
    if told:
        assert np.isfinite(estimate_gains(model, noisy(size), ["to_left"], 1).std[0])
    else:
        with pytest.raises(ProblemError, match="cannot be separated"):
            estimate_gains(model, noisy(size), ["to_left"], 1)


@pytest.mark.parametrize(("share", "told"), [(1.5e-6, True), (0.7e-6, False)])
def test_rounding_is_no_information(share, told):
    """A payload that every log carries, and a millionth of a torque that no parameter has."""
    robot, load = pendulums(), Payload(2.0, (0.2, 0.0, 0.0), 0.0, "left")
    bare = prepare(robot, measured([1, 1], robot=robot, noise=1e-8), Preparation())

    def problem(size):
        def known(q, qd, qdd):
            return payload_torque(robot, load, q, qd, qdd) + size * np.sin(5 * q)

        samples = replace(bare, tau=bare.tau + known(bare.q, bare.qd, bare.qdd))
        return Problem(build_model(robot, ModelOptions(known=known)), (samples,))

    def found(size):
        search = GainSearch(fold_rows(problem(size)), problem(size).prior)
        active = asked_joints(robot.joint_names, ["to_left"])
        return search.information(active, *search.solve(active), np.ones(2))[0][0]

    size = 1e-2 * share / found(1e-2)
    assert found(size) == pytest.approx(share, rel=0.1)
    if told:
        assert np.isfinite(
            estimate_gains(problem(size).model, problem(size).samples, ["to_left"], 1).std[0]
        )
    else:
        with pytest.raises(ProblemError, match="cannot be separated"):
            estimate_gains(problem(size).model, problem(size).samples, ["to_left"], 1)


def test_what_the_gains_leave_open_widens_the_parameters():
    logs = two([1.0] * 3, noise=0.5)
    sure, unsure = (
        sy.identify(arm(), logs, "wls", drive_gains=gains, **FIXED) for gains in ((), "all")
    )
    assert np.all(unsure.base_std >= 0.9 * sure.base_std)
    assert np.max(unsure.base_std / sure.base_std) > 1.2
    z = (unsure.base_values - unsure.base.values(arm().parameters)) / unsure.base_std
    assert np.sqrt(np.mean(z**2)) < 1.5


def test_the_mass_of_a_sliding_link_tells_the_gains():
    robot = rubbing(sy.load("planar_rp"))
    log = measured([1.3, 1.2], robot=robot)
    mass = robot.tree.bodies[1].inertia.m
    fit = sy.identify(
        robot.with_parameters(1.2 * robot.parameters),
        log,
        "wls",
        drive_gains="all",
        known_mass={"link2": mass},
        **FIXED,
    )
    assert np.allclose(fit.drive_gains, [1.3, 1.2], rtol=1e-6)


def test_the_total_mass_tells_the_gains_where_torques_show_it():
    body = from_com(3.0, (0.3, 0.1, 0.0), Symmetric(0.05, 0.0, 0.0, 0.06, 0.0, 0.07))
    links = (Link("base"), Link("bridge", body), Link("carriage", body))
    joints = (
        Joint("x", "prismatic", "base", "bridge", axis=(1.0, 0.0, 0.0)),
        Joint("y", "prismatic", "bridge", "carriage", axis=(0.0, 1.0, 0.0)),
    )
    gantry = sy.Robot(Mechanism("gantry", links, joints))
    log = measured([1.3, 1.2], robot=gantry)
    options = {"drive_gains": "all", "rotor": False, **FIXED}
    fit = sy.identify(gantry, log, "wls", known_mass=6.0, **options)
    assert fit.drive_gains[0] == pytest.approx(1.3, rel=1e-5)
    assert fit.drive_gain_std[0] < 1e-4
    assert np.isinf(fit.drive_gain_std[1]), "the carriage alone is not weighed"
    with pytest.raises(ProblemError, match="show no total mass"):
        sy.identify(arm(), measured([1.3] * 3), drive_gains="all", known_mass=46.0, **FIXED)


def test_a_joint_that_does_not_exist_is_named():
    for wrong in ("jiont1", ["joint1", "jiont1"]):
        with pytest.raises(CallError, match="did you mean 'joint1'"):
            sy.identify(arm(), measured([1.0] * 3), drive_gains=wrong, **FIXED)
