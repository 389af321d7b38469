"""Faults planted into a measured log of the UR10.

Each is named, and no fit of such a log is trusted.
"""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy
from steelyard.robot import Robot
from steelyard.signals.log import Log
from tests.real.measured import folder, ur10


def times_hundred(robot: Robot, log: Log) -> tuple[Robot, Log]:
    return robot, log.replace(tau=100 * log.tau)


def raw_currents(robot: Robot, log: Log) -> tuple[Robot, Log]:
    data = np.load(folder("ur10") / "ur10_exciting_trajectory.npz", allow_pickle=True)
    return robot, log.replace(tau=data["current"])


def one_gain(robot: Robot, log: Log) -> tuple[Robot, Log]:
    return robot, log.replace(tau=log.tau * np.array([1, 2, 1, 1, 1, 1.0]))


def slow_clock(robot: Robot, log: Log) -> tuple[Robot, Log]:
    return robot, log.replace(t=2 * log.t, qd=None)


def upside_down(robot: Robot, log: Log) -> tuple[Robot, Log]:
    return robot.with_gravity([0, 0, 9.81]), log


def without_gravity(robot: Robot, log: Log) -> tuple[Robot, Log]:
    return robot, log.replace(tau=log.tau - robot.gravity_torque(log.q))


FAULTS = {
    "torque scale": times_hundred,
    "currents": raw_currents,
    "gear ratio or torque constant": one_gain,
    "clock": slow_clock,
    "gravity direction": upside_down,
    "gravity taken out": without_gravity,
}


@pytest.fixture(scope="module")
def case() -> tuple[Robot, Log]:
    return ur10()


@pytest.mark.parametrize("fault", FAULTS)
def test_the_planted_fault_is_named_and_the_fit_is_not_trusted(
    case: tuple[Robot, Log], fault: str
) -> None:
    fit = sy.identify(*FAULTS[fault](*case))
    assert not fit.verdict.trusted
    named = {
        finding.fault: finding for finding in fit.verdict.findings if finding.severity == "fault"
    }
    assert fault in named
    assert named[fault].certainty > 0.9
    assert any(named[fault].sentence in reason for reason in fit.verdict.reasons)
    if fault == "gear ratio or torque constant":
        assert named[fault].joints == ("shoulder_lift_joint",)


def test_the_healthy_log_has_no_finding_and_is_trusted(case: tuple[Robot, Log]) -> None:
    fit = sy.identify(*case)
    assert fit.verdict.findings == ()
    assert fit.verdict.trusted


def test_a_validation_log_with_torques_times_minus_three_is_believed(
    case: tuple[Robot, Log],
) -> None:
    robot, log = case
    fit = sy.identify(robot, log[: log.N // 2])
    other = fit.validate(log[log.N // 2 :].replace(tau=-3 * log.tau[log.N // 2 :]))
    judgement = fit.judged(other)
    assert judgement.word == "refused"
    assert judgement.error == np.inf
    assert "133%" in judgement.reasons[0]
