"""Long logs are looked at through windows.

Nothing is wrong with a healthy one, however long, and a fault is found as in a short one.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import steelyard as sy
from tests.motions import fourier

RATE = 1000.0  # [Hz]


@cache
def robot(name: str) -> sy.Robot:
    """A robot whose friction is a large part of its torque, and turns round often."""
    arm = sy.load(name)
    return (
        arm
        if name == "puma560"
        else arm.with_friction(viscous=2.0, coulomb=3.0, offset=0.2).with_rotors(0.5)
    )


@cache
def log(name: str, seconds: float, base: float = 0.1) -> sy.Log:
    """A periodic motion: windows at equal distances may see the same part of it again and again."""
    arm = robot(name)
    t, q, qd, qdd = fourier(arm.n, seconds, RATE, 3, base=base, harmonics=5, size=0.6)
    tau = arm.inverse_dynamics(q, qd, qdd)
    tau = tau + 0.02 * tau.std(axis=0) * np.random.default_rng(0).normal(size=tau.shape)
    return sy.Log(t=t, q=q, qd=qd, qdd=qdd, tau=tau, joint_names=arm.joint_names)


@pytest.mark.parametrize("name", ["elbow_6r", "puma560"])
@pytest.mark.parametrize(("seconds", "base"), [(60.0, 0.23), (150.0, 0.1), (400.0, 0.1)])
def test_a_healthy_long_log_is_healthy(name: str, seconds: float, base: float) -> None:
    assert not [
        finding.fault
        for finding in sy.doctor(robot(name), log(name, seconds, base)).findings
        if finding.severity == "fault"
    ]


def test_faults_of_a_long_log_are_named() -> None:
    outcome, healthy = robot("elbow_6r"), log("elbow_6r", 150.0)
    turned = healthy.replace(tau=healthy.tau * np.array([1.0, -1.0, 1.0, 1.0, 1.0, 1.0]))
    scaled = healthy.replace(tau=healthy.tau * np.array([1.0, 1.0, 1.3, 1.0, 1.0, 1.0]))
    for faulty, fault, joint in (
        (turned, "torque sign", 1),
        (scaled, "gear ratio or torque constant", 2),
    ):
        findings = sy.doctor(outcome, faulty).findings
        assert (fault, (outcome.joint_names[joint],)) in [
            (each.fault, each.joints) for each in findings
        ]
