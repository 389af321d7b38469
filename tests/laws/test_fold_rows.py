"""Rows folded into triangular factors: the same information, whatever the order and the portions."""

from __future__ import annotations

import pickle
from copy import deepcopy

import numpy as np
import pytest

from steelyard.compiler.runtime.fold_rows import Triangles


def packed(triangles: Triangles, rng: np.random.Generator, count: int) -> np.ndarray:
    rows = np.zeros((count, triangles.width))
    for columns in triangles.columns:
        rows[:, columns] = rng.normal(size=(count, columns.stop - columns.start))
    return rows


@pytest.mark.parametrize("count", [1, 3, 8, 37])
def test_factors_have_the_information_of_the_rows(count: int) -> None:
    made = Triangles([1, 5, 8, 19])
    rows = packed(made, np.random.default_rng(count), count)
    made.fold(rows.copy())
    for R, columns in zip(made.factors, made.columns, strict=True):
        np.testing.assert_allclose(R.T @ R, rows[:, columns].T @ rows[:, columns], atol=1e-12)
        assert not np.any(np.tril(R, -1))


def test_portions_and_parts_make_no_difference() -> None:
    rng, whole, one_by_one, other = np.random.default_rng(0), Triangles([7, 12]), Triangles([7, 12]), Triangles([7, 12])
    rows = packed(whole, rng, 50)
    whole.fold(rows.copy())
    for k in range(20):
        one_by_one.fold(rows[k : k + 1].copy())
    other.fold(rows[20:].copy())
    kept = one_by_one.copy()
    one_by_one.absorb(other)
    for A, B in zip(whole.factors, one_by_one.factors, strict=True):
        np.testing.assert_allclose(A.T @ A, B.T @ B, atol=1e-12)
    assert not np.allclose(kept.memory, one_by_one.memory), "a copy has factors of its own"
    for twin in (deepcopy(kept), pickle.loads(pickle.dumps(kept))):
        twin.absorb(other)
        np.testing.assert_array_equal(twin.memory, one_by_one.memory)


def test_columns_without_numbers_stay_empty() -> None:
    """A column that is zero in every row must not divide by zero, and structure is kept."""
    made = Triangles([6])
    rows = packed(made, np.random.default_rng(1), 30)
    rows[:, [0, 3]] = 0.0
    made.fold(rows.copy())
    R = made.factors[0]
    assert np.isfinite(R).all()
    assert not R[:, [0, 3]].any()
    np.testing.assert_allclose(R.T @ R, rows[:, :6].T @ rows[:, :6], atol=1e-12)
