"""Loop elements: details of `loop_elements`."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from steelyard.mechanism.formats.urdf.loop_elements import _numbers, _with_z


@pytest.mark.parametrize(
    "axis", [(0.0, 0.0, 2.0), (0.0, 3.0, 0.0), (1.0, 0.0, 0.0), (0.3, -0.2, 0.9), (0.1, 0.99, 0.0)]
)
def test_a_loop_has_its_axis_as_z_of_a_rotation(axis: tuple[float, float, float]) -> None:
    R = np.array(_with_z(axis, "revolute"))
    np.testing.assert_allclose(R[:, 2], np.array(axis) / np.linalg.norm(axis), atol=1e-12)
    np.testing.assert_allclose(R.T @ R, np.eye(3), atol=1e-12)
    assert np.linalg.det(R) == pytest.approx(1.0)
    np.testing.assert_array_equal(_with_z(axis, "weld"), np.eye(3))


@pytest.mark.parametrize(
    ("text", "good"),
    [("0 1e3 -2", True), ("0 nan 0", False), ("0 0 1e99", False), ("0 0", False), ("a b c", False)],
)
def test_numbers_of_a_loop_are_numbers_all_of_them(text: str, good: bool) -> None:
    problems: list[str] = []
    element: Any = SimpleNamespace(line=4, tag="loop")
    result = _numbers(text, 3, element, "xyz", problems, "arm.urdf")
    assert result == ([0.0, 1e3, -2.0] if good else [0.0] * 3)
    assert bool(problems) is not good
