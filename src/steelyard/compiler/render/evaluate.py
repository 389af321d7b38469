"""Evaluation of a program with a table of operations, on symbols or arrays of another library."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..ir.graph import Expr
from ..ir.program import Program

Table = Mapping[str, Callable[..., Any]]
ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "neg": operator.neg,
    "lt": operator.lt,
    "le": operator.le,
}
"""The operations that Python's own operators are, on the scalars of most libraries."""


def evaluate(
    program: Program,
    table: Table,
    scalars: Sequence[Sequence[Any]],
    constant: Callable[[float], Any],
) -> list[list[Any]]:
    """Return the scalars of each output in row-major order.

    `scalars` has the same for each input; `constant` converts the constants.
    """
    values: dict[int, Any] = {}
    for s in program.steps:
        if s.op == "const":
            values[s.id] = constant(s.payload)
        elif s.op == "input":
            values[s.id] = scalars[s.payload[0]][s.payload[1]]
        else:
            values[s.id] = table[s.op](*(values[a.id] for a in s.args))
    return [
        [values[r.id] if isinstance(r, Expr) else constant(float(r)) for r in result]
        for result in program.results
    ]
