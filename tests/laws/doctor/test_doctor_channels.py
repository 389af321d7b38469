"""Faults of single channels are named by themselves, and no mechanics is blamed for them."""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy
from benchmarks.channel_faults import CHANNEL_FAULTS
from steelyard.identification.doctor import FAULTS
from steelyard.identification.doctor.effort_checks import (
    commanded_efforts,
    quantised_efforts,
    quantum,
)
from steelyard.identification.doctor.examine import signal_findings
from steelyard.identification.doctor.finding import MAPPING
from steelyard.identification.doctor.position_checks import stuck_positions
from steelyard.identification.doctor.velocity_checks import velocity_findings
from steelyard.signals.log import Log
from tests.laws.doctor.test_doctor import (
    corrected,
    described,
    moved,
    named,
    positions_only,
    true,
)

MECHANICAL = {"wrong robot", "delay", "clock", "currents", "torque scale"}


def channel_findings(log: Log) -> list[tuple[str, tuple[str, ...]]]:
    """What the channels of a log of the described robot show."""
    checks, _ = signal_findings(described(), log)
    return [(finding.fault, finding.joints) for finding in checks]


def plant(key: str, log: Log, joints: tuple[str, ...], size: float) -> Log:
    return CHANNEL_FAULTS[key].plant(described(), log, joints, size, np.random.default_rng(0))


@pytest.mark.parametrize("seed", range(3))
def test_no_channel_of_a_healthy_log_is_blamed(seed):
    log = moved(true(seed=seed), seed)
    assert channel_findings(log) == []
    assert channel_findings(positions_only(log)) == []


@pytest.mark.parametrize("key", CHANNEL_FAULTS)
@pytest.mark.parametrize("worst", [False, True])
def test_what_is_planted_into_a_channel_is_named(key, worst):
    row = CHANNEL_FAULTS[key]
    joints = tuple(row.places(described())[-1])
    findings = channel_findings(plant(key, moved(true()), joints, row.most if worst else row.least))
    assert [fault for fault, _ in findings] == [key] * len(findings)
    assert findings[0][1] in ((), joints)


@pytest.mark.parametrize("key", CHANNEL_FAULTS)
def test_a_correction_is_complete_and_done_once(key):
    """Over every row: what a mapping corrects is gone then, and nothing else is named."""
    row = CHANNEL_FAULTS[key]
    log = plant(key, moved(true()), tuple(row.places(described())[-1]), row.most)
    diagnosis = sy.doctor(described(), log)
    assert key in named(diagnosis), str(diagnosis)
    fixed = {fault for fault in named(diagnosis) if FAULTS[fault].corrected_by == MAPPING}
    assert (diagnosis.correction is not None) is bool(fixed), str(diagnosis)
    after = sy.doctor(described(), corrected(log, diagnosis.correction))
    assert after.correction is None, str(after)
    assert set(named(after)) <= set(named(diagnosis)) - fixed, str(after)
    assert key in named(after) or fixed, str(after)


@pytest.mark.parametrize("velocities", [False, True])
def test_efforts_without_sign_are_no_other_robot(velocities):
    log = moved(true()) if velocities else positions_only(moved(true()))
    findings = sy.doctor(described(), plant("effort without sign", log, log.labels, 1.0))
    assert list(named(findings)) == ["effort without sign"]
    assert not findings.usable
    assert "effort without sign" in findings.verdict
    assert findings.findings[0].probability <= 0.99


@pytest.mark.parametrize("signals", [("qd",), ("reference",), ()])
def test_a_frozen_encoder_is_stuck_and_no_other_robot(signals):
    """Shown by a velocity, by a command, or by an abrupt stop."""
    whole = moved(true())
    log = plant("stuck channel", whole, ("joint3",), 0.4)
    selected = {"qd": log.qd, "reference": whole.q}
    selected = {name: value if name in signals else None for name, value in selected.items()}
    log = log.replace(qdd=None, **selected)
    findings = sy.doctor(described(), log)
    assert named(findings)["stuck channel"] == ("joint3",)
    assert not MECHANICAL & set(named(findings))
    assert not sy.identify(described(), log).verdict.trusted


