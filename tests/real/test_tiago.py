"""TIAGo: a log that identifies nothing, and a tool that says so."""

from __future__ import annotations

import pytest

import steelyard as sy
from tests.real.measured import tiago


@pytest.fixture(scope="module")
def diagnosis():
    return sy.doctor(*tiago())


def test_the_verdict_is_no(diagnosis):
    assert diagnosis.verdict.startswith("This log does not identify the robot")
    assert not diagnosis.healthy
    assert not diagnosis.usable
    for joint in ("arm_5_joint", "arm_6_joint", "arm_7_joint"):
        assert joint in diagnosis.verdict


def test_the_dead_channels_are_named(diagnosis):
    dead = {
        joint
        for finding in diagnosis.findings
        if finding.fault == "dead channel"
        for joint in finding.joints
    }
    assert "arm_6_joint" in dead
    assert dead <= {"arm_5_joint", "arm_6_joint", "arm_7_joint"}


def test_a_fit_of_it_is_not_to_be_trusted():
    fit = sy.identify(*tiago(), diagnose=False)
    assert fit.verdict.word == "refused"
