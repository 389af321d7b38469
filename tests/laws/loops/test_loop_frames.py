"""Frames of loops: the ways to write one are equal, and what is none is named with the line to
write.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import steelyard as sy
from steelyard.algebra.rotation import from_rpy
from steelyard.algebra.spatial import Pose

POINT, ANGLES = (0.1, -0.2, 0.3), (0.4, 0.5, -0.6)
MATRIX = np.eye(4)
MATRIX[:3, :3], MATRIX[:3, 3] = np.array(from_rpy(ANGLES)), POINT


def loop(a: Any = "link2", b: Any = "base", **more: Any) -> Any:
    return sy.load("planar_2r").with_loop("closure", "weld", a, b, **more).mechanism.loops[-1]


@pytest.mark.parametrize(
    "frame",
    [
        Pose(from_rpy(ANGLES), POINT),
        (POINT, ANGLES),
        [list(POINT), list(ANGLES)],
        {"xyz": POINT, "rpy": ANGLES},
        MATRIX,
        MATRIX.tolist(),
    ],
    ids=["Pose", "tuple", "list", "dict", "matrix", "rows"],
)
def test_frames_may_be_written_in_several_forms(frame: Any) -> None:
    for result in (loop(at_a=frame), loop(("link2", frame))):
        assert result.a == "link2"
        np.testing.assert_allclose(result.at_a.R, from_rpy(ANGLES), atol=1e-15)
        assert result.at_a.p == POINT
        assert result.at_b == Pose()


def test_points_and_dicts_with_a_link() -> None:
    assert (
        loop(at_b=POINT).at_b
        == loop(at_b=np.array(POINT)).at_b
        == loop(b={"link": "base", "xyz": POINT}).at_b
        == Pose(p=POINT)
    )


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"at_a": {"point": POINT}}, "with_loop: at_a is .* at_a=\\(0.1, 0, 0.2\\)"),
        ({"at_b": (1.0, 2.0)}, "with_loop: at_b is .* at_b="),
        ({"at_a": 5.0}, "with_loop: at_a is 5.0"),
        ({"at_a": "here"}, "with_loop: at_a is 'here'"),
        ({"at_a": 2.0 * np.eye(4)}, "with_loop: at_a is"),
        ({"at_a": np.diag([1.0, 1.0, -1.0, 1.0])}, "with_loop: at_a is"),
        ({"a": {"name": "link2"}}, 'with_loop: a is .* a="link1"'),
        ({"b": 3}, "with_loop: b is 3"),
        ({"length": "long"}, "with_loop: length must be a number"),
        ({"ratio": None}, "with_loop: ratio must be a number"),
        ({"residual": 5}, "with_loop: residual is 5"),
    ],
)
def test_what_is_no_frame_is_named(more: dict, message: str) -> None:
    with pytest.raises(sy.CallError, match=message):
        loop(**more)


def test_names_and_kinds_are_texts() -> None:
    for name, kind in ((3, "weld"), ("closure", None)):
        with pytest.raises(sy.CallError, match="expected a text"):
            sy.load("planar_2r").with_loop(name, kind, "link2", "base")  # type: ignore[arg-type]
