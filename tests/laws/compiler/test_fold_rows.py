"""Samples folded into triangular factors.

The same information, whatever the order, the portions and the threads.
"""

from __future__ import annotations

import pickle
from copy import deepcopy

import numpy as np
import pytest

from steelyard.compiler.runtime.fold_rows import Triangles

REACH = ((2,), (0, 1, 3, 4), (1, 2, 3, 4, 5, 6, 7), tuple(range(18)))
SMALL = (tuple(range(6)), tuple(range(3, 14)))


def samples(
    count: int, reach: tuple[tuple[int, ...], ...] = REACH, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(count, len(reach), 18)), rng.normal(size=(count, len(reach)))


def rows_of(
    Y: np.ndarray, tau: np.ndarray, joint: int, reach: tuple[tuple[int, ...], ...] = REACH
) -> np.ndarray:
    return np.column_stack([Y[:, joint][:, reach[joint]], tau[:, joint]])


@pytest.mark.parametrize("count", [1, 3, 8, 12, 37, 500])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_factors_have_the_information_of_the_rows(count: int, threads: int) -> None:
    result, (Y, tau) = Triangles(REACH), samples(count)
    result.fold(Y, tau, threads=threads)
    for j, R in enumerate(result.factors):
        x = rows_of(Y, tau, j)
        np.testing.assert_allclose(R.T @ R, x.T @ x, rtol=1e-12, atol=1e-12)
        assert not np.any(np.tril(R, -1))


def test_threads_do_not_change_a_bit() -> None:
    Y, tau = samples(500)
    results = [Triangles(REACH) for _ in range(3)]
    for threads, each in enumerate(results, 1):
        each.fold(Y, tau, threads=threads)
    assert np.array_equal(results[0].memory, results[1].memory)
    assert np.array_equal(results[0].memory, results[2].memory)


def test_condition_of_ten_millions_costs_no_digits() -> None:
    """Against one factorisation of everything, columns scaled to one."""
    rng = np.random.default_rng(2)
    Y, tau = samples(20000)
    mixed = (
        Y[:, 3]
        @ np.linalg.qr(rng.normal(size=(18, 18)))[0]
        @ np.diag(np.geomspace(1.0, 1e-7, 18))
        @ np.linalg.qr(rng.normal(size=(18, 18)))[0]
    )
    Y[:, 3] = mixed
    triangles = Triangles(REACH)
    for start in range(0, len(Y), 1024):
        part = Triangles(REACH)
        part.fold(Y[start : start + 1024], tau[start : start + 1024])
        triangles.absorb(part.factors)
    x = rows_of(Y, tau, 3)
    assert 5e6 < np.linalg.cond(x[:, :-1] / np.linalg.norm(x[:, :-1], axis=0)) < 5e7
    size = np.linalg.norm(x, axis=0)
    expected = np.linalg.qr(x / size, mode="r")
    result = triangles.factors[3] / size
    np.testing.assert_allclose(np.abs(result), np.abs(expected), atol=1e-10)


