"""Long runs of zeros in the rows of an output, such as those of a humanoid's regressor: memset fills them, which compiles at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from ...ir.graph import Expr
from ...ir.program import Program
from .loop import Layout, library_function, row_pointers
from .writer import Writer

LONG = 128  # columns; shorter runs are faster written with the other columns, in the order of memory

Run = tuple[int, int]  # first column, and the first one after


def zero_runs(program: Program) -> dict[int, list[Run]]:
    """The long runs of zeros of every output that has some."""
    found = {k: _runs(result) for k, result in enumerate(program.results)}
    return {k: runs for k, runs in found.items() if runs}


def _runs(result: Sequence[object]) -> list[Run]:
    runs, start = [], 0
    for zero, group in groupby(result, lambda x: not isinstance(x, Expr) and x == 0.0):
        end = start + len(list(group))
        if zero and end - start >= LONG:
            runs.append((start, end))
        start = end
    return runs


def covered(runs: Sequence[Run], column: int) -> bool:
    """Whether a column and its right neighbour lie in a run."""
    return any(start <= column and column + 2 <= end for start, end in runs)


def fill_zeros(w: Writer, layout: Layout, k: int, runs: Sequence[Run]) -> str:
    """The function that fills the runs of output k in every row of a block."""
    w.label("entry")
    rows = row_pointers(w, layout, len(layout.inputs) + k)
    memset = library_function(w, layout, "memset")
    for start, end in runs:
        for row in rows:
            w.line(f"call ptr {memset}(ptr {w.at(row, start)}, i32 0, i64 {8 * (end - start)})")
    w.do("ret void")
    return w.function(f"internal void @zeros.{k}(ptr noalias %context) noinline #1")
