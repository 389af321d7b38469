"""Planted faults: each does what its row says, at its least size, to its joints alone.

Experiments follow from their seed.
"""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy
from benchmarks.arms import ARMS, arm
from benchmarks.experiments import experiment
from benchmarks.faults import FAULTS, Planted
from benchmarks.true_robot import FARTHEST, deviation, true_robot, with_drives
from benchmarks.visibility import (
    NOISE,
    SEEN,
    TERMS,
    UNDONE,
    misfit,
    names,
    reference,
    shows,
    standardised,
)
from steelyard.checks.states import swing
from steelyard.motion.trajectories.fourier import Fourier, motion_bounds

KEYS = """swapped joints, position sign, torque sign, degrees, currents,
gear ratio or torque constant, torque scale, gravity taken out, gravity direction, position offset,
motor side, clock, jitter, dropped samples, duplicated stamps, delay, saturation, dead channel,
encoder spikes, coupling, missing term, geometry, filtered torque, poor excitation, wrong robot"""


@pytest.fixture(scope="module")
def robot():
    return sy.load("planar_2r")


@pytest.fixture(scope="module")
def log(robot):
    t = np.arange(1000) / 100
    q = np.column_stack([np.sin(t), np.cos(1.7 * t)])
    qd = np.column_stack([np.cos(t), -1.7 * np.sin(1.7 * t)])
    qdd = np.column_stack([-np.sin(t), -(1.7**2) * np.cos(1.7 * t)])
    return sy.Log(
        t=t, q=q, qd=qd, tau=robot.inverse_dynamics(q, qd, qdd), joint_names=robot.joint_names
    )


def planted(robot, log, key, joints, size=None):
    row = FAULTS[key]
    return row.plant(
        robot, log, joints, row.least if size is None else size, np.random.default_rng(0)
    )


def test_the_table_has_every_fault_that_the_doctor_names():
    assert list(FAULTS) == KEYS.replace("\n", " ").split(", ")


@pytest.mark.parametrize(
    "key", [key for key, row in FAULTS.items() if row.stage == "log" and not row.whole]
)
def test_a_fault_of_one_joint_leaves_the_others_alone(robot, log, key):
    if key == "swapped joints":
        return
    faulty = planted(robot, log, key, ("joint2",))
    for name in ("q", "qd", "tau"):
        np.testing.assert_array_equal(getattr(faulty, name)[:, 0], getattr(log, name)[:, 0])
    assert any(
        not np.array_equal(getattr(faulty, name)[:, 1], getattr(log, name)[:, 1])
        for name in ("q", "qd", "tau")
    )


@pytest.mark.parametrize("key", ["swapped joints", "position sign", "torque sign"])
def test_signs_and_swaps_planted_twice_are_none(robot, log, key):
    joints = ("joint1", "joint2")[: 2 if key == "swapped joints" else 1]
    once = planted(robot, log, key, joints)
    twice = planted(robot, once, key, joints)
    assert not np.array_equal(once.tau, log.tau) or not np.array_equal(once.q, log.q)
    np.testing.assert_array_equal(twice.q, log.q)
    np.testing.assert_array_equal(twice.tau, log.tau)


def test_scales(robot, log):
    np.testing.assert_allclose(
        planted(robot, log, "degrees", robot.joint_names).q, np.rad2deg(log.q)
    )
    np.testing.assert_allclose(
        planted(robot, log, "torque scale", robot.joint_names).tau, 2 * log.tau
    )
    np.testing.assert_allclose(
        planted(robot, log, "gear ratio or torque constant", ("joint1",)).tau[:, 0],
        1.3 * log.tau[:, 0],
    )
    constants = log.tau / planted(robot, log, "currents", robot.joint_names).tau
    np.testing.assert_allclose(np.sort(constants[0]), [2.5, 10.0])
    motor = planted(robot, log, "motor side", robot.joint_names)
    np.testing.assert_allclose(motor.qd * motor.tau, log.qd * log.tau)  # a gear keeps the power
    assert np.all(motor.q[5] / log.q[5] >= 30)


