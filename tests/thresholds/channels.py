"""Thresholds of the doctor on single channels: effort, position, velocity."""

from __future__ import annotations

from types import SimpleNamespace as Stub
from typing import Any
from unittest.mock import patch

import numpy as np

import steelyard as sy
from steelyard.identification.doctor import effort_checks, position_checks, velocity_checks
from steelyard.identification.doctor.effort_checks import (
    has_one_sign,
    is_commanded,
    moves_both_ways,
    quantised_efforts,
    quantum,
    reaches_zero,
    sign_changes,
    touches_zero,
    unsigned_efforts,
)
from steelyard.identification.doctor.examine import is_obvious, is_small_clock, velocities_agree
from steelyard.identification.doctor.position_checks import repeat_count, stuck_positions
from steelyard.identification.doctor.sentences import shows_sign
from steelyard.identification.doctor.velocity_checks import (
    common_factor,
    scale_and_delay,
    velocity_findings,
)
from steelyard.signals.clean.delay import Delay
from steelyard.signals.log import Log
from tests.thresholds.threshold import Threshold, sides

T = np.arange(4000) / 200
NOISE = np.random.default_rng(0).normal(size=4000)
Q = np.sin(2 * T)
NO_ROBOT: Any = None


def log(q: Any = Q, **changes: Any) -> Log:
    columns = {name: np.asarray(x).reshape(4000, -1) for name, x in changes.items()}
    q = np.asarray(q).reshape(4000, -1)
    return Log(t=T, q=q, joint_names=tuple("abcdefgh"[: q.shape[1]]), **columns)


# -- efforts
# --------------------------------------------------------------------------------------------------


def unsigned(joints: float) -> bool:
    """Whether so many efforts have no sign although no single sign is certain."""
    count = int(joints)
    q, tau = np.tile(Q[:, None], count), np.tile(0.05 + np.abs(NOISE)[:, None], count)
    assert has_one_sign(tau[:, 0])
    with patch.object(effort_checks, "sign_changes", lambda robot, log: set()):
        return bool(list(unsigned_efforts(sy.load("planar_2r"), log(q, tau=tau))))


def offset_effort(share: float) -> bool:
    """Whether an effort is near zero whose least magnitude is a share of the largest."""
    return reaches_zero(np.linspace(share, 1.0, 100))


def reverses(share: float) -> bool:
    """Whether a path moves both ways of which such a share goes back."""
    return moves_both_ways(
        np.concatenate([np.linspace(0, 1 - share, 50), np.linspace(1 - share, 1 - 2 * share, 50)])
    )


def gravity_sign(values: Any) -> bool:
    """Whether the first joint's torque changes sign with such gravity torques."""

    class Arm:
        def gravity_torque(self, q: Any) -> Any:
            return np.asarray(values, float)[: len(q)]

    return 0 in sign_changes(Arm(), log(np.zeros((4000, 2))))  # type: ignore[arg-type]


def negligible(ratio: float) -> bool:
    return gravity_sign(np.tile([ratio, 1.0], (4000, 1)))


def other_side(size: float) -> bool:
    """Whether gravity changes sign that is so large on its other side."""
    return gravity_sign(np.tile([[1.0, 1.0], [-size, 1.0]], (2000, 1)))


def commanded(noise: float = 0.0, friction: float = 0.0, size: float = 1.5) -> bool:
    tau = 3.0 * np.sin(size * Q) + noise * NOISE + friction * np.tanh(20 * np.cos(2 * T))
    return is_commanded(log(size * Q, tau=tau), 0)


def coarse(ratio: float) -> bool:
    tau = Q * np.sqrt(2)
    return bool(list(quantised_efforts(log(tau=ratio * np.rint(tau / ratio)))))


