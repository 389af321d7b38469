"""The expression graph: equal expressions are one node, what a node is not it says, and a digest
names what is computed.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from steelyard.compiler.ir.graph import Expr, Graph
from steelyard.compiler.ir.program import Operand, program, trace
from steelyard.errors import CallError
from tests.expressions import LEAVES, build, trees


@given(tree=trees())
def test_equal_expressions_are_one_node(tree) -> None:
    graph = Graph()
    leaves = graph.inputs(LEAVES)[0]
    first = build(tree, leaves)
    size = len(graph.nodes)
    second = build(tree, leaves)
    assert second is first or second == first or (second != second and first != first)
    assert len(graph.nodes) == size, "building it again makes no node"


def test_constants_are_interned_by_bits() -> None:
    graph = Graph()
    assert graph.constant(0.1) is graph.constant(0.1)
    assert graph.constant(math.nan) is graph.constant(math.nan)
    assert graph.constant(0.0) is not graph.constant(-0.0)
    assert graph.constant(1.0) is not graph.constant(math.nextafter(1.0, 2.0))


def test_inputs_take_the_shape_of_their_operand() -> None:
    graph = Graph()
    matrix, vector, scalar = graph.inputs((2, 3), 2, ())
    assert [[x.payload for x in row] for row in matrix] == [
        [(0, 0), (0, 1), (0, 2)],
        [(0, 3), (0, 4), (0, 5)],
    ]
    assert [x.payload for x in vector] == [(1, 0), (1, 1)]
    assert scalar.payload == (2, 0)
    assert graph.input(0, 4) is matrix[1][1]


@pytest.fixture
def x() -> Expr:
    return Graph().input(0, 0)


@pytest.mark.parametrize(
    "use",
    [bool, lambda x: x and 1, lambda x: not x, lambda x: max(x, 1.0), lambda x: 0.0 < x < 1.0],
    ids=["bool", "and", "not", "max", "chain"],
)
def test_no_truth_value(x: Expr, use) -> None:
    with pytest.raises(CallError, match=r"branch on structure, or use where\(condition, yes, no\)"):
        use(x)


@pytest.mark.parametrize(
    "use",
    [float, math.sin, lambda x: np.array([0.0]).__setitem__(0, x)],
    ids=["float", "math", "array"],
)
def test_no_numeric_value(x: Expr, use) -> None:
    with pytest.raises((CallError, TypeError, ValueError)):
        use(x)


@pytest.mark.parametrize("number", [2, 2.0, np.float64(2.0)], ids=repr)
def test_numbers_that_mix(x: Expr, number) -> None:
    double = 2.0 * x
    assert number * x is double
    assert x * number is double
    assert (x + number).args[1 if (x + number).args[0] is x else 0].payload == 2.0


STRANGERS = [
    True,
    None,
    "2",
    2j,
    Fraction(1, 2),
    [1.0],
    np.ones(2),
    np.float32(2.0),
    np.int64(2),
    np.array(2.0),
]
OPERATORS = [
    "__add__",
    "__radd__",
    "__sub__",
    "__rsub__",
    "__mul__",
    "__rmul__",
    "__truediv__",
    "__rtruediv__",
    "__lt__",
    "__le__",
    "__gt__",
    "__ge__",
]


@pytest.mark.parametrize("stranger", STRANGERS, ids=lambda s: f"{type(s).__name__}")
def test_strangers_are_not_implemented(x: Expr, stranger: object) -> None:
    for operator in OPERATORS:
        assert getattr(x, operator)(stranger) is NotImplemented
    for mix in (
        lambda: x + stranger,
        lambda: stranger * x,
        lambda: stranger / x,
        lambda: x < stranger,
    ):
        with pytest.raises(TypeError):
            mix()


def test_what_numpy_does_not_know() -> None:
    x = Graph().input(0, 0)
    with pytest.raises(TypeError):
        np.sin(x)
    with pytest.raises(TypeError):
        np.multiply(np.ones(3), x)


def test_comparisons_are_conditions_and_nothing_else(x: Expr) -> None:
    condition = x < 1.0
    for wrong in (
        lambda: condition * 2.0 + x,
        lambda: -condition,
        lambda: condition.sin(),
        lambda: Expr.where(x, 1.0, x),
        lambda: Expr.where(condition, condition, x),
    ):
        with pytest.raises(CallError, match="comparison"):
            wrong()


def test_graphs_do_not_mix(x: Expr) -> None:
    with pytest.raises(CallError, match="another graph"):
        x + Graph().input(0, 1)


RETURNS = {
    "too few": (lambda x: [x[0]], r"f: z has 1 scalars, expected 2 for the shape \(2,\)"),
    "a comparison": (lambda x: [x[0] < 1.0, x[0]], "z holds a comparison"),
    "a stranger": (lambda x: [x[0], "one"], "z holds str 'one'"),
    "a truth value": (lambda x: [x[0], True], "z holds bool True"),
    "nothing": (lambda x: None, "z has 1 scalars, expected 2"),
    "another graph's": (lambda x: [x[0], Graph().input(0, 0)], "expression of another graph"),
}


@pytest.mark.parametrize("case", RETURNS)
def test_what_a_program_cannot_return(case: str) -> None:
    function, sentence = RETURNS[case]
    with pytest.raises(CallError, match=sentence):
        trace("f", function, [Operand("x", (1,))], [Operand("z", (2,))])


def test_only_what_is_needed_is_kept() -> None:
    graph = Graph()
    x, y = graph.inputs(2)[0]
    x.sin(), (x * y).exp()
    scaled = program("f", graph, [Operand("v", (2,))], [Operand("z", (1,))], [[y + 1.0]])
    assert sorted(s.op for s in scaled.steps) == ["add", "const", "input"]
    assert scaled.operations == 1


def test_counts() -> None:
    result = trace(
        "f",
        lambda x, y: x.sin() * y + (x / y).sqrt() - (-y),
        [Operand("x", ()), Operand("y", ())],
        [Operand("z", ())],
    )
    assert dict(result.counts) == {"sin": 1, "mul": 1, "div": 1, "sqrt": 1, "add": 2}
    assert result.operations == 4


def digest(function, name: str = "f", operand: str = "v") -> str:
    return trace(
        name, lambda v: [function(*v)], [Operand(operand, (2,))], [Operand("z", (1,))]
    ).digest


def test_a_digest_names_what_is_computed() -> None:
    one = digest(lambda x, y: x * 0.1 + y)
    assert digest(lambda a, b: b + 0.1 * a, "g", "w") == digest(lambda a, b: b + 0.1 * a)
    others = [
        digest(lambda x, y: x * math.nextafter(0.1, 1.0) + y),
        digest(lambda x, y: x * 0.1 - y),
        digest(lambda x, y: y * 0.1 + x),
        trace(
            "f", lambda v: [v[0] * 0.1 + v[1]], [Operand("v", (3,))], [Operand("z", (1,))]
        ).digest,
        trace(
            "f", lambda v: [[v[0] * 0.1 + v[1]]], [Operand("v", (2,))], [Operand("z", (1, 1))]
        ).digest,
    ]
    assert len({one, *others}) == 1 + len(others)


def test_a_digest_is_the_same_in_every_process(root: Path) -> None:
    script = (
        "from steelyard.kernels import program; import steelyard as sy;"
        " print(program(sy.load('puma560').tree, 'inverse_dynamics').digest)"
    )
    results = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONPATH": str(root / "src"), "PYTHONHASHSEED": seed},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(results) == 1


def test_what_a_node_looks_like() -> None:
    graph = Graph()
    x, y = graph.inputs(2)[0]
    assert repr(x) == "x0[0]"
    assert repr(graph.constant(0.5)) == "0.5"
    assert repr((x + y) * x) == "mul(x0[0], %3)"
