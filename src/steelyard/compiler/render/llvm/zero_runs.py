"""Long runs of zeros in rows of an output, such as a humanoid's regressor, filled by memset."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from ...ir.graph import Expr
from ...ir.program import Program
from .loop import LoopLayout, library_function, row_pointers
from .writer import Writer

# columns; shorter runs are faster written with the other columns, in the order of memory
LONG = 128

Run = tuple[int, int]  # first column, and the first one after


def zero_runs(program: Program) -> dict[int, list[Run]]:
    """Return the long runs of zeros of every output that has some."""
    by_output = {k: _runs(result) for k, result in enumerate(program.results)}
    return {k: runs for k, runs in by_output.items() if runs}


def _runs(result: Sequence[object]) -> list[Run]:
    runs, start = [], 0
    for zero, group in groupby(result, lambda x: not isinstance(x, Expr) and x == 0.0):
        end = start + len(list(group))
        if zero and end - start >= LONG:
            runs.append((start, end))
        start = end
    return runs


def is_covered(runs: Sequence[Run], column: int) -> bool:
    """Return whether a column and its right neighbour lie in a run."""
    return any(start <= column and column + 2 <= end for start, end in runs)


def fill_zeros(w: Writer, layout: LoopLayout, k: int, runs: Sequence[Run]) -> str:
    """Return the function that fills the runs of output k in every row of a block."""
    w.label("entry")
    rows = row_pointers(w, layout, len(layout.inputs) + k)
    memset = library_function(w, layout, "memset")
    for start, end in runs:
        for row in rows:
            w.line(f"call ptr {memset}(ptr {w.at(row, start)}, i32 0, i64 {8 * (end - start)})")
    w.do("ret void")
    return w.function(f"internal void @zeros.{k}(ptr noalias %context) noinline #1")
