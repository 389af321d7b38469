"""The numbers at which the doctor's word changes: half of each or twice that is noticed here."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from steelyard.identification.doctor.examine import Examination, far_away
from steelyard.identification.doctor.finding import Finding
from steelyard.identification.doctor.mechanics import search as searching
from steelyard.identification.doctor.mechanics.candidate import Candidate
from steelyard.identification.doctor.mechanics.hypothesis import Hypothesis
from steelyard.identification.doctor.mechanics.search import Step
from steelyard.identification.doctor.mechanics.unknowns import Unknowns
from steelyard.identification.doctor.mechanics.view import view_of
from steelyard.identification.doctor.mechanics.witness import Trial, Witness
from steelyard.identification.doctor.wrong_robot import wrong_robot
from steelyard.identification.model.model import build_model
from steelyard.identification.samples.preparation import Preparation
from steelyard.identification.samples.samples import prepare
from steelyard.signals.clean.correction import Correction
from tests.laws.test_doctor import described, moved, true


@cache
def first_trial() -> tuple[Witness, Trial]:
    """A healthy log of two joints, and the trial of it as it is."""
    robot = described("planar_2r", 2)
    witness = Witness(Unknowns(build_model(robot)), view_of([prepare(robot, moved(true("planar_2r", 2)), Preparation())]))
    return witness, witness.first_trial(Hypothesis.none(2))


def is_wrong(faults: tuple[str, ...] = (), clock: float = 1.0, **found: object) -> bool:
    """Whether another robot is meant if these faults were accepted and the agreement has these values."""
    witness, start = first_trial()
    usual = {"weight": np.full(2, 10.0), "error": np.full(2, 0.01), "independent": np.full(2, witness.view.band)}
    trial = replace(start, agreement=replace(start.agreement, **usual | found), hypothesis=start.hypothesis.changed(clock=clock))
    steps = [Step(Candidate(fault, (), trial), trial, (), trial) for fault in faults]
    return wrong_robot(witness.unknowns.model, trial, steps, witness.view.band) is not None


@pytest.mark.parametrize(("times", "told"), [(0.7, True), (1.4, False)])
def test_links_that_contradict_the_description_are_of_another_robot(times, told):
    assert is_wrong(weight=np.full(2, times * 6.0)) == told
    assert is_wrong(("clock",), 2.0, weight=np.array([10.0, times * 0.25])) == told
    assert not is_wrong(weight=np.array([10.0, times * 0.25]))


@pytest.mark.parametrize(("times", "told"), [(0.7, False), (1.4, True)])
def test_torques_that_no_links_explain_are_of_another_robot(times, told):
    assert is_wrong(error=np.array([0.01, times * 0.2])) == told
    white = np.ones(2)
    assert not is_wrong(error=np.array([0.01, times * 0.2]), independent=white)  # that is noise


@pytest.mark.parametrize(("factor", "told"), [(1.5, True), (1 / 1.5, True), (2.2, False), (1 / 2.2, False)])
def test_a_clock_and_a_scale_that_a_larger_robot_would_have_are_of_another_robot(factor, told):
    assert is_wrong(("clock", "torque scale"), factor) == told


def test_three_faults_at_once_are_less_likely_than_another_robot():
    assert is_wrong(("position sign", "torque sign", "position offset"))
    assert not is_wrong(("position sign", "torque sign"))
    assert not is_wrong(("currents", "gear ratio or torque constant", "gear ratio or torque constant"))  # gains that the first one has


@pytest.mark.parametrize(("times", "fault"), [(0.7, "degrees"), (1.4, "motor side")])
def test_positions_far_away_are_motor_angles_if_torques_are_too_small_for_degrees(times, fault):
    _, start = first_trial()
    trial = replace(start, hypothesis=start.hypothesis.changed(gain=np.full(2, times * 16.5)))
    told = far_away(described("planar_2r", 2), Examination((), Correction.none(2), trial), ("joint1 reaches 100",))
    assert [finding.fault for finding in told.findings] == [fault]


@pytest.mark.parametrize(("times", "fault"), [(0.7, "degrees"), (1.4, "motor side")])
def test_positions_far_away_are_motor_angles_if_torques_do_not_follow_from_degrees(times, fault):
    _, start = first_trial()
    trial = replace(start, agreement=replace(start.agreement, error=np.full(2, times * 0.2)))
    told = far_away(described("planar_2r", 2), Examination((), Correction.none(2), trial), ("joint1 reaches 100",))
    assert [finding.fault for finding in told.findings] == [fault]


def test_positions_far_away_are_motor_angles_if_they_would_be_degrees_twice():
    _, start = first_trial()
    again = Finding("degrees", (), "Positions are in degrees.", 0.99)
    told = far_away(described("planar_2r", 2), Examination((again,), Correction.none(2), start), ("joint1 reaches 100",))
    assert [finding.fault for finding in told.findings] == ["motor side"]


@pytest.mark.parametrize(("beyond", "found"), [(0.7, 0), (1.4, 1)])
def test_a_fault_is_accepted_if_its_odds_are_decisive(beyond, found, monkeypatch):
    """One candidate beats the healthy log by a multiple of what is decisive."""
    witness, start = first_trial()

    def family(witness, trial):
        gain = np.array(trial.hypothesis.gain)
        if np.all(gain == 1.0):
            made = replace(start, hypothesis=trial.hypothesis.changed(gain=1.001 * gain))
            better = replace(made.agreement, evidence=trial.evidence + beyond * 3.0)
            yield Candidate("torque scale", (0, 1), replace(made, agreement=better), log_odds=0.0)

    monkeypatch.setattr(searching, "ALWAYS", (family,))
    monkeypatch.setattr(searching, "IF_DOUBTFUL", ())
    monkeypatch.setattr(searching, "pruned", lambda witness, trial, steps: (trial, tuple(steps)))
    assert len(searching.search(witness, start, lambda *_: False)[1]) == found