def repeats(count: float) -> bool:
    """Whether values that occur so often on average are quantised."""
    return quantum(np.tile(np.arange(4000 // int(count)) * 0.1, int(count))) > 0


def uneven(size: float) -> bool:
    """Whether values are multiples of a step that differ from them by so much."""
    return quantum(np.tile([0.0, 1.0, 2.0, 4.0 * (1 + size)], 1000)) > 0


# -- positions
# --------------------------------------------------------------------------------------------------


def stuck(
    samples: float = 1000.0,
    velocity: float = 1.0,
    distance: float = 10.0,
    rate: float = 200.0,
    total: int = 4000,
) -> bool:
    """Whether a position is stuck for so many samples, while its velocity varies so much."""
    count, t = int(samples), np.arange(total) / rate
    q = np.sin(2 * t)
    qd = np.cos(2 * t)
    q[300 : 300 + count] = q[300]
    inside = slice(300, 300 + count)
    usual = np.sqrt(np.mean(np.delete(qd, np.arange(300, 300 + count)) ** 2))
    moved = float(np.sum(np.abs(qd[inside])) / rate)
    scale = min(1.0, distance / moved)
    qd[inside] *= velocity * usual / np.sqrt(np.mean(qd[inside] ** 2)) if velocity < 1 else 1.0
    return bool(
        list(
            stuck_positions(
                NO_ROBOT, Log(t=t, q=q[:, None], qd=scale * qd[:, None], joint_names=("a",))
            )
        )
    )


def stopped(speed: float = 1.0, jump: float = 0.0, approach: int = 20) -> bool:
    """Whether a position is stuck that stops from such a speed, or jumps by so many usual steps."""
    steps = np.where(np.arange(3999) % 800 < 400, 1.0, -1.0)
    steps[1000:2000] = 0.0
    steps[1000 - 200 : 1000] = 0.0
    steps[980:1000] = 0.3 + 1e-9
    steps[1000 - approach : 1000] = speed
    steps[1999] = jump if jump else steps[1999]
    steps[700:800] = 1.0
    q = np.concatenate([[0.0], np.cumsum(steps)])
    q[1000:2000] = q[1000]
    q[2000:] += q[1000] + (jump if jump else 0.1) - q[2000]
    with patch.object(position_checks, "unexplained_variation", lambda *args: 0.0):
        return bool(list(stuck_positions(NO_ROBOT, log(1e-3 * q, tau=NOISE))))


def moving_torque(share: float) -> bool:
    """Whether a position is stuck that stops slowly, with so much of its torque unexplained."""
    q = np.where(T < 2 * np.pi, np.cos(T), 1.0)
    with patch.object(position_checks, "unexplained_variation", lambda *args: share):
        return bool(list(stuck_positions(NO_ROBOT, log(q, tau=NOISE))))


def regular(share: float) -> bool:
    """Whether samples repeat of which such a share do so at equal distances."""
    lengths = np.where(np.random.default_rng(1).uniform(size=2000) < share, 2, 5)
    values = np.repeat(np.arange(2000.0), lengths)
    return repeat_count(values[:, None]) > 1


# -- velocities
# --------------------------------------------------------------------------------------------------


def velocity(
    scale: float = 1.0, delay: float = 0.0, sigma: float = 0.0, correlation: float = 1.0
) -> bool:
    """Whether a velocity differs from the derivative of its position, with such an estimate."""
    estimate = Delay(np.array([delay]), np.array([sigma]), np.array([correlation]))
    with patch.object(velocity_checks, "estimate_delay", lambda *_: estimate):
        return bool(scale_and_delay(T, Q, scale * 2 * np.cos(2 * (T - delay))))


def judged(samples: float) -> bool:
    return bool(list(velocity_findings(log(qd=5 * Q)[: int(samples)])))


def touched(share: float, visits: int = 9, between: float = 1.0) -> bool:
    """Whether an effort that comes so near to zero, so many times, touches it."""
    tau = np.full(200, between)
    tau[10 : 10 + 10 * visits : 10] = share
    tau[0] = 1.0
    return touches_zero(tau)


def common(spread: float) -> bool:
    """Whether velocities of two joints, whose factors differ by a share, show a clock."""
    q, qd = np.stack([Q, Q], axis=1), 4 * np.cos(2 * T)[:, None] * [1.0, 1.0 + spread]
    return common_factor(log(q, qd=qd)) is not None


def confirmed(scale: float) -> bool:
    """Whether velocities that are wrong by a share confirm the clock."""
    qd = np.cos(T)[:, None]
    return velocities_agree([Stub(qd=qd, measured_qd=(1.0 + scale) * qd)])


def unlikely(gain: float) -> bool:
    """Whether a clock with this held-out gain is left out beside right velocities."""
    step = Stub(hypothesis=Stub(fault="clock"), gain=Stub(mean=gain))
    return is_small_clock(step)


def obvious(gain: float) -> bool:
    """Whether a fault with this held-out gain is reported close to free swinging."""
    return is_obvious(Stub(hypothesis=Stub(fault="swapped joints"), gain=Stub(mean=gain)))


NAME = "doctor.doctor_thresholds"
CHANNELS = [
    Threshold(
        f"{NAME}:least_unsigned_joints",
        lambda: (unsigned(3), unsigned(4), unsigned(7)),
        (False, True, True),
    ),
    Threshold(f"{NAME}:touched_zero", sides(touched, 0.01), (True, False)),
    Threshold(f"{NAME}:least_touches", lambda: (touched(0.001, 2), touched(0.001, 5))),
    Threshold(f"{NAME}:risen", sides(lambda x: touched(0.001, between=x), 0.05)),
    Threshold(f"{NAME}:velocity_spread", sides(common, 0.03), (True, False)),
    Threshold(f"{NAME}:clock_velocity", sides(confirmed, 0.05), (True, False)),
    Threshold(f"{NAME}:obvious_gain", sides(obvious, 1.0)),
    Threshold(f"{NAME}:clock_gain", sides(unlikely, 0.15), (True, False)),
    Threshold(f"{NAME}:described_difference", sides(shows_sign, 0.45), (True, False)),
    Threshold(f"{NAME}:unsigned_least", sides(offset_effort, 0.1), (True, False)),
    Threshold(f"{NAME}:reversed_path", sides(reverses, 0.1)),
    Threshold(f"{NAME}:negligible_gravity", sides(negligible, 0.02), (True, False)),
    Threshold(f"{NAME}:relevant_gravity", sides(other_side, 0.3)),
    Threshold(
        f"{NAME}:command_residual",
        sides(lambda x: commanded(noise=3 * x / np.sqrt(2)), 0.025),
        (True, False),
    ),
    Threshold(
        f"{NAME}:command_mechanics",
        lambda: (commanded(noise=0.03, friction=0.0125), commanded(noise=0.03, friction=0.018)),
        (True, False),
    ),
    Threshold(f"{NAME}:least_command_range", sides(lambda x: commanded(size=0.5 * x), 2.0)),
    Threshold(f"{NAME}:coarse_effort", sides(coarse, 0.25)),
    Threshold(f"{NAME}:least_repeats", lambda: (repeats(3), repeats(5))),
    Threshold(f"{NAME}:quantum_tolerance", sides(uneven, 0.02), (True, False)),
    Threshold(
        f"{NAME}:least_stuck_samples",
        lambda: (stuck(15, rate=20, total=500), stuck(30, rate=20, total=500)),
    ),
    Threshold(
        f"{NAME}:least_stuck_seconds", lambda: (stuck(43, total=1000), stuck(85, total=1000))
    ),
    Threshold(f"{NAME}:least_stuck_share", lambda: (stuck(58, rate=100), stuck(112, rate=100))),
    Threshold(f"{NAME}:stuck_motion_share", sides(lambda x: stuck(velocity=x), 0.3)),
    Threshold(f"{NAME}:stuck_unexplained", sides(moving_torque, 0.5)),
    Threshold(f"{NAME}:stuck_distance", sides(lambda x: stuck(distance=x), 0.1)),
    Threshold(f"{NAME}:stuck_approach", lambda: (stopped(approach=3), stopped(approach=7))),
    Threshold(f"{NAME}:stuck_speed_share", sides(lambda x: stopped(speed=x), 0.4)),
    Threshold(f"{NAME}:stuck_jump", sides(lambda x: stopped(speed=0.01, jump=x), 5.0)),
    Threshold(
        f"{NAME}:regular_repeats",
        lambda: (regular(0.6), regular(0.97)),
    ),
    Threshold(f"{NAME}:least_velocity_samples", sides(judged, 100)),
    Threshold(
        f"{NAME}:least_velocity_correlation",
        sides(lambda x: velocity(correlation=x), 0.5),
        (True, False),
    ),
    Threshold(f"{NAME}:velocity_scale", sides(lambda x: velocity(scale=1 / (1 + x)), 0.1)),
    Threshold(
        f"{NAME}:velocity_delay_deviations",
        sides(lambda x: velocity(delay=0.05, sigma=0.05 / x), 4.0),
    ),
    Threshold(f"{NAME}:velocity_delay_harm", sides(lambda x: velocity(delay=x / 2), 0.05)),
]
