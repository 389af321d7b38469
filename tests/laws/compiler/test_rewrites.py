"""The rewrites: every rule of the table keeps the value and saves work, on constants, on known
forms and on any expression.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from steelyard.algebra.scalar import where
from steelyard.compiler.ir.graph import Graph
from steelyard.compiler.ir.operations import OPERATIONS
from steelyard.compiler.ir.program import Operand, Program, trace
from tests.expressions import LEAVES, VALUES, Rounded, build, lift, trees
from tests.interpret import run

Q = math.pi / 2

# what is written: (as it is traced, how many nodes with an operation are left)
REWRITES = {
    "x + 0": (lambda x, y: x + 0.0, 0),
    "0 + x": (lambda x, y: 0.0 + x, 0),
    "x + x": (lambda x, y: x + x, 1),
    "x + -y": (lambda x, y: x + -y, 1),
    "-x + y": (lambda x, y: -x + y, 1),
    "x - 0": (lambda x, y: x - 0.0, 0),
    "0 - x": (lambda x, y: 0.0 - x, 1),
    "x - x": (lambda x, y: x - x, 0),
    "x - -y": (lambda x, y: x - -y, 1),
    "-x - y": (lambda x, y: -x - y, 2),
    "y - x beside x - y": (lambda x, y: (x - y) * (y - x), 3),
    "-(-x)": (lambda x, y: -1.0 * (-x), 0),
    "-(3 x)": (lambda x, y: -(3.0 * x), 1),
    "2 x + 3 x": (lambda x, y: 2.0 * x + 3.0 * x, 1),
    "x + 3 x": (lambda x, y: x + 3.0 * x, 1),
    "3 x - x": (lambda x, y: 3.0 * x - x, 1),
    "3 x - 2 x": (lambda x, y: 3.0 * x - 2.0 * x, 0),
    "3 x - 3 x": (lambda x, y: 3.0 * x - x * 3.0, 0),
    "x y + 2 x y": (lambda x, y: x * y + 2.0 * (y * x), 2),
    "2 x + 3 y": (lambda x, y: 2.0 * x + 3.0 * y, 3),
    "0 x": (lambda x, y: 0.0 * x, 0),
    "1 x": (lambda x, y: x * 1.0, 0),
    "-1 x": (lambda x, y: -1.0 * x, 1),
    "2 (3 x)": (lambda x, y: 2.0 * (3.0 * x), 1),
    "3 (-x)": (lambda x, y: 3.0 * -x, 1),
    "-x y": (lambda x, y: -x * y, 2),
    "x -y": (lambda x, y: x * -y, 2),
    "-x -y": (lambda x, y: -x * -y, 1),
    "x y beside y x": (lambda x, y: (x * y) * (y * x), 2),
    "x + y beside y + x": (lambda x, y: (x + y) * (y + x), 2),
    "x / 4": (lambda x, y: x / 4.0, 1),
    "0 / x": (lambda x, y: 0.0 / (y * y + 1.0), 0),
    "x / x": (lambda x, y: (y * y + 1.0) / (y * y + 1.0), 0),
    "-x / y": (lambda x, y: -x / (y * y + 1.0), 4),
    "x / -y": (lambda x, y: x / -(y * y + 1.0), 4),
    "sin(-x)": (lambda x, y: (-x).sin(), 2),
    "cos(-x)": (lambda x, y: (-x).cos(), 1),
    "sin(x + pi/2)": (lambda x, y: (x + Q).sin(), 1),
    "cos(x + pi/2)": (lambda x, y: (x + Q).cos(), 2),
    "sin(x - pi)": (lambda x, y: (x - math.pi).sin(), 2),
    "cos(x + pi)": (lambda x, y: (x + math.pi).cos(), 2),
    "sin(x - pi/2)": (lambda x, y: (x - Q).sin(), 2),
    "cos(x + 3 pi/2)": (lambda x, y: (x + 3 * Q).cos(), 1),
    "sin(x + 2 pi)": (lambda x, y: (x + 2 * math.pi).sin(), 1),
    "sin(pi/2 - x)": (lambda x, y: (Q - x).sin(), 2),
    "|-x|": (lambda x, y: abs(-x), 1),
    "||x||": (lambda x, y: abs(abs(x)), 1),
    "|exp x|": (lambda x, y: abs(x.tanh().exp()), 2),
    "x where sure": (lambda x, y: where(1.0 < 2.0, x, y), 0),
    "x where not": (lambda x, y: where(np.bool_(False), y, x), 0),
    "the same on both ways": (lambda x, y: where(x < y, x, x), 0),
    "the same number on both ways": (lambda x, y: where(x < y, 3.0, 3.0), 0),
}


def traced(function, count: int = 2) -> Program:
    return trace("f", lambda v: [function(*v)], [Operand("v", (count,))], [Operand("z", (1,))])


@pytest.mark.parametrize("name", REWRITES)
@given(x=VALUES, y=VALUES)
def test_a_rewrite_keeps_the_value_and_saves_work(name: str, x: float, y: float) -> None:
    function, remaining = REWRITES[name]
    program = traced(function)
    assert sum(program.counts.values()) == remaining, program.steps
    bound = lift(function(Rounded(x), Rounded(y)))
    assert abs(run(program, [[x, y]])[0][0] - bound.value) <= bound.error


FOLDS = {
    "add": (lambda g, a, b: g.apply("add", a, b), lambda a, b: a + b),
    "sub": (lambda g, a, b: g.apply("sub", a, b), lambda a, b: a - b),
    "mul": (lambda g, a, b: g.apply("mul", a, b), lambda a, b: a * b),
    "neg": (lambda g, a, b: g.apply("neg", a), lambda a, b: -a),
    **{
        op: (lambda g, a, b, op=op: g.apply(op, a), lambda a, b, op=op: getattr(np, op)(a))
        for op in ("sin", "cos", "sqrt", "exp", "tanh", "abs", "sign")
    },
    "asin": (lambda g, a, b: g.apply("asin", a), lambda a, b: np.arcsin(a)),
    "acos": (lambda g, a, b: g.apply("acos", a), lambda a, b: np.arccos(a)),
    "atan2": (lambda g, a, b: g.apply("atan2", a, b), np.arctan2),
    "lt": (lambda g, a, b: g.apply("lt", a, b), lambda a, b: a < b),
    "le": (lambda g, a, b: g.apply("le", a, b), lambda a, b: a <= b),
}


def test_every_operation_is_folded() -> None:
    assert set(FOLDS) | {"div", "select"} == set(OPERATIONS), (
        "division and selection have their own tests"
    )


@pytest.mark.parametrize("op", FOLDS)
@given(a=st.floats(), b=st.floats())
def test_constants_fold_to_what_numpy_gives(op: str, a: float, b: float) -> None:
    """Any doubles at all: NaN and infinities come out where NumPy has them, and nothing raises."""
    fold, reference = FOLDS[op]
    graph = Graph()
    with np.errstate(all="ignore"):
        expected = reference(np.float64(a), np.float64(b))
    np.testing.assert_allclose(fold(graph, a, b), expected, rtol=1e-15, atol=0)
    assert not graph.nodes


@given(tree=trees(), values=st.tuples(*[VALUES] * LEAVES))
def test_any_expression_keeps_its_value(tree, values) -> None:
    program = trace(
        "f", lambda v: [build(tree, v)], [Operand("v", (LEAVES,))], [Operand("z", (1,))]
    )
    bound = lift(build(tree, [Rounded(v) for v in values]))
    assume(math.isfinite(bound.error) and math.isfinite(bound.value))
    assert abs(run(program, [values])[0][0] - bound.value) <= 2 * bound.error


def test_division_by_the_constant_zero() -> None:
    x = Graph().input(0, 0)
    for wrong in (lambda: x / 0.0, lambda: x / 0, lambda: x.graph.apply("div", 1.0, 0.0)):
        with pytest.raises(ZeroDivisionError, match="constant zero"):
            wrong()


@pytest.mark.parametrize("divisor", [5e-324, 1e-310, 1e308, -1e-300, 3.0])
def test_division_by_any_constant(divisor: float) -> None:
    program = traced(lambda x, y: x / divisor)
    for x in (1.0, 1e-320, 1e300, 5e-324):
        with np.errstate(over="ignore"):
            np.testing.assert_allclose(
                run(program, [[np.float64(x), 0.0]])[0][0], np.float64(x) / divisor, rtol=3e-16
            )


@pytest.mark.parametrize("turn", [Q * (1 + 1e-14), 1e9 * Q, 1.57, 100 * Q])
def test_only_quarter_turns_are_quarter_turns(turn: float) -> None:
    assert traced(lambda x, y: (x + turn).sin()).counts["sin"] == 1
    assert traced(lambda x, y: (x + turn).sin()).counts["add"] == 1
