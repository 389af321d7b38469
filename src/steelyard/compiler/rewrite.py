"""The rewrites, as a table: for each operation, the rules that may answer for it, tried in order when a node is made.

A rule takes the graph and the arguments (nodes or floats) and returns a simpler value, or None when it has nothing to say.
Rules keep results to rounding; `0 * x` is 0 even where x is not finite.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

Rule = Callable[..., Any]
_QUARTER = math.pi / 2


def _is(x: Any, op: str) -> bool:
    return not isinstance(x, float | int) and x.op == op


def _known(x: Any) -> bool:
    return isinstance(x, float | int)


def _factor(x: Any) -> tuple[float, Any] | None:
    """(c, y) where x is the product of a constant c and y."""
    if _is(x, "mul"):
        a, b = x.args
        if a.op == "const":
            return a.payload, b
        if b.op == "const":
            return b.payload, a
    return None


def _fold(function: Callable[..., float]) -> Rule:
    def fold(graph: Any, *args: Any) -> Any:
        return function(*args) if all(_known(a) for a in args) else None

    return fold


# addition and subtraction ---------------------------------------------------------------------------------------------------------------


def _add(graph: Any, a: Any, b: Any) -> Any:
    if _known(a):
        a, b = b, a
        if _known(a):
            return float(a) + float(b)
    if _known(b):
        return a if b == 0.0 else None
    if a is b:
        return 2.0 * a
    if b.op == "neg":
        return a - b.args[0]
    if a.op == "neg":
        return b - a.args[0]
    return None


def _sub(graph: Any, a: Any, b: Any) -> Any:
    if _known(b):
        return float(a) - float(b) if _known(a) else (a if b == 0.0 else a + (-float(b)))
    if _known(a):
        return -b if a == 0.0 else None
    if a is b:
        return 0.0
    if b.op == "neg":
        return a + b.args[0]
    if a.op == "neg":
        return -(a.args[0] + b)
    opposite = graph.known("sub", b, a)
    return None if opposite is None else -opposite


def _neg(graph: Any, a: Any) -> Any:
    if _known(a):
        return -float(a)
    if a.op == "neg":
        return a.args[0]
    factor = _factor(a)
    return None if factor is None else (-factor[0]) * factor[1]


# multiplication and division ------------------------------------------------------------------------------------------------------------


def _mul(graph: Any, a: Any, b: Any) -> Any:
    if _known(b):
        a, b = b, a
        if _known(b):
            return float(a) * float(b)
    if _known(a):
        return _mul_constant(float(a), b)
    if a.op == "neg":
        return -(a.args[0] * b)
    if b.op == "neg":
        return -(a * b.args[0])
    return None


def _mul_constant(c: float, x: Any) -> Any:
    if c == 0.0:
        return 0.0
    if c == 1.0:
        return x
    if c == -1.0:
        return -x
    if x.op == "neg":
        return (-c) * x.args[0]
    factor = _factor(x)
    return None if factor is None else (c * factor[0]) * factor[1]


def _div(graph: Any, a: Any, b: Any) -> Any:
    if _known(b):
        if b == 0.0:
            raise ZeroDivisionError("a traced algorithm divides by the constant zero")
        return float(a) / float(b) if _known(a) else a * (1.0 / b)
    if _known(a) and a == 0.0:
        return 0.0
    if not _known(a) and a.op == "neg":
        return -(a.args[0] / b)
    if b.op == "neg":
        return -(a / b.args[0])
    return 1.0 if a is b else None


# functions ------------------------------------------------------------------------------------------------------------------------------


def _quarter_turns(x: Any) -> tuple[Any, int] | None:
    """(y, k) where x = y + k pi/2 to the last bit of the constant."""
    if _is(x, "add"):
        for c, y in (x.args, x.args[::-1]):
            if c.op == "const":
                k = round(c.payload / _QUARTER)
                if k and abs(c.payload - k * _QUARTER) <= 4e-16 * abs(k):
                    return y, k % 4
    return None


def _sin(graph: Any, x: Any) -> Any:
    if x.op == "neg":
        return -x.args[0].sin()
    turned = _quarter_turns(x)
    if turned is None:
        return None
    y, k = turned
    return (y.sin, y.cos, lambda: -y.sin(), lambda: -y.cos())[k]()


def _cos(graph: Any, x: Any) -> Any:
    if x.op == "neg":
        return x.args[0].cos()
    turned = _quarter_turns(x)
    if turned is None:
        return None
    y, k = turned
    return (y.cos, lambda: -y.sin(), lambda: -y.cos(), y.sin)[k]()


def _abs(graph: Any, x: Any) -> Any:
    if x.op == "neg":
        return abs(x.args[0])
    return x if x.op in ("abs", "sqrt", "exp") else None


def _select(graph: Any, condition: Any, yes: Any, no: Any) -> Any:
    if isinstance(condition, bool):
        return yes if condition else no
    return yes if yes is no else None


RULES: dict[str, tuple[Rule, ...]] = {
    "add": (_add,),
    "sub": (_sub,),
    "neg": (_neg,),
    "mul": (_mul,),
    "div": (_div,),
    "lt": (_fold(lambda a, b: a < b),),
    "le": (_fold(lambda a, b: a <= b),),
    "select": (_select,),
    "sin": (_fold(math.sin), _sin),
    "cos": (_fold(math.cos), _cos),
    "sqrt": (_fold(math.sqrt),),
    "exp": (_fold(math.exp),),
    "tanh": (_fold(math.tanh),),
    "abs": (_fold(abs), _abs),
    "sign": (_fold(lambda x: (x > 0) - (x < 0)),),
}
