"""States that the halves of a log confirm.

Transfer between halves, tail of the visits, and posture.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from steelyard.experiments.online import collision_calibration as calibration
from steelyard.experiments.online.calibration.confirmed_states import (
    confirmed_states,
    tail_probability,
)
from steelyard.experiments.online.calibration.covered_motion import covered_motion
from steelyard.experiments.online.calibration.monitored_states import MonitoredThreshold
from steelyard.experiments.online.calibration.near_states import near_states
from steelyard.experiments.online.calibration.rule import RULE, CalibrationRule
from steelyard.experiments.online.held_out_residuals import (
    HeldOutLimits,
    ResidualStream,
    halves_by_refits,
)
from steelyard.experiments.online.motion_states import (
    BACKWARD,
    FORWARD,
    REVERSING,
    STANDING,
    Visits,
)

Array = NDArray[np.float64]
GAIN = 100.0  # [1/s]
N = 4000  # samples of a half, 1 ms apart


def stream(
    half: int, scale: float, other: float, size: float = 1.0, offset: float = 0.0
) -> ResidualStream:
    """Two joints that swing six times, with residuals `scale` by their own model and `other` by the
    other half's.
    """
    phase = 2.0 * np.pi * 6.0 * np.arange(N)[:, None] / N * np.ones(2)
    q, qd = size * np.sin(phase) + offset, size * np.cos(phase) * 2.0 * np.pi * 1.5
    wave = 1.0 + 0.1 * np.sin(7.3 * phase)
    by_model = np.stack([scale * wave, other * (1.0 + 1e-9) * wave])  # two models are never equal
    spread, torque = np.full_like(q, 0.1), np.abs(np.sin(phase)) + 0.01
    return ResidualStream(
        np.full(N, 1e-3), q, qd, by_model.max(axis=0), spread, torque, by_model, half
    )


def limits_of(*streams: ResidualStream) -> HeldOutLimits:
    speed = np.max([np.abs(part.qd).max(axis=0) for part in streams], axis=0)
    zero = np.zeros(2)
    return HeldOutLimits(0.002 * speed, speed, zero, zero, np.zeros((0, 0)), False)


def confirmed(
    *streams: ResidualStream, rule: CalibrationRule = RULE, word: str = "trusted"
) -> NDArray[np.bool_]:
    halves = halves_by_refits(streams, limits_of(*streams))
    return confirmed_states(halves, (word,) * 2, GAIN, rule)


@pytest.mark.parametrize(
    ("ratio", "expected"), [(0.5, True), (1.2, True), (1.9, False), (5.0, False)]
)
def test_a_state_is_confirmed_if_no_half_exceeds_the_threshold_of_the_other(
    ratio: float, expected: bool
) -> None:
    for first, second in ((1.0, ratio), (ratio, 1.0)):
        result = confirmed(stream(0, 1.0, first), stream(1, 1.0, second))
        assert np.all(result[:, [FORWARD, BACKWARD, REVERSING]] == expected)
        assert not result[:, STANDING].any()  # never visited: nothing confirms it


def test_motion_that_one_half_does_not_cover_confirms_nothing() -> None:
    """Neither half covers the positions of the other.

    There is nothing to check, and no state is confirmed.
    """
    apart = stream(0, 1.0, 1.0), stream(1, 1.0, 1.0, offset=5.0)
    assert not confirmed(*apart).any()
    inside = stream(0, 1.0, 1.0), stream(1, 1.0, 1.0, size=0.5)
    assert np.all(confirmed(*inside)[:, REVERSING])


def test_a_state_with_few_visits_in_each_half_is_not_confirmed() -> None:
    halves = stream(0, 1.0, 1.0), stream(1, 1.0, 1.0)
    assert confirmed(*halves).any()
    assert not confirmed(*halves, rule=CalibrationRule(fewest=20)).any()


def test_residuals_without_a_model_of_the_other_half_confirm_nothing() -> None:
    halves = stream(0, 1.0, 1.0), stream(1, 1.0, 1.0)
    assert confirmed(*halves).any()
    same = [part._replace(by_model=part.by_model[[0, 0]]) for part in halves]
    assert not confirmed(*same).any()
    assert not confirmed(halves[0], halves[0]).any()  # no sample of the other half


@pytest.mark.parametrize("m", [3, 5, 12, 40])
def test_the_tail_probability_is_the_rate_at_which_log_normal_visits_exceed_the_threshold(
    m: int,
) -> None:
    """Over random logs, the stated probability equals the rate of exceedance by the next visit."""
    rng = np.random.default_rng(m)
    logs, spread = 4000, 0.4
    values = np.exp(spread * rng.normal(size=(logs, m)))
    joint = np.repeat(np.arange(logs), m)
    stated = tail_probability(Visits(joint, np.zeros_like(joint), values.ravel()), logs, 1.5)[:, 0]
    exceeds = np.exp(spread * rng.normal(size=logs)) > 1.5 * values.max(axis=1)
    slack = 4.0 * np.sqrt(exceeds.mean() / logs) + 1e-3
    assert exceeds.mean() <= stated.mean() + slack  # never optimistic
    wider = np.exp(3.0 * spread * rng.normal(size=(logs, m)))
    worse = tail_probability(Visits(joint, np.zeros_like(joint), wider.ravel()), logs, 1.5)[:, 0]
    assert worse.mean() > stated.mean()


def test_the_tail_probability_of_one_visit_is_one() -> None:
    result = tail_probability(Visits(np.array([0]), np.array([2]), np.array([3.0])), 2, 1.5)
    np.testing.assert_array_equal(result, 1.0)


@pytest.mark.parametrize("word", ["trusted", "doubtful"])
def test_a_state_that_is_not_confirmed_is_monitored_in_known_postures_only(word: str) -> None:
    """Joint 2 leaves its range: joint 1 is monitored only in states that the log confirms."""
    for ratio in (1.0, 5.0):
        halves = stream(0, 1.0, ratio), stream(1, 1.0, 1.1 * ratio)
        limits = limits_of(*halves)
        refits = halves_by_refits(halves, limits)
        words = (word,) * 2
        known = calibration.calibration_of(halves, refits, ("a", "b"), words, limits, GAIN, RULE)
        np.testing.assert_array_equal(known.confirmed[:, FORWARD], ratio == 1.0)
        np.testing.assert_array_equal(
            known.monitored[:, FORWARD], ratio == 1.0 or word == "trusted"
        )
        live = halves[0]
        q = live.q.copy()
        q[N // 2 :, 1] += 9.0
        monitor = MonitoredThreshold(known, limits, GAIN, RULE)
        finite = np.isfinite(monitor.update(q, live.qd, live.torque, live.spread, live.dt))
        assert finite[: N // 2].any() == (ratio == 1.0 or word == "trusted")
        assert finite[N // 2 :, 0].any() == (ratio == 1.0 and word == "trusted")
        assert not finite[N // 2 :, 1].any()


def test_a_joint_that_is_not_trusted_is_monitored_near_the_states_of_the_log_only() -> None:
    """Inside the ranges of a limit cycle, but far from it, only a trusted model is monitored."""
    halves = stream(0, 1.0, 1.0), stream(1, 1.0, 1.0)
    limits = limits_of(*halves)
    refits, live = halves_by_refits(halves, limits), halves[0]
    for word, inside in (("trusted", True), ("doubtful", False)):
        words = (word,) * 2
        known = calibration.calibration_of(halves, refits, ("a", "b"), words, limits, GAIN, RULE)
        for scale, expected in ((1.0, True), (0.5, inside)):
            monitor = MonitoredThreshold(known, limits, GAIN, RULE)
            limit = monitor.update(
                scale * live.q, scale * live.qd, live.torque, live.spread, live.dt
            )
            assert np.isfinite(limit).any() == expected
    assert near_states(halves).radius < 0.1


def test_ranges_are_those_of_all_parts() -> None:
    covered = covered_motion((stream(0, 1.0, 1.0), stream(1, 1.0, 1.0, size=2.0, offset=1.0)), 1.5)
    np.testing.assert_allclose(covered.low, -1.0, atol=1e-3)
    np.testing.assert_allclose(covered.high, 3.0, atol=1e-3)
    np.testing.assert_allclose(covered.spread, 0.15)
    inside, zero = np.zeros((1, 2)), np.zeros((1, 2))
    assert not covered.beyond(inside, zero, zero, zero).any()
    for k, step in enumerate((4.0, 99.0, 9.0, 0.2)):
        moved = [inside, zero, zero, zero]
        moved[k] = np.array([[0.0, step]])
        assert covered.beyond(*moved).tolist() == [[False, True]]
