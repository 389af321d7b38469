"""Outputs of many columns.

Long runs of zeros that the C library fills, constants, odd sizes, work that no stack would hold.
"""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.compiler.ir.program import Operand, Program, trace
from steelyard.compiler.render.llvm import loop, zero_runs
from tests.renderings import hosts, ufunc_of


def sparse(size: int, live: dict[int, int]) -> Program:
    """Input k at the columns in `live`, a constant after each, zero elsewhere."""

    def function(x):
        columns = [0.0] * size
        for c, k in live.items():
            columns[c] = x[k] * 2.0
            if c + 1 < size:
                columns[c + 1] = 7.0
        return columns

    return trace("sparse", function, [Operand("x", (3,))], [Operand("z", (size,))])


def expected(x: np.ndarray, size: int, live: dict[int, int]) -> np.ndarray:
    z = np.zeros((len(x), size))
    for c, k in live.items():
        z[:, c] = 2.0 * x[:, k]
        if c + 1 < size:
            z[:, c + 1] = 7.0
    return z


L = zero_runs.LONG
CASES = {
    "nothing but zeros": (3 * L, {}),
    "at the ends": (3 * L + 1, {0: 0, 3 * L: 2}),
    "in the middle": (3 * L, {L + 3: 1}),
    "runs of even and odd length": (5 * L, {L: 0, 2 * L + 1: 1, 3 * L + 4: 2}),
    "a run just long enough": (L + 4, {L + 1: 0}),
    "a run just too short": (L + 2, {L - 1: 0}),
    "no zero": (7, {0: 0, 2: 1, 4: 2, 6: 0}),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("host", hosts().values(), ids=hosts().keys())
def test_zeros_constants_and_values(case: str, host, rng: np.random.Generator) -> None:
    size, live = CASES[case]
    ufunc = ufunc_of(sparse(size, live), host)
    for count in (1, 7, 8, 20):
        x = rng.normal(size=(count, 3))
        out = np.full((count, size), np.nan)
        ufunc(x, out=out)
        np.testing.assert_array_equal(out, expected(x, size, live))
        apart = np.full((count, 2 * size), -1.0)
        ufunc(x, out=apart[:, ::2])
        np.testing.assert_array_equal(apart[:, ::2], expected(x, size, live))
        assert (apart[:, 1::2] == -1.0).all()


def test_more_work_than_the_stack_holds(rng: np.random.Generator) -> None:
    """Buffers of many columns come from the heap.

    The rows here are not packed, so that they are used.
    """
    size, live = 1100, {c: c // 100 % 3 for c in range(0, 1100, 100)}
    program = sparse(size, live)
    assert (
        loop.LoopLayout(program.inputs, program.outputs, 2).work
        < loop.STACK
        < loop.LoopLayout(program.inputs, program.outputs, 8).work
    )
    x = rng.normal(size=(11, 3))
    for host in (host for host in hosts().values() if host.lanes == 8):
        out = np.asfortranarray(np.empty((11, size)))
        ufunc_of(program, host)(x, out=out)
        np.testing.assert_array_equal(out, expected(x, size, live))


def test_long_runs_are_not_code() -> None:
    from steelyard.compiler.render.llvm.module import render

    short, long = (
        len(render(sparse(size, {0: 0, size - 1: 1}), 8, True)) for size in (4 * L, 4000 * L)
    )
    assert long < short + 1000
