"""A program that runs several times on its own results equals as many calls, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.algebra.scalar import cos, sin
from steelyard.compiler.ir.program import Operand, Program, repeat, trace
from tests.renderings import hosts, ufunc_of


def traced() -> Program:
    """x and y change places and turn.

    Z stays as it is, c is a constant, w has the name of an input but is not carried.
    """

    def step(h, x, y, w, c, z):
        one = [h * (sin(b) - 2.0) + a * cos(b + h * a) for a, b in zip(x, y, strict=True)]
        two = [a * 1.5 * cos(sin(b) * 3.0 + w) for a, b in zip(x, y, strict=True)]
        return two, one, w + 1.0, [4.0, 5.0], z

    shapes = {"h": (), "x": (3,), "y": (3,), "w": (), "c": (2,), "z": (2,)}
    operands = {name: Operand(name, shape) for name, shape in shapes.items()}
    return trace("step", step, list(operands.values()), [operands[name] for name in "xywcz"])


@pytest.mark.parametrize("host", hosts().values(), ids=hosts().keys())
def test_as_often_as_it_is_told(host, rng: np.random.Generator) -> None:
    program = traced()
    once, often = ufunc_of(program, host), ufunc_of(repeat(program, ["x", "y", "c", "z"]), host)
    state = [0.1, *(rng.uniform(-3, 3, (11, *operand.shape)) for operand in program.inputs[1:])]
    state[1][4] = 1e7, -3e6, 0.5  # beyond what sines and cosines reduce by themselves
    for count in (0.0, 1.0, 2.0, 5.0):
        h, x, y, w, c, z = state
        for _ in range(max(int(count), 1)):
            x, y, after, c, z = once(h, x, y, w, c, z)
        for got, expected in zip(often(*state, count), (x, y, after, c, z), strict=True):
            np.testing.assert_array_equal(got, expected)


def test_what_is_carried_is_part_of_the_digest() -> None:
    program = traced()
    digests = {
        program.digest,
        *(repeat(program, names).digest for names in (["x"], ["x", "y"], ["y"])),
    }
    assert len(digests) == 4
