"""Rendering of a program as SymPy expressions, for reading and simplifying, not for numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...errors import needs_extra
from ..ir.program import Program
from .evaluate import Table, evaluate


def operations() -> Table:
    """Return the table of operations as SymPy functions; MissingExtra if SymPy is not installed."""
    try:
        import sympy as sp
    except ImportError:
        raise needs_extra("sympy", "symbolic", "the closed form") from None
    return {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "div": lambda a, b: a / b,
        "neg": lambda a: -a,
        "sin": sp.sin,
        "cos": sp.cos,
        "sqrt": sp.sqrt,
        "exp": sp.exp,
        "tanh": sp.tanh,
        "asin": sp.asin,
        "acos": sp.acos,
        "atan2": sp.atan2,
        "abs": sp.Abs,
        "sign": sp.sign,
        "lt": sp.StrictLessThan,
        "le": sp.LessThan,
        "select": lambda c, a, b: sp.Piecewise((a, c), (b, True)),
    }


def sympy_float(x: float) -> Any:
    """Return a constant as a SymPy number: an integer if it is one, else a Float of 17 digits."""
    import sympy as sp

    if x != x or abs(x) == float("inf"):
        return sp.nan if x != x else sp.oo if x > 0 else -sp.oo
    return sp.Integer(int(x)) if x == int(x) and abs(x) < 1e15 else sp.Float(x, 17)


def expressions(
    program: Program,
    symbols: Sequence[Sequence[Any]],
    constant: Callable[[float], Any] = sympy_float,
) -> list[list[Any]]:
    """Return per output its scalars as SymPy expressions of symbols (one flat list per input).

    `constant` converts the constants.
    """
    return evaluate(program, operations(), symbols, constant)
