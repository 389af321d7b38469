"""The doctor on measured logs.

Silent where they are healthy, and naming what is planted into them.
"""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy
from benchmarks.arms import arm
from benchmarks.faults import Planted
from benchmarks.visibility import reference, shows
from tests.real.measured import DATA, folder, kr300, kr300_counterbalance, tx40, ur10


def named(robot, log):
    return {finding.fault: finding.joints for finding in sy.doctor(robot, log).findings}


@pytest.fixture(scope="module")
def case():
    return ur10()


def test_a_healthy_log_of_the_ur10_is_silent(case):
    findings = sy.doctor(*case)
    assert findings.healthy, str(findings)


def test_the_tx40_has_a_shared_motor_and_nothing_else():
    robot, log = tx40()
    log = log.resampled(500.0)
    assert named(robot, log) == {"coupling": ("joint_5", "joint_6")}
    assert not named(
        robot.with_coupling("joint_5", "joint_6", armature=0.0, viscous=0.0, coulomb=0.0), log
    )


def test_the_kr300_with_its_counterbalance_is_silent(tmp_path):
    robot, A, B = kr300(tmp_path)
    for log in (A, B):
        assert not named(robot.with_known_torque(kr300_counterbalance), log)


PLANTED = {
    "torque scale": lambda robot, log: (robot, log.replace(tau=100 * log.tau)),
    "gear ratio or torque constant": lambda robot, log: (
        robot,
        log.replace(tau=log.tau * np.array([1, 1, 2, 1, 1, 1])),
    ),
    "clock": lambda robot, log: (robot, log.replace(t=2 * log.t)),
    "gravity direction": lambda robot, log: (robot.with_gravity([0, 0, 9.81]), log),
    "gravity taken out": lambda robot, log: (
        robot,
        log.replace(tau=log.tau - robot.gravity_torque(log.q)),
    ),
    "currents": lambda robot, log: (
        robot,
        log.replace(
            tau=np.load(folder("ur10") / "ur10_exciting_trajectory.npz", allow_pickle=True)[
                "current"
            ]
        ),
    ),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_what_is_planted_into_a_measured_log_is_named(case, fault):
    result = named(*PLANTED[fault](*case))
    assert list(result) == [fault]
    assert result[fault] == (("elbow_joint",) if fault == "gear ratio or torque constant" else ())


def test_a_measured_log_shows_the_gain_of_joints_that_move_links_and_of_no_wrist():
    """The links beyond the wrist of the UR10 ask for less torque than its friction is uncertain
    by.
    """
    folder("ur10")
    robot = arm("ur10 log")
    for joint, shown in (("elbow_joint", True), ("wrist_3_joint", False)):
        assert shows(robot, Planted("gear ratio or torque constant", (joint,), 1.6)) is shown
    noise = reference(robot).noise
    assert noise[1] < 0.05 < noise[5], "the wrist's torque is small beside its error"


SO101 = sorted((DATA / "so101").glob("*.npz"))


@pytest.mark.parametrize("path", SO101, ids=lambda path: path.stem)
def test_currents_of_hobby_servos_have_no_sign_and_are_of_no_other_robot(path):
    robot = sy.load(path.parent / "so101.urdf")
    data = np.load(path)
    log = sy.Log(
        t=data["t"], q=data["q"], qd=data["qd"], tau=data["tau"], joint_names=robot.joint_names
    )
    diagnosis = sy.doctor(robot, log)
    findings = {finding.fault: finding for finding in diagnosis.findings}
    assert "effort without sign" in findings, str(diagnosis)
    assert findings["effort without sign"].probability >= 0.9
    assert not {"wrong robot", "delay", "clock", "stuck channel"} & set(findings)
    assert not diagnosis.usable


def test_a_torque_that_is_gravity_compensation_is_a_command():
    path = folder("dfki_simple_pendulum")
    robot = sy.load(path / "robot.urdf")
    for name, result in (("gravity_compensation", True), ("ddp", False), ("sac", False)):
        data = np.load(path / f"{name}.npz")
        log = sy.Log(t=data["t"], q=data["q"], tau=data["tau"], joint_names=robot.joint_names)
        assert ("effort is the command" in named(robot, log)) is result, name
