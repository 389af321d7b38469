"""A kernel: a program compiled for this processor and callable on NumPy arrays."""

from __future__ import annotations

import ctypes
import functools
import hashlib
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import CallError
from . import cache, frame, llvm, native, trig
from .gufunc import gufunc
from .program import Operand, Program
from .threads import pool, thread_count

ParallelWork = 400_000  # nodes times samples below which one thread is quicker


class Kernel:
    """Call it with one array per input, batch dimensions first, or with `out=`; returns float64 arrays.

    `ufunc` is the generalised ufunc itself; the call adds threads over large batches and error messages that name the argument.
    """

    def __init__(self, program: Program) -> None:
        self.name, self.inputs, self.outputs = program.name, program.inputs, program.outputs
        self.operations, self.nodes = program.operations, len(program.steps)
        self.digest = program.digest
        host = native.host()
        code = cache.fetch(cache.key(self.digest, host.key, renderer()), lambda: native.compile_object(llvm.render(program, host.lanes, host.fused)))
        self._loaded = native.load_object(code)
        shapes = [o.shape for o in self.inputs], [o.shape for o in self.outputs]
        table = native.library()
        self.ufunc, self._memory = gufunc(self._loaded.address, ctypes.addressof(table), *shapes, self.name, f"{self.name} ({self.operations} operations)")
        self._large = ParallelWork // max(self.nodes, 1) * self.inputs[0].size

    def __call__(self, *args: Any, out: Any = None) -> Any:
        try:
            first = args[0]
            if type(first) is np.ndarray and first.size > self._large and first.ndim > len(self.inputs[0].shape):
                return self._in_parallel(args, out)
            return self.ufunc(*args) if out is None else self.ufunc(*args, out=out)
        except (ValueError, TypeError) as error:
            raise self._explain(args, out, error) from None

    def _in_parallel(self, args: tuple[Any, ...], out: Any) -> Any:
        """Split the first batch axis between threads; the ufunc releases the GIL while it computes."""
        count = thread_count()
        arrays = [np.asarray(a, dtype=np.float64) for a in args]
        batch = np.broadcast_shapes(*(a.shape[: a.ndim - len(o.shape)] for a, o in zip(arrays, self.inputs, strict=True)))
        if count == 1 or len(batch) == 0 or batch[0] < 2 * count:
            return self.ufunc(*args) if out is None else self.ufunc(*args, out=out)
        if out is None:
            outs: tuple[np.ndarray, ...] = tuple(np.empty(batch + o.shape) for o in self.outputs)
        else:
            outs = out if isinstance(out, tuple) else (out,)
            if any(o.shape != batch + w.shape for o, w in zip(outs, self.outputs, strict=True)):
                return self.ufunc(*args, out=out)
        arrays = [np.broadcast_to(a, batch + o.shape) for a, o in zip(arrays, self.inputs, strict=True)]
        edges = [batch[0] * i // count for i in range(count + 1)]

        def run(i: int) -> None:
            part = slice(edges[i], edges[i + 1])
            self.ufunc(*(a[part] for a in arrays), out=tuple(o[part] for o in outs))

        jobs = [pool().submit(run, i) for i in range(1, count)]
        run(0)
        for job in jobs:
            job.result()
        return outs[0] if len(outs) == 1 else outs

    def _explain(self, args: tuple[Any, ...], out: Any, error: Exception) -> CallError:
        """A sentence that names the argument that does not fit."""
        if len(args) != len(self.inputs):
            return CallError(f"{self.name} takes {len(self.inputs)} arrays ({', '.join(o.name for o in self.inputs)}), got {len(args)}")
        batches = []
        for value, operand in zip(args, self.inputs, strict=True):
            try:
                array = np.asarray(value, dtype=np.float64)
            except (TypeError, ValueError):
                return CallError(f"{self.name}: {operand.name} is not an array of real numbers: {type(value).__name__} {value!r:.60}")
            core = array.shape[array.ndim - len(operand.shape) :] if array.ndim >= len(operand.shape) else array.shape
            if core != operand.shape:
                return CallError(f"{self.name}: {operand.name} has shape {array.shape}, expected {expected(operand)}")
            batches.append((operand.name, array.shape[: array.ndim - len(operand.shape)]))
        try:
            batch = np.broadcast_shapes(*(b for _, b in batches))
        except ValueError:
            listed = ", ".join(f"{name} {b}" for name, b in batches)
            return CallError(f"{self.name}: the batch shapes do not broadcast together: {listed}")
        if out is not None:
            wanted = ", ".join(str(batch + o.shape) for o in self.outputs)
            return CallError(f"{self.name}: out= must be a float64 array of shape {wanted}: {error}")
        return CallError(f"{self.name}: {error}")


@functools.cache
def renderer() -> str:
    """A digest of the code that makes code: an object is never used by a version that would make another."""
    h = hashlib.blake2b(digest_size=16)
    for module in (llvm, frame, trig, native):
        h.update(Path(module.__file__).read_bytes())
    return h.hexdigest()


def expected(operand: Operand) -> str:
    """'(..., 6)' for a message."""
    return f"(..., {', '.join(map(str, operand.shape))})" if prod(operand.shape) != 1 or operand.shape else "a number or an array of numbers"
