"""Interpretation of a program on NumPy arrays, which saves the compilation for a call or two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..ir.program import Program
from ..render.array_expressions import call
from .gufunc import call_error


class Interpreter:
    """A program that is interpreted, node by node.

    Call it with one array per input, batch dimensions first. It returns float64 arrays, as a kernel
    of the program does.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self.__name__ = program.name

    def __call__(self, *args: Any) -> Any:
        program = self._program
        try:
            arrays = [
                np.asarray(x).astype(np.float64, casting="same_kind", copy=False) for x in args
            ]
            if any(
                a.shape[a.ndim - len(o.shape) :] != o.shape
                for a, o in zip(arrays, program.inputs, strict=True)
            ):
                raise ValueError
            with np.errstate(all="ignore"):
                results = call(program, np, arrays)
        except (ValueError, TypeError) as error:
            raise call_error(
                program.name, program.inputs, program.outputs, args, None, error
            ) from None
        return results if len(results) > 1 else results[0]


class InterpretedUfunc:
    """A program in place of its gufunc where no compiled code may run.

    Calls, shapes and `out=` are the gufunc's.

    Parameters
    ----------
    program : the program; one from `repeat` runs as often as its last input says
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self.__name__ = program.name
        self.__doc__ = f"{program.name} (interpreted)"

    def __call__(self, *args: Any, out: Any = None) -> Any:
        inputs = self._program.inputs
        if len(args) != len(inputs):
            raise TypeError(f"{self.__name__} takes {len(inputs)} arrays, got {len(args)}")
        arrays = [np.asarray(x).astype(np.float64, casting="same_kind", copy=False) for x in args]
        for array, operand in zip(arrays, inputs, strict=True):
            if array.shape[max(array.ndim - len(operand.shape), 0) :] != operand.shape:
                raise ValueError(f"{operand.name} has shape {array.shape}")
        with np.errstate(all="ignore"):
            results = (
                self._repeat(arrays) if self._program.carries else call(self._program, np, arrays)
            )
        return _write_results(results, out)

    def _repeat(self, arrays: Sequence[NDArray[np.float64]]) -> tuple[Any, ...]:
        """Return the results of the last of several runs, each from the results before."""
        program = self._program
        inputs, outputs = (
            [operand.name for operand in operands] for operands in (program.inputs, program.outputs)
        )
        values, count = list(arrays), arrays[-1]
        results = call(program, np, values)
        for k in range(1, int(np.max(count, initial=0))):
            for name in program.carries:
                values[inputs.index(name)] = results[outputs.index(name)]
            later = call(program, np, values)
            pairs = zip(later, results, program.outputs, strict=True)
            results = tuple(
                np.where(count.reshape(count.shape + (1,) * len(o.shape)) > k, new, old)
                for new, old, o in pairs
            )
        return results


def _write_results(results: tuple[Any, ...], out: Any) -> Any:
    """Return the results, a single one without a tuple, as new arrays or in the arrays of `out`."""
    if out is None:
        arrays = tuple(np.array(x)[()] for x in results)
    else:
        arrays = out if isinstance(out, tuple) else (out,)
        for array, result in zip(arrays, results, strict=True):
            if array.shape != np.shape(result):
                raise ValueError(f"out has shape {array.shape}, expected {np.shape(result)}")
            array[...] = result
    return arrays if len(arrays) > 1 else arrays[0]
