"""A program over the arrays of any library that follows the array API standard (NumPy, JAX, PyTorch): batch dimensions first.

Python array API standard, version 2023.12, "Elementwise functions".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..ir.program import Program
from .evaluate import ARITHMETIC, Table, evaluate


def operations(xp: Any) -> Table:
    """The table of operations in a namespace such as `numpy`, `jax.numpy` or `torch`."""
    functions = {name: getattr(xp, name) for name in ("sin", "cos", "sqrt", "exp", "tanh", "asin", "acos", "atan2", "abs", "sign")}
    return functions | ARITHMETIC | {"select": xp.where}


def call(program: Program, xp: Any, arrays: Sequence[Any], constant: Callable[[float], Any] = float) -> tuple[Any, ...]:
    """The outputs of a program, (..., *shape) each, for arrays (..., *shape) of the namespace whose batch dimensions broadcast.

    `constant` makes a constant that goes with the arrays.
    """
    batches = [tuple(x.shape[: len(x.shape) - len(o.shape)]) for x, o in zip(arrays, program.inputs, strict=True)]
    batch = tuple(xp.broadcast_shapes(*batches))
    flat = [xp.reshape(x, (*own, o.size)) for x, o, own in zip(arrays, program.inputs, batches, strict=True)]
    scalars = [list(xp.moveaxis(x, -1, 0)) for x in flat]
    made = []
    for operand, values in zip(program.outputs, evaluate(program, operations(xp), scalars, constant), strict=True):
        columns = [_spread(xp, value, batch, arrays[0]) for value in values]
        made.append(xp.reshape(xp.stack(columns, -1), (*batch, *operand.shape)))
    return tuple(made)


def _spread(xp: Any, value: Any, batch: tuple[int, ...], like: Any) -> Any:
    """A result of the shape of the batch; a constant becomes an array of the type of another."""
    made = xp.full((), value, dtype=like.dtype) if isinstance(value, float) else value
    return made if tuple(made.shape) == batch else xp.broadcast_to(made, batch)
