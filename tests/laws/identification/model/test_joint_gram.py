"""Gram matrices joint by joint equal Gram matrices of dense columns; gravity of base parameters."""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy
from steelyard.identification.model.joint_gram import JointGram, best_of_each
from steelyard.identification.model.linear_model import build_model
from steelyard.identification.model.model_options import ModelOptions
from steelyard.identification.model.model_thresholds import THRESHOLDS
from tests import zoo

SIZE, SUPPORT = 7, (np.array([0, 2, 3]), np.array([1, 2, 5, 6]), np.array([4]))


def rows_of(rng: np.random.Generator, N: int = 9) -> list[np.ndarray]:
    """Rows [A_j tau_j] of three joints."""
    return [rng.normal(size=(N, len(support) + 1)) for support in SUPPORT]


def dense(rows: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The columns (n, N, K) and torques (n, N) of all joints over all unknowns."""
    A = np.zeros((3, len(rows[0]), SIZE))
    for each, support, x in zip(A, SUPPORT, rows, strict=True):
        each[:, support] = x[:, :-1]
    return A, np.array([x[:, -1] for x in rows])


@pytest.mark.parametrize("entries", [0, 1 << 30])
def test_sums_over_joints(
    entries: int, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(vars(THRESHOLDS), "dense_entries", entries)
    rows = rows_of(rng)
    A, tau = dense(rows)
    normal = np.einsum("jik,jil->jkl", A, A)
    gram = JointGram.fold(SIZE, SUPPORT, rows, np.full(3, 9.0))
    weights, u = np.array([2.0, 0.0, 0.5]), rng.normal(size=SIZE)
    close = {"rtol": 1e-13, "atol": 1e-13}
    np.testing.assert_allclose(
        gram.weighted_normal(weights), np.einsum("j,jkl->kl", weights, normal), **close
    )
    np.testing.assert_allclose(gram.diagonal, np.einsum("jkk->jk", normal), **close)
    np.testing.assert_allclose(gram.quadratic(u), np.einsum("k,jkl,l->j", u, normal, u), rtol=1e-12)
    np.testing.assert_allclose(gram.rhs, np.einsum("jik,ji->jk", A, tau), **close)
    squares = np.sum((tau - A @ u) ** 2, axis=1)
    np.testing.assert_allclose(gram.residual_squares(u), squares, rtol=1e-12)
    np.testing.assert_allclose(gram.residual_products(u), squares, rtol=1e-12)
    half = JointGram.fold(SIZE, SUPPORT, [np.sqrt(0.5) * x for x in rows], np.full(3, 4.5))
    for difference in (gram - half, JointGram.zero(SIZE, SUPPORT) + half):
        np.testing.assert_allclose(
            difference.weighted_normal(weights), half.weighted_normal(weights), **close
        )
        np.testing.assert_array_equal(difference.counts, np.full(3, 4.5))


def test_the_gram_matrix_of_all_joints(rng: np.random.Generator) -> None:
    rows, weights, size = rows_of(rng), np.array([2.0, 3.0, 0.5]), 4
    A, tau = dense(rows)
    extended = np.concatenate([A[:, :, :size], tau[:, :, None]], axis=2)
    expected = np.einsum("j,jik,jil->kl", weights, extended, extended)
    pooled = JointGram.fold(SIZE, SUPPORT, rows, np.full(3, 9.0)).pooled(weights, size)
    np.testing.assert_allclose(pooled, expected, rtol=1e-13, atol=1e-13)


def test_lagged_products_of_residuals(rng: np.random.Generator) -> None:
    rows, u = rows_of(rng), rng.normal(size=SIZE)
    A, tau = dense(rows)
    e = tau - A @ u
    lagged = JointGram.fold_lagged(SIZE, SUPPORT, rows, np.full(3, 9.0))
    np.testing.assert_allclose(
        lagged.residual_products(u), np.sum(e[:, :-1] * e[:, 1:], axis=1), rtol=1e-11
    )


def test_the_posterior_is_ridge_regression(rng: np.random.Generator) -> None:
    rows, weights = rows_of(rng), np.array([2.0, 3.0, 0.5])
    A, tau = dense(rows)
    prior = rng.uniform(0.5, 2.0, SIZE)
    H = np.einsum("j,jik,jil->kl", weights, A, A) + np.diag(prior)
    z = np.einsum("j,jik,ji->k", weights, A, tau)
    gram = JointGram.fold(SIZE, SUPPORT, rows, np.full(3, 9.0))
    mean, root, log_det = gram.posterior(weights, prior)
    np.testing.assert_allclose(mean, np.linalg.solve(H, z), rtol=1e-8)
    np.testing.assert_allclose(gram.posterior_mean(weights, prior), mean, rtol=1e-12)
    np.testing.assert_allclose(root.T @ root, np.linalg.inv(H), rtol=1e-8, atol=1e-9)
    assert log_det == pytest.approx(np.linalg.slogdet(H)[1] - np.sum(np.log(prior)), rel=1e-8)


def test_another_torque_of_the_same_columns(rng: np.random.Generator) -> None:
    rows = rows_of(rng)
    A, _ = dense(rows)
    tau, u = rng.normal(size=(3, 9)), rng.normal(size=SIZE)
    normal = [x[:, :-1].T @ x[:, :-1] for x in rows]
    gram = JointGram.of_normal(SIZE, SUPPORT, normal, np.full(3, 9.0)).with_torque(
        [x[:, :-1].T @ y for x, y in zip(rows, tau, strict=True)], np.sum(tau**2, axis=1)
    )
    np.testing.assert_allclose(
        gram.residual_squares(u), np.sum((tau - A @ u) ** 2, axis=1), rtol=1e-11
    )


def test_a_greedy_step_takes_the_best_accepted_candidate_of_each_group() -> None:
    scores = {"a1": 3.0, "a2": 5.0, "b1": 4.0, "b2": 4.0, "c1": 9.0}
    tried = []

    def accept(name: str) -> str | None:
        tried.append(name)
        return None if name in ("a2", "c1") else name.upper()

    assert best_of_each(scores, scores.__getitem__, lambda name: name[0], accept) == ["B1", "A1"]
    assert tried == ["c1", "a2", "b1", "a1"]


@pytest.mark.parametrize("name", ["puma560", "torso"])
def test_the_gravity_of_base_parameters(name: str, rng: np.random.Generator) -> None:
    """With friction beside the links, and with a moment of mass that is held."""
    robot = sy.load(name) if name in sy.robots(installed=False) else zoo.robot(name)
    q = rng.normal(size=(5, robot.n))
    second = 11  # m cx of the second link
    for more in (0.0, 0.3):
        pi = robot.parameters.copy()
        pi[second] += more
        model = build_model(
            robot,
            ModelOptions(hold={robot.parameter_names[second]: float(pi[second])} if more else ()),
        )
        assert bool(model.held) == bool(more)
        expected = robot.gravity_torque(q, parameters=pi)
        np.testing.assert_allclose(
            model.gravity_torque(model.base.values(model.start), q), expected, rtol=1e-9, atol=1e-9
        )