def test_degrees_concern_turning_joints_alone():
    assert FAULTS["degrees"].places(sy.load("planar_rp")) == [("joint1",)]


def test_gravity(robot, log):
    free = robot.with_gravity((0, 0, 0))
    qdd = np.gradient(log.qd, log.t, axis=0)
    rest = planted(robot, log, "gravity taken out", robot.joint_names).tau
    np.testing.assert_allclose(
        rest[5:-5], free.inverse_dynamics(log.q, log.qd, qdd)[5:-5], atol=0.02
    )
    tilted = np.asarray(planted(robot, robot, "gravity direction", robot.joint_names).gravity)
    assert np.linalg.norm(tilted) == pytest.approx(9.81)
    assert np.degrees(np.arccos(tilted @ robot.gravity / 9.81**2)) == pytest.approx(30)


def test_position_offset_is_in_degrees_or_centimetres(robot, log):
    np.testing.assert_allclose(
        planted(robot, log, "position offset", ("joint2",)).q[:, 1] - log.q[:, 1], np.deg2rad(5)
    )
    np.testing.assert_allclose(
        planted(sy.load("planar_rp"), log, "position offset", ("joint2",)).q[:, 1] - log.q[:, 1],
        0.05,
    )


def test_stamps(robot, log):
    double = FAULTS["clock"].plant(robot, log, robot.joint_names, 2.0, np.random.default_rng(1))
    assert double.rate == pytest.approx(50)
    shaken = planted(robot, log, "jitter", robot.joint_names)
    assert np.all(np.diff(shaken.t) > 0)
    assert np.std(shaken.t - log.t) / log.dt == pytest.approx(0.2, rel=0.1)
    short = planted(robot, log, "dropped samples", robot.joint_names)
    assert short.N == log.N - 20
    assert short.t[[0, -1]].tolist() == log.t[[0, -1]].tolist()
    repeated = planted(robot, log, "duplicated stamps", robot.joint_names)
    # of two repeated in a row one keeps a step
    assert np.count_nonzero(np.diff(repeated.t) == 0) in range(17, 21)
    np.testing.assert_array_equal(repeated.q, log.q)


def test_channels(robot, log):
    late = planted(robot, log, "delay", ("joint1",))
    np.testing.assert_allclose(late.tau[2:, 0], log.tau[:-2, 0])  # 20 ms at 100 Hz
    cut = planted(robot, log, "saturation", ("joint1",))
    assert np.abs(cut.tau[:, 0]).max() == pytest.approx(0.6 * np.abs(log.tau[:, 0]).max())
    assert np.ptp(planted(robot, log, "dead channel", ("joint1",)).tau[:, 0]) == 0
    off = planted(robot, log, "encoder spikes", ("joint1",)).q[:, 0] - log.q[:, 0]
    assert np.count_nonzero(off) == 5
    np.testing.assert_allclose(np.abs(off[off != 0]), 0.05)


def test_coupling_is_a_fifth_of_the_torque(robot):
    true, states = with_drives(robot), swing(robot, 500)
    torque = true.inverse_dynamics(*states)
    added = planted(robot, true, "coupling", robot.joint_names).inverse_dynamics(*states) - torque
    rms = np.sqrt(np.mean(torque**2, axis=0))
    assert np.sqrt(np.mean(added**2)) / np.sqrt(rms[0] * rms[1]) == pytest.approx(0.2, rel=0.3)


def test_a_spring_varies_by_half_of_the_torque_of_its_joint_alone(robot):
    true, states = with_drives(robot), swing(robot, 500)
    torque = true.inverse_dynamics(*states)
    sprung = planted(robot, true, "missing term", ("joint2",)).inverse_dynamics(*states) - torque
    np.testing.assert_allclose(sprung[:, 0], 0.0, atol=1e-12)
    size = np.sqrt(np.mean(torque[:, 1] ** 2))
    assert np.std(sprung[:, 1]) / size == pytest.approx(0.5, rel=1e-6)
    # proportional to the deflection from an end of the travel
    q = states.q[:, 1]
    np.testing.assert_allclose(
        sprung[:, 1], np.std(sprung[:, 1]) / np.std(q) * (q - q.min()), atol=1e-6 * size
    )


