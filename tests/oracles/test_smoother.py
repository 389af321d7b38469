"""The smoother against its definition.

Least squares over all states, the textbook recursion, SciPy's Riccati solver, the density.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import block_diag, solve_discrete_are
from scipy.stats import multivariate_normal

from steelyard.signals import Noise, Smoother
from steelyard.signals.smooth.likelihood import (
    negative_log_likelihood,
    negative_log_likelihood_uneven,
)
from steelyard.signals.smooth.motion_model import diffusion, transition
from steelyard.signals.smooth.steady_state import gains, riccati, steady

DT, SIGMA_Q, SIGMA_QD = 0.01, 1e-3, 2e-2
INTENSITY = {order: 0.4 * SIGMA_Q**2 / DT ** (2 * order - 1) for order in (3, 4)}


def data(rng: np.random.Generator, N: int, even: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    t = np.cumsum(np.full(N, DT) if even else DT * rng.uniform(0.4, 1.6, N))
    q = 0.3 * np.sin(5 * t) + SIGMA_Q * rng.normal(size=N)
    return t, q, 1.5 * np.cos(5 * t) + SIGMA_QD * rng.normal(size=N)


def all_at_once(
    t: np.ndarray, q: np.ndarray, qd: np.ndarray | None, order: int
) -> tuple[np.ndarray, np.ndarray]:
    """Solve x = argmin sum |x' - F x|^2_Q^-1 + |z - H x|^2_R^-1 over all states, without prior.

    In steps of DT, so that the columns have one size.
    """
    N, k = len(t), order
    steps = np.diff(t) / DT
    F, Q = transition(steps, k), INTENSITY[order] * DT ** (2 * k - 1) * diffusion(steps, k)
    rows, right = [], []
    for i in range(N - 1):
        block = np.zeros((k, N * k))
        block[:, i * k : (i + 1) * k], block[:, (i + 1) * k : (i + 2) * k] = -F[i], np.eye(k)
        rows.append(np.linalg.solve(np.linalg.cholesky(Q[i]), block))
        right.append(np.zeros(k))
    for i in range(N):
        block = np.zeros((2, N * k))
        block[0, i * k], block[1, i * k + 1] = 1 / SIGMA_Q, 1 / (SIGMA_QD * DT)
        rows.append(block if qd is not None else block[:1])
        right.append(
            np.array([q[i] / SIGMA_Q, 0.0 if qd is None else qd[i] / SIGMA_QD])[: len(rows[-1])]
        )
    A, b = np.concatenate(rows), np.concatenate(right)
    orthogonal, R = np.linalg.qr(A)
    inverse = np.linalg.inv(R)
    scale = DT ** -np.arange(k, dtype=float)
    x = (inverse @ (orthogonal.T @ b)).reshape(N, k) * scale
    P = np.stack(
        [(inverse @ inverse.T)[i * k : (i + 1) * k, i * k : (i + 1) * k] for i in range(N)]
    )
    return x, P * np.outer(scale, scale)


@pytest.mark.parametrize("velocity", [False, True])
@pytest.mark.parametrize("even", [True, False])
@pytest.mark.parametrize("order", [3, 4])
def test_smoothed_is_least_squares_over_all_states_at_once(
    order: int, even: bool, velocity: bool, rng: np.random.Generator
) -> None:
    t, q, qd = data(rng, 200, even)
    noise = Noise(
        order,
        np.array([INTENSITY[order]]),
        np.array([SIGMA_Q]),
        np.array([SIGMA_QD if velocity else np.inf]),
    )
    # so that constant gains are what is compared where the step is constant
    assert steady(noise, 0, DT).memory < len(t)
    x, P = Smoother(noise, DT).states(t, q[:, None], qd[:, None] if velocity else None)
    x_all, P_all = all_at_once(t, q, qd if velocity else None, order)
    sigma = np.sqrt(np.einsum("...ii->...i", P_all))[:, :3]
    np.testing.assert_allclose((x[:, 0] - x_all[:, :3]) / sigma, 0, atol=1e-6)
    np.testing.assert_allclose(
        (P[:, 0] - P_all[:, :3, :3]) / (sigma[:, :, None] * sigma[:, None, :]), 0, atol=1e-6
    )


@pytest.mark.parametrize("order", [3, 4])
def test_smoothed_is_the_textbook_recursion(order: int, rng: np.random.Generator) -> None:
    """Kalman 1960 forward, Rauch-Tung-Striebel 1965 backward, from an almost unknown start."""
    t, q, _ = data(rng, 300, True)
    F, Q, H = (
        transition(1.0, order),
        INTENSITY[order] * DT ** (2 * order - 1) * diffusion(1.0, order),
        np.eye(1, order),
    )
    x, P = np.zeros(order), 0.1 * np.eye(order)
    forward = []
    for z in q:
        before = (x, P) if not forward else (F @ x, F @ P @ F.T + Q)
        K = before[1] @ H.T / (H @ before[1] @ H.T + SIGMA_Q**2)
        J = np.eye(order) - K @ H
        x, P = before[0] + K[:, 0] * (z - before[0][0]), J @ before[1] @ J.T + SIGMA_Q**2 * K @ K.T
        forward.append((before, (x, P)))
    smoothed = [(x, P)]
    for (_, (x_f, P_f)), (after, _) in zip(forward[-2::-1], forward[:0:-1], strict=True):
        G = P_f @ F.T @ np.linalg.inv(after[1])
        x_s, P_s = smoothed[-1]
        smoothed.append((x_f + G @ (x_s - after[0]), P_f + G @ (P_s - after[1]) @ G.T))
    x_book = np.array([x for x, _ in smoothed[::-1]])[:, :3] / DT ** np.arange(3)
    P_book = np.array([P for _, P in smoothed[::-1]])[:, :3, :3] / np.outer(
        DT ** np.arange(3), DT ** np.arange(3)
    )
    noise = Noise(order, np.array([INTENSITY[order]]), np.array([SIGMA_Q]), np.array([np.inf]))
    x_ours, P_ours = Smoother(noise, DT).states(t, q[:, None])
    sigma = np.sqrt(np.einsum("...ii->...i", P_book))
    known = slice(10, None)  # before that the book's prior, small as it is, still shows
    np.testing.assert_allclose(((x_ours[:, 0] - x_book) / sigma)[known], 0, atol=1e-3)
    np.testing.assert_allclose(
        ((P_ours[:, 0] - P_book) / (sigma[:, :, None] * sigma[:, None, :]))[known], 0, atol=1e-4
    )


@pytest.mark.parametrize("information", [[30.0, 0.0], [0.7, 0.3], [1e-3, 40.0]])
@pytest.mark.parametrize("step", [0.03, 0.3, 2.0])
@pytest.mark.parametrize("order", [3, 4])
def test_doubling_solves_the_riccati_equation_as_scipy_does(
    order: int, step: float, information: list[float]
) -> None:
    F, Q = transition(step, order), diffusion(step, order)
    w = np.array(information + [0.0] * (order - 2))
    P = riccati(F, w, Q)
    m = 1 if information[1] == 0 else 2
    expected = solve_discrete_are(F.T, np.eye(order, m), Q, np.diag(1 / w[:m]))
    np.testing.assert_allclose(P, expected, rtol=1e-7, atol=1e-9 * expected.max())
    model = gains(F, Q, w)
    np.testing.assert_allclose(
        np.linalg.inv(model.filtered), np.linalg.inv(expected) + np.diag(w), rtol=1e-6, atol=1e-9
    )


def density(t: np.ndarray, q: np.ndarray, theta: float, order: int) -> float:
    """log of the density of the data without its polynomial part.

    A basis of all contrasts that polynomials of degree < k do not reach.
    """
    N = len(t)
    F = transition(t[:, None] - t[None, :], order)
    states = block_diag(np.zeros((order, order)), *diffusion(np.diff(t), order))
    path = np.zeros((N, N * order))
    for i in range(N):
        for j in range(1, i + 1):
            path[i, j * order : (j + 1) * order] = F[i, j, 0]
    covariance = 10.0**theta * path @ states @ path.T + np.eye(N)
    contrasts = np.linalg.svd(np.vander(t / t[-1], order))[0][:, order:]
    return float(
        multivariate_normal.logpdf(
            contrasts.T @ q, cov=contrasts.T @ covariance @ contrasts, allow_singular=False
        )
    )


@pytest.mark.parametrize("even", [True, False])
@pytest.mark.parametrize("order", [3, 4])
def test_the_likelihood_is_the_density_of_the_data(
    order: int, even: bool, rng: np.random.Generator
) -> None:
    """Up to a constant and to the first samples, on which all else is conditioned.

    So differences between noise levels are compared.
    """
    N = 160
    t = np.arange(float(N)) if even else np.cumsum(rng.uniform(0.6, 1.4, N))
    t = t - t[0]
    q = 30 * np.sin(0.11 * t) + rng.normal(size=N)
    thetas = np.array([-7.0, -5.5, -4.0, -2.5])
    # what the recursion conditions on: the part of the density that belongs to these samples is
    # taken out
    head = order + 1
    exact = np.array(
        [density(t, q, a, order) - density(t[:head], q[:head], a, order) for a in thetas]
    )
    ours = []
    for a in thetas:
        value, variance = negative_log_likelihood_uneven(
            order, np.array([[[a]]]), [t], [q[:, None, None]]
        )
        free = float(value[0, 0] - 0.5 * np.log(variance[0, 0]))  # 0.5 mean log S
        ours.append(-(N - head) * (free + 0.5 * float(variance[0, 0])))
    # the dense covariance has a condition of 1e10
    np.testing.assert_allclose(np.diff(ours), np.diff(exact), rtol=1e-6, atol=1e-3)


@pytest.mark.parametrize("order", [3, 4])
def test_the_steady_likelihood_peaks_where_the_exact_one_does(
    order: int, rng: np.random.Generator
) -> None:
    t = np.arange(600.0)
    q = 300 * np.sin(0.07 * t) + rng.normal(size=600)
    grid = np.arange(-9.0, -1.0, 0.5)
    constant = [negative_log_likelihood(order, [a], q[None, None, :, None])[0][0] for a in grid]
    exact = [
        negative_log_likelihood_uneven(order, np.array([[[a]]]), [t], [q[:, None, None]])[0][0, 0]
        for a in grid
    ]
    assert abs(grid[np.argmin(constant)] - grid[np.argmin(exact)]) <= 0.5
    np.testing.assert_allclose(constant, exact, atol=0.05)
