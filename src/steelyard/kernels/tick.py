"""Several algorithms of one state as one kernel: what they share is computed once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from ..compiler.ir.program import Operand, Program, trace
from ..compiler.runtime.kernel import Kernel
from ..errors import CallError, require_joints, suggest
from ..mechanism.tree import Tree
from . import cost, forms, kernel_of
from .algorithms import ALGORITHMS, INPUTS, NEEDS_MASS, Algorithm, extents, require_mass

ORDER = ("q", "qd", "qdd", "tau", "qrd", "qrdd", "w")  # of the arrays that a tick takes


def tick(tree: Tree, names: Sequence[str], frame: str | None) -> Kernel:
    """The kernel of several algorithms: it takes the arrays that any of them takes, in ORDER, and returns what each returns, in turn."""
    return kernel_of(tick_program, tree, tuple(names), frame)


def tick_program(tree: Tree, names: Sequence[str], frame: str | None) -> Program:
    """A program for several algorithms, the shorter one of two: those in joint space on the customised tree, or all on the tree as it is.

    Of each algorithm the ways for robots of any size are tried with those of the others.
    """
    rows = [row_of(name) for name in names]
    for name in names:
        require_joints(tree, name)
        if name in NEEDS_MASS:
            require_mass(tree, name)
    wanted = [name for name in ORDER if any(name in row.inputs for row in rows)]
    inputs = [Operand(name, extents(tree, INPUTS[name][0]), INPUTS[name][1]) for name in wanted]
    outputs = [
        Operand(f"{name}_{out.name}", out.shape, out.unit)
        for name, row in zip(names, rows, strict=True)
        for out in row.operands(tree, ())[1]
    ]
    level = not any(row.base_frame for row in rows)
    ways = [row.ways_on(tree, graph=False) for row in rows]
    made = [
        trace("tick", together(rows, chosen, tree, form, wanted, frame), inputs, outputs)
        for form in forms(tree, level)
        for chosen in product(*ways)
    ]
    return min(made, key=cost)


def together(
    rows: Sequence[Algorithm], ways: Sequence[Callable[..., Any]], tree: Tree, form: Tree, names: Sequence[str], frame: str | None
) -> Callable[..., Any]:
    """The function that computes what all ways do, one result per output; `form` is the tree for algorithms in joint space."""

    def run(*arrays: Any) -> Any:
        given, results = dict(zip(names, arrays, strict=True)), list[Any]()
        for row, way in zip(rows, ways, strict=True):
            made = way(form if row.joint_space else tree, *(given[name] for name in row.inputs), *([frame] if row.framed else []))
            results += made if len(row.outputs) > 1 else [made]
        return results if len(results) > 1 else results[0]

    return run


def row_of(name: str) -> Algorithm:
    """The row of an algorithm of a state. CallError for another name, or one that takes what no other does."""
    known = [each for each, row in ALGORITHMS.items() if set(row.inputs) <= set(ORDER)]
    if name not in known:
        raise CallError(f"tick: no algorithm of a state is called {name!r}; {suggest(name, known)}")
    return ALGORITHMS[name]
