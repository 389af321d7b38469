"""Samples folded into triangular factors by compiled Householder reflections, in place: the step of square-root least squares."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import cache as disk
from . import jit
from .elf import Loaded, load, pack
from .threads import share

Array = NDArray[np.float64]
Whole = NDArray[np.int64]
PANEL = 12  # rows that are reflected together
FEW = 4  # samples up to which they are folded one by one
PAD = 8  # doubles in the widest vector: the columns of a factor are padded to whole ones
_ONE = np.ones(1)


class Triangles:
    """Upper triangular factors R_j of the rows [Y_j tau_j] of samples: R_j^T R_j grows by x^T x for every row x.

    `reach[j]` are the columns of Y (N, n, b) that row j has. `factors[j]` (k, k) are views of the present factors.
    Golub and Van Loan, "Matrix Computations", 4th ed., section 6.5.3.
    """

    def __init__(self, reach: Sequence[Sequence[int]], factors: Sequence[Array] | None = None) -> None:
        self.reach = tuple(tuple(int(c) for c in columns) for columns in reach)
        widths = [len(columns) + 1 for columns in self.reach]
        padded = [-(-k // PAD) * PAD for k in widths]
        sizes = [k * up for k, up in zip(widths, padded, strict=True)]
        places, starts = (np.concatenate([[0], np.cumsum(x)[:-1]]) for x in (sizes, [k - 1 for k in widths]))
        self._ends = tuple((int(a), k, up) for a, k, up in zip(places, widths, padded, strict=True))
        self._index = np.array([c for columns in self.reach for c in columns], np.int64)
        each = np.arange(len(widths))
        self._table = np.column_stack([places, widths, starts, each, each, each]).astype(np.int64)
        self.memory = np.zeros(sum(sizes))
        for mine, given in zip(self.factors, factors or (), strict=False):
            mine[:] = given

    @property
    def factors(self) -> tuple[Array, ...]:
        """The factors, each (k, k), as views that change with every fold."""
        return tuple(self.memory[a : a + k * up].reshape(k, up)[:, :k] for a, k, up in self._ends)

    def fold(self, Y: Array, tau: Array, weights: Array | None = None, threads: int = 1) -> None:
        """Fold samples Y (N, n, b) and tau (N, n), rows multiplied by weights (N, n); those of weight 0 are not read.

        The factors are shared between threads; what comes out is the same.
        """
        Y, tau = samplewise(Y), samplewise(tau)
        weights = None if weights is None else samplewise(weights)
        table = self._table.copy()
        table[:, 3] *= Y.shape[2]
        table[:, 5] *= weights is not None
        parts = shares([k * k for _, k, _ in self._ends], threads)
        weighed = _ONE if weights is None else weights
        share(lambda i: self._run(table[parts[i]], self._index, Y, tau, weighed), len(parts), [])

    def absorb(self, other: Sequence[Array]) -> None:
        """Fold further factors, each (k, k), of the same reach."""
        for at, R in zip(self._table, other, strict=True):
            rows = np.ascontiguousarray(R)
            self._run(np.array([[*at[:2], 0, 0, 0, 0]], np.int64), np.arange(len(R), dtype=np.int64), rows, rows[:, -1], _ONE)

    def _run(self, table: Whole, index: Whole, Y: Array, tau: Array, weights: Array) -> None:
        rows = 1 if len(Y) <= FEW else PANEL
        scratch = np.empty(rows * max(up for _, _, up in self._ends) + PAD)
        lead = -scratch.__array_interface__["data"][0] // 8 % PAD
        addresses = [x.__array_interface__["data"][0] for x in (self.memory, Y, tau, weights, table, index)]  # faster than x.ctypes
        R, y, t, w, at, columns = addresses
        steps = [0 if len(x) == 1 else x.strides[0] // 8 for x in (Y, tau, weights)]
        start = scratch.__array_interface__["data"][0] + 8 * lead
        _compiled(rows)(R, start, y, steps[0], t, steps[1], w, steps[2], len(Y), len(table), at, columns)

    def copy(self) -> Triangles:
        """Return factors of their own with the same numbers."""
        return Triangles(self.reach, self.factors)


def samplewise(x: Array) -> Array:
    """Return an array (N, ...) of float64 whose samples are each in one piece and whole numbers apart; itself, if it is."""
    whole = np.prod(x.shape[1:]) <= 1 or np.zeros((1, *x.shape[1:])).strides[1:] == x.strides[1:]
    return x if whole and x.dtype == float and x.strides[0] % 8 == 0 else np.ascontiguousarray(x, float)


def shares(costs: Sequence[float], count: int) -> list[slice]:
    """Return up to `count` slices of things that cost about the same."""
    ends = np.cumsum(costs)
    middles = (ends - np.asarray(costs) / 2.0) / ends[-1]
    edges = np.searchsorted(middles, np.arange(count + 1) / count)
    return [slice(int(a), int(b)) for a, b in pairwise(edges) if b > a]


@cache
def _compiled(rows: int) -> Callable[..., None]:
    """The loop that folds so many rows at a time, from the disk cache or compiled."""
    loaded = _loaded(rows)
    pointer, count = ctypes.c_void_p, ctypes.c_int64
    arguments: list[Any] = [pointer, pointer, *[pointer, count] * 3, count, count, pointer, pointer]
    function = ctypes.CFUNCTYPE(None, *arguments)(loaded.address)
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
