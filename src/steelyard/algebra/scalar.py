"""Functions of a scalar: a float, a NumPy array of samples, or an object with its own methods.

An algorithm written with `+ - * /`, unary minus and these functions runs on every kind of scalar.
The batch lives inside the scalar. Objects other than numbers (expression nodes, intervals, physical
dimensions) implement the functions as methods of the same name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Scalar = Any
Scalars = Sequence[Scalar]


def _lift(name: str, fallback: Any) -> Any:
    def function(x: Scalar) -> Scalar:
        method = getattr(x, name, None)
        return method() if method is not None else fallback(x)

    function.__name__ = name
    function.__doc__ = f"{name}(x) of any scalar."
    return function


sin = _lift("sin", np.sin)
cos = _lift("cos", np.cos)
sqrt = _lift("sqrt", np.sqrt)
exp = _lift("exp", np.exp)
tanh = _lift("tanh", np.tanh)
asin = _lift("asin", np.arcsin)
acos = _lift("acos", np.arccos)
absolute = _lift("absolute", np.abs)
sign = _lift("sign", np.sign)  # sign(0) = 0


def atan2(y: Scalar, x: Scalar) -> Scalar:
    """Return the angle of the point (x, y), in [-pi, pi]."""
    for s in (y, x):
        method = getattr(type(s), "atan2", None)
        if method is not None:
            return method(y, x)
    return np.arctan2(y, x)


def where(condition: Scalar, yes: Scalar, no: Scalar) -> Scalar:
    """Return `yes` where the condition holds, else `no`: the only conditional.

    Both branches are evaluated: guard arguments, not results.
    """
    for x in (condition, yes, no):
        method = getattr(type(x), "where", None)
        if method is not None:
            return method(condition, yes, no)
    # a number for numbers, not an array of no dimensions
    return np.asarray(np.where(condition, yes, no))[()]


def is_zero(x: Scalar) -> bool:
    """Return whether a scalar is a structural zero, the float 0.0.

    A node or array that happens to be zero is not.
    """
    return isinstance(x, float) and x == 0.0


def dot(a: Scalars, b: Scalars) -> Scalar:
    """Return the scalar product of sequences of scalars, without products with structural zeros."""
    total: Scalar = 0.0
    for x, y in zip(a, b, strict=True):
        if not (is_zero(x) or is_zero(y)):
            total = x * y if is_zero(total) else total + x * y
    return total


def iteration(carried: Any) -> None:
    """Mark the begin of an iteration of a loop.

    Nodes of a graph store it, so that iterations with equal code are compiled once. `carried` are
    scalars that the iteration uses, in tuples or lists.
    """
    stack = [carried]
    while stack:
        x = stack.pop()
        if isinstance(x, tuple | list):
            stack += x
        elif (method := getattr(x, "iteration", None)) is not None:
            method()
            return
