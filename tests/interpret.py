"""Programs run node by node on numbers of any kind: what a graph means, without any renderer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from steelyard.compiler.ir.graph import Expr
from steelyard.compiler.ir.program import Program


def _atan2(y: Any, x: Any) -> Any:
    """The angle of a point; a small imaginary part, as of a complex step, is carried on by the
    derivative.
    """
    if not (np.iscomplexobj(y) or np.iscomplexobj(x)):
        return np.arctan2(y, x)
    a, b = np.real(y), np.real(x)
    return np.arctan2(a, b) + 1j * (b * np.imag(y) - a * np.imag(x)) / (a * a + b * b)


ON_NUMPY: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda a: -a,
    "lt": lambda a, b: np.real(a) < np.real(b),
    "le": lambda a, b: np.real(a) <= np.real(b),
    "select": lambda c, a, b: a if c else b,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan2": _atan2,
    "abs": lambda a: a * np.sign(np.real(a)),  # so that a complex step gives the derivative sign(a)
    "sign": lambda a: np.sign(np.real(a)),
    **{name: getattr(np, name) for name in ("sin", "cos", "sqrt", "exp", "tanh")},
}


def run(
    program: Program,
    arrays: Sequence[Sequence[Any]],
    table: dict[str, Callable[..., Any]] = ON_NUMPY,
    number: Any = np.float64,
) -> list[list[Any]]:
    """Per output its scalars, flat. `arrays`: per input its scalars, flat."""
    values: dict[int, Any] = {}
    for s in program.steps:
        if s.op == "const":
            values[s.id] = number(s.payload)
        elif s.op == "input":
            values[s.id] = arrays[s.payload[0]][s.payload[1]]
        else:
            values[s.id] = table[s.op](*(values[a.id] for a in s.args))
    return [
        [values[r.id] if isinstance(r, Expr) else number(r) for r in result]
        for result in program.results
    ]
