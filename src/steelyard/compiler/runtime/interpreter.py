"""A program run node by node on NumPy arrays: nothing is compiled, which is sooner done for a call or two."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.program import Program
from ..render.array_expressions import call
from .gufunc import call_error


class Interpreter:
    """Call it with one array per input, batch dimensions first; it returns float64 arrays, as a kernel of the program does."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self.__name__ = program.name

    def __call__(self, *args: Any) -> Any:
        made = self._program
        try:
            arrays = [np.asarray(x).astype(np.float64, casting="same_kind", copy=False) for x in args]
            if any(a.shape[a.ndim - len(o.shape) :] != o.shape for a, o in zip(arrays, made.inputs, strict=True)):
                raise ValueError
            with np.errstate(all="ignore"):
                results = call(made, np, arrays)
        except (ValueError, TypeError) as error:
            raise call_error(made.name, made.inputs, made.outputs, args, None, error) from None
        return results if len(results) > 1 else results[0]
