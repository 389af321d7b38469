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
    for joint in ("arm_5_joint", "arm_6_joint", "arm_7_joint"):
        assert joint in diagnosis.verdict


def test_the_reasons_are_named(diagnosis):
    text = str(diagnosis)
    assert "Slow, below" in text
    assert "qd of arm_1_joint" in text
    assert any("almost zero" in finding and "arm_6_joint" in finding for finding in diagnosis.findings)


def test_what_cannot_be_identified_is_named(diagnosis):
    assert {"arm_7_link.mcx", "arm_7_link.Ixx", "arm_6_joint.Ia"} <= set(diagnosis.unidentifiable)
    assert any("arm_7_link.mcx" in finding for finding in diagnosis.findings)


def test_a_fit_of_it_is_not_to_be_trusted():
    fit = sy.identify(*tiago())
    assert fit.verdict.word == "refused"
