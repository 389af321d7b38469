"""Several algorithms of one state in one kernel, with common subexpressions computed once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from ..compiler.ir.program import Operand, Program, trace
from ..compiler.runtime.kernel import Kernel
from ..errors import CallError, require_joints, suggest
from ..mechanism.tree import Tree
from . import cost, equivalent_trees, kernel_of
from .algorithms import ALGORITHMS, INPUTS, NEEDS_MASS, Algorithm, extents, require_mass

ORDER = ("q", "qd", "qdd", "tau", "qrd", "qrdd", "w")  # of the input arrays of a tick


def tick(tree: Tree, names: Sequence[str], frame: str | None) -> Kernel:
    """Return one kernel for several algorithms.

    Its inputs are the inputs of all algorithms, in ORDER; its outputs follow the order of `names`.
    """
    return kernel_of(tick_program, tree, tuple(names), frame)


def tick_program(tree: Tree, names: Sequence[str], frame: str | None) -> Program:
    """Return the program of several algorithms with the fewest operations.

    Algorithms in joint space are tried on the tree and on the customised tree. Their
    implementations for robots of any size are tried in all combinations.
    """
    rows = [algorithm_row(name) for name in names]
    for name in names:
        require_joints(tree, name)
        if name in NEEDS_MASS:
            require_mass(tree, name)
    arguments = [name for name in ORDER if any(name in row.inputs for row in rows)]
    inputs = [Operand(name, extents(tree, INPUTS[name][0]), INPUTS[name][1]) for name in arguments]
    outputs = [
        Operand(f"{name}_{out.name}", out.shape, out.unit)
        for name, row in zip(names, rows, strict=True)
        for out in row.operands(tree, ())[1]
    ]
    level = not any(row.base_frame for row in rows)
    programs = [
        trace("tick", combine(rows, functions, tree, form, arguments, frame), inputs, outputs)
        for form in equivalent_trees(tree, level)
        for functions in product(*(row.functions(tree, any_size=True) for row in rows))
    ]
    return min(programs, key=cost)


def combine(
    rows: Sequence[Algorithm],
    functions: Sequence[Callable[..., Any]],
    tree: Tree,
    form: Tree,
    names: Sequence[str],
    frame: str | None,
) -> Callable[..., Any]:
    """Return a function that calls all functions and returns one result per output.

    `form` is the tree for algorithms in joint space.
    """

    def run(*arrays: Any) -> Any:
        values, results = dict(zip(names, arrays, strict=True)), list[Any]()
        for row, function in zip(rows, functions, strict=True):
            result = function(
                form if row.joint_space else tree,
                *(values[name] for name in row.inputs),
                *([frame] if row.needs_frame else []),
            )
            results += result if len(row.outputs) > 1 else [result]
        return results if len(results) > 1 else results[0]

    return run


def algorithm_row(name: str) -> Algorithm:
    """Return the row of an algorithm whose inputs are in ORDER; CallError for other names."""
    known = [each for each, row in ALGORITHMS.items() if set(row.inputs) <= set(ORDER)]
    if name not in known:
        raise CallError(f"tick: no algorithm of a state is called {name!r}; {suggest(name, known)}")
    return ALGORITHMS[name]
