"""The rewrites, as a table: for each operation, the rules that may answer for it, tried in order when a node is made.

A rule takes the graph and the arguments (nodes or floats) and returns a simpler value, or None when it has nothing to say.
Rules keep results to rounding wherever arguments are finite. Where they are not, four rules know better than the arithmetic: 0 x = 0,
x - x = 0, x / x = 1 and a x + b x = (a + b) x. Functions of constants give what NumPy gives: NaN and infinities, not exceptions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

Rule = Callable[..., Any]
NUMBER = (float, int)
_QUARTER = math.pi / 2
_MOST_TURNS = 16  # quarter turns; beyond, a constant is not meant as one
_TINY = 2.0**-1022  # the smallest normal number: 1 / _TINY is still exact


def _is(x: Any, op: str) -> bool:
    return not isinstance(x, NUMBER) and x.op == op


def _known(x: Any) -> bool:
    return isinstance(x, NUMBER)


def _factor(x: Any) -> tuple[float, Any] | None:
    """(c, y) where x is the product of a constant c and y."""
    if _is(x, "mul"):
        a, b = x.args
        if a.op == "const":
            return a.payload, b
        if b.op == "const":
            return b.payload, a
    return None


def _fold(function: Callable[..., Any]) -> Rule:
    def fold(graph: Any, *args: Any) -> Any:
        return function(*args) if all(_known(a) for a in args) else None

    return fold


def _number(function: Callable[[float], float]) -> Rule:
    """Folds a function of a number, with NumPy's results where the math module raises."""

    def fold(graph: Any, x: Any) -> Any:
        if not _known(x):
            return None
        try:
            return function(float(x))
        except ValueError:  # outside of the domain
            return math.nan
        except OverflowError:
            return math.inf

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
    return _like_terms(a, b, 1.0)


def _like_terms(a: Any, b: Any, sign: float) -> Any:
    """(c1 + c2) x for c1 x + c2 x, and with x itself for 1 x."""
    if a.op == "mul" or b.op == "mul":
        (c1, x), (c2, y) = _factor(a) or (1.0, a), _factor(b) or (1.0, b)
        if x is y:
            return (c1 + sign * c2) * x
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
    return _like_terms(a, b, -1.0) if opposite is None else -opposite


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
        if _known(a):
            return float(a) / float(b)
        return a * (1.0 / b) if _TINY <= abs(b) <= 1.0 / _TINY else None
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
                k = round(c.payload / _QUARTER) if math.isfinite(c.payload) else 0
                if 0 < abs(k) <= _MOST_TURNS and abs(c.payload - k * _QUARTER) <= 4e-16 * abs(k):
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
    if not hasattr(condition, "op"):
        return yes if condition else no
    return yes if yes is no or (_known(yes) and _known(no) and yes == no) else None


RULES: dict[str, tuple[Rule, ...]] = {
    "add": (_add,),
    "sub": (_sub,),
    "neg": (_neg,),
    "mul": (_mul,),
    "div": (_div,),
    "lt": (_fold(lambda a, b: a < b),),
    "le": (_fold(lambda a, b: a <= b),),
    "select": (_select,),
    "sin": (_number(math.sin), _sin),
    "cos": (_number(math.cos), _cos),
    "sqrt": (_number(math.sqrt),),
    "exp": (_number(math.exp),),
    "tanh": (_number(math.tanh),),
    "abs": (_number(abs), _abs),
    "sign": (_number(lambda x: x if math.isnan(x) else float((x > 0) - (x < 0))),),
}
