"""A program over the arrays of any library that follows the array API standard (NumPy, JAX, PyTorch): batch dimensions first.

Python array API standard, version 2023.12, "Elementwise functions".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from ..ir.program import Program
from .evaluate import Table, evaluate


def operations(xp: Any) -> Table:
    """The table of operations in a namespace such as `numpy`, `jax.numpy` or `torch`."""
    functions = {name: getattr(xp, name) for name in ("sin", "cos", "sqrt", "exp", "tanh", "asin", "acos", "atan2", "abs", "sign")}
    return functions | {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "div": lambda a, b: a / b,
        "neg": lambda a: -a,
        "lt": lambda a, b: a < b,
        "le": lambda a, b: a <= b,
        "select": xp.where,
    }


def call(program: Program, xp: Any, arrays: Sequence[Any], constant: Callable[[float], Any] = float) -> tuple[Any, ...]:
    """The outputs of a program, (..., *shape) each, for arrays (..., *shape) of the namespace whose batch dimensions broadcast.

    `constant` makes a constant that goes with the arrays.
    """
    batches = [tuple(x.shape[: len(x.shape) - len(o.shape)]) for x, o in zip(arrays, program.inputs, strict=True)]
    batch = tuple(xp.broadcast_shapes(*batches))
    scalars = [[x[(..., *index)] for index in product(*map(range, o.shape))] for x, o in zip(arrays, program.inputs, strict=True)]
    made = []
    for operand, values in zip(program.outputs, evaluate(program, operations(xp), scalars, constant), strict=True):
        columns = [xp.broadcast_to(_array(xp, value, arrays[0]), batch) for value in values]
        made.append(xp.reshape(xp.stack(columns, -1), (*batch, *operand.shape)))
    return tuple(made)


def _array(xp: Any, value: Any, like: Any) -> Any:
    """A constant result as an array of the type of another; arrays as they are."""
    return xp.full((), value, dtype=like.dtype) if isinstance(value, float) else value
