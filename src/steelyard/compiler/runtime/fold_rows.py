"""Update of triangular factors by new rows, the step of square-root least squares.

Compiled Householder reflections work in place.
"""

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
from .elf import Loaded, executable_memory, load_code, pack
from .threads import run_in_pool

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
    """Upper triangular factors R_j of the rows [Y_j tau_j] of samples.

    R_j^T R_j grows by x^T x for every row x. `reach[j]` are the columns of Y (N, n, b) that row j
    has. `factors[j]` (k, k) are views of `memory`. Golub and Van Loan, "Matrix Computations", 4th
    ed., section 6.5.3.
    """

    def __init__(
        self, reach: Sequence[Sequence[int]], factors: Sequence[Array] | None = None
    ) -> None:
        self._layout = fold_layout(tuple(map(tuple, reach)))
        self.memory = np.zeros(self._layout.size)
        self._scratch = aligned_array(PANEL * self._layout.widest)
        self._start, self._scratch_start = data_address(self.memory), data_address(self._scratch)
        for mine, initial in zip(self.factors, factors or (), strict=False):
            mine[:] = initial

    @property
    def factors(self) -> tuple[Array, ...]:
        """The factors, each (k, k), as views that change with every fold."""
        return tuple(
            self.memory[a : a + k * up].reshape(k, up)[:, :k] for a, k, up in self._layout.places
        )

    def fold(self, Y: Array, tau: Array, weights: Array | None = None, threads: int = 1) -> None:
        """Fold samples Y (N, n, b) and tau (N, n), rows multiplied by weights (N, n).

        Rows of weight 0 are not read. Threads share the factors; results do not depend on their
        number.
        """
        Y, tau = contiguous_samples(Y), contiguous_samples(tau)
        self._fold(
            (data_address(Y), sample_stride(Y), data_address(tau), sample_stride(tau)),
            len(Y),
            Y.shape[2],
            weights,
            threads,
        )

    def fold_entries(
        self, entries: Array, tau: Array, weights: Array | None = None, threads: int = 1
    ) -> None:
        """Fold samples given by the columns reach[j] of each row j of Y, concatenated.

        entries (N, P); else as `fold`.
        """
        entries, tau = contiguous_samples(entries), contiguous_samples(tau)
        self._fold(
            (data_address(entries), sample_stride(entries), data_address(tau), sample_stride(tau)),
            len(entries),
            None,
            weights,
            threads,
        )

    def fold_joined(self, rows: Array, width: int, weights: Array | None = None) -> None:
        """Fold samples whose numbers are in one contiguous row each (N, m).

        Y (n, b), b = `width`, followed by tau (n).
        """
        y, m = data_address(rows), sample_stride(rows)
        self._fold(
            (y, m, y + 8 * width * len(self._layout.places), m), len(rows), width, weights, 1
        )

    def _fold(
        self,
        addresses: tuple[int, int, int, int],
        count: int,
        width: int | None,
        weights: Array | None,
        threads: int,
    ) -> None:
        """Fold `count` samples given by addresses and steps of regressor and torque.

        `width` is the number of columns of Y, None if it has only the columns in reach.
        """
        weights = None if weights is None else contiguous_samples(weights)
        table, first, index = self._layout.table(width, weights is not None)
        samples = (
            (*addresses, _ONE_AT, 0, count)
            if weights is None
            else (*addresses, data_address(weights), sample_stride(weights), count)
        )
        run = _fold_function(1 if count <= FEW else PANEL)
        if threads == 1:
            run(self._start, self._scratch_start, *samples, len(table), first, index)
            return
        parts = equal_shares([k * k for _, k, _ in self._layout.places], threads)
        scratches = [aligned_array(len(self._scratch)) for _ in parts]

        def one(i: int) -> None:
            run(
                self._start,
                data_address(scratches[i]),
                *samples,
                parts[i].stop - parts[i].start,
                first + 8 * ROW * parts[i].start,
                index,
            )

        run_in_pool(one, len(parts), [])

    def absorb(self, other: Sequence[Array]) -> None:
        """Fold other factors, each (k, k), of the same reach."""
        for (table, index), R in zip(self._layout.factor_tables, other, strict=True):
            rows = np.ascontiguousarray(R)
            y, k = data_address(rows), len(rows)
            samples = y, k, y + 8 * (k - 1), k, _ONE_AT, 0, k
            _fold_function(1 if k <= FEW else PANEL)(
                self._start,
                self._scratch_start,
                *samples,
                1,
                data_address(table),
                data_address(index),
            )

    def copy(self) -> Triangles:
        """Return a copy of the factors."""
        return Triangles(self._layout.reach, self.factors)

    def __reduce__(self) -> tuple[Any, ...]:
        # addresses are valid in this process only
        return Triangles, (self._layout.reach, tuple(R.copy() for R in self.factors))


