"""Interior point: details of `interior_point`."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.experiments.excitation.interior_point import _solve, _updated


def test_a_step_of_the_search_is_finite_in_every_direction() -> None:
    """Where a direction has next to no curvature the gradient itself is the step."""
    assert np.isfinite(_solve(np.diag([1e-320, 1e-320]), np.array([1.0, 0.0]))).all()
    np.testing.assert_allclose(_solve(np.diag([2.0, 4.0]), np.array([1.0, 1.0])), [0.5, 0.25])


def test_an_update_of_the_curvature_is_that_of_bfgs_or_as_much_of_it_as_stays_positive() -> None:
    """Nocedal and Wright, Numerical Optimization, 2006, procedure 18.2.

    Where s y is too small, r s is a fifth of s B s.
    """
    rng = np.random.default_rng(3)
    half = rng.normal(size=(4, 4))
    B, s = half @ half.T + np.eye(4), rng.normal(size=4)
    right = B @ s + 0.1 * s
    result = _updated(B, s, right)
    np.testing.assert_allclose(result @ s, right, rtol=1e-9)
    damped = _updated(B, s, -right)
    assert s @ damped @ s == pytest.approx(0.2 * s @ B @ s)
    assert np.linalg.eigvalsh(damped).min() > 0
