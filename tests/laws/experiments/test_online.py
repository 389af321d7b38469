"""Recursive identification.

The estimates of the batch, with forgetting as it is meant, with and without accelerations.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

import steelyard as sy
from steelyard.experiments.online.forgetting import forget_replaced
from steelyard.experiments.online.online_thresholds import THRESHOLDS
from steelyard.identification.estimators.least_squares import weighted
from steelyard.identification.model.accumulator import Accumulator, triangular
from steelyard.parameters.pseudo_inertia import pseudo_inertia
from steelyard.simulation.controllers.joint_space import SlotineLi

Array = NDArray[np.float64]


@cache
def robot() -> sy.Robot:
    return (
        sy.load("spatial_3r").with_friction(viscous=1.0, coulomb=0.8, offset=0.2).with_rotors(0.1)
    )


def samples(count: int, seed: int = 0, noise: float = 0.1) -> tuple[Array, Array, Array, Array]:
    rng = np.random.default_rng(seed)
    q, qd, qdd = (
        rng.uniform(-2, 2, (count, 3)),
        rng.normal(size=(count, 3)),
        3.0 * rng.normal(size=(count, 3)),
    )
    return (
        q,
        qd,
        qdd,
        robot().inverse_dynamics(q, qd, qdd)
        + noise * rng.normal(size=(count, 3)) * [1.0, 2.0, 0.5],
    )


def smooth(seconds: float, rate: float) -> tuple[Array, Array, Array, Array]:
    """A motion and its torque without noise."""
    t = np.arange(0.0, seconds, 1.0 / rate)[:, None]
    w, phase = np.array([1.1, 1.7, 2.3]), np.array([0.3, 1.0, 2.0])
    waves = [
        (
            np.sin(k * w * t + k * phase),
            k * w * np.cos(k * w * t + k * phase),
            -((k * w) ** 2) * np.sin(k * w * t + k * phase),
        )
        for k in (1, 2)
    ]
    q, qd, qdd = (0.6 * a + 0.3 * b for a, b in zip(*waves, strict=True))
    return q, qd, qdd, robot().inverse_dynamics(q, qd, qdd)


def batch(o: sy.OnlineIdentifier, data: tuple[Array, ...], weights: Array | None = None) -> Array:
    q, qd, qdd, tau = data
    total = Accumulator.empty(o.model.reach, o.model.base.n_base).fold(
        o.model.rows(q, qd, qdd), tau, None, weights
    )
    return weighted(total, o.model.base.values(o.model.start))[0]


@pytest.mark.parametrize("portion", [1, 7, 700])
def test_estimates_are_those_of_the_batch(portion: int) -> None:
    data = samples(700)
    o = sy.OnlineIdentifier(robot(), learn=0)
    for k in range(0, 700, portion):
        o.update(*(x[k] if portion == 1 else x[k : k + portion] for x in data))
    expected = batch(o, data)
    assert np.max(np.abs(o.base_values - expected)) < 1e-9 * np.max(np.abs(expected))
    assert o.samples == 700


def test_the_batch_is_least_squares() -> None:
    """Against NumPy: the rows of each joint divided by its noise."""
    data = samples(300)
    o = sy.OnlineIdentifier(robot(), learn=0)
    o.update(*data)
    Y, w = o.model.rows(*data[:3]), 1.0 / o.sigma
    found = np.linalg.lstsq(
        (Y * w[:, None]).reshape(-1, Y.shape[2]), (data[3] * w).ravel(), rcond=None
    )[0]
    np.testing.assert_allclose(o.base_values, found, rtol=1e-6, atol=1e-9)
    A = (Y * w[:, None]).reshape(-1, Y.shape[2])
    inverse = np.linalg.inv(A.T @ A)
    np.testing.assert_allclose(o.covariance, inverse, rtol=0.25, atol=0.01 * inverse.max())
    np.testing.assert_allclose(np.diag(o.covariance), o.base_std**2)


def test_exponential_forgetting_weighs_samples_by_their_age() -> None:
    data, factor = samples(600), 0.995
    whole, parts = (sy.OnlineIdentifier(robot(), factor, learn=0) for _ in range(2))
    whole.update(*data)
    for k in range(0, 600, 50):
        parts.update(*(x[k : k + 50] for x in data))
    weights = np.sqrt(factor ** np.arange(599, -1, -1.0))[:, None] * np.ones(3)
    expected = batch(whole, data, weights)
    for o in (whole, parts):
        np.testing.assert_allclose(
            o.base_values, expected, rtol=1e-3, atol=1e-3 * np.abs(expected).max()
        )
        np.testing.assert_allclose(
            o.accumulator.counts, np.full(3, (1 - factor**600) / (1 - factor)), rtol=1e-9
        )
    np.testing.assert_allclose(whole.base_values, parts.base_values, atol=1e-9)


def test_directional_forgetting_keeps_what_is_not_excited() -> None:
    """A robot that stands still after a rich motion.

    Exponential forgetting loses its inertia, directional forgetting does not.
    """
    rich, at_rest = (
        samples(4 * THRESHOLDS.block_samples),
        [np.repeat(x[:1], 20 * THRESHOLDS.block_samples, axis=0) for x in samples(1)],
    )
    at_rest[1][:], at_rest[2][:] = 0.5, 0.0
    at_rest[3] = robot().inverse_dynamics(*at_rest[:3]) + 0.1 * np.random.default_rng(1).normal(
        size=at_rest[0].shape
    )
    stds = {}
    for directional in (False, True):
        o = sy.OnlineIdentifier(robot(), 0.999, directional=directional, learn=0)
        o.update(*rich)
        before = o.base_std
        o.update(*at_rest)
        stds[directional] = np.max(o.base_std / before)
    assert stds[True] < 3.0
    assert stds[False] > 30.0


def test_directional_forgetting_follows_what_is_excited() -> None:
    first, heavier = (
        samples(4 * THRESHOLDS.block_samples),
        robot().with_payload(2.0, com=(0.1, 0.0, 0.0)),
    )
    then = list(samples(12 * THRESHOLDS.block_samples, 1))
    then[3] = heavier.inverse_dynamics(*then[:3])
    o = sy.OnlineIdentifier(robot(), 0.998, directional=True, learn=0)
    o.update(*first)
    o.update(*then)
    expected = o.model.base.values(o.model.nearest(o.model.base.values(heavier.parameters)))
    np.testing.assert_allclose(o.base_values, expected, atol=0.02 * np.abs(expected).max())


def test_forgetting_moves_no_estimate_and_takes_no_more_than_is_brought() -> None:
    rng = np.random.default_rng(2)
    past, new = (
        triangular(rng.normal(size=(30, 6)) * [3.0, 1.0, 1.0, 1.0, 0.1, 1.0]) for _ in range(2)
    )
    new[:, 4] = 0.0  # nothing of the fifth
    new = triangular(new)
    left = forget_replaced(past, new, 0.5)
    x = [np.linalg.solve(R[:-1, :-1], R[:-1, -1]) for R in (past, left)]
    np.testing.assert_allclose(x[0], x[1], atol=1e-10)
    lost = past[:-1, :-1].T @ past[:-1, :-1] - left[:-1, :-1].T @ left[:-1, :-1]
    brought = new[:-1, :-1].T @ new[:-1, :-1]
    assert np.linalg.eigvalsh(lost).min() > -1e-9
    assert np.linalg.eigvalsh(brought - lost).min() > -1e-9
    assert np.linalg.eigvalsh(0.5 * past[:-1, :-1].T @ past[:-1, :-1] - lost).min() > -1e-9


def test_portions_make_no_difference_to_directional_forgetting() -> None:
    data = samples(2 * THRESHOLDS.block_samples + 100)
    made = []
    for portion in (1, 300, len(data[0])):
        o = sy.OnlineIdentifier(robot(), 0.999, directional=True, learn=0)
        for k in range(0, len(data[0]), portion):
            o.update(*(x[k : k + portion] for x in data))
        made.append(o.base_values)
    np.testing.assert_allclose(made[0], made[1], atol=1e-9)
    np.testing.assert_allclose(made[0], made[2], atol=1e-9)


def test_with_and_without_accelerations_the_estimates_are_the_same() -> None:
    """The filtered equations of motion have the same solution, up to what is not linear between
    samples: 1/rate^2.
    """
    errors = []
    for rate in (250.0, 1000.0):
        q, qd, qdd, tau = smooth(12.0, rate)
        given, filtered = (
            sy.OnlineIdentifier(robot(), rate=rate, filter=5.0, learn=0) for _ in range(2)
        )
        given.update(q, qd, qdd, tau)
        for k in range(0, len(q), 500):
            filtered.update(q[k : k + 500], qd[k : k + 500], None, tau[k : k + 500])
        errors.append(
            np.max(np.abs(given.base_values - filtered.base_values))
            / np.max(np.abs(given.base_values))
        )
    assert errors[1] < 1e-3
    assert errors[1] < errors[0] / 3.0


def test_samples_without_acceleration_one_by_one_and_with_times() -> None:
    q, qd, _, tau = smooth(2.0, 200.0)
    t = np.arange(len(q)) / 200.0
    block, single = (sy.OnlineIdentifier(robot(), filter=5.0, learn=0) for _ in range(2))
    block.update(q, qd, tau=tau, t=t)
    for k in range(len(q)):
        single.update(q[k], qd[k], tau=tau[k], t=t[k])
    np.testing.assert_allclose(single.base_values, block.base_values, atol=1e-7)


def test_a_fit_is_a_start() -> None:
    """Without a sample the estimate is the fit's.

    With as many samples again the standard deviations fall by the root of two.
    """
    q, qd, qdd, tau = smooth(10.0, 100.0)
    tau = tau + 0.05 * np.random.default_rng(0).normal(size=tau.shape)
    log = sy.Log(
        t=np.arange(len(q)) / 100.0, q=q, qd=qd, qdd=qdd, tau=tau, joint_names=robot().joint_names
    )
    fit = sy.identify(
        robot(),
        log,
        "wls",
        friction=("viscous", "coulomb", "offset"),
        delay=0,
        coulomb_width=0,
        decimate=1,
        diagnose=False,
    )
    o = sy.OnlineIdentifier(fit, learn=0)
    np.testing.assert_allclose(o.base_values, fit.base_values, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(o.base_std, fit.base_std, rtol=1e-3)
    o.update(q, qd, qdd, tau)
    assert np.all(o.base_std < fit.base_std)
    assert o.base_names == fit.base.names


def test_the_robot_can_exist_and_has_the_estimates() -> None:
    o = sy.OnlineIdentifier(robot(), learn=0)
    o.update(*samples(500, noise=0.01))
    for k in range(len(o.robot.tree.bodies)):
        assert np.linalg.eigvalsh(pseudo_inertia(o.parameters[10 * k : 10 * k + 10])).min() > 0.0
    np.testing.assert_allclose(
        o.model.base.values(o.parameters), o.base_values, atol=1e-6 * np.abs(o.base_values).max()
    )
    assert o.consistent().parameter_names == o.parameter_names
    np.testing.assert_array_equal(o.robot.parameters, o.parameters)


def test_the_adaptive_controller_has_the_same_parameters() -> None:
    """Slotine and Li's controller begins with the parameters of the identifier, and what it learnt
    is a robot of the same names.
    """
    o = sy.OnlineIdentifier(robot(), learn=0)
    o.update(*samples(500, noise=0.01))
    law = SlotineLi(np.array([0.3, -0.2, 0.4]), rate=5.0, kd=20.0, gamma=0.1, model=o.robot)
    run = sy.simulate(robot(), law, seconds=0.2)
    assert o.robot.parameter_names == robot().parameter_names
    np.testing.assert_array_equal(run.memory[0], o.parameters)
    learnt = sy.OnlineIdentifier(o.robot.with_parameters(run.memory[-1]), learn=0)
    assert learnt.parameter_names == o.parameter_names
    np.testing.assert_array_equal(learnt.model.start, run.memory[-1])


def test_joints_at_rest_are_left_out() -> None:
    data = list(samples(400, noise=0.0))
    data[1][np.abs(data[1]) < 0.01] = 0.01
    data[1][::2, 1] = 1e-3
    data[3] = robot().inverse_dynamics(*data[:3])
    data[3][::2, 1] += 5.0  # stiction holds anything
    o = sy.OnlineIdentifier(robot(), mask=2e-3, learn=0)
    o.update(*data)
    assert o.accumulator.counts == (400.0, 200.0, 400.0)
    truth = o.model.base.values(o.model.start)
    np.testing.assert_allclose(o.base_values, truth, atol=1e-6 * np.abs(truth).max())


def test_what_no_sample_shows_has_no_standard_deviation() -> None:
    q, qd, qdd, _ = samples(200)
    qd[:, 2], qdd[:, 2], q[:, 2] = 0.0, 0.0, 0.3
    o = sy.OnlineIdentifier(robot(), mask=0.0, learn=0)
    o.update(q, qd, qdd, robot().inverse_dynamics(q, qd, qdd))
    std = dict(zip(o.base_names, o.base_std, strict=True))
    assert np.isinf(std["joint3.Fv"])
    assert np.isfinite(std["joint1.Fv"])


def test_terms_that_no_plain_kernel_has_are_seen_without_acceleration_too() -> None:
    """Stiction that fades has its own columns."""
    q, qd, qdd, _ = smooth(12.0, 1000.0)
    bent = robot().with_friction(stiction=1.5, stribeck=0.4)
    tau = bent.inverse_dynamics(q, qd, qdd)
    given, filtered = (
        sy.OnlineIdentifier(bent, rate=1000.0, filter=5.0, learn=0) for _ in range(2)
    )
    given.update(q, qd, qdd, tau)
    filtered.update(q, qd, None, tau)
    assert any(name.endswith("Fs") for name in given.base_names), given.base_names
    assert np.max(np.abs(given.base_values - filtered.base_values)) < 1e-3 * np.max(
        np.abs(given.base_values)
    )


def test_what_is_left_over_is_forgotten_with_the_rows() -> None:
    """The squares that the past leaves unexplained count as much as its information in directions
    that are well excited.
    """
    rng = np.random.default_rng(4)
    past, new = (np.linalg.qr(rng.normal(size=(200, 4)), mode="r") for _ in range(2))
    faded = forget_replaced(past, 100.0 * new, 0.81)
    assert faded[-1, -1] == pytest.approx(0.9 * past[-1, -1])
    np.testing.assert_allclose(faded[:-1].T @ faded[:-1], 0.81 * past[:-1].T @ past[:-1], rtol=1e-9)
