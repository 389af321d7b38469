"""Laws of the smoother: exact on what is smooth, honest about how sure it is, nothing to tune, the
same backward as forward.
"""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.signals import Log, Noise, Smoother
from steelyard.signals.signal_thresholds import THRESHOLDS
from steelyard.signals.smooth import smooth
from steelyard.signals.smooth.kalman import one_segment, varying_joints
from steelyard.signals.smooth.motion_model import diffusion, mirror, transition

INTENSITY, SIGMA_Q, SIGMA_QD = 50.0, 1e-3, 2e-2


def simulate(
    rng: np.random.Generator, steps: np.ndarray, n: int, order: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """t, the true states (N, n, k), and q, qd as measured.

    A motion that the smoother's model is true of.
    """
    t = np.concatenate([[0.0], np.cumsum(steps)])
    F, root = transition(steps, order), np.linalg.cholesky(INTENSITY * diffusion(steps, order))
    x = np.zeros((len(t), n, order))
    for i in range(len(steps)):
        x[i + 1] = x[i] @ F[i].T + rng.normal(size=(n, order)) @ root[i].T
    q = x[..., 0] + SIGMA_Q * rng.normal(size=(len(t), n))
    return t, x, q, x[..., 1] + SIGMA_QD * rng.normal(size=(len(t), n))


def steps(rng: np.random.Generator, count: int, even: bool) -> np.ndarray:
    return np.full(count, 0.01) if even else 0.01 * rng.uniform(0.7, 1.3, count)


def noise(order: int, n: int, sigma_qd: float = np.inf) -> Noise:
    return Noise(order, np.full(n, INTENSITY), np.full(n, SIGMA_Q), np.full(n, sigma_qd))


@pytest.mark.parametrize("even", [True, False])
@pytest.mark.parametrize("order", [3, 4])
def test_a_polynomial_below_the_order_comes_back_exactly(
    order: int, even: bool, rng: np.random.Generator
) -> None:
    t = np.cumsum(steps(rng, 800, even))
    c = np.array([[0.3, -2.0], [1.0, 0.5], [-0.7, 0.2], [0.9, -0.4]])[:order]
    q = sum(c[i] * t[:, None] ** i for i in range(order))
    qdd = sum(i * (i - 1) * c[i] * t[:, None] ** (i - 2) for i in range(2, order))
    x, _ = Smoother(noise(order, 2), 0.01).states(t, q)
    np.testing.assert_allclose(x[..., 0], q, atol=1e-8)
    np.testing.assert_allclose(x[..., 2], qdd, atol=1e-4)


@pytest.mark.parametrize("even", [True, False])
def test_the_derivatives_of_a_clean_sine(even: bool, rng: np.random.Generator) -> None:
    t = np.cumsum(steps(rng, 3000, even)) * 0.5
    log = smooth(Log(t=t, q=np.stack([np.sin(4 * t), 0.3 * np.cos(7 * t)], axis=1)))
    inner = slice(20, -20)
    np.testing.assert_allclose(log.qd[inner, 0], 4 * np.cos(4 * t)[inner], atol=1e-4)
    np.testing.assert_allclose(log.qdd[inner, 0], -16 * np.sin(4 * t)[inner], atol=5e-3)
    np.testing.assert_allclose(log.qdd[inner, 1], -0.3 * 49 * np.cos(7 * t)[inner], atol=5e-3)


@pytest.mark.parametrize("velocity", [False, True])
@pytest.mark.parametrize("even", [True, False])
@pytest.mark.parametrize("order", [3, 4])
def test_noise_levels_are_found_and_two_sigma_hold(
    order: int, even: bool, velocity: bool, rng: np.random.Generator
) -> None:
    t, x, q, qd = simulate(rng, steps(rng, 2500, even), 3, order)
    measured = qd if velocity else None
    smoother = Smoother.fit(t, q, measured, order)
    np.testing.assert_allclose(smoother.noise.sigma_q, SIGMA_Q, rtol=0.15)
    assert np.all(np.abs(np.log(smoother.noise.intensity / INTENSITY)) < np.log(2.0))
    if velocity:
        np.testing.assert_allclose(smoother.noise.sigma_qd, SIGMA_QD, rtol=0.15)
    else:
        assert np.all(np.isinf(smoother.noise.sigma_qd))
    estimate, P = smoother.states(t, q, measured)
    within = np.abs(estimate - x[..., :3]) < 2 * np.sqrt(np.einsum("...ii->...i", P))
    coverage = within.mean(axis=(0, 1))
    assert np.all((coverage > 0.91) & (coverage < 0.98)), coverage


@pytest.mark.parametrize("order", [3, 4])
def test_two_sigma_hold_at_the_very_ends(order: int, rng: np.random.Generator) -> None:
    _, x, q, _ = simulate(rng, steps(rng, 400, True), 600, order)
    t = np.arange(401) * 0.01
    estimate, P = Smoother(noise(order, 600), 0.01).states(t, q)
    within = np.abs(estimate - x[..., :3]) < 2 * np.sqrt(np.einsum("...ii->...i", P))
    for i in (0, 1, 5, 200, -3, -1):
        assert np.all(np.abs(within[i].mean(axis=0) - 0.9545) < 0.035), (i, within[i].mean(axis=0))


def test_a_measured_velocity_makes_it_surer(rng: np.random.Generator) -> None:
    t, x, q, qd = simulate(rng, steps(rng, 1500, True), 4, 3)
    alone, P = Smoother(noise(3, 4), 0.01).states(t, q)
    both, P2 = Smoother(noise(3, 4, SIGMA_QD), 0.01).states(t, q, qd)
    assert np.all(P2[750, :, 1, 1] < 0.8 * P[750, :, 1, 1])
    assert np.std((both - x)[..., 1]) < 0.9 * np.std((alone - x)[..., 1])


@pytest.mark.parametrize("velocity", [False, True])
@pytest.mark.parametrize("order", [3, 4])
def test_constant_gains_are_the_full_recursion_to_the_very_ends(
    order: int, velocity: bool, rng: np.random.Generator
) -> None:
    t, _, q, qd = simulate(rng, steps(rng, 1200, True), 2, order)
    model = noise(order, 2, SIGMA_QD if velocity else np.inf)
    x, P = one_segment(model, t, q, qd)
    x_full, P_full = varying_joints(model, t, q, qd)
    sigma = np.sqrt(np.einsum("...ii->...i", P_full))
    np.testing.assert_allclose(x / sigma, x_full / sigma, atol=1e-6)
    np.testing.assert_allclose(
        P / (sigma[..., None] * sigma[..., None, :]),
        P_full / (sigma[..., None] * sigma[..., None, :]),
        atol=1e-7,
    )


def test_the_same_backward_as_forward(rng: np.random.Generator) -> None:
    t, _, q, _ = simulate(rng, steps(rng, 900, False), 2, 3)
    smoother = Smoother(noise(3, 2), 0.01)
    x, P = smoother.states(t, q)
    y, R = smoother.states(t[-1] - t[::-1], q[::-1])
    sign = mirror(3)
    sigma = np.sqrt(np.einsum("...ii->...i", P))
    np.testing.assert_allclose(y[::-1] * sign / sigma, x / sigma, atol=1e-6)
    np.testing.assert_allclose(R[::-1] * np.outer(sign, sign), P, rtol=1e-6, atol=1e-12 * P.max())


@pytest.mark.parametrize("even", [True, False])
def test_torque_and_regressor_through_the_same_filter(even: bool, rng: np.random.Generator) -> None:
    t, _, q, _ = simulate(rng, steps(rng, 1000, even), 2, 3)
    smoother = Smoother(noise(3, 2), 0.01)
    Y, pi = rng.normal(size=(len(t), 4)).cumsum(axis=0), rng.normal(size=4)
    np.testing.assert_allclose(
        smoother.apply(Y, t, 1) @ pi, smoother.apply(Y @ pi, t, 1), rtol=1e-7, atol=1e-7
    )
    np.testing.assert_allclose(
        smoother.apply(q, t, 0)[:, 0], smoother.states(t, q)[0][:, 0, 0], atol=1e-9
    )


def test_the_position_filter_is_a_butterworth_there_and_back() -> None:
    dt, order = 0.001, 3
    model = Noise(order, np.array([1e5]), np.array([1e-4]), np.array([np.inf]))
    f0 = (1e5 / (1e-8 * dt)) ** (0.5 / order) / (2 * np.pi)
    assert model.bandwidth(dt)[0] == pytest.approx(f0 * (np.sqrt(2) - 1) ** (0.5 / order), rel=1e-6)
    t = np.arange(20001) * dt
    smoother = Smoother(model, dt)
    for f in (0.3 * f0, f0, 1.7 * f0):
        x = smoother.apply(np.cos(2 * np.pi * f * t), t, 0)[8000:12000]
        wave = np.exp(2j * np.pi * f * t)[8000:12000]
        response = np.linalg.lstsq(np.stack([wave, wave.conj()], 1), x + 0j, rcond=None)[0][0] * 2
        assert abs(response) == pytest.approx(1 / (1 + (f / f0) ** (2 * order)), abs=5e-3)
        assert np.angle(response) == pytest.approx(0, abs=1e-3)


def test_a_shift_in_position_and_in_time_changes_nothing(rng: np.random.Generator) -> None:
    t, _, q, _ = simulate(rng, steps(rng, 1000, True), 2, 3)
    here, there = Smoother.fit(t, q), Smoother.fit(t + 1e4, q + 40.0)
    np.testing.assert_allclose(there.noise.sigma_q, here.noise.sigma_q, rtol=1e-3)
    np.testing.assert_allclose(
        there.states(t + 1e4, q + 40.0)[0][..., 2],
        here.states(t, q)[0][..., 2],
        atol=1e-3 * np.ptp(here.states(t, q)[0][..., 2]),
    )


def test_a_joint_that_stands_still_stands_still() -> None:
    t = np.arange(6000) / 500
    log = smooth(Log(t=t, q=np.stack([np.full(6000, 0.7), np.sin(t)], axis=1)))
    np.testing.assert_allclose(log.q[:, 0], 0.7, atol=1e-12)
    np.testing.assert_allclose(log.qdd[:, 0], 0.0, atol=1e-9)
    assert np.all(np.isfinite(log.covariance))


def test_of_too_few_samples_nothing_is_claimed(rng: np.random.Generator) -> None:
    t = np.concatenate([np.arange(300) * 0.01, [10.0, 10.01], 20 + np.arange(300) * 0.01])
    x, P = Smoother(noise(3, 2), 0.01).states(t, rng.normal(size=(602, 2)))
    assert np.all(np.isfinite(x))
    assert np.all(np.isinf(P[300:302, :, 2, 2]))
    assert np.all(np.isfinite(np.delete(P, [300, 301], axis=0)))


@pytest.mark.parametrize("even", [True, False])
def test_a_long_log_in_parts_is_the_whole(
    even: bool, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    t, _, q, qd = simulate(rng, steps(rng, 1500, even), 2, 3)
    t[700:] += 5.0
    smoother = Smoother(noise(3, 2, SIGMA_QD), 0.01)
    x, P = smoother.states(t, q, qd)
    monkeypatch.setitem(vars(THRESHOLDS), "smoother_samples", 400)
    monkeypatch.setitem(vars(THRESHOLDS), "smoother_overlap", 200)
    parts = list(smoother.parts(t, q, qd))
    assert [(part.start, part.stop) for part, _, _ in parts] == [
        (0, 400),
        (400, 700),
        (700, 1100),
        (1100, 1500),
        (1500, 1501),
    ]
    sigma = np.sqrt(np.einsum("...ii->...i", P))
    np.testing.assert_allclose(smoother.states(t, q, qd)[0] / sigma, x / sigma, atol=1e-6)
