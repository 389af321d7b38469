"""Why a call of a kernel failed, in a sentence that names the argument."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import CallError
from .program import Operand, Shape


def mismatch(
    name: str, inputs: Sequence[Operand], outputs: Sequence[Operand], args: Sequence[Any], out: Any, error: Exception
) -> CallError:
    """The error to raise in place of NumPy's."""
    if len(args) != len(inputs):
        return CallError(f"{name} takes {len(inputs)} arrays ({', '.join(o.name for o in inputs)}), got {len(args)}")
    batches: list[tuple[str, Shape]] = []
    for value, operand in zip(args, inputs, strict=True):
        try:
            array = np.asarray(value)
        except (TypeError, ValueError):
            return CallError(f"{name}: {operand.name} is not an array of real numbers: {type(value).__name__} {value!r:.60}")
        if not np.can_cast(array.dtype, np.float64, "same_kind"):
            return CallError(f"{name}: {operand.name} is not an array of real numbers: {type(value).__name__} of {array.dtype}")
        edge = array.ndim - len(operand.shape)
        if edge < 0 or array.shape[edge:] != operand.shape:
            return CallError(f"{name}: {operand.name} has shape {array.shape}, expected {expected(operand)}")
        batches.append((operand.name, array.shape[:edge]))
    try:
        batch = np.broadcast_shapes(*(b for _, b in batches))
    except ValueError:
        listed = ", ".join(f"{operand} {b}" for operand, b in batches)
        return CallError(f"{name}: the batch shapes do not broadcast together: {listed}")
    if out is not None:
        wanted = ", ".join(str(batch + o.shape) for o in outputs)
        return CallError(f"{name}: out= must be a float64 array of shape {wanted}: {error}")
    return CallError(f"{name}: {error}")


def expected(operand: Operand) -> str:
    """'(..., 6)' for a message."""
    return f"(..., {', '.join(map(str, operand.shape))})" if operand.shape else "a number or an array of numbers"
