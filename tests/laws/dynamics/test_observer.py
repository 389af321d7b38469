"""The collision observer finds the external torque, and nothing without contact."""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy

GAIN = 30.0


@pytest.fixture
def motion():
    t = np.arange(0.0, 2.0, 1e-3)
    w, phase = np.array([2.0, 3.0, 1.5, 4.0, 2.5, 3.5]), np.arange(6.0)
    angle = w * t[:, None] + phase
    return t, 0.5 * np.sin(angle), 0.5 * w * np.cos(angle), -0.5 * w**2 * np.sin(angle)


def test_without_contact_the_residual_is_zero(motion):
    t, q, qd, qdd = motion
    robot = sy.load("elbow_6r")
    r = robot.momentum_residual(t, q, qd, robot.inverse_dynamics(q, qd, qdd), GAIN)
    assert np.abs(r).max() < 1e-2 * np.abs(robot.inverse_dynamics(q, qd, qdd)).max()


def test_contact_is_seen_through_a_low_pass(motion):
    """Lecture: B qdd + C qd + g + friction = tau + J^T wrench.

    The residual tends to J^T wrench with time constant 1 / gain.
    """
    t, q, qd, qdd = motion
    robot = sy.load("elbow_6r").without_friction()
    wrench = np.zeros((len(t), 6, 6))
    wrench[t >= 1.0, 5, :3] = (40.0, -20.0, 30.0)
    tau = robot.inverse_dynamics(q, qd, qdd, wrench)
    applied = robot.wrench_torque(q, wrench)
    r = robot.momentum_residual(t, q, qd, tau, GAIN)
    assert np.abs(r[t < 0.99]).max() < 0.05
    settled = t > 1.0 + 8 / GAIN
    lag = np.abs(np.gradient(applied, t, axis=0)[settled]).max() / GAIN
    assert np.abs(r - applied)[settled].max() < 1.2 * lag + 0.05


def test_what_does_not_fit_is_named(motion):
    t, q, qd, _ = motion
    robot = sy.load("elbow_6r")
    for times, gain, offender in (
        (t[::-1], GAIN, "increase"),
        (t, -1.0, "gain"),
        (t[:5], GAIN, "one row"),
    ):
        with pytest.raises(sy.CallError, match=offender):
            robot.momentum_residual(times, q, qd, q, gain)
