"""Calibration of the collision observer.

Conformal bound over blocks, states of motion, faulty time stamps, and an independent plant.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

import steelyard as sy
from steelyard.errors import SteelyardWarning
from steelyard.experiments.online import collision_calibration as calibration
from steelyard.experiments.online.causal_velocity import CausalDerivative, VelocityGuard
from steelyard.experiments.online.motion_states import (
    BACKWARD,
    FORWARD,
    REVERSING,
    STANDING,
    StateClassifier,
    Visits,
    visits,
)
from steelyard.identification.selection.choose_predictor import Predictor
from tests.lugre_arm import described, simulate
from tests.motions import fourier

Array = NDArray[np.float64]
RATE = 200.0  # [Hz]


def random_visits(rng: np.random.Generator, n: int, m: int, scale: Array) -> Visits:
    """m visits of n joints to each state, with heavy tails."""
    joint, state, _ = (
        x.ravel() for x in np.meshgrid(np.arange(n), np.arange(4), np.arange(m), indexing="ij")
    )
    return Visits(joint, state, np.abs(rng.standard_t(2.0, size=len(joint))) * scale[joint, state])


@pytest.mark.parametrize("seed", range(20))
def test_exchangeable_visits_exceed_the_largest_no_more_often_than_stated(seed: int) -> None:
    """With a factor of 1 the bound is conformal and nearly tight.

    Heavy tails, any number of joints and visits.
    """
    rule = calibration.CalibrationRule(factor=1.0)
    rng = np.random.default_rng(seed)
    n, m, draws = int(rng.integers(1, 8)), int(rng.integers(20, 120)), 400
    alarms, scale = 0, rng.uniform(0.1, 50.0, (n, 4))
    for _ in range(draws):
        threshold, *_ = calibration.thresholds(
            random_visits(rng, n, m, scale), np.ones((n, 4), bool), rule
        )
        alarms += int(np.sum(random_visits(rng, n, 1, scale).largest > threshold.ravel()))
    stated = draws * 4 * n / (m + 1.0)
    assert alarms <= stated + 4.0 * np.sqrt(stated)
    assert alarms >= stated - 4.0 * np.sqrt(stated)


@pytest.mark.parametrize("seed", range(10))
def test_no_threshold_exceeds_its_bound(seed: int) -> None:
    """A finite threshold is 1.5 times the largest residual of its joint and state, whatever the
    visits.
    """
    rng = np.random.default_rng(seed)
    n, count = int(rng.integers(1, 8)), int(rng.integers(1, 60))
    every = Visits(
        rng.integers(n, size=count), rng.integers(4, size=count), rng.lognormal(size=count)
    )
    supported = rng.random((n, 4)) < 0.7
    threshold, largest, counts, monitored = calibration.thresholds(
        every, supported, calibration.RULE
    )
    np.testing.assert_array_equal(np.isfinite(threshold), monitored)
    np.testing.assert_array_equal(monitored, (counts >= calibration.RULE.fewest) & supported)
    for joint, state in np.argwhere(monitored):
        most = every.largest[(every.joint == joint) & (every.state == state)].max()
        assert (
            threshold[joint, state]
            == pytest.approx(1.5 * most)
            == pytest.approx(1.5 * largest[joint, state])
        )


def test_alarms_are_counted_against_the_other_visits() -> None:
    values = np.ones(30)
    every = Visits(np.zeros(30, int), np.zeros(30, int), values)
    monitored = np.array([[True, False, False, False]])
    assert calibration.cross_validated_alarms(every, monitored, calibration.RULE) == 0
    values[7] = 1.6
    assert calibration.cross_validated_alarms(every, monitored, calibration.RULE) == 1


def test_visits_are_runs_of_one_state() -> None:
    states = np.array([[0, 0, 2, 2, 1, 1, 0], [3, 3, 3, 3, 3, 3, 3]], np.int8).T
    every = visits(states, np.arange(14.0).reshape(2, 7).T)
    assert every.joint.tolist() == [0, 0, 0, 0, 1]
    assert every.state.tolist() == [0, 2, 1, 0, 3]
    assert every.largest.tolist() == [1.0, 3.0, 5.0, 6.0, 13.0]


def test_a_joint_moves_reverses_and_stands() -> None:
    qd = np.concatenate(
        [np.full(50, 1.0), np.full(50, -1.0), np.full(50, -0.05), np.zeros(50), np.full(50, 1.0)]
    )[:, None]
    dt = np.full(len(qd), 0.01)
    states = StateClassifier(np.array([0.01]), np.array([0.1]), 0.1).classify(qd, dt)[:, 0]
    assert np.all(states[:50] == FORWARD)
    assert np.all(states[50:59] == REVERSING)
    assert np.all(states[62:100] == BACKWARD)
    assert np.all(states[100:158] == REVERSING)
    assert np.all(states[162:200] == STANDING)
    assert np.all(states[200:209] == REVERSING)
    assert np.all(states[212:] == FORWARD)
    again, parts = (
        StateClassifier(np.array([0.01]), np.array([0.1]), 0.1),
        np.array_split(np.arange(250), 7),
    )
    np.testing.assert_array_equal(
        np.concatenate([again.classify(qd[k], dt[k])[:, 0] for k in parts]), states
    )


def test_the_causal_derivative_is_exact_for_its_low_pass_in_any_blocks() -> None:
    t = np.arange(2000) * 1e-3
    q, tau, dt = np.sin(3.0 * t)[:, None], np.cos(2.0 * t)[:, None], np.diff(t, prepend=0.0)
    whole = CausalDerivative(400.0).run(q, tau, dt)
    np.testing.assert_allclose(np.gradient(whole.q[:, 0], 1e-3)[1:-1], whole.qd[1:-1, 0], atol=1e-3)
    np.testing.assert_allclose(
        whole.qd[:, 0], 3.0 * np.cos(3.0 * (t[whole.skipped :] - 1.0 / 400.0)), atol=5e-3
    )
    parts = CausalDerivative(400.0)
    pieces = [parts.run(q[k], tau[k], dt[k]).qd for k in np.array_split(np.arange(2000), 13)]
    np.testing.assert_allclose(np.concatenate(pieces), whole.qd, atol=1e-12)


def test_velocities_are_held_only_where_time_stamps_are_irregular() -> None:
    qd, dt = np.ones((20, 1)), np.full(20, 0.002)
    qd[5], qd[12], qd[13] = 9.0, 0.2, 9.0
    dt[12] = 0.008
    held = VelocityGuard(np.array([0.1]), 0.002).held(qd, dt)[:, 0]
    assert held[5] == 9.0
    np.testing.assert_array_equal(np.delete(held, 5), 1.0)


@cache
def random_arm(seed: int) -> tuple[sy.Robot, sy.Fit]:
    """A robot that differs from its description, and its fit from 40 s with coloured torque
    errors.
    """
    start = sy.load("planar_2r" if seed % 2 else "spatial_3r")
    true = sy.perturbed(
        start.with_friction(viscous=0.8, coulomb=0.6, offset=0.1).with_rotors(0.05), seed
    )
    # no repetition: halves differ
    t, q, qd, qdd = fourier(true.n, 40.0, RATE, seed, base=0.025, harmonics=20, size=0.4)
    tau = true.inverse_dynamics(q, qd, qdd) + errors(q, seed)
    log = sy.Log(t=t, q=q, qd=qd, qdd=qdd, tau=tau, joint_names=true.joint_names)
    return true, sy.identify(start, log, "wls", delay=0, coulomb_width=0, diagnose=False)


def errors(q: Array, seed: int) -> Array:
    """White noise, and a gear ripple that no model has."""
    return 0.1 * np.random.default_rng(seed + 9).normal(size=q.shape) + 0.3 * np.sin(17.0 * q)


def lasting(monitored: NDArray[np.bool_], samples: int) -> NDArray[np.bool_]:
    """Whether a joint is monitored during the next samples."""
    return np.convolve(monitored, np.ones(samples))[samples - 1 :] == samples


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
        joint = int(rng.integers(true.n))
        start = int(
            rng.choice(np.flatnonzero(lasting(free.monitored[:, joint], 20)[200:-200]) + 200)
        )
        push = np.zeros_like(tau)
        push[start:, joint] = 1.1 * known.detectable[joint] * rng.choice([-1.0, 1.0])
        observer = sy.CollisionObserver(fit)
        found = observer.update(
            q[: start + 20], qd[: start + 20], (tau - push)[: start + 20], t[: start + 20]
        )
        assert found is not None
        assert 0.0 <= found.time - t[start] <= 0.03 + 1.0 / RATE
        assert true.joint_names[joint] in found.joints


@cache
def lugre_fit(seed: int, velocities: bool) -> sy.Fit:
    robot = described()
    t, q, qd, tau = simulate(25.0, seed)
    log = sy.Log(t=t, q=q, qd=qd if velocities else None, tau=tau, joint_names=robot.joint_names)
    return sy.identify(robot, log, diagnose=False)


@pytest.mark.parametrize(("seed", "velocities"), [(1, True), (11, False)])
def test_an_independent_plant_with_lugre_friction(seed: int, velocities: bool) -> None:
    fit = lugre_fit(seed, velocities)
    known = sy.CollisionObserver(fit).calibration
    assert known is not None
    for other in (seed + 1, seed + 2):
        t, q, qd, tau = simulate(12.0, other)
        free = sy.CollisionObserver(fit)
        assert free.update(q, qd if velocities else None, tau, t) is None
        assert np.all(free.monitored_share > 0.8)
    for joint in range(2):
        torque = 1.1 * float(known.detectable[joint])
        t, q, qd, tau = simulate(6.0, seed + 5 + joint, (5.0, joint, torque))
        found = sy.CollisionObserver(fit).update(q, qd if velocities else None, tau, t)
        assert found is not None
        assert 0.0 <= found.time - 5.0 <= 0.03


def test_positions_are_differentiated_where_the_log_has_no_velocities() -> None:
    t, q, qd, tau = simulate(6.0, 12)
    results = []
    for velocities in (None, qd, np.full_like(qd, 99.0)):
        observer = sy.CollisionObserver(lugre_fit(11, False))
        observer.update(q, velocities, tau, t)
        results.append(observer.external_torque)
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])
    with pytest.raises(sy.CallError, match="qd= is needed"):
        sy.CollisionObserver(lugre_fit(1, True)).update(q, None, tau, t)


def test_motion_beyond_the_log_is_not_monitored() -> None:
    true, fit = random_arm(1)
    known = sy.CollisionObserver(fit).calibration
    assert known is not None
    assert np.all(known.monitored[:, REVERSING])
    t, q, qd, qdd = fourier(true.n, 20.0, RATE, 7, base=0.1, harmonics=5, size=0.4)
    qd, qdd = 3.0 * qd, 9.0 * qdd
    observer = sy.CollisionObserver(fit)
    observer.update(q, qd, true.inverse_dynamics(q, qd, qdd), t / 3.0)
    fast = np.abs(qd) > known.speed
    assert np.all(np.isinf(observer.threshold[fast]))
    assert not np.any(observer.monitored[fast])
    assert np.all(observer.monitored_share < 0.9)
    limit = np.where(known.monitored, 1.5 * np.nan_to_num(known.largest), np.inf).max(
        axis=1, where=known.monitored, initial=0.0
    )
    assert np.all(
        observer.threshold[observer.monitored]
        <= np.broadcast_to(limit, q.shape)[observer.monitored] * (1.0 + 1e-12)
    )


@pytest.mark.parametrize("name", ["consistent", "wls"])
def test_the_observer_predicts_as_its_calibration_does(name: str) -> None:
    """The predictor of the fit gives the external torque, not the consistent robot.

    With base parameters (1 + e) b the external torque grows by e F(Y b); the refits of the
    calibration are around the predictor too.
    """
    true, fit = random_arm(1)
    base = fit.base.values(fit.parameters)
    predictor = Predictor(name=name, base=1.5 * base, cutoff=8.0, errors={})
    changed = replace(fit, pipeline=replace(fit.pipeline, predictor=predictor))
    t, q, qd, _ = fourier(true.n, 2.0, RATE, 101, base=0.1, harmonics=5, size=0.4)
    observers = sy.CollisionObserver(fit), sy.CollisionObserver(changed)
    for each in observers:
        each.update(q, qd, np.zeros_like(q), t)
    own, other = (each.external_torque for each in observers)
    if name == "consistent":
        np.testing.assert_allclose(other, own, atol=1e-9)
    else:
        np.testing.assert_allclose(other, 1.5 * own, atol=1e-9)


def with_word(fit: sy.Fit, word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the verdict of all fits be the one of this fit with another word."""
    verdict = fit.verdict
    joints = tuple(replace(joint, word=word) for joint in verdict.joints)
    monkeypatch.setattr(
        type(fit), "verdict", property(lambda _: replace(verdict, word=word, joints=joints))
    )