class FoldLayout:
    """Memory layout of the factors of a reach, for the compiled loop.

    `places` has begin, columns and padded columns of each factor.
    """

    def __init__(self, reach: tuple[tuple[int, ...], ...]) -> None:
        self.reach = reach
        widths = [len(columns) + 1 for columns in reach]
        padded = [-(-k // PAD) * PAD for k in widths]
        begins, starts = (
            [0, *accumulate(x)]
            for x in (
                [k * up for k, up in zip(widths, padded, strict=True)],
                [k - 1 for k in widths],
            )
        )
        self.size, self.widest = begins[-1], max(padded)
        self.places = tuple(zip(begins[:-1], widths, padded, strict=True))
        self.index = np.array([c for columns in reach for c in columns], np.int64)
        self._rows = [
            (a, k, start, j)
            for j, ((a, k, _), start) in enumerate(zip(self.places, starts[:-1], strict=True))
        ]
        self._tables: dict[tuple[int | None, bool], tuple[Whole, int, int]] = {}
        self.counted = np.arange(max(widths), dtype=np.int64)
        self.factor_tables = tuple(
            (np.array([[a, k, 0, 0, 0, 0, 1]], np.int64), np.arange(k, dtype=np.int64))
            for a, k, _ in self.places
        )

    def table(self, width: int | None, weighted: bool) -> tuple[Whole, int, int]:
        """Return the table for regressors of `width` columns, its address, and the index's address.

        Without a width, a regressor has only the columns in reach, row after row.
        """
        if (width, weighted) not in self._tables:
            inside = [
                (start, j * width) if width is not None else (0, start)
                for _, _, start, j in self._rows
            ]
            rows = zip(self._rows, inside, strict=True)
            table = np.array(
                [
                    [a, k, *offsets, j, j * weighted, width is None]
                    for (a, k, _, j), offsets in rows
                ],
                np.int64,
            )
            self._tables[width, weighted] = (
                table,
                data_address(table),
                data_address(self.index if width is not None else self.counted),
            )
        return self._tables[width, weighted]


@lru_cache(maxsize=64)
def fold_layout(reach: tuple[tuple[int, ...], ...]) -> FoldLayout:
    """Return the layout of a reach, computed once."""
    return FoldLayout(reach)


def data_address(x: NDArray[Any]) -> int:
    """Return the address of an array's first number."""
    return int(x.__array_interface__["data"][0])  # faster than x.ctypes


def sample_stride(x: Array) -> int:
    """Return the distance between samples, in numbers."""
    return 0 if len(x) == 1 else x.strides[0] // 8


def aligned_array(size: int) -> Array:
    """Return an array that begins at an address aligned for the widest vector."""
    memory = np.empty(size + PAD)
    lead = -data_address(memory) // 8 % PAD
    return memory[lead : lead + size]


def contiguous_samples(x: Array) -> Array:
    """Return a float64 array (N, ...) with contiguous samples; the array itself if it is one."""
    inner = (8,) if x.ndim == 2 else (8 * x.shape[-1], 8)
    return (
        x
        if x.strides[1:] == inner and x.dtype is _FLOAT64 and x.strides[0] % 8 == 0
        else np.ascontiguousarray(x, float)
    )


def equal_shares(costs: Sequence[float], count: int) -> list[slice]:
    """Return up to `count` slices of about equal cost."""
    ends = np.cumsum(costs)
    middles = (ends - np.asarray(costs) / 2.0) / ends[-1]
    edges = np.searchsorted(middles, np.arange(count + 1) / count)
    return [slice(int(a), int(b)) for a, b in pairwise(edges) if b > a]


@cache
def _fold_function(rows: int) -> Callable[..., None]:
    """Return the loop that folds `rows` rows at a time, from the disk cache or compiled.

    It is NumPy's QR if no compiled code may run.
    """
    if not executable_memory():
        return fold_by_numpy
    loaded = _load_code(rows)
    pointer, count = ctypes.c_void_p, ctypes.c_int64
    arguments: list[Any] = [pointer, pointer, *[pointer, count] * 3, count, count, pointer, pointer]
    function = ctypes.CFUNCTYPE(None, *arguments)(loaded.address)
    function.owner = loaded  # type: ignore[attr-defined]
    return function


def _load_code(rows: int) -> Loaded:
    version = disk.sources(Path(__file__).parents[1])
    name = None if version is None else disk.key("fold_rows", str(rows), jit.machine(), version)
    code = None if name is None else disk.read_entry(name)
    if code is None:
        from ..render.llvm import blocked_householder, householder

        render = blocked_householder.render if rows > 1 else householder.render

        with jit.lock:
            host = jit.host()
            code = pack(jit.compile_object(render(PAD, rows, host.fused)))
        if name is not None:
            disk.write(name, code)
    return load_code(code)


def fold_by_numpy(
    start: int,
    scratch: int,
    y: int,
    y_step: int,
    tau: int,
    tau_step: int,
    weights: int,
    weight_step: int,
    count: int,
    rows: int,
    table: int,
    index: int,
) -> None:
    """Fold samples into factors in memory by NumPy's QR: R <- qr([R; w [Y tau]]).

    Used in place of the compiled loop where the system forbids compiled code.

    Parameters
    ----------
    start : address of the factors
    scratch : not used here
    y, tau, weights : addresses of the numbers of the first sample, each with the step in numbers to
        the next sample
    count : number of samples
    rows, table, index : number of rows of the table, its address, and the address of the columns of
        Y that its rows name
    """
    for begin, k, first, offset, joint, weight, _ in view(
        table, (rows, ROW), (ROW, 1), ctypes.c_int64
    ):
        padded = -(-k // PAD) * PAD
        factor = view(start + 8 * begin, (k, k), (padded, 1))
        columns = view(index + 8 * first, (k - 1,), (1,), ctypes.c_int64)
        w = view(weights + 8 * weight, (count,), (weight_step,))
        used = np.flatnonzero(w)
        new = np.empty((len(used), k))
        for position, column in enumerate(columns):
            new[:, position] = view(y + 8 * (offset + column), (count,), (y_step,))[used]
        new[:, -1] = view(tau + 8 * joint, (count,), (tau_step,))[used]
        triangle = np.linalg.qr(np.vstack([np.triu(factor), new * w[used, None]]), mode="r")
        factor[:] = 0.0
        factor[: len(triangle)] = triangle


def view(
    address: int, shape: tuple[int, ...], steps: tuple[int, ...], kind: Any = ctypes.c_double
) -> NDArray[Any]:
    """Return the numbers from an address on, in an array of this shape with steps in numbers."""
    extent = (
        sum((n - 1) * int(step) for n, step in zip(shape, steps, strict=True)) + 1
        if all(shape)
        else 0
    )
    numbers = np.ctypeslib.as_array((kind * extent).from_address(int(address)))
    return np.lib.stride_tricks.as_strided(numbers, shape, [8 * int(step) for step in steps])
