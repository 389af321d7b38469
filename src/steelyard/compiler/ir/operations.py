"""Table of the operations of the graph: arity, value for numbers, partial derivatives.

Each renderer has a table with the same rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Operation:
    """An operation of the graph.

    `value` maps floats to the result. `partials` maps the result y and the arguments to
    dy/d(argument) for each argument. `select` has no partials: its derivative selects between the
    derivatives of its arguments.
    """

    arity: int
    value: Callable[..., Any]
    partials: Callable[..., tuple[Any, ...]] | None


def divide(a: float, b: float) -> float:
    """Return a / b for a constant b that is not zero."""
    if b == 0.0:
        raise ZeroDivisionError("a traced algorithm divides by the constant zero")
    return a / b


def _sign(x: float) -> float:
    return x if math.isnan(x) else float((x > 0) - (x < 0))


OPERATIONS: dict[str, Operation] = {
    "add": Operation(2, lambda a, b: a + b, lambda y, a, b: (1.0, 1.0)),
    "sub": Operation(2, lambda a, b: a - b, lambda y, a, b: (1.0, -1.0)),
    "mul": Operation(2, lambda a, b: a * b, lambda y, a, b: (b, a)),
    "div": Operation(2, divide, lambda y, a, b: (1.0 / b, -y / b)),
    "neg": Operation(1, lambda a: -a, lambda y, a: (-1.0,)),
    "sin": Operation(1, math.sin, lambda y, a: (a.cos(),)),
    "cos": Operation(1, math.cos, lambda y, a: (-a.sin(),)),
    "sqrt": Operation(1, math.sqrt, lambda y, a: (0.5 / y,)),
    "exp": Operation(1, math.exp, lambda y, a: (y,)),
    "tanh": Operation(1, math.tanh, lambda y, a: (1.0 - y * y,)),
    "asin": Operation(1, math.asin, lambda y, a: (1.0 / ((1.0 - a) * (1.0 + a)).sqrt(),)),
    "acos": Operation(1, math.acos, lambda y, a: (-1.0 / ((1.0 - a) * (1.0 + a)).sqrt(),)),
    "atan2": Operation(2, math.atan2, lambda y, a, b: (b / (a * a + b * b), -a / (a * a + b * b))),
    "abs": Operation(1, abs, lambda y, a: (a.sign(),)),
    "sign": Operation(1, _sign, lambda y, a: (0.0,)),
    "lt": Operation(2, lambda a, b: a < b, lambda y, a, b: (0.0, 0.0)),
    "le": Operation(2, lambda a, b: a <= b, lambda y, a, b: (0.0, 0.0)),
    "select": Operation(3, lambda condition, yes, no: yes if condition else no, None),
}
COMMUTATIVE = frozenset(("add", "mul"))
COMPARISONS = frozenset(("lt", "le"))


def fold(op: str, *args: float) -> Any:
    """Return the value of an operation on numbers, as NumPy does where the math module raises.

    NaN outside of the domain, infinity on overflow.
    """
    try:
        return OPERATIONS[op].value(*map(float, args))
    except ValueError:
        return math.nan
    except OverflowError:
        return math.inf
