"""Rows folded into triangular factors by compiled Householder reflections, in place: the step of square-root least squares."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from . import cache as disk
from . import jit
from .elf import Loaded, load, pack

Array = NDArray[np.float64]
PANEL = 8  # rows that are reflected together
PAD = 8  # doubles in the widest vector: the columns of a factor are padded to whole ones


class Triangles:
    """Upper triangular factors R_b, each of `widths[b]` columns, into which rows are folded: R_b^T R_b grows by x^T x for every row x.

    `factors[b]` (k, k) are views of the present factors. Rows are given packed: `columns[b]` says which columns of a packed row belong
    to factor b, `width` is the length of a packed row. Golub and Van Loan, "Matrix Computations", 4th ed., section 6.5.3.
    """

    def __init__(self, widths: Sequence[int]) -> None:
        padded = [-(-k // PAD) * PAD for k in widths]
        sizes = [k * up for k, up in zip(widths, padded, strict=True)]
        places, starts = (np.concatenate([[0], np.cumsum(x)[:-1]]).astype(np.int64) for x in (sizes, padded))
        self.width = sum(padded)
        self.columns = tuple(slice(int(a), int(a) + k) for a, k in zip(starts, widths, strict=True))
        self.memory = np.zeros(sum(sizes))
        self._table = np.ascontiguousarray(np.column_stack([places, starts, widths]).astype(np.int64))
        self._ends = tuple((int(a), k, up) for a, k, up in zip(places, widths, padded, strict=True))

    @property
    def factors(self) -> tuple[Array, ...]:
        """The factors, each (k, k), as views that change with every fold."""
        return tuple(self.memory[a : a + k * up].reshape(k, up)[:, :k] for a, k, up in self._ends)

    def fold(self, rows: Array) -> None:
        """Fold packed rows (N, width), contiguous; they are used up."""
        R, address, table = (x.__array_interface__["data"][0] for x in (self.memory, rows, self._table))  # faster than x.ctypes
        whole, stride = len(rows) // PANEL, rows.shape[1]
        if whole:
            _compiled(PANEL)(R, address, stride, whole, len(self._ends), table)
        if len(rows) > whole * PANEL:
            _compiled(1)(R, address + 8 * stride * whole * PANEL, stride, len(rows) - whole * PANEL, len(self._ends), table)

    def absorb(self, other: Triangles) -> None:
        """Fold the factors of `other`, which has the same widths."""
        rows = np.zeros((-(-max(k for _, k, _ in self._ends) // PANEL) * PANEL, self.width))
        for columns, R in zip(self.columns, other.factors, strict=True):
            rows[: len(R), columns] = R
        self.fold(rows)

    def copy(self) -> Triangles:
        """Return factors of their own with the same numbers."""
        made = Triangles([k for _, k, _ in self._ends])
        made.memory[:] = self.memory
        return made


@cache
def _compiled(rows: int) -> Callable[[int, int, int, int, int, int], None]:
    """The loop that folds so many rows at a time, from the disk cache or compiled."""
    loaded = _loaded(rows)
    pointer, count = ctypes.c_void_p, ctypes.c_int64
    function = ctypes.CFUNCTYPE(None, pointer, pointer, count, count, count, pointer)(loaded.address)
    function.owner = loaded  # type: ignore[attr-defined]
    return function


def _loaded(rows: int) -> Loaded:
    version = disk.sources(Path(__file__).parents[1])
    name = None if version is None else disk.key("fold_rows", str(rows), jit.machine(), version)
    found = None if name is None else disk.read(name)
    if found is None:
        from ..render.llvm.householder import render

        with jit.lock:
            host = jit.host()
            found = pack(jit.compile_object(render(PAD, rows, host.fused)))
        if name is not None:
            disk.write(name, found)
    return load(found)