def test_a_longer_link_moves_its_joint_alone(robot):
    assert FAULTS["geometry"].places(robot) == [("joint2",)]
    longer = planted(robot, robot, "geometry", ("joint2",))
    before, after = (x.forward_kinematics([0.3, 0.7], "link2") for x in (robot, longer))
    np.testing.assert_allclose(after[:3, 3], 1.25 * before[:3, 3])
    np.testing.assert_array_equal(longer.parameters, robot.parameters)


def test_a_filtered_torque_keeps_what_is_slow(robot, log):
    t = log.t
    tau = np.stack([np.sin(0.5 * t), np.sin(30 * t)], axis=1)
    filtered = planted(robot, log.replace(tau=tau), "filtered torque", robot.joint_names).tau
    np.testing.assert_allclose(filtered[100:-100, 0], tau[100:-100, 0], atol=0.02)
    assert np.abs(filtered[100:-100, 1]).max() < 0.05


def test_a_still_joint_moves_by_its_size_and_others_as_before(robot):
    motion = Fourier(np.zeros(2), np.array([[1.0, -1.0], [0.5, -0.5]]), np.zeros((2, 2)), 0.1)
    before, after = (
        motion_bounds(x) for x in (motion, planted(robot, motion, "poor excitation", ("joint2",)))
    )
    assert (after.upper - after.lower)[1] == pytest.approx(0.01)
    assert after.upper[0] == before.upper[0]
    little = motion_bounds(planted(robot, motion, "poor excitation", robot.joint_names))
    np.testing.assert_allclose(little.velocity, 0.05 * before.velocity)


@pytest.mark.parametrize("key", list(FAULTS))
def test_sizes_are_never_below_the_least(key, rng):
    row = FAULTS[key]
    for _ in range(50):
        size = row.draw(rng)
        size = (
            max(size, 1 / size)
            if row.either == "ratio"
            else abs(size)
            if row.either == "sign"
            else size
        )
        assert min(row.least, row.most) - 1e-9 <= size <= max(row.least, row.most) + 1e-9


def test_an_experiment_follows_from_its_seed():
    one, same, other = (
        experiment("planar_2r", seed, ("delay", "encoder spikes")) for seed in (3, 3, 4)
    )
    np.testing.assert_array_equal(one.log.tau, same.log.tau)
    assert one.planted == same.planted
    assert not set(one.planted[0].joints) & set(one.planted[1].joints)
    assert one.log.N != other.log.N or not np.array_equal(one.log.tau, other.log.tau)


def test_a_fault_leaves_the_experiment_behind_it_as_it_is():
    healthy, faulty = experiment("planar_2r", 3), experiment("planar_2r", 3, ("torque scale",))
    np.testing.assert_allclose(faulty.log.tau, faulty.planted[0].size * healthy.log.tau)


@pytest.mark.parametrize("name", ["planar_2r", "spatial_3r"])
def test_descriptions_are_within_a_fifth_and_not_right(name):
    deviations = [deviation(arm(name), true_robot(arm(name), seed)) for seed in range(5)]
    assert max(deviations) <= FARTHEST == 0.2
    assert min(deviations) > 0.02


def test_the_arms_have_two_to_seven_joints_and_a_stranger_each():
    assert {arm(name).n for name in ARMS} == {2, 3, 4, 5, 6, 7}
    for name in ARMS:
        wrong = planted(arm(name), arm(name), "wrong robot", arm(name).joint_names)
        assert wrong.n == arm(name).n
        assert wrong.fingerprint != arm(name).fingerprint


def test_two_faults_need_joints_of_their_own():
    with pytest.raises(sy.CallError, match="no joint left for 'torque sign' beside joint1, joint2"):
        experiment("planar_2r", 0, ("swapped joints", "torque sign"))


def test_an_unknown_fault_is_named():
    with pytest.raises(sy.CallError, match="delay"):
        experiment("planar_2r", 0, ("delai",))


