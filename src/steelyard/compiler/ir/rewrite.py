"""Table of rewrite rules, which are tried when a node is created.

A rule takes the graph and the arguments, of which at least one is a node and the others may be
floats. It returns a simpler value, or None if there is none. Rules keep results up to rounding
where arguments are finite. For other arguments four rules differ from IEEE arithmetic: 0 x = 0,
x - x = 0, x / x = 1 and a x + b x = (a + b) x.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .operations import divide

NUMBER = (float, int)
_QUARTER = math.pi / 2
_MOST_TURNS = 16  # quarter turns; a larger constant is not taken for a multiple of one
_TINY = 2.0**-1022  # the smallest normal number: 1 / _TINY is still exact


def _known(x: Any) -> bool:
    return isinstance(x, NUMBER)


def _factor(x: Any) -> tuple[float, Any] | None:
    """Return (c, y) if the node x is the product of a constant c and y, else None."""
    if x.op == "mul":
        a, b = x.args
        if a.op == "const":
            return a.payload, b
        if b.op == "const":
            return b.payload, a
    return None


def _add(graph: Any, a: Any, b: Any) -> Any:
    if _known(a):
        a, b = b, a
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
    """Return (c1 + c2) x for c1 x + c2 x, where c1 or c2 may be 1."""
    if a.op == "mul" or b.op == "mul":
        (c1, x), (c2, y) = _factor(a) or (1.0, a), _factor(b) or (1.0, b)
        if x is y:
            return (c1 + sign * c2) * x
    return None


def _sub(graph: Any, a: Any, b: Any) -> Any:
    if _known(b):
        return a if b == 0.0 else a + (-float(b))
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
    if a.op == "neg":
        return a.args[0]
    factor = _factor(a)
    return None if factor is None else (-factor[0]) * factor[1]


def _mul(graph: Any, a: Any, b: Any) -> Any:
    if _known(b):
        a, b = b, a
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
        return a * divide(1.0, b) if not b or _TINY <= abs(b) <= 1.0 / _TINY else None
    if _known(a):
        if a == 0.0:
            return 0.0
    elif a.op == "neg":
        return -(a.args[0] / b)
    if b.op == "neg":
        return -(a / b.args[0])
    return 1.0 if a is b else None


def _sin(graph: Any, x: Any) -> Any:
    return -x.args[0].sin() if x.op == "neg" else _shifted_sine(x, 0)


def _cos(graph: Any, x: Any) -> Any:
    return x.args[0].cos() if x.op == "neg" else _shifted_sine(x, 1)


def _shifted_sine(x: Any, quarters: int) -> Any:
    """Return sin(x + quarters pi/2) as +-sin y or +-cos y if x = y + k pi/2 to the last bit."""
    if x.op == "add":
        for c, y in (x.args, x.args[::-1]):
            if c.op == "const":
                k = round(c.payload / _QUARTER) if math.isfinite(c.payload) else 0
                if 0 < abs(k) <= _MOST_TURNS and abs(c.payload - k * _QUARTER) <= 4e-16 * abs(k):
                    turns = (k + quarters) % 4
                    value = y.cos() if turns % 2 else y.sin()
                    return -value if turns >= 2 else value
    return None


def _abs(graph: Any, x: Any) -> Any:
    if x.op == "neg":
        return abs(x.args[0])
    return x if x.op in ("abs", "sqrt", "exp") else None


def _select(graph: Any, condition: Any, yes: Any, no: Any) -> Any:
    if not hasattr(condition, "op"):
        return yes if condition else no
    return yes if yes is no or (_known(yes) and _known(no) and yes == no) else None


RULES: dict[str, Callable[..., Any]] = {
    "add": _add,
    "sub": _sub,
    "neg": _neg,
    "mul": _mul,
    "div": _div,
    "sin": _sin,
    "cos": _cos,
    "abs": _abs,
    "select": _select,
}
