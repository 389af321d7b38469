"""Thresholds of what a log must have to be identified from."""

from __future__ import annotations

from types import SimpleNamespace as Stub
from typing import Any
from unittest.mock import patch

import numpy as np

import steelyard as sy
from steelyard.identification.samples import late_states
from steelyard.identification.samples.late_states import (
    common_delay,
    follows_positions,
    without_late_states,
)
from steelyard.identification.samples.samples import (
    Samples,
    far_positions,
    logged_base_motion,
    require,
    require_numbers,
    spins,
)
from steelyard.identification.samples.smoothing import standing
from steelyard.signals.clean.delay import Delay
from tests.thresholds.threshold import Threshold, sides

T = np.arange(1000) / 100
Q = np.stack([np.sin(T), np.cos(T)], axis=1)
NOISE = np.random.default_rng(0).normal(size=1000)
ROBOT = sy.load("planar_2r")


def log(**changes: Any) -> sy.Log:
    return sy.Log(**{"t": T, "q": Q, "tau": Q, "joint_names": ROBOT.joint_names, **changes})


def refuses(check: Any, *args: Any) -> bool:
    try:
        check(*args)
    except sy.LogError:
        return True
    return False


def late(share: float) -> bool:
    """Whether a delay of so much of the log is refused."""
    samples = Samples(T, Q, Q, Q, Q, None)
    try:
        samples.advanced(np.full(2, share * T[-1]))
    except sy.CallError:
        return True
    return False


def spinning(speed: float, derivative: float) -> bool:
    """Whether a joint of this speed [rad/s], measured times a derivative, is taken to spin."""
    return spins(
        log(q=speed / derivative * T[:, None] * np.ones(2), qd=speed * np.ones((len(T), 2))), 0
    )


def far(reach: float, limit: float = np.inf, joints: int = 2) -> bool:
    """Whether joints with such a limit that reach so far are far."""
    limits = (Stub(lower=-limit, upper=limit),) * 2 if np.isfinite(limit) else None
    robot = Stub(
        n=2, joint_names=ROBOT.joint_names, tree=Stub(bodies=ROBOT.tree.bodies, limits=limits)
    )
    q = np.zeros_like(Q)
    q[5, :joints] = reach
    return bool(far_positions(robot, log(q=q)))


def stands(variation: float, noise: Any) -> bool:
    """Whether a joint stands that varies by so much of another, as `noise` (N,) does."""
    return bool(
        standing(np.stack([Q[:, 0] / Q[:, 0].std(), variation * noise / noise.std()], axis=1))[1]
    )


def rides(size: float) -> bool:
    """Whether a base moves whose rates vary by so much."""
    base = np.zeros((1000, 9))
    base[:, :3] = -np.array(ROBOT.gravity)
    base[:, 4] = size * Q[:, 0] / Q[:, 0].std()
    return logged_base_motion(ROBOT, log(base=base)) is not None


def drifting(ratio: float) -> bool:
    """Whether a joint stands that varies little, by so many times its white noise."""
    slow = np.sqrt(max(ratio**2 - 1.0, 0.0)) * np.sqrt(2.0) * np.sin(T) + NOISE / NOISE.std()
    return stands(0.005, slow)


def late_by(seconds: float, sigma: float = 0.0) -> bool:
    """Whether velocities with such a delay, and a standard deviation of it, come late."""
    return common_delay(np.full(3, seconds), np.full(3, sigma)) > 0.0


def compares(correlation: float) -> bool:
    """Whether velocities are compared that have such a correlation with the positions' rates."""
    one = np.ones(1)
    return bool(follows_positions(Delay(one, one, correlation * one))[0])


def drops_velocity(late: float) -> bool:
    """Whether a velocity that comes late [s], without accelerations, is not used."""
    with patch.object(late_states, "late_velocity", lambda t, q, qd: late):
        return without_late_states(log(qd=Q)).qd is None


SAMPLES = [
    Threshold("samples.samples_thresholds:least_velocity_delay", sides(late_by, 5e-4)),
    Threshold(
        "samples.samples_thresholds:velocity_delay_deviations",
        sides(lambda x: late_by(1e-3 * x, 1e-3), 4.0),
    ),
    Threshold("samples.samples_thresholds:velocity_correlation", sides(compares, 0.5)),
    Threshold(
        "samples.samples_thresholds:least_samples",
        lambda: (refuses(require_numbers, log()[:14]), refuses(require_numbers, log()[:7])),
    ),
    Threshold(
        "samples.samples_thresholds:largest_signal",
        sides(lambda x: refuses(require_numbers, log(tau=x * np.sign(Q))), 1e12),
    ),
    Threshold(
        "samples.samples_thresholds:smallest_torque",
        sides(lambda x: refuses(require, log(tau=x * np.sign(Q))), 1e-12),
        (True, False),
    ),
    Threshold(
        "samples.samples_thresholds:shortest_step",
        sides(lambda x: refuses(require_numbers, log(t=100 * x * T)), 1e-9),
        (True, False),
    ),
    Threshold(
        "samples.samples_thresholds:still_range",
        sides(lambda x: refuses(require, log(q=x * (T > 1.0)[:, None] * np.ones(2))), 1e-9),
        (True, False),
    ),
    Threshold("samples.samples_thresholds:longest_delay", sides(late, 0.5)),
    Threshold("samples.samples_thresholds:far_ratio", sides(lambda x: far(x, 4.0), 8.0)),
    Threshold("samples.samples_thresholds:far_half_turns", sides(far, 6 * np.pi)),
    Threshold(
        "samples.samples_thresholds:velocity_agreement",
        sides(lambda x: spinning(2.0, 1.0 + x), 0.2),
        (True, False),
    ),
    Threshold(
        "samples.samples_thresholds:fastest_spin",
        sides(lambda x: spinning(x, 1.0), 50.0),
        (True, False),
    ),
    Threshold(
        "samples.samples_thresholds:far_share", lambda: (far(100.0, joints=1), far(100.0, joints=2))
    ),
    Threshold("samples.samples_thresholds:moving_base", sides(rides, 0.5)),
    Threshold(
        "samples.samples_thresholds:standing_noise_ratio", sides(drifting, 1.5), (True, False)
    ),
    Threshold(
        "samples.samples_thresholds:standing_share",
        sides(lambda x: stands(x, NOISE), 0.01),
        (True, False),
    ),
    Threshold(
        "samples.samples_thresholds:standing_share_any_noise",
        sides(lambda x: stands(x, Q[:, 1]), 1e-4),
        (True, False),
    ),
    Threshold("samples.samples_thresholds:fused_velocity_delay", sides(drops_velocity, 2.5e-3)),
]
