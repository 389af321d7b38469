"""A kernel: a program compiled for this processor and callable on NumPy arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import CallError
from . import cache, native
from .gufunc import gufunc
from .interface import Interface
from .machine_code import Loaded, load, machine, pack
from .mismatch import mismatch
from .parallel import in_parallel
from .program import Program
from .sources import sources
from .threads import thread_count

PARALLEL_WORK = 400_000  # nodes times samples below which one thread is quicker


class Kernel:
    """Call it with one array per input, batch dimensions first, or with `out=`; returns float64 arrays.

    `ufunc` is the generalised ufunc itself; the call adds threads over large batches and error messages that name the argument.
    """

    def __init__(self, program: Program) -> None:
        self._open(Interface.of(program), lambda: program)

    @classmethod
    def recalled(cls, key: str | None, make: Callable[[], Program]) -> Kernel:
        """The kernel of the program that `make` traces; where the disk knows what the key stands for, nothing is traced.

        The key must name all that the program depends on, the code that traces included. None: it cannot be named.
        """
        kernel = cls.__new__(cls)
        name = None if key is None else cache.key("interface", key)
        found = None if name is None else Interface.read(cache.read(name) or b"")
        if found is None:
            program = make()
            found, make = Interface.of(program), lambda: program
            if name is not None:
                cache.write(name, found.write())
        kernel._open(found, make)
        return kernel

    def _open(self, interface: Interface, make: Callable[[], Program]) -> None:
        self.name, self.inputs, self.outputs = interface.name, interface.inputs, interface.outputs
        self.operations, self.nodes, self.digest = interface.operations, interface.nodes, interface.digest
        if not self.inputs:
            raise CallError(f"{self.name} takes no array; expected at least one, whose shape gives that of the result")
        for operand in (*self.inputs, *self.outputs):
            if operand.size == 0:
                raise CallError(f"{self.name}: {operand.name} has no scalar, shape {operand.shape}; expected at least one")
        loaded = _loaded(self.digest, make)
        shapes = [o.shape for o in self.inputs], [o.shape for o in self.outputs]
        table = native.library()
        doc = f"{self.name} ({self.operations} operations)"
        self.ufunc = gufunc(loaded.address, ctypes.addressof(table), *shapes, self.name, doc, owner=(loaded, table))
        samples = PARALLEL_WORK // max(self.nodes, 1)
        self._large = tuple(samples * o.size for o in self.inputs)

    def __call__(self, *args: Any, out: Any = None) -> Any:
        try:
            for a, large in zip(args, self._large, strict=False):
                if type(a) is np.ndarray and a.size > large and (count := thread_count()) > 1:
                    return in_parallel(self.ufunc, self.inputs, self.outputs, count, args, out)
            return self.ufunc(*args) if out is None else self.ufunc(*args, out=out)
        except (ValueError, TypeError) as error:
            raise mismatch(self.name, self.inputs, self.outputs, args, out, error) from None


def _loaded(digest: str, make: Callable[[], Program]) -> Loaded:
    """The machine code of a program from the disk, or compiled and kept there. Code on the disk that does not load is made anew."""
    version = sources(Path(__file__).parent)
    name = None if version is None else cache.key("code", digest, machine(), version)
    found = None if name is None else cache.read(name)
    if found is not None:
        with suppress(RuntimeError):
            return load(found)
    code = pack(_compiled(make()))
    if name is not None:
        cache.write(name, code)
    return load(code)


def _compiled(program: Program) -> bytes:
    from .llvm import render  # what only compiling needs is imported when something is compiled

    host = native.host()
    return native.compile_object(render(program, host.lanes, host.fused))
