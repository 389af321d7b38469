"""Static segments: details of `static_segments`."""

from __future__ import annotations

import numpy as np

import steelyard as sy
from steelyard.experiments.payload_identification.payload_thresholds import THRESHOLDS
from steelyard.experiments.payload_identification.static_segments import static_segments
from steelyard.signals.log import Log


def test_a_dwell_begins_when_the_robot_has_settled() -> None:
    """What the torque does in the first tenth of a second of a rest is no weight."""
    robot, rate = sy.load("planar_2r"), 200.0
    method = np.linspace(0.0, 0.5, 100)[:, None] * np.ones(2)
    still = np.zeros(2)
    q, tau = [], []
    for k in range(4):
        rest = 0.5 * (k + 1) * np.ones((200, 2))
        hold = robot.inverse_dynamics(rest[0], still, still)
        ringing = np.where(
            np.arange(200)[:, None] < 0.9 * (THRESHOLDS.settling_time + 0.1) * rate, 50.0, 0.0
        )
        q += [method + 0.5 * k, rest]
        tau += [np.tile(hold, (100, 1)), hold + ringing]
    log = Log(
        t=np.arange(1200) / rate,
        q=np.concatenate(q),
        tau=np.concatenate(tau),
        joint_names=robot.joint_names,
    )
    result = static_segments(robot, log)
    np.testing.assert_allclose(
        result.tau, robot.gravity_torque(result.q), atol=1e-6 * np.abs(result.tau).max()
    )
