"""What changes the doctor's word besides the thresholds of `tests/thresholds`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import steelyard as sy
from steelyard.identification.doctor.examine import Examination, examine_far_positions
from steelyard.identification.doctor.fault_search import search as searching
from steelyard.identification.doctor.fault_search.fault_correction import FaultCorrection
from steelyard.identification.doctor.fault_search.fault_hypothesis import FaultHypothesis
from steelyard.identification.doctor.fault_search.motion_faults import scale_clock
from steelyard.identification.doctor.fault_search.refinement import without_fault
from steelyard.identification.doctor.finding import Finding
from steelyard.signals.clean.correction import Correction
from tests.laws.doctor.test_doctor import described, moved
from tests.thresholds.doctor import other
from tests.thresholds.mechanics import first_trial


def test_one_link_that_contradicts_the_description_is_no_other_robot():
    assert not other(weight=np.array([10.0, 0.1]))
    assert other(("clock",), 2.0, weight=np.array([10.0, 0.1])), "with a fault it is"


def test_noise_is_no_error_of_the_links():
    assert other(error=np.array([0.01, 0.3]))
    assert not other(error=np.array([0.01, 0.3]), independent=np.ones(2))


def test_three_faults_at_once_are_less_likely_than_another_robot():
    assert other(("position sign", "torque sign", "position offset"))
    assert not other(("position sign", "torque sign"))
    # gains that the first one has
    assert not other(("currents", "gear ratio or torque constant", "gear ratio or torque constant"))


def test_what_all_torques_mean_is_wrong_in_one_way_or_it_is_another_robot():
    assert other(("torque scale", "gravity taken out"))
    assert other(("position offset", "torque scale"))
    assert not other(("torque scale",))
    assert not other(("clock", "gravity taken out"), 3.0)


def test_an_exchange_of_joints_that_a_later_step_takes_back_is_none():
    log_evidence, start = first_trial()
    torques = start.correction.changed(torque_order=(1, 0))
    step = searching.Step(
        FaultHypothesis("swapped joints", (0, 1), replace(start, correction=torques), 0.0),
        start,
        (),
        start,
    )
    assert searching.prune(log_evidence, start, [step])[1] == ()
    assert not searching.was_swapped_back(torques, step)


def test_positions_far_away_are_motor_angles_if_they_would_be_degrees_twice():
    again = Finding("degrees", (), "Positions are in degrees.", 0.99)
    findings = examine_far_positions(
        described("planar_2r", 2),
        Examination((again,), Correction.none(2), first_trial()[1]),
        ("joint1 reaches 100",),
    )
    assert [finding.fault for finding in findings.findings] == ["motor side"]


@pytest.mark.parametrize(("beyond", "found"), [(0.7, 0), (1.4, 1)])
def test_a_fault_is_accepted_if_its_odds_are_decisive(beyond, found, monkeypatch):
    """One candidate beats the healthy log by a multiple of what is decisive."""
    log_evidence, start = first_trial()

    def family(log_evidence, trial):
        gain = np.array(trial.correction.gain)
        if np.all(gain == 1.0):
            changed = replace(start, correction=trial.correction.changed(gain=1.001 * gain))
            better = replace(changed.agreement, evidence=trial.evidence + beyond * 3.0)
            yield FaultHypothesis(
                "torque scale", (0, 1), replace(changed, agreement=better), log_odds=0.0
            )

    monkeypatch.setattr(searching, "ALWAYS", (family,))
    monkeypatch.setattr(searching, "IF_DOUBTFUL", ())
    monkeypatch.setattr(
        searching, "prune", lambda log_evidence, trial, steps: (trial, tuple(steps))
    )
    assert len(searching.search(log_evidence, start, lambda *_: False)[1]) == found


def test_torques_that_are_noise_are_put_right_by_nothing():
    robot, rng = described("planar_2r", 2), np.random.default_rng(0)
    diagnosis = sy.doctor(robot, (log := moved(robot)).replace(tau=rng.normal(size=log.q.shape)))
    assert not diagnosis.healthy
    assert not any("clock" in finding.fault for finding in diagnosis.findings)
    assert "does not identify the robot" in str(diagnosis)


def test_another_clock_leaves_delays_as_they_are_in_stamps_of_the_log():
    late = FaultCorrection.none(2).changed(delay=(0.1, 0.0))
    slow = scale_clock(late, float(np.log(3.0)))
    assert slow.delay[0] / slow.clock == pytest.approx(late.delay[0] / late.clock)
    again = without_fault(slow, "clock", (), late, slow)
    np.testing.assert_allclose((again.clock, *again.delay), (late.clock, *late.delay), rtol=1e-12)
