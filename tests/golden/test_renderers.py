"""The C and the NumPy source of one algorithm, kept as text: what changes them shows in a review.

`pytest --update` rewrites them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import steelyard as sy
from steelyard.compiler.ir.program import Program
from steelyard.compiler.render import c99, numpy_source
from steelyard.kernels import program

GOLDEN = Path(__file__).parent / "renderers"


def in_c(result: Program) -> str:
    return f"{c99.comment(result)}\n{c99.render(result)}"


@pytest.mark.parametrize(("ending", "render"), [("c", in_c), ("py.txt", numpy_source.render)])
def test_the_planar_arm(ending: str, render: Callable[[Program], str], update: bool) -> None:
    result = render(program(sy.load("planar_2r").tree, "inverse_dynamics"))
    path = GOLDEN / f"planar_2r_inverse_dynamics.{ending}"
    if update:
        GOLDEN.mkdir(exist_ok=True)
        path.write_text(result, encoding="ascii")
    assert result == path.read_text(encoding="ascii")
