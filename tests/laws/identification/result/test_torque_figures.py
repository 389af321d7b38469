"""Figures of torque errors."""

from __future__ import annotations

import numpy as np

from steelyard.drawing.figure import Points
from steelyard.identification.figures.torque_figures import error_figure


def test_errors_are_drawn_in_per_cent_where_they_are_positive() -> None:
    figure = error_figure(["a", "b", "c"], [("after", np.array([0.02, 0.5, 0.0]))])
    (points,) = figure.panels[0].of(Points)
    np.testing.assert_allclose(points.x, [2.0, 50.0, np.nan])
