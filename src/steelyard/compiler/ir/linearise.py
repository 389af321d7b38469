"""The first-order part of a program as a program of its own: rates of its results, forward, or adjoints of its inputs, in reverse.

Being a program, it can be linearised again, to any order. Griewank and Walther, Evaluating Derivatives, 2nd ed. 2008, sections 3.1 and 3.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .differentiate import derivative, gradient
from .graph import Expr, Graph
from .program import Operand, Program
from .program import program as program_of


def tangent(made: Program, wrt: Sequence[int]) -> Program:
    """The rates of all results when the inputs numbered `wrt` change: dy = sum of dy/dx dx.

    It takes the inputs of the program, then one rate `x_dot` for each of `wrt`, and returns one `y_dot` for each output.
    """
    graph = _graph(made)
    rates = [Operand(f"{made.inputs[k].name}_dot", made.inputs[k].shape) for k in wrt]
    first = len(made.inputs)
    seeds: dict[Expr, Any] = {
        graph.input(k, i): graph.input(first + place, i) for place, k in enumerate(wrt) for i in range(made.inputs[k].size)
    }
    outputs = [Operand(f"{o.name}_dot", o.shape) for o in made.outputs]
    results = [derivative(result, seeds) for result in made.results]
    return program_of(f"{made.name}_tangent", graph, [*made.inputs, *rates], outputs, results)


def pullback(made: Program, wrt: Sequence[int]) -> Program:
    """The adjoints of the inputs numbered `wrt`: x_bar = sum of (dy/dx)^T y_bar.

    It takes the inputs of the program, then one adjoint `y_bar` for each output, and returns one `x_bar` for each of `wrt`.
    """
    graph = _graph(made)
    adjoints = [Operand(f"{o.name}_bar", o.shape) for o in made.outputs]
    first = len(made.inputs)
    total: Any = 0.0
    for place, result in enumerate(made.results):
        for i, value in enumerate(result):
            total = total + graph.input(first + place, i) * value if isinstance(value, Expr) else total
    inputs = [[graph.input(k, i) for i in range(made.inputs[k].size)] for k in wrt]
    found = iter(gradient(total, [x for one in inputs for x in one]))
    outputs = [Operand(f"{made.inputs[k].name}_bar", made.inputs[k].shape) for k in wrt]
    return program_of(f"{made.name}_pullback", graph, [*made.inputs, *adjoints], outputs, [[next(found) for _ in one] for one in inputs])


def _graph(made: Program) -> Graph:
    return made.steps[0].graph if made.steps else Graph()
