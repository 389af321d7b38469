"""Noise of positions in the regressor.

Total least squares in units of the noise, and maximum likelihood.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg

import steelyard as sy
from steelyard.errors import CallError
from steelyard.identification import TLS, WLS, MaximumLikelihood, Preparation, Sequential
from steelyard.identification.estimators.errors_in_variables.maximum_likelihood import (
    whiten,
    whitened,
)
from steelyard.identification.estimators.errors_in_variables.position_noise import (
    PositionNoise,
    state_errors,
)
from steelyard.identification.estimators.errors_in_variables.total_least_squares import compensated
from steelyard.identification.estimators.least_squares import least_squares
from steelyard.identification.model.linear_model import Model, build_model
from steelyard.identification.model.problem import Problem, merged
from steelyard.identification.observations.prepare import prepare
from tests.motions import recorded, rubbing


@pytest.fixture(scope="module")
def problem():
    true = rubbing(sy.load("spatial_3r"))
    log = recorded(true, noise=0.1)
    noisy = log.replace(
        q=log.q + 1e-3 * np.random.default_rng(4).normal(size=log.q.shape), qd=None, qdd=None
    )
    return Problem(build_model(true), (prepare(true, noisy, Preparation()),), 2)


def equations(rng, rows, sigma_y, sigma_z):
    """Y x = z with errors of known size in columns of very different size, as a factor [R z]."""
    scale, x = np.array([1.0, 1e3, 1e-3]), np.array([2.0, -3e-3, 5e3])
    Y = rng.normal(size=(rows, 3)) * scale
    z = Y @ x + sigma_z * rng.normal(size=rows)
    noisy = Y + sigma_y * scale * rng.normal(size=Y.shape)
    return (
        np.linalg.qr(np.column_stack([noisy, z]), mode="r"),
        np.sqrt(rows) * sigma_y * np.diag(scale),
        x,
    )


def test_total_least_squares_is_the_smallest_generalised_eigenvector():
    triangle, N, _ = equations(np.random.default_rng(0), 400, 0.2, 1.0)
    result = compensated(triangle, N, np.zeros(3), 400.0)
    cost = scipy.linalg.block_diag(N.T @ N, 400.0)
    values, vectors = scipy.linalg.eigh(triangle.T @ triangle, cost)
    assert values[0] < 1.0  # the share of known errors is not exceeded
    assert np.allclose(result, -vectors[:-1, 0] / vectors[-1, 0], rtol=1e-8)


def test_errors_of_the_columns_no_longer_shrink_the_result():
    triangle, N, x = equations(np.random.default_rng(1), 40_000, 0.5, 1.0)
    plain, total = (
        least_squares(triangle, np.zeros(3)),
        compensated(triangle, N, np.zeros(3), 40_000.0),
    )
    assert np.allclose(plain / x, 0.8, atol=0.02)  # 1 / (1 + 0.5^2)
    assert np.allclose(total / x, 1.0, atol=0.02)


def test_sizes_of_columns_do_not_matter():
    triangle, N, _ = equations(np.random.default_rng(2), 400, 0.2, 1.0)
    scale = np.array([1e-4, 1.0, 1e5])
    other = compensated(triangle * np.append(scale, 1.0), N * scale, np.zeros(3), 400.0)
    assert np.allclose(other * scale, compensated(triangle, N, np.zeros(3), 400.0), rtol=1e-9)


@pytest.mark.parametrize("estimator", [TLS(), MaximumLikelihood()], ids=lambda e: e.name)
def test_without_noise_of_positions_both_are_weighted_least_squares(problem, estimator):
    exact = replace(problem, samples=tuple(replace(s, errors=None) for s in problem.samples))
    expected = WLS().fit(exact).base
    assert np.linalg.norm(estimator.fit(exact).base - expected) < 1e-3 * np.linalg.norm(expected)
    assert np.linalg.norm(estimator.fit(problem).base - expected) > 1e-7 * np.linalg.norm(expected)


def test_the_covariance_of_torques_is_that_of_noisy_states(problem):
    rng, model = np.random.default_rng(0), problem.model
    sigma = np.array([1e-4, 3e-4, 2e-3])
    C = np.broadcast_to(np.diag(sigma**2), (3, 3, 3))
    states = tuple(rng.normal(size=(4, 3)) for _ in range(3))
    noisy = [x + s * rng.normal(size=(20_000, 4, 3)) for x, s in zip(states, sigma, strict=True)]
    outcome = model.robot.inverse_dynamics(
        *noisy, parameters=model.start
    ) - model.robot.inverse_dynamics(*states, parameters=model.start)
    expected = np.einsum("rta,rtb->tab", outcome, outcome) / len(outcome)
    result = PositionNoise(model, model.start).covariance(states, C)
    assert np.allclose(result, expected, atol=0.04 * np.abs(expected).max())


def test_a_step_of_maximum_likelihood_is_generalised_least_squares(problem):
    errors = [state_errors(s, problem.decimate) for s in problem.samples]
    parts, _, share = whitened(problem, problem.prior, errors)
    block = next(iter(problem.blocks()))
    selected = problem.samples[0].part(slice(None, None, 2))
    S = PositionNoise(problem.model, problem.model.nearest(problem.prior)).covariance(
        selected.states, errors[0]
    )
    sigma2 = share * 1.0
    L = np.linalg.cholesky(S + np.diag(sigma2))
    rows = whiten(block.Y, S.copy(), sigma2, None)
    assert np.allclose(L @ rows, block.Y, atol=1e-9 * np.abs(block.Y).max())
    assert np.all((share > 0) & (share <= 1))
    assert merged(parts).counts[0] == block.tau.size


def test_the_parts_of_maximum_likelihood_are_consecutive_and_alike(problem):
    """Its uncertainty is what the parts differ by.

    Each has a like number of rows, in the order of time.
    """
    errors = [state_errors(s, problem.decimate) for s in problem.samples]
    parts, _, _ = whitened(problem, problem.prior, errors)
    counts = [part.counts[0] for part in parts]
    assert max(counts) - min(counts) <= problem.model.n
    assert sum(counts) == problem.N * problem.model.n


def test_maximum_likelihood_trusts_samples_that_noise_harms_least():
    """Positions of noise 1e-3 rad and exact torques.

    The error of the torque is smaller than with weighted least squares.
    """
    true = rubbing(sy.load("spatial_3r"))
    model, other, errors = build_model(true), recorded(true, seed=20), {"ml": 0.0, "wls": 0.0}
    Y = model.rows(other.q, other.qd, other.qdd)
    for seed in range(3):
        log = recorded(true, seed=seed, base=0.0437)
        noisy = log.replace(
            q=log.q + 1e-3 * np.random.default_rng(seed).normal(size=log.q.shape), qd=None, qdd=None
        )
        problem = Problem(model, (prepare(true, noisy, Preparation()),), 2)
        for estimator in (WLS(), MaximumLikelihood()):
            errors[estimator.name] += (
                np.linalg.norm(Y @ estimator.fit(problem).base - other.tau) ** 2
            )
    assert errors["ml"] < 0.5 * errors["wls"]


def test_sequential_identifies_the_outer_link_from_its_own_joint_alone(problem):
    """As in the lecture: from the outer link to the base.

    Torques of joints nearer to the base change nothing further out.
    """
    result = Sequential().fit(problem)
    spoilt = replace(
        problem,
        samples=tuple(
            replace(s, tau=s.tau + [[5.0, 3.0, 0.0]] * np.sin(s.t)[:, None])
            for s in problem.samples
        ),
    )
    rows = problem.total.rows(2)
    alone = np.linalg.norm(rows[:, :-1] @ (Sequential().fit(spoilt).base - result.base))
    assert alone < 1e-6 * np.linalg.norm(rows[:, -1])
    own = np.linalg.lstsq(rows[:, :-1], rows[:, -1], rcond=1e-10)[0]
    assert np.allclose(
        rows[:, :-1] @ result.base, rows[:, :-1] @ own, atol=1e-6 * np.linalg.norm(rows[:, -1])
    )


@pytest.mark.parametrize(
    "wrong", [lambda: TLS(0), lambda: MaximumLikelihood(2.5), lambda: MaximumLikelihood("x")]
)
def test_wrong_options_are_refused(wrong):
    with pytest.raises(CallError, match="iterations"):
        wrong()


def test_a_robot_with_loops_is_refused():
    from steelyard.identification.observations.drive_torques import DRIVE_TORQUES

    true = sy.load("four_bar")
    with pytest.raises(
        CallError, match=r"'ml' is for torques of the joints of a robot without loops"
    ):
        MaximumLikelihood().fit(Problem(Model(true, observation=DRIVE_TORQUES), ()))