def test_a_healthy_log_has_no_misfit_and_a_robot_like_the_description_little():
    robot = arm("spatial_3r")
    assert misfit(robot).squared() < 1e-12
    deviations = []
    for seed in range(5):
        log, true = reference(robot).log, true_robot(robot, seed).with_joint_terms(TERMS)
        torque = log.replace(tau=true.inverse_dynamics(log.q, log.qd, log.qdd))
        deviations.append(
            standardised(
                reference(robot).robot, reference(robot).factor, torque, reference(robot).noise
            ).squared()
        )
    assert max(deviations) < SEEN == 30  # about one for each of the directions that a log shows
    assert max(deviations) > 2


def test_misfit_is_the_distance_of_a_gaussian(rng):
    """Second route: the covariance of the torques, inverted."""
    robot = arm("planar_2r")
    result = reference(robot)
    log = result.log.replace(
        tau=1.3 * robot.inverse_dynamics(result.log.q, result.log.qd, result.log.qdd)
    )
    noise = np.tile(NOISE * np.sqrt(np.mean(log.tau**2, axis=0)), log.N)
    Y = robot.regressor(log.q, log.qd, log.qdd).reshape(len(noise), -1)
    V = np.diag(noise**2) + Y @ result.factor @ result.factor.T @ Y.T
    r = log.tau.ravel() - Y @ robot.parameters
    remaining = standardised(result.robot, result.factor, log, result.noise)
    assert remaining.r @ remaining.r == pytest.approx(r @ np.linalg.solve(V, r), rel=1e-6)


@pytest.mark.parametrize(
    ("name", "key", "joint", "size", "seen"),
    [
        ("spatial_3r", "position offset", "joint1", 30.0, False),  # about the vertical
        ("spatial_3r", "position offset", "joint2", 10.0, True),
        ("spatial_3r", "torque sign", "joint3", -1.0, True),  # friction would be negative
        ("planar_2r", "gear ratio or torque constant", "joint1", 1.3, True),
        # within the description
        ("planar_2r", "gear ratio or torque constant", "joint1", 1.05, False),
        ("planar_2r", "dead channel", "joint1", 1.0, True),
    ],
)
def test_what_a_log_can_show(name, key, joint, size, seen):
    assert shows(arm(name), Planted(key, (joint,), size)) is seen


def test_what_cannot_show_is_not_planted():
    for seed in range(10):
        assert experiment("spatial_3r", seed, ("position offset",)).planted[0].joints != ("joint1",)
    with pytest.raises(sy.CallError, match="'position offset' cannot show on spatial_3r"):
        experiment("spatial_3r", 0, ("position offset",), [("joint1",)])


def test_faults_that_undo_each_other_share_their_names():
    robot = arm("spatial_3r")
    signs = names(robot, Planted("position sign", ("joint1",), -1))
    assert signs == (("position sign", ("joint1",)), ("torque sign", ("joint1",)))
    assert (
        misfit(
            robot,
            Planted("position sign", ("joint1",), -1),
            Planted("torque sign", ("joint1",), -1),
        ).squared()
        < UNDONE
        == 10
    )
    assert names(robot, Planted("position sign", ("joint2",), -1)) == (
        ("position sign", ("joint2",)),
    )


def test_to_turn_gravity_is_to_turn_a_first_joint_that_lies():
    """Second route: torques of the planar arm under turned gravity are those of turned
    positions.
    """
    robot = arm("planar_2r")
    q = np.random.default_rng(0).uniform(-3, 3, (20, 2))
    g = 9.81 * np.array([np.sin(0.5), -np.cos(0.5), 0.0])
    np.testing.assert_allclose(
        robot.with_gravity(g).gravity_torque(q), robot.gravity_torque(q - [0.5, 0]), atol=1e-9
    )
    assert ("position offset", ("joint1",)) in names(
        robot, Planted("gravity direction", robot.joint_names, 30)
    )
    assert ("gravity direction", robot.joint_names) in names(
        robot, Planted("position offset", ("joint1",), 30)
    )
    assert (
        names(arm("spatial_3r"), Planted("gravity direction", ("joint1", "joint2", "joint3"), 30))[
            1:
        ]
        == ()
    )
