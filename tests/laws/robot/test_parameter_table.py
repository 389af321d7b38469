"""Parameter table: details of `parameter_table`."""

from __future__ import annotations

import numpy as np

from steelyard.drawing.numbers import with_uncertainty
from steelyard.drawing.parameter_table import parameter_table


def test_a_parameter_is_given_with_two_standard_deviations() -> None:
    result = parameter_table(
        "", ["a", "b"], np.array([10.0, -2.0]), np.array([0.15, 0.004]), ["a", "b"]
    )
    assert [row[1:3] for row in result.rows] == [
        with_uncertainty(10.0, 0.3),
        with_uncertainty(-2.0, 0.008),
    ]
    assert [row[3] for row in result.rows] == ["1.5", "0.2"]
