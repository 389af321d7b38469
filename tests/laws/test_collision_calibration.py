"""Calibration of the collision observer: conformal bound over blocks, states of motion, faulty time stamps, and an independent plant."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

import steelyard as sy
from steelyard.experiments.online import collision_calibration as calibration
from steelyard.experiments.online.motion_states import BACKWARD, FORWARD, REVERSING, STANDING, StateClassifier
from tests.lugre_arm import described, simulate
from tests.motions import fourier

Array = NDArray[np.float64]
RATE = 200.0  # [Hz]


@pytest.mark.parametrize("seed", range(20))
def test_exchangeable_blocks_exceed_the_largest_no_more_often_than_stated(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a factor of 1 the bound is conformal and nearly tight; heavy tails, any number of joints and blocks."""
    monkeypatch.setattr(calibration, "RULE", calibration.CalibrationRule(factor=1.0))
    rng = np.random.default_rng(seed)
    n, m, draws = int(rng.integers(1, 8)), int(rng.integers(20, 120)), 400
    alarms, stated = 0, 0.0
    for _ in range(draws):
        blocks = np.abs(rng.standard_t(2.0, size=(m + 1, n, 3))) * rng.uniform(0.1, 50.0, (n, 3))
        threshold, _, counts, calibrated = calibration.thresholds(blocks[:-1], np.zeros(n))
        alarms += bool(np.any(blocks[-1] > threshold))
        stated += min(1.0, float(np.sum(1.0 / (counts[calibrated] + 1.0))))
    assert alarms <= stated + 3.0 * np.sqrt(stated)


def test_a_state_with_few_blocks_has_the_threshold_of_its_joint() -> None:
    blocks = np.full((30, 1, 3), np.nan)
    blocks[:, 0, MOVING], blocks[:4, 0, REVERSING] = 1.0, 2.0
    threshold, largest, counts, calibrated = calibration.thresholds(blocks, np.array([0.7]))
    assert counts.tolist() == [[30, 4, 0]]
    assert calibrated.tolist() == [[True, False, False]]
    np.testing.assert_allclose(threshold, [[1.5, 3.0, 3.7]])
    np.testing.assert_allclose(largest, [[1.0, 2.0, np.nan]])


def test_alarms_are_counted_against_the_other_blocks() -> None:
    blocks = np.ones((30, 1, 3))
    assert calibration.cross_validated_alarms(blocks) == 0
    blocks[7, 0, 0] = 1.6
    assert calibration.cross_validated_alarms(blocks) == 1


def test_a_joint_moves_reverses_and_stands() -> None:
    qd = np.concatenate([np.full(50, 1.0), np.full(50, -1.0), np.full(50, -0.05), np.zeros(50), np.full(50, 1.0)])[:, None]
    dt = np.full(len(qd), 0.01)
    states = StateClassifier(np.array([0.01]), np.array([0.1]), 0.1).classify(qd, dt)[:, 0]
    assert np.all(states[:50] == MOVING)
    assert np.all(states[50:59] == REVERSING)
    assert np.all(states[62:100] == MOVING)
    assert np.all(states[100:158] == REVERSING)
    assert np.all(states[162:200] == STANDING)
    assert np.all(states[200:209] == REVERSING)
    assert np.all(states[212:] == MOVING)
    again, parts = StateClassifier(np.array([0.01]), np.array([0.1]), 0.1), np.array_split(np.arange(250), 7)
    np.testing.assert_array_equal(np.concatenate([again.classify(qd[k], dt[k])[:, 0] for k in parts]), states)


def test_velocities_are_held_only_where_time_stamps_are_irregular() -> None:
    qd, dt = np.ones((20, 1)), np.full(20, 0.002)
    qd[5], qd[12], qd[13] = 9.0, 0.2, 9.0
    dt[12] = 0.008
    held = VelocityGuard(np.array([0.1]), 0.002).held(qd, dt)[:, 0]
    assert held[5] == 9.0
    np.testing.assert_array_equal(np.delete(held, 5), 1.0)


@cache
def random_arm(seed: int) -> tuple[sy.Robot, sy.Fit]:
    """A robot that differs from its description, and its fit from 20 s with coloured torque errors."""
    start = sy.load("planar_2r" if seed % 2 else "spatial_3r")
    true = sy.perturbed(start.with_friction(viscous=0.8, coulomb=0.6, offset=0.1).with_rotors(0.05), seed)
    t, q, qd, qdd = fourier(true.n, 20.0, RATE, seed, base=0.1, harmonics=5, size=0.4)
    tau = true.inverse_dynamics(q, qd, qdd) + errors(q, seed)
    log = sy.Log(t=t, q=q, qd=qd, qdd=qdd, tau=tau, joint_names=true.joint_names)
    return true, sy.identify(start, log, "wls", delay=0, coulomb_width=0, diagnose=False)


def errors(q: Array, seed: int) -> Array:
    """White noise, and a gear ripple that no model has."""
    return 0.1 * np.random.default_rng(seed + 9).normal(size=q.shape) + 0.3 * np.sin(17.0 * q)


@pytest.mark.parametrize("seed", range(4))
def test_a_detectable_torque_is_detected_and_free_motion_is_not(seed: int) -> None:
    true, fit = random_arm(seed)
    rng = np.random.default_rng(seed)
    t, q, qd, qdd = fourier(true.n, 20.0, RATE, seed + 100, base=0.1, harmonics=5, size=0.4)
    tau = true.inverse_dynamics(q, qd, qdd) + errors(q, seed + 1)
    free = sy.CollisionObserver(fit)
    assert free.update(q, qd, tau, t) is None
    known = free.calibration
    assert known is not None
    assert known.alarms_per_hour_limit >= 2.9 / known.hours
    for _ in range(5):
        start, joint = int(rng.integers(200, len(t) - 200)), int(rng.integers(true.n))
        push = np.zeros_like(tau)
        push[start:, joint] = 1.1 * known.detectable[joint] * rng.choice([-1.0, 1.0])
        observer = sy.CollisionObserver(fit)
        found = observer.update(q[: start + 20], qd[: start + 20], (tau - push)[: start + 20], t[: start + 20])
        assert found is not None
        assert 0.0 <= found.time - t[start] <= 0.03 + 1.0 / RATE
        assert true.joint_names[joint] in found.joints


def test_an_independent_plant_with_lugre_friction() -> None:
    robot = described()
    t, q, qd, tau = simulate(25.0, 1)
    fit = sy.identify(robot, sy.Log(t=t, q=q, qd=qd, tau=tau, joint_names=robot.joint_names), diagnose=False)
    known = sy.CollisionObserver(fit).calibration
    assert known is not None
    t, q, qd, tau = simulate(25.0, 2)
    free = sy.CollisionObserver(fit)
    assert free.update(q, qd, tau, t) is None
    for joint in range(2):
        torque = 1.1 * float(known.detectable[joint])
        t, q, qd, tau = simulate(6.0, 3 + joint, (5.0, joint, torque))
        found = sy.CollisionObserver(fit).update(q, qd, tau, t)
        assert found is not None
        assert 0.0 <= found.time - 5.0 <= 0.1


def test_options_that_a_calibrated_threshold_does_not_use_are_refused() -> None:
    fit = random_arm(1)[1]
    for options in ({"noise": 0.1}, {"hours": 100.0}):
        with pytest.raises(sy.CallError, match="is not used with a Fit"):
            sy.CollisionObserver(fit, **options)
