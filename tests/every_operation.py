"""One function that uses every operation, and values that try it.

What each backend makes of it must be the same numbers.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from steelyard.algebra.scalar import (
    absolute,
    acos,
    asin,
    atan2,
    cos,
    exp,
    sign,
    sin,
    sqrt,
    tanh,
    where,
)
from steelyard.compiler.ir.program import Operand, Program, trace

NAN, INF = float("nan"), float("inf")
SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.3, -2.5, 1e-300, 1e7, -1e22, 1e200, INF, -INF, NAN)

CASADI_IN_NUMPY = SimpleNamespace(
    **{
        name: getattr(np, name)
        for name in ("sin", "cos", "sqrt", "exp", "tanh", "asin", "acos", "atan2", "sign")
    },
    fabs=np.abs,
    if_else=np.where,
    SX=np.float64,
    vertcat=lambda *values: np.array(values),
    reshape=lambda x, rows, columns: x.reshape(rows, columns, order="F"),
    sparsify=lambda x: x,
)


def every_operation(x: Any, y: Any) -> list[Any]:
    """Some of each operation, with and without constants. x and y are lists of two scalars."""
    a, b = x
    c, d = y
    return [
        *(a + b, a - b, a * b, a / (1.0 + b * b), -a),
        *(a + 2.5, 2.5 - a, -3.0 * a, a / 3.0, 1.0 / (2.0 + c * c)),
        *(sin(a), cos(a), sin(b * 3.0), cos(b + 1.0), sin(a) * cos(b), sin(cos(d))),
        *(sqrt(absolute(a)), exp(c), tanh(d), exp(-absolute(b)), sqrt(c)),
        *(
            asin(a),
            acos(b),
            asin(0.7 * tanh(c)),
            acos(0.9 * sin(d)),
            atan2(a, b),
            atan2(c, 2.0),
            atan2(-0.5, d),
            atan2(a * a, -c),
        ),
        *(absolute(d), sign(a), sign(-b), sign(sin(c))),
        *(
            where(a < b, a, b),
            where(a <= b, c, -d),
            where(c > 1.0, sin(c), c),
            where(d >= 0.0, 1.0, 2.0),
        ),
        where(absolute(c) < 10.0, sqrt(absolute(c)), where(d < 0.0, d, c)),
        *(0.0, 1.5, -2.0, a, d),
    ]


SIZE = len(every_operation([1.0, 1.0], [1.0, 1.0]))
INPUTS = (Operand("x", (2,), "[-]"), Operand("y", (2,), "[-]"))
OUTPUT = Operand("z", (SIZE,), "[-]")


def traced() -> Program:
    return trace("every_operation", every_operation, INPUTS, [OUTPUT])


def samples(rng: np.random.Generator, count: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """x and y, (N, 2) each: all pairs of special values, then random ones of many sizes."""
    pairs = np.array([(a, b) for a in SPECIAL for b in SPECIAL])
    ordinary = rng.normal(size=(2, count, 2)) * 10.0 ** rng.uniform(-3, 3, size=(2, count, 2))
    return np.concatenate([pairs, ordinary[0]]), np.concatenate([pairs[::-1], ordinary[1]])


def on_arrays(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The function itself over NumPy arrays, quietly: the reference."""
    with np.errstate(all="ignore"):
        columns = every_operation(list(x.T), list(y.T))
        return np.stack([np.broadcast_to(c, len(x)) for c in columns], axis=1)


def assert_same(got: np.ndarray, expected: np.ndarray, rounding: float = 1e-14) -> None:
    """Equal to rounding, NaN and infinities in the same places."""
    np.testing.assert_allclose(got, expected, rtol=rounding, atol=1e-300, equal_nan=True)