def test_weights_multiply_rows_and_zero_leaves_out_whatever_is_there() -> None:
    Y, tau = samples(60)
    weights = np.random.default_rng(3).uniform(0.5, 2.0, tau.shape)
    weights[10:20, 2] = 0.0
    Y[12, 2], tau[13, 2] = np.nan, np.inf
    triangles = Triangles(REACH)
    triangles.fold(Y, tau, weights)
    for j, R in enumerate(triangles.factors):
        used = weights[:, j] > 0
        x = rows_of(Y[used], tau[used], j) * weights[used, j][:, None]
        np.testing.assert_allclose(R.T @ R, x.T @ x, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("order", ["reversed", "every second", "Fortran", "float32", "rows apart"])
def test_memory_may_be_arranged_in_any_way(order: str) -> None:
    Y, tau = samples(80)
    if order == "reversed":
        arguments = Y[::-1].copy()[::-1], tau[::-1].copy()[::-1]
    elif order == "every second":
        arguments = np.repeat(Y, 2, axis=0)[::2], np.repeat(tau, 2, axis=0)[::2]
    elif order == "Fortran":
        arguments = np.asfortranarray(Y), np.asfortranarray(tau)
    elif order == "float32":
        Y, tau = (x.astype(np.float32).astype(float) for x in (Y, tau))
        arguments = Y.astype(np.float32), tau.astype(np.float32)
    else:
        both = np.concatenate([Y.reshape(len(Y), -1), tau], axis=1)
        arguments = (
            both[:, : 18 * len(REACH)].reshape(len(Y), len(REACH), 18),
            both[:, 18 * len(REACH) :],
        )
    plain, result = Triangles(REACH), Triangles(REACH)
    plain.fold(Y, tau)
    result.fold(*arguments)
    np.testing.assert_array_equal(result.memory, plain.memory)
    joined = Triangles(REACH)
    joined.fold_joined(
        np.concatenate([Y.reshape(len(Y), -1), tau, np.ones((len(Y), 3))], axis=1),
        18,
        np.ones(tau.shape),
    )
    np.testing.assert_array_equal(joined.memory, plain.memory)


def test_portions_and_parts_make_no_difference() -> None:
    whole, one_by_one, other = Triangles(SMALL), Triangles(SMALL), Triangles(SMALL)
    Y, tau = samples(50, SMALL)
    whole.fold(Y, tau)
    for k in range(20):
        one_by_one.fold(Y[k : k + 1], tau[k : k + 1])
    other.fold(Y[20:], tau[20:])
    selected = one_by_one.copy()
    one_by_one.absorb(other.factors)
    for A, B in zip(whole.factors, one_by_one.factors, strict=True):
        np.testing.assert_allclose(A.T @ A, B.T @ B, atol=1e-12)
    assert not np.allclose(selected.memory, one_by_one.memory), "a copy has its own factors"
    for twin in (deepcopy(selected), pickle.loads(pickle.dumps(selected))):
        twin.absorb(other.factors)
        np.testing.assert_array_equal(twin.memory, one_by_one.memory)


def test_columns_without_numbers_stay_empty() -> None:
    """A column that is zero in every row must not divide by zero, and structure is kept."""
    triangles = Triangles((tuple(range(5)),))
    Y, tau = samples(30, (tuple(range(5)),), seed=1)
    Y[:, :, [0, 3]] = 0.0
    triangles.fold(Y, tau)
    R = triangles.factors[0]
    assert np.isfinite(R).all()
    assert not R[:, [0, 3]].any()
    x = rows_of(Y, tau, 0, (tuple(range(5)),))
    np.testing.assert_allclose(R.T @ R, x.T @ x, atol=1e-12)


@pytest.mark.parametrize("columns", [1, 7, 8, 9, 16, 17, 39])
@pytest.mark.parametrize("count", [5, 63, 64, 65, 130, 1000])
def test_ill_conditioned_rows_fold_like_one_qr(columns: int, count: int) -> None:
    """Blocks of columns that are whole, partial or alone, panels likewise.

    The solution is that of all rows at a condition of 1e7.
    """
    rng = np.random.default_rng(columns)
    count = max(count, columns + 1)
    left, right = (
        np.linalg.qr(rng.normal(size=(rows, columns + 1)))[0] for rows in (count, columns + 1)
    )
    X = (left * np.logspace(0, -7, columns + 1)) @ right
    triangles = Triangles((tuple(range(columns)),))
    for part in (slice(count), slice(count // 3)):
        triangles.fold(X[part, None, :columns], X[part, None, columns])
    R, every = triangles.factors[0], np.concatenate([X, X[: count // 3]])
    assert not np.any(np.tril(R, -1))
    np.testing.assert_allclose(
        R.T @ R, every.T @ every, rtol=0, atol=1e-14 * np.max(every.T @ every)
    )
    expected = np.linalg.lstsq(every[:, :columns], every[:, columns], rcond=None)[0]
    np.testing.assert_allclose(
        np.linalg.solve(R[:-1, :-1], R[:-1, -1]),
        expected,
        rtol=0,
        atol=1e-8 * np.linalg.norm(expected),
    )
