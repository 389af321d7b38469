"""The doctor finds what is planted, says nothing about a healthy log, and what it would put right
is right then.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import steelyard as sy
from benchmarks.channel_faults import CHANNEL_FAULTS
from benchmarks.faults import FAULTS as PLANTS
from benchmarks.faults import Planted
from benchmarks.true_robot import with_drives
from steelyard.identification.doctor import FAULTS, Diagnosis, Finding
from steelyard.identification.doctor.finding import MAPPING, THIRD_SOURCE
from steelyard.robot import Robot
from steelyard.signals.clean.correction import Correction
from steelyard.signals.log import Log
from tests.motions import fourier

NAME = "elbow_6r"
JOINTS = 4
EVERY = ("joint1", "joint2", "joint3", "joint4")


@cache
def described(name: str = NAME, joints: int = JOINTS) -> Robot:
    robot = sy.load(name)
    return robot.freeze(dict.fromkeys(robot.joint_names[joints:], 0.0))


@cache
def true(name: str = NAME, joints: int = JOINTS, seed: int = 0) -> Robot:
    return sy.perturbed(with_drives(described(name, joints)), seed, 0.1)


def moved(robot: Robot, seed: int = 0, scale: float = 1.0, seconds: float = 16.0) -> Log:
    """A log of a robot along a Fourier motion.

    Positions and torques with noise of 2 %, velocities and accelerations as they are.
    """
    t, q, qd, qdd = fourier(robot.n, seconds, 100.0, seed, base=0.125, harmonics=5, size=0.6)
    tau = robot.inverse_dynamics(scale * q, scale * qd, scale * qdd)
    rng = np.random.default_rng(seed)
    tau = tau + 0.02 * np.sqrt(np.mean(tau**2, axis=0)) * rng.normal(size=tau.shape)
    q = scale * q + 1e-5 * rng.normal(size=q.shape)
    return Log(t=t, q=q, qd=scale * qd, qdd=scale * qdd, tau=tau, joint_names=robot.joint_names)


def positions_only(log: Log) -> Log:
    return log.replace(qd=None, qdd=None)


def named(diagnosis: Diagnosis) -> dict[str, tuple[str, ...]]:
    return {finding.fault: finding.joints for finding in diagnosis.findings}


PLANTED = [
    Planted("swapped joints", ("joint2", "joint4"), 1),
    Planted("position sign", ("joint3",), -1),
    Planted("torque sign", ("joint2",), -1),
    Planted("degrees", EVERY, 180 / np.pi),
    Planted("currents", EVERY, 8.0),
    Planted("gear ratio or torque constant", ("joint3",), 1.3),
    Planted("torque scale", EVERY, 2.0),
    Planted("gravity taken out", EVERY, 1),
    Planted("gravity direction", EVERY, 30.0),
    Planted("position offset", ("joint2",), 5.0),
    Planted("motor side", EVERY, 60.0),
    Planted("clock", EVERY, 2.0, (1,)),
    Planted("jitter", EVERY, 20.0),
    Planted("dropped samples", EVERY, 2.0),
    Planted("duplicated stamps", EVERY, 2.0),
    Planted("delay", ("joint3",), 20.0),
    Planted("delay", EVERY, 400.0),
    Planted("saturation", ("joint2",), 60.0),
    Planted("dead channel", ("joint3",), 1),
    Planted("encoder spikes", ("joint4",), 0.05),
    Planted("coupling", ("joint3", "joint4"), 20.0),
    Planted("missing term", ("joint2",), 50.0),
    Planted("geometry", ("joint3",), 1.25),
    Planted("filtered torque", EVERY, 1.0),
    Planted("wrong robot", EVERY, 1),
]
POSITIONS = ("clock", "jitter", "dropped samples", "duplicated stamps", "encoder spikes", "degrees")


def planted(fault: Planted, seed: int = 0) -> tuple[Robot, Log]:
    """The description and the log of a fault."""
    robot, stage = described(), PLANTS[fault.key].stage
    log = moved(
        fault.into(robot, true(seed=seed)) if stage == "true robot" else true(seed=seed), seed
    )
    log = positions_only(log) if fault.key in POSITIONS else log
    log = fault.into(robot, log) if stage == "log" else log
    robot = fault.into(robot, robot) if stage == "description" else robot
    return robot, log.replace(joint_names=robot.joint_names)


@cache
def diagnosed(fault: Planted) -> Diagnosis:
    return sy.doctor(*planted(fault))


def test_every_fault_has_a_row_and_is_planted_here():
    assert set(FAULTS) == set(PLANTS) | set(CHANNEL_FAULTS)
    assert {fault.key for fault in PLANTED} | {"poor excitation"} == set(PLANTS)


@pytest.mark.parametrize("fault", PLANTED, ids=lambda fault: f"{fault.key} {fault.size:.3g}")
def test_what_is_planted_is_named_and_nothing_else(fault):
    findings = diagnosed(fault)
    assert list(named(findings)) == [fault.key], str(findings)
    (finding,) = findings.findings
    whole = PLANTS[fault.key].whole
    assert set(finding.joints) in (
        (set(),)
        if whole
        else (set(fault.joints), set() if len(fault.joints) == JOINTS else set(fault.joints))
    )
    assert finding.certainty > 0.85
    assert finding.probability <= (0.5 if finding.hypotheses else 1.0), (
        "a description and a sensor have one vote each"
    )
    assert bool(finding.hypotheses) is (FAULTS[fault.key].corrected_by == THIRD_SOURCE)
    assert str(finding).endswith((".", "?"))
    assert not findings.healthy


@pytest.mark.parametrize(
    ("name", "joints", "seed"),
    [(NAME, 4, 1), (NAME, 4, 2), ("spatial_3r", 3, 3), ("planar_2r", 2, 4), ("puma560", 6, 5)],
)
def test_nothing_is_found_in_a_healthy_log(name, joints, seed):
    log = moved(true(name, joints, seed), seed)
    findings = sy.doctor(described(name, joints), positions_only(log) if seed % 2 else log)
    assert findings.healthy, str(findings)
    assert findings.verdict == "This log can identify the robot."
    assert list(findings) == [findings.verdict]
    assert findings.correction is None or not {"gain", "order", "sign", "offset", "clock"} & set(
        findings.correction.changes
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Planted("torque sign", ("joint3",), -1), Planted("position offset", ("joint2",), 12.0)),
        (
            Planted("gear ratio or torque constant", ("joint2",), 1.6),
            Planted("delay", ("joint4",), 60.0),
        ),
        (
            Planted("swapped joints", ("joint1", "joint3"), 1),
            Planted("saturation", ("joint4",), 60.0),
        ),
        (
            Planted("position sign", ("joint4",), -1),
            Planted("dropped samples", described().joint_names, 5.0),
        ),
    ],
    ids=lambda fault: fault.key,
)
def test_two_faults_are_both_named(one, other):
    robot, log = described(), positions_only(moved(true()))
    for fault in (other, one):
        log = fault.into(robot, log)
    assert named(sy.doctor(robot, log)) == {
        one.key: one.joints,
        other.key: () if PLANTS[other.key].whole else other.joints,
    }


def corrected(log: Log, correction: Correction | None) -> Log:
    return (
        log if correction is None else correction.correct_columns(correction.correct_samples(log))
    )


@pytest.mark.parametrize("fault", PLANTED, ids=lambda fault: f"{fault.key} {fault.size:.3g}")
def test_a_correction_is_complete_and_done_once(fault):
    """Over every kind of fault.

    What a mapping corrects is healthy then; nothing else is corrected, nor a second time.
    """
    robot, log = planted(fault)
    correction = diagnosed(fault).correction
    kind = FAULTS[fault.key].corrected_by
    assert (correction is not None) is (kind == MAPPING), str(diagnosed(fault))
    findings = sy.doctor(robot, corrected(log, correction))
    assert findings.correction is None, str(findings)
    if kind == MAPPING:
        assert findings.healthy, str(findings)
        assert f"{fault.key}" not in named(findings)
        assert "--fix" in str(diagnosed(fault))
        assert "LOG.mapping.toml" in str(diagnosed(fault))
    else:
        assert named(findings) == named(diagnosed(fault))


def test_no_correction_scales_a_torque():
    """Whatever the doctor finds, gains of a correction are 1 or -1."""
    robot, log = described(), moved(true())
    for gain in ([1, -2.0, 1, 1], [1.5, 1.5, 1.5, -1.5], [-3, -3, -3, -3], [1, 1, 0.6, -1]):
        findings = sy.doctor(robot, log.replace(tau=log.tau * np.array(gain, float)))
        changes = {} if findings.correction is None else findings.correction.changes
        assert set(changes) <= {"gain"}, str(findings)
        assert changes.get("gain", tuple(np.sign(gain))) == tuple(np.sign(gain)), str(findings)
        assert findings.correction is not None or not findings.usable, str(findings)


SMALL = [  # a little above half of what counts as a fault: an inaccuracy
    Planted("gear ratio or torque constant", ("joint3",), 1.08),
    Planted("torque scale", EVERY, 1.22),
    Planted("gravity direction", EVERY, 9.0),
    Planted("position offset", ("joint2",), 1.5),
    Planted("clock", EVERY, 1.11, (1,)),
    Planted("jitter", EVERY, 5.0),
    Planted("dropped samples", EVERY, 0.6),
    Planted("duplicated stamps", EVERY, 0.6),
    Planted("delay", ("joint3",), 8.5),
    Planted("coupling", ("joint3", "joint4"), 6.0),
]
LARGE = [  # a little below twice of it
    Planted("torque scale", EVERY, 1.85),
    Planted("gravity direction", EVERY, 26.0),
    Planted("position offset", ("joint2",), 4.3),
    Planted("clock", EVERY, 1.37, (1,)),
    Planted("jitter", EVERY, 13.0),
    Planted("dropped samples", EVERY, 1.7),
    Planted("duplicated stamps", EVERY, 1.7),
    Planted("delay", ("joint3",), 24.0),
    Planted("coupling", ("joint3", "joint4"), 17.0),
]


@pytest.mark.parametrize("fault", LARGE, ids=lambda fault: f"{fault.key} {fault.size:.3g}")
def test_what_is_just_large_enough_is_named(fault):
    assert list(named(sy.doctor(*planted(fault)))) == [fault.key]


@pytest.mark.parametrize("fault", SMALL, ids=lambda fault: f"{fault.key} {fault.size:.3g}")
def test_what_is_smaller_than_matters_is_not_named(fault):
    findings = sy.doctor(*planted(fault))
    assert findings.healthy, str(findings)


@pytest.mark.parametrize(
    ("joints", "expected"),
    [(("joint2",), ("joint2",)), (("joint1", "joint4"), ("joint1", "joint4"))],
)
def test_joints_that_stand_are_poorly_excited(joints, expected):
    robot = described()
    log = moved(robot)
    still = [robot.joint_names.index(joint) for joint in joints]
    q, qd, qdd = (np.array(x) for x in (log.q, log.qd, log.qdd))
    q[:, still], qd[:, still], qdd[:, still] = 0.3, 0.0, 0.0
    tau = true().inverse_dynamics(q, qd, qdd)
    tau += 0.02 * np.sqrt(np.mean(tau**2, axis=0)) * np.random.default_rng(0).normal(size=tau.shape)
    findings = sy.doctor(robot, log.replace(q=q, qd=qd, qdd=qdd, tau=tau))
    assert named(findings) == {"poor excitation": expected}
    assert findings.usable
    assert not findings.faults


def test_a_motion_in_a_corner_and_a_short_one_are_poor_excitation():
    robot = described()
    small = sy.doctor(robot, moved(true(), scale=0.05))
    assert named(small) == {"poor excitation": ()}
    assert "of its range" in str(small)
    short = sy.doctor(robot, moved(true())[:150])
    assert named(short) == {"poor excitation": ()}
    assert "too short" in str(short)


# -- a description that is not a reference
# ----------------------------------------------------------------------------------------


@cache
def placeholder() -> Robot:
    """The description with the same small body for each link."""
    robot = described()
    pi = robot.parameters.copy()
    pi[: 10 * robot.n] = np.tile([0.1, 0, 0, 0, 1e-6, 0, 0, 1e-6, 0, 1e-6], robot.n)
    return robot.with_parameters(pi)


def test_with_a_placeholder_the_scale_of_torques_is_not_judged():
    log = moved(true())
    assert sy.doctor(placeholder(), log).healthy
    assert sy.doctor(placeholder(), log.replace(tau=5 * log.tau)).healthy


def test_with_a_placeholder_the_mechanics_still_shows_a_sign():
    fault = Planted("torque sign", ("joint2",), -1)
    findings = sy.doctor(placeholder(), fault.into(described(), moved(true())))
    assert named(findings) == {"torque sign": ("joint2",)}, str(findings)


# -- how faults are weighed
# --------------------------------------------------------------------------------------------------


def test_a_finding_must_be_of_the_table():
    with pytest.raises(AssertionError):
        Finding("bad luck", (), "It rained.", 0.5)
    assert str(Finding("clock", (), "It is late.", 0.5)) == "It is late."
