"""The C of the planar arm, kept as text: a change of the generator shows in a review.

`pytest --update` rewrites it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import steelyard as sy
from steelyard.c_export.c_module import header, module, source

GOLDEN = Path(__file__).parent / "c_export"


@pytest.mark.parametrize(("kind", "text"), [("h", header), ("c", source)])
def test_the_planar_arm_in_c(kind: str, text, update: bool) -> None:
    robot = sy.load("planar_2r")
    changed = text(module(robot.tree, robot.name, robot.end_effector)).replace(
        sy.__version__, "VERSION"
    )
    path = GOLDEN / f"planar_2r.{kind}"
    if update:
        GOLDEN.mkdir(exist_ok=True)
        path.write_text(changed, encoding="ascii")
    assert changed == path.read_text(encoding="ascii")
