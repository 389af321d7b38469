"""The specification of the intermediate representation, executed.

One list of operations, which every table covers exactly.
"""

from __future__ import annotations

import inspect
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from steelyard.algebra import scalar
from steelyard.compiler.ir.graph import Expr, Graph
from steelyard.compiler.ir.operations import COMMUTATIVE, COMPARISONS, OPERATIONS
from steelyard.compiler.ir.program import Program
from steelyard.compiler.ir.rewrite import RULES
from steelyard.compiler.ir.schedule import order_by_critical_path, order_by_depth
from steelyard.compiler.render import array_expressions, c99, casadi_expressions, numpy_source
from steelyard.compiler.render import sympy_expressions as sympy_form
from steelyard.compiler.render.llvm import body as llvm
from steelyard.kernels import ALGORITHMS, program
from tests.every_operation import CASADI_IN_NUMPY, traced
from tests.random_robots import random_tree

# the table of each file or folder of compiler/render
TABLES = {
    "llvm": llvm.OPERATIONS,
    "c99": c99.OPERATIONS,
    "numpy_source": numpy_source.OPERATIONS,
    "sympy_expressions": sympy_form.operations(),
    "array_expressions": array_expressions.operations(np),
    "casadi_expressions": casadi_expressions.operations(CASADI_IN_NUMPY),
}
WALK = "evaluate"  # runs a program with one of the tables


def test_every_renderer_is_listed() -> None:
    folder = Path(c99.__file__).parent
    assert set(TABLES) == {path.stem for path in folder.iterdir()} - {
        "__init__",
        "__pycache__",
        WALK,
    }


@pytest.mark.parametrize("table", TABLES)
def test_a_table_covers_the_operations(table: str) -> None:
    assert set(TABLES[table]) == set(OPERATIONS)


def test_rewrites_are_of_operations() -> None:
    assert set(RULES) <= set(OPERATIONS)
    for op, rule in RULES.items():
        assert len(inspect.signature(rule).parameters) == OPERATIONS[op].arity + 1, op


@pytest.mark.parametrize("op", OPERATIONS)
def test_arities(op: str) -> None:
    operation = OPERATIONS[op]
    assert operation.arity == 2 or op not in COMMUTATIVE | COMPARISONS
    assert (operation.partials is None) == (op == "select"), (
        "all but the selection have partial derivatives"
    )
    if operation.partials is not None:
        assert len(inspect.signature(operation.partials).parameters) == operation.arity + 1
    args = [f"<{i}>" for i in range(operation.arity)]
    for table in (c99.OPERATIONS, numpy_source.OPERATIONS, llvm.OPERATIONS):
        template = table[op]
        if isinstance(template, str):
            text = template.format(*args, f="", zero="0", one="1", V="V", v="v", M="M")
            assert all(arg in text for arg in args), (op, text)
        else:
            assert len(inspect.signature(template).parameters) == operation.arity + 1


@pytest.mark.parametrize(
    "function", ["sin", "cos", "sqrt", "exp", "tanh", "asin", "acos", "absolute", "sign"]
)
def test_scalar_functions_reach_their_nodes(function: str) -> None:
    (x,) = Graph().inputs(())
    node = getattr(scalar, function)(x)
    assert isinstance(node, Expr)
    assert node.op == {"absolute": "abs"}.get(function, function)
    assert node.args == (x,)


def test_the_example_uses_every_operation() -> None:
    assert set(traced().counts) == set(OPERATIONS)


@pytest.mark.parametrize(
    "name",
    [name for name, a in ALGORITHMS.items() if not a.needs_frame],
)
def test_programs_are_well_formed(name: str, rng: np.random.Generator) -> None:
    trees = (random_tree(rng, 4) for _ in range(100))
    # terms that read more than the speed, or the load
    refuses = name in ("friction_torque", "free_forward_dynamics")
    tree = next(
        tree for tree in trees if not (refuses and any(use.row.reads for use in tree.joint_terms))
    )
    well_formed(program(replace(tree, base_inertia=tree.bodies[0].inertia), name))


def test_the_example_is_well_formed() -> None:
    well_formed(traced())
    for order in (
        order_by_depth,
        order_by_critical_path,
        lambda result: order_by_critical_path(result, window=1),
    ):
        well_formed(order(traced()))
        assert order(traced()).counts == traced().counts


def well_formed(outcome: Program) -> None:
    """What every renderer relies on."""
    seen: dict[int, Expr] = {}
    for step in outcome.steps:
        assert step.id not in seen, "a node is made once"
        assert all(seen.get(a.id) is a for a in step.args), "arguments come first"
        if step.op == "const":
            assert isinstance(step.payload, float)
            assert not step.args
        elif step.op == "input":
            operand, flat = step.payload
            assert 0 <= flat < outcome.inputs[operand].size
            assert not step.args
        else:
            assert len(step.args) == OPERATIONS[step.op].arity
            assert [a.op in COMPARISONS for a in step.args] == [
                step.op == "select" and i == 0 for i in range(len(step.args))
            ]
            assert not all(a.op == "const" for a in step.args), "constants fold"
        seen[step.id] = step
    used = {a.id for s in outcome.steps for a in s.args} | {
        r.id for result in outcome.results for r in result if isinstance(r, Expr)
    }
    assert used == set(seen), "nothing is computed in vain"
    for operand, result in zip(outcome.outputs, outcome.results, strict=True):
        assert len(result) == operand.size
        assert all(
            isinstance(r, float | int) or (seen[r.id] is r and r.op not in COMPARISONS)
            for r in result
        )