@pytest.mark.parametrize("word", ["doubtful", "refused"])
def test_a_fit_that_is_not_trusted_is_monitored_where_its_halves_confirm_each_other(
    word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    true, fit = random_arm(1)
    with_word(fit, word, monkeypatch)
    observer = sy.CollisionObserver(fit, gain=98.0)
    known = observer.calibration
    assert known is not None
    np.testing.assert_array_equal(
        known.monitored, known.confirmed & (known.visits >= calibration.RULE.fewest)
    )
    assert np.all(known.monitored[:, REVERSING])
    t, q, qd, qdd = fourier(true.n, 20.0, RATE, 101, base=0.1, harmonics=5, size=0.4)
    tau = true.inverse_dynamics(q, qd, qdd) + errors(q, 2)
    assert observer.update(q, qd, tau, t) is None
    assert observer.monitored_share.mean() > 0.5
    bound = 1.5 * np.nan_to_num(known.largest).max(axis=1)
    assert np.all(
        observer.threshold[observer.monitored]
        <= np.broadcast_to(bound, q.shape)[observer.monitored]
    )


@pytest.mark.parametrize("word", ["doubtful", "refused"])
def test_a_fit_that_is_neither_trusted_nor_confirmed_is_not_monitored(
    word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit = random_arm(1)[1]
    with_word(fit, word, monkeypatch)
    monkeypatch.setattr(
        calibration, "confirmed_states", lambda *_: np.zeros((fit.robot.n, 4), bool)
    )
    with pytest.warns(SteelyardWarning, match=f"monitors nothing.*this fit is {word}"):
        observer = sy.CollisionObserver(fit, gain=99.0)
    zero = np.zeros(fit.robot.n)
    assert observer.update(zero, zero, zero + 1e3, 0.0) is None
    assert np.isinf(observer.threshold).all()
    assert not observer.monitored.any()
    assert np.isfinite(observer.external_torque).all()


def test_no_joint_of_a_refused_fit_is_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    fit = random_arm(1)[1]
    joints = tuple(replace(joint, word="trusted") for joint in fit.verdict.joints)
    refused = replace(fit.verdict, word="refused", joints=joints)
    monkeypatch.setattr(type(fit), "verdict", property(lambda _: refused))
    assert calibration.joint_words(fit) == ("refused",) * fit.robot.n


def test_thresholds_are_infinite_until_the_velocity_noise_is_known() -> None:
    true, fit = random_arm(1)
    t, q, qd, qdd = fourier(true.n, 1.0, RATE, 101, base=0.1, harmonics=5, size=0.4)
    whole, single = sy.CollisionObserver(fit), sy.CollisionObserver(fit)
    tau = true.inverse_dynamics(q, qd, qdd)
    whole.update(q, qd, tau, t)
    assert np.isinf(whole.threshold[:64]).all()
    assert np.isfinite(whole.threshold[64:]).any()
    for k in range(80):
        single.update(q[k], qd[k], tau[k], t[k])
        np.testing.assert_array_equal(
            np.isfinite(single.threshold), np.isfinite(whole.threshold[k])
        )


def test_options_that_a_calibrated_threshold_does_not_use_are_refused() -> None:
    fit = random_arm(1)[1]
    for options in ({"noise": 0.1}, {"hours": 100.0}):
        with pytest.raises(sy.CallError, match="is not used with a Fit"):
            sy.CollisionObserver(fit, **options)
