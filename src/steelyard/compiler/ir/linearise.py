"""Programs of first derivatives: tangents (forward mode) and pullbacks (reverse mode).

The result is a program too, and can be linearised again, to any order. Griewank and Walther,
Evaluating Derivatives, 2nd ed. 2008, sections 3.1 and 3.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .differentiate import derivative, gradient
from .graph import Expr, Graph
from .program import Operand, Program
from .program import program as program_of


def tangent(program: Program, wrt: Sequence[int]) -> Program:
    """Return the program of dy = sum of dy/dx dx over the inputs numbered `wrt`.

    Its inputs are the inputs of the program, then one rate `x_dot` for each of `wrt`; it returns
    one `y_dot` for each output.
    """
    graph = _graph(program)
    rates = [Operand(f"{program.inputs[k].name}_dot", program.inputs[k].shape) for k in wrt]
    first = len(program.inputs)
    seeds: dict[Expr, Any] = {
        graph.input(k, i): graph.input(first + j, i)
        for j, k in enumerate(wrt)
        for i in range(program.inputs[k].size)
    }
    outputs = [Operand(f"{o.name}_dot", o.shape) for o in program.outputs]
    results = [derivative(result, seeds) for result in program.results]
    return program_of(f"{program.name}_tangent", graph, [*program.inputs, *rates], outputs, results)


def pullback(program: Program, wrt: Sequence[int]) -> Program:
    """Return the program of x_bar = sum of (dy/dx)^T y_bar for the inputs numbered `wrt`.

    Its inputs are the inputs of the program, then one adjoint `y_bar` for each output; it returns
    one `x_bar` for each of `wrt`.
    """
    graph = _graph(program)
    adjoints = [Operand(f"{o.name}_bar", o.shape) for o in program.outputs]
    first = len(program.inputs)
    total: Any = 0.0
    for j, result in enumerate(program.results):
        for i, value in enumerate(result):
            total = total + graph.input(first + j, i) * value if isinstance(value, Expr) else total
    inputs = [[graph.input(k, i) for i in range(program.inputs[k].size)] for k in wrt]
    gradients = iter(gradient(total, [x for one in inputs for x in one]))
    outputs = [Operand(f"{program.inputs[k].name}_bar", program.inputs[k].shape) for k in wrt]
    return program_of(
        f"{program.name}_pullback",
        graph,
        [*program.inputs, *adjoints],
        outputs,
        [[next(gradients) for _ in one] for one in inputs],
    )


def _graph(program: Program) -> Graph:
    return program.steps[0].graph if program.steps else Graph()
