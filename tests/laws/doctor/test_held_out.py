"""Findings need a gain on held-out blocks, and their confidence contains the model's own error."""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy
from steelyard.identification.doctor.fault_search.fault_gain import HeldOutGain, held_out_gain
from tests import lugre_arm
from tests.laws.doctor.test_doctor import Planted, described, diagnosed, moved, named, true
from tests.real.measured import folder
from tests.thresholds.mechanics import first_trial


def test_a_trial_gains_nothing_over_itself():
    _, trial = first_trial()
    gain = held_out_gain(trial, trial)
    np.testing.assert_array_equal(gain.blocks, 0.0)
    assert not gain.is_relevant


def test_a_wrong_torque_loses_in_every_block():
    log_evidence, trial = first_trial()
    reversed_torque = trial.correction.changed(gain=(1.0, -1.0))
    wrong = log_evidence.trial(reversed_torque, trial)
    assert held_out_gain(wrong, trial).share == 1.0
    assert held_out_gain(wrong, trial).is_relevant
    assert not held_out_gain(trial, wrong).is_relevant


@pytest.mark.parametrize(
    ("blocks", "relevant"),
    [
        ([0.2] * 8, True),
        ([0.2] * 6 + [-0.05] * 2, True),
        ([2.0] * 3 + [-0.01] * 5, False),  # a few blocks alone
        ([0.01] * 8, False),  # too small to matter
    ],
)
def test_a_gain_is_in_most_blocks_and_of_practical_size(blocks, relevant):
    assert HeldOutGain(np.array(blocks)).is_relevant is relevant


def test_torque_that_stays_unexplained_shows_no_fault():
    assert not HeldOutGain(np.full(8, 0.4), error=1.2).is_relevant


def test_confidence_grows_with_agreement_of_the_blocks():
    scatter = np.array([1.0, -1.0] * 4)
    same, scattered = (HeldOutGain(0.1 + size * scatter).probability for size in (0.01, 0.3))
    assert 0.5 < scattered < 0.9
    assert same > 0.99


def test_the_probability_of_blocks_is_calibrated():
    """Of gains that are zero on average, one in ten has a probability above 90 %."""
    rng = np.random.default_rng(1)
    draws = [HeldOutGain(0.1 * rng.normal(size=8)).probability for _ in range(4000)]
    assert np.mean(np.array(draws) > 0.9) == pytest.approx(0.1, abs=0.015)


def test_no_finding_is_surer_than_99_percent_and_none_speaks_of_ratios():
    for fault in (
        Planted("torque sign", ("joint2",), -1),
        Planted("delay", ("joint3",), 20.0),
    ):
        (finding,) = diagnosed(fault).findings
        assert finding.probability <= 0.99
        assert "(confidence 99%)" in finding.sentence
        assert "ratio" not in finding.sentence


DOUBLE_PENDULUMS = [
    f"design_{design}_{run}"
    for design, runs in (("A.0", ("00", "04", "12")), ("C.0", ("00", "05", "06", "12")))
    for run in runs
]


@pytest.mark.parametrize("name", DOUBLE_PENDULUMS)
def test_a_swing_near_resonance_shows_neither_faults_nor_another_robot(name):
    """Torque is a small difference of large terms: every hypothesis seemed to win there."""
    path = folder("dfki_double_pendulum")
    version = "2.1" if "A.0" in name else "3.1"
    robot = sy.load(path / f"{name[:10]}_model_{version}.urdf")
    data = np.load(path / f"{name}.npz")
    log = sy.Log(t=data["t"], q=data["q"], tau=data["tau"], joint_names=robot.joint_names)
    findings = sy.doctor(robot, log)
    assert not findings.faults, str(findings)
    assert "free swinging" in str(findings)


@pytest.mark.parametrize("name", ["energy_shaping", "ilqr", "sac"])
def test_one_joint_is_no_other_robot_and_has_no_delay_that_explains_nothing(name):
    path = folder("dfki_simple_pendulum")
    robot = sy.load(path / "robot.urdf")
    data = np.load(path / f"{name}.npz")
    log = sy.Log(t=data["t"], q=data["q"], tau=data["tau"], joint_names=robot.joint_names)
    findings = sy.doctor(robot, log)
    assert not {"wrong robot", "delay"} & set(named(findings))
    assert not findings.usable


def test_a_log_that_follows_a_motion_is_no_free_swing():
    assert "free swinging" not in str(sy.doctor(described(), moved(true())))


@pytest.mark.parametrize(("seed", "late"), [(0, False), (1, False), (1, True)])
def test_presliding_friction_is_no_delay_and_a_delay_beside_it_is(seed, late, monkeypatch):
    """A plant with soft bristles: its torque lags near reversals alone."""
    monkeypatch.setattr(lugre_arm, "STIFFNESS", (60.0, 36.0))
    monkeypatch.setattr(lugre_arm, "DAMPING", (1.0, 0.6))
    t, q, _, tau = lugre_arm.simulate(30.0, seed)
    robot = lugre_arm.described()
    log = sy.Log(t=t, q=q, tau=tau, joint_names=robot.joint_names)[::2]
    log = log[10:].replace(tau=log.tau[:-10]) if late else log  # 40 ms
    assert ("delay" in named(sy.doctor(robot, log))) is late
