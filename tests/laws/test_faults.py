"""Planted faults: each does what its row says, at its least size, to its joints alone; experiments follow from their seed."""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy
from benchmarks.arms import ARMS, arm
from benchmarks.experiments import FARTHEST, deviation, experiment, true_robot, with_drives
from benchmarks.faults import FAULTS
from steelyard.checks.states import swing
from steelyard.motion.trajectories.fourier import Fourier, motion_bounds

KEYS = """swapped joints, position sign, torque sign, degrees, currents, gear ratio or torque constant, torque scale, gravity taken out,
gravity direction, position offset, motor side, clock, jitter, dropped samples, duplicated stamps, delay, saturation, dead channel,
encoder spikes, coupling, poor excitation, wrong robot"""


@pytest.fixture(scope="module")
def robot():
    return sy.load("planar_2r")


@pytest.fixture(scope="module")
def log(robot):
    t = np.arange(1000) / 100
    q = np.column_stack([np.sin(t), np.cos(1.7 * t)])
    qd = np.column_stack([np.cos(t), -1.7 * np.sin(1.7 * t)])
    qdd = np.column_stack([-np.sin(t), -(1.7**2) * np.cos(1.7 * t)])
    return sy.Log(t=t, q=q, qd=qd, tau=robot.inverse_dynamics(q, qd, qdd), joint_names=robot.joint_names)


def planted(robot, log, key, joints, size=None):
    row = FAULTS[key]
    return row.plant(robot, log, joints, row.least if size is None else size, np.random.default_rng(0))


def test_the_table_has_every_fault_that_the_doctor_names():
    assert list(FAULTS) == KEYS.replace("\n", " ").split(", ")


@pytest.mark.parametrize("key", [key for key, row in FAULTS.items() if row.stage == "log" and not row.whole])
def test_a_fault_of_one_joint_leaves_the_others_alone(robot, log, key):
    if key == "swapped joints":
        return
    faulty = planted(robot, log, key, ("joint2",))
    for name in ("q", "qd", "tau"):
        np.testing.assert_array_equal(getattr(faulty, name)[:, 0], getattr(log, name)[:, 0])
    assert any(not np.array_equal(getattr(faulty, name)[:, 1], getattr(log, name)[:, 1]) for name in ("q", "qd", "tau"))


@pytest.mark.parametrize("key", ["swapped joints", "position sign", "torque sign"])
def test_signs_and_swaps_planted_twice_are_none(robot, log, key):
    joints = ("joint1", "joint2")[: 2 if key == "swapped joints" else 1]
    once = planted(robot, log, key, joints)
    twice = planted(robot, once, key, joints)
    assert not np.array_equal(once.tau, log.tau) or not np.array_equal(once.q, log.q)
    np.testing.assert_array_equal(twice.q, log.q)
    np.testing.assert_array_equal(twice.tau, log.tau)


def test_scales(robot, log):
    np.testing.assert_allclose(planted(robot, log, "degrees", robot.joint_names).q, np.rad2deg(log.q))
    np.testing.assert_allclose(planted(robot, log, "torque scale", robot.joint_names).tau, 2 * log.tau)
    np.testing.assert_allclose(planted(robot, log, "gear ratio or torque constant", ("joint1",)).tau[:, 0], 1.3 * log.tau[:, 0])
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
    np.testing.assert_allclose(rest[5:-5], free.inverse_dynamics(log.q, log.qd, qdd)[5:-5], atol=0.02)
    tilted = np.asarray(planted(robot, robot, "gravity direction", robot.joint_names).gravity)
    assert np.linalg.norm(tilted) == pytest.approx(9.81)
    assert np.degrees(np.arccos(tilted @ robot.gravity / 9.81**2)) == pytest.approx(30)


def test_position_offset_is_in_degrees_or_centimetres(robot, log):
    np.testing.assert_allclose(planted(robot, log, "position offset", ("joint2",)).q[:, 1] - log.q[:, 1], np.deg2rad(5))
    np.testing.assert_allclose(planted(sy.load("planar_rp"), log, "position offset", ("joint2",)).q[:, 1] - log.q[:, 1], 0.05)


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
    assert np.count_nonzero(np.diff(repeated.t) == 0) in range(17, 21)  # of two repeated in a row one keeps a step
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


def test_a_still_joint_moves_by_its_size_and_others_as_before(robot):
    motion = Fourier(np.zeros(2), np.array([[1.0, -1.0], [0.5, -0.5]]), np.zeros((2, 2)), 0.1)
    before, after = (motion_bounds(x) for x in (motion, planted(robot, motion, "poor excitation", ("joint2",))))
    assert (after.upper - after.lower)[1] == pytest.approx(0.01)
    assert after.upper[0] == before.upper[0]
    little = motion_bounds(planted(robot, motion, "poor excitation", robot.joint_names))
    np.testing.assert_allclose(little.velocity, 0.05 * before.velocity)


@pytest.mark.parametrize("key", list(FAULTS))
def test_sizes_are_never_below_the_least(key, rng):
    row = FAULTS[key]
    for _ in range(50):
        size = row.draw(rng)
        size = max(size, 1 / size) if row.either == "ratio" else abs(size) if row.either == "sign" else size
        assert min(row.least, row.most) - 1e-9 <= size <= max(row.least, row.most) + 1e-9


def test_an_experiment_follows_from_its_seed():
    one, same, other = (experiment("planar_2r", seed, ("delay", "encoder spikes")) for seed in (3, 3, 4))
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
