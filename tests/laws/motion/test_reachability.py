"""Reachability: details of `reachability`."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.motion.trajectories.reachability import (
    Constraints,
    Lines,
    bounding_lines,
    speed_ranges,
)


def test_speeds_between_bounds_that_cross() -> None:
    """u between -1 + 2 x and 3 - 2 x, and x at least 0.25 by a line alone: x from 0.25 to 1."""
    derivative, low, high = (
        np.array([[2.0, -2.0]]),
        np.array([[-1.0, -9.0]]),
        np.array([[9.0, 3.0]]),
    )
    lines = Lines(derivative, low, high, np.array([0.25]), np.array([9.0]))
    assert np.ravel(speed_ranges(lines)) == pytest.approx((0.25, 1.0))
    crossed = lines._replace(gradient=np.zeros((1, 2)), high=np.array([[9.0, -2.0]]))
    least, largest = speed_ranges(crossed)
    assert largest < least, "parallel bounds that contradict each other"


def test_a_coefficient_that_is_rounding_beside_the_others_bounds_no_acceleration() -> None:
    a, b = np.tile([1e3, 1e-10], (2, 1)), np.tile([0.0, 4.0], (2, 1))
    lines = bounding_lines(
        Constraints(a, b, np.zeros((2, 2)), np.ones((2, 2)), np.ones(2), np.ones((1, 2))),
        np.array([0.0, 1e-12]),
        np.array([0]),
    )
    np.testing.assert_array_equal(np.isinf(lines.high), [[False, True, False, True]])
    np.testing.assert_allclose(lines.high[0, ::2], 1e-3)
    np.testing.assert_allclose(lines.low[0, ::2], -1e-3)
    np.testing.assert_allclose((lines.least[0], lines.largest[0]), (0.0, 0.25))