def test_a_joint_that_rests_is_not_stuck():
    log = positions_only(moved(true()))
    t = log.t - log.t[0]
    q = np.array(log.q)
    slow = np.clip(t - 6.0, 0.0, 4.0)  # a stop that takes a second, and then rest
    q[:, 2] = np.where(
        t < 6.0, q[:, 2], q[600, 2] + 0.05 * np.sin(np.minimum(slow, 1.0) * np.pi / 2)
    )
    q[700:1000, 2] = q[700, 2]
    qd = np.gradient(q, t, axis=0)
    tau = true().inverse_dynamics(q, qd, np.gradient(qd, t, axis=0))
    resting = log.replace(q=q, tau=tau)
    assert not list(stuck_positions(described(), resting))
    assert not list(stuck_positions(described(), resting.replace(tau=log.tau)[:600]))
    (stuck,) = stuck_positions(described(), resting.replace(tau=log.tau))
    assert "its torque goes on varying" in stuck.sentence, "the joint moves on under its encoder"


@pytest.mark.parametrize("law", ["position error", "gravity compensation"])
def test_an_effort_computed_from_the_position_is_a_command(law):
    """A measured torque contains friction and inertia; a command does not."""
    t = np.arange(0.0, 20.0, 0.005)
    rng = np.random.default_rng(0)
    q = 1.4 * np.sin(1.3 * t) + 0.4 * np.sin(3.1 * t)
    reference = q + 0.05 * np.cos(1.3 * t) + 0.02 * np.cos(3.1 * t)
    qd, qdd = np.gradient(q, t), np.gradient(np.gradient(q, t), t)
    if law == "position error":
        tau, others = 30.0 * (reference - q), {"reference": reference[:, None]}
    else:
        tau, others = 3.3 * np.sin(q), {}
    real = 3.3 * np.sin(q) + 0.1 * qdd + 0.2 * np.tanh(qd / 0.05)
    noise = 0.01 * rng.normal(size=len(t))
    log = Log(t=t, q=q[:, None], tau=(tau + noise)[:, None], joint_names=("a",), **others)
    assert [finding.fault for finding in commanded_efforts(log)] == ["effort is the command"]
    assert not list(commanded_efforts(log.replace(tau=(real + noise)[:, None])))


@pytest.mark.parametrize(("step", "found"), [(0.0, False), (0.05, False), (0.6, True)])
def test_a_coarse_effort_is_remarked(step, found):
    t = np.arange(0.0, 20.0, 0.01)
    tau = np.sin(2 * t) + 0.01 * np.random.default_rng(0).normal(size=len(t))
    tau = step * np.rint(tau / step) if step else tau
    log = Log(t=t, q=np.sin(t)[:, None], tau=tau[:, None], joint_names=("a",))
    findings = list(quantised_efforts(log))
    assert bool(findings) is found
    assert all(finding.severity == "remark" for finding in findings)
    assert quantum(tau) == pytest.approx(step, abs=1e-9)


@pytest.mark.parametrize(
    ("scale", "lag", "words"),
    [
        (1.0, 0.0, ""),
        (1.0, 0.004, ""),  # less than a sample
        (1.0, 0.03, "lags the derivative of its position by"),
        (180 / np.pi, 0.0, "degrees per second"),
        (-1.0, 0.0, "another sign"),
        (100.0, 0.0, "100 times"),
        (0.0, 0.0, "in every sample"),
    ],
)
@pytest.mark.parametrize("scatter", [0.0, 0.1])
def test_a_velocity_is_compared_with_the_derivative_of_its_position(scale, lag, words, scatter):
    rng = np.random.default_rng(0)
    t = np.arange(0.0, 20.0, 0.01) + scatter * 0.01 * rng.normal(size=2000)
    q = np.stack([np.sin(3 * t), 0.5 * np.sin(5 * t)], axis=1) + 1e-5 * rng.normal(size=(2000, 2))
    qd = np.stack([3 * np.cos(3 * t), 2.5 * scale * np.cos(5 * (t - lag))], axis=1)
    log = Log(
        t=t, q=q, qd=qd + 0.01 * rng.normal(size=qd.shape) * (scale != 0), joint_names=("a", "b")
    )
    findings = list(velocity_findings(log))
    assert [finding.joints for finding in findings] == ([("b",)] if words else [])
    assert all(words in finding.sentence for finding in findings)
    assert all(finding.severity == "remark" for finding in findings)
    if lag > 0.01:
        milliseconds = float(findings[0].sentence.split(" by ")[1].split(" ms")[0])
        assert milliseconds == pytest.approx(1e3 * lag, abs=1.0)
