"""Samples folded into triangular factors by compiled Householder reflections, in place: the step of square-root least squares."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import cache as disk
from . import jit
from .elf import Loaded, executable_memory, load, pack
from .fold_by_numpy import fold_by_numpy
from .threads import share

Array = NDArray[np.float64]
Whole = NDArray[np.int64]
PANEL = 64  # rows that are reflected together
FEW = 4  # samples up to which they are folded one by one
PAD = 8  # doubles in the widest vector: the columns of a factor are padded to whole ones
ROW = 7  # numbers of a row of the table
_ONE = np.ones(1)
_ONE_AT = int(_ONE.__array_interface__["data"][0])
_FLOAT64 = _ONE.dtype


class Triangles:
    """Upper triangular factors R_j of the rows [Y_j tau_j] of samples: R_j^T R_j grows by x^T x for every row x.

    `reach[j]` are the columns of Y (N, n, b) that row j has. `factors[j]` (k, k) are views of the present factors, all in `memory`.
    Golub and Van Loan, "Matrix Computations", 4th ed., section 6.5.3.
    """

    def __init__(self, reach: Sequence[Sequence[int]], factors: Sequence[Array] | None = None) -> None:
        self._layout = layout(tuple(map(tuple, reach)))
        self.memory = np.zeros(self._layout.size)
        self._scratch = aligned(PANEL * self._layout.widest)
        self._start, self._scratch_start = address(self.memory), address(self._scratch)
        for mine, given in zip(self.factors, factors or (), strict=False):
            mine[:] = given

    @property
    def factors(self) -> tuple[Array, ...]:
        """The factors, each (k, k), as views that change with every fold."""
        return tuple(self.memory[a : a + k * up].reshape(k, up)[:, :k] for a, k, up in self._layout.places)

    def fold(self, Y: Array, tau: Array, weights: Array | None = None, threads: int = 1) -> None:
        """Fold samples Y (N, n, b) and tau (N, n), rows multiplied by weights (N, n); those of weight 0 are not read.

        The factors are shared between threads; what comes out is the same.
        """
        Y, tau = samplewise(Y), samplewise(tau)
        self._fold((address(Y), step(Y), address(tau), step(tau)), len(Y), Y.shape[2], weights, threads)

    def fold_entries(self, entries: Array, tau: Array, weights: Array | None = None, threads: int = 1) -> None:
        """Fold samples that have of row j of Y the columns reach[j] alone, one row after the other: entries (N, P); else as `fold`."""
        entries, tau = samplewise(entries), samplewise(tau)
        self._fold((address(entries), step(entries), address(tau), step(tau)), len(entries), None, weights, threads)

    def fold_joined(self, rows: Array, width: int, weights: Array | None = None) -> None:
        """Fold samples whose numbers are in one contiguous row each (N, m): Y (n, b), b = `width`, and then tau (n)."""
        y, m = address(rows), step(rows)
        self._fold((y, m, y + 8 * width * len(self._layout.places), m), len(rows), width, weights, 1)

    def _fold(self, given: tuple[int, int, int, int], count: int, width: int | None, weights: Array | None, threads: int) -> None:
        """Fold `count` samples whose regressor and torque begin at addresses, with numbers of steps from one to the next.

        `width` are the columns of Y, None where it has those in reach alone.
        """
        weights = None if weights is None else samplewise(weights)
        table, first, index = self._layout.table(width, weights is not None)
        samples = (*given, _ONE_AT, 0, count) if weights is None else (*given, address(weights), step(weights), count)
        run = _compiled(1 if count <= FEW else PANEL)
        if threads == 1:
            run(self._start, self._scratch_start, *samples, len(table), first, index)
            return
        parts = shares([k * k for _, k, _ in self._layout.places], threads)
        scratches = [aligned(len(self._scratch)) for _ in parts]

        def one(i: int) -> None:
            run(self._start, address(scratches[i]), *samples, parts[i].stop - parts[i].start, first + 8 * ROW * parts[i].start, index)

        share(one, len(parts), [])

    def absorb(self, other: Sequence[Array]) -> None:
        """Fold further factors, each (k, k), of the same reach."""
        for (table, index), R in zip(self._layout.packed, other, strict=True):
            rows = np.ascontiguousarray(R)
            y, k = address(rows), len(rows)
            given = y, k, y + 8 * (k - 1), k, _ONE_AT, 0, k
            _compiled(1 if k <= FEW else PANEL)(self._start, self._scratch_start, *given, 1, address(table), address(index))

    def copy(self) -> Triangles:
        """Return factors of their own with the same numbers."""
        return Triangles(self._layout.reach, self.factors)

    def __reduce__(self) -> tuple[Any, ...]:
        return Triangles, (self._layout.reach, tuple(R.copy() for R in self.factors))  # addresses are those of this process


class Layout:
    """Where the factors of a reach are in memory, as the compiled loop is told: `places` has begin, columns and padded columns of each."""

    def __init__(self, reach: tuple[tuple[int, ...], ...]) -> None:
        self.reach = reach
        widths = [len(columns) + 1 for columns in reach]
        padded = [-(-k // PAD) * PAD for k in widths]
        begins, starts = ([0, *accumulate(x)] for x in ([k * up for k, up in zip(widths, padded, strict=True)], [k - 1 for k in widths]))
        self.size, self.widest = begins[-1], max(padded)
        self.places = tuple(zip(begins[:-1], widths, padded, strict=True))
        self.index = np.array([c for columns in reach for c in columns], np.int64)
        self._rows = [(a, k, at, j) for j, ((a, k, _), at) in enumerate(zip(self.places, starts[:-1], strict=True))]
        self._tables: dict[tuple[int | None, bool], tuple[Whole, int, int]] = {}
        self.counted = np.arange(max(widths), dtype=np.int64)
        self.packed = tuple((np.array([[a, k, 0, 0, 0, 0, 1]], np.int64), np.arange(k, dtype=np.int64)) for a, k, _ in self.places)

    def table(self, width: int | None, weighed: bool) -> tuple[Whole, int, int]:
        """Return the table for regressors of `width` columns with or without weights, its address, and that of the index.

        Without a width, rows have the columns in reach alone, one row after the other.
        """
        if (width, weighed) not in self._tables:
            inside = [(at, j * width) if width is not None else (0, at) for _, _, at, j in self._rows]
            rows = zip(self._rows, inside, strict=True)
            made = np.array([[a, k, *place, j, j * weighed, width is None] for (a, k, _, j), place in rows], np.int64)
            self._tables[width, weighed] = made, address(made), address(self.index if width is not None else self.counted)
        return self._tables[width, weighed]


@lru_cache(maxsize=64)
def layout(reach: tuple[tuple[int, ...], ...]) -> Layout:
    """The layout of a reach, made once."""
    return Layout(reach)


def address(x: NDArray[Any]) -> int:
    """Where the first number of an array is in memory."""
    return int(x.__array_interface__["data"][0])  # faster than x.ctypes


def step(x: Array) -> int:
    """How many numbers a sample is from the next."""
    return 0 if len(x) == 1 else x.strides[0] // 8


def aligned(size: int) -> Array:
    """So many numbers from an address on that the widest vector may be loaded from."""
    made = np.empty(size + PAD)
    lead = -address(made) // 8 % PAD
    return made[lead : lead + size]


def samplewise(x: Array) -> Array:
    """Return an array (N, ...) of float64 whose samples are each in one piece and whole numbers apart; itself, if it is."""
    inner = (8,) if x.ndim == 2 else (8 * x.shape[-1], 8)
    return x if x.strides[1:] == inner and x.dtype is _FLOAT64 and x.strides[0] % 8 == 0 else np.ascontiguousarray(x, float)


def shares(costs: Sequence[float], count: int) -> list[slice]:
    """Return up to `count` slices of things that cost about the same."""
    ends = np.cumsum(costs)
    middles = (ends - np.asarray(costs) / 2.0) / ends[-1]
    edges = np.searchsorted(middles, np.arange(count + 1) / count)
    return [slice(int(a), int(b)) for a, b in pairwise(edges) if b > a]


@cache
def _compiled(rows: int) -> Callable[..., None]:
    """The loop that folds so many rows at a time, from the disk cache or compiled; NumPy's where no compiled code may run."""
    if not executable_memory():
        return fold_by_numpy
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
        from ..render.llvm import blocked_householder, householder

        render = blocked_householder.render if rows > 1 else householder.render

        with jit.lock:
            host = jit.host()
            found = pack(jit.compile_object(render(PAD, rows, host.fused)))
        if name is not None:
            disk.write(name, found)
    return load(found)
