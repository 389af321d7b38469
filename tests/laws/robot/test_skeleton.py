"""Skeleton: details of `skeleton`."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot

from steelyard.drawing.skeleton import Skeleton, draw_skeleton


def test_the_cube_around_a_robot_leaves_out_points_that_are_nowhere() -> None:
    """A link of no mass has no centre: some of its coordinates may be numbers all the same."""
    none = np.zeros((0, 3))
    centres = np.array([[1.0, 0.0, 0.0], [np.nan, 50.0, 0.0]])
    skeleton = Skeleton([], none, none, (), np.zeros(0, bool), centres, np.array([1.0, 0.0]), {})
    middle, side = skeleton.corners
    np.testing.assert_allclose(middle, [0.5, 0.0, 0.0])
    assert side == 1.0


def test_a_robot_fills_its_picture() -> None:
    """A twentieth of its size is left on either side."""
    none = np.zeros((0, 3))
    line = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 2.0]])
    figure = draw_skeleton(
        [Skeleton([line], none, none, (), np.zeros(0, bool), none, np.zeros(0), {})]
    )
    (axes,) = figure.axes
    low, high = axes.get_zlim()  # type: ignore[attr-defined]
    pyplot.close(figure)
    assert high - low == pytest.approx(2.2)
    assert low == pytest.approx(-0.1)
