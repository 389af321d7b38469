"""Evaluation of a program on arrays of an array-API library (NumPy, JAX, PyTorch).

Batch dimensions come first. Python array API standard, version 2023.12, "Elementwise functions".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..ir.program import Program
from .evaluate import ARITHMETIC, Table, evaluate


def operations(xp: Any) -> Table:
    """Return the table of operations in a namespace such as `numpy`, `jax.numpy` or `torch`."""
    functions = {
        name: getattr(xp, name)
        for name in ("sin", "cos", "sqrt", "exp", "tanh", "asin", "acos", "atan2", "abs", "sign")
    }
    return functions | ARITHMETIC | {"select": xp.where}


def call(
    program: Program, xp: Any, arrays: Sequence[Any], constant: Callable[[float], Any] = float
) -> tuple[Any, ...]:
    """Return the outputs of a program, (..., *shape) each, for arrays (..., *shape).

    Batch dimensions broadcast. `constant` converts a float to an array of the namespace.
    """
    batches = [
        tuple(x.shape[: len(x.shape) - len(o.shape)])
        for x, o in zip(arrays, program.inputs, strict=True)
    ]
    batch = tuple(xp.broadcast_shapes(*batches))
    flat = [
        xp.reshape(x, (*batch_shape, o.size))
        for x, o, batch_shape in zip(arrays, program.inputs, batches, strict=True)
    ]
    scalars = [list(xp.moveaxis(x, -1, 0)) for x in flat]
    outputs = []
    for operand, values in zip(
        program.outputs, evaluate(program, operations(xp), scalars, constant), strict=True
    ):
        columns = [_spread(xp, value, batch, arrays[0]) for value in values]
        outputs.append(xp.reshape(xp.stack(columns, -1), (*batch, *operand.shape)))
    return tuple(outputs)


def _spread(xp: Any, value: Any, batch: tuple[int, ...], like: Any) -> Any:
    """Return a result broadcast to the batch shape; a constant becomes an array of that type."""
    array = xp.full((), value, dtype=like.dtype) if isinstance(value, float) else value
    return array if tuple(array.shape) == batch else xp.broadcast_to(array, batch)
