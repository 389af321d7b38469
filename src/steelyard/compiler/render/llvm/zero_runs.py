"""Long runs of zeros in the rows of an output, such as those of a humanoid's regressor: the C library fills them, in no time to compile."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from ...ir.graph import Expr
from ...ir.program import Program
from .loop import Layout, library_function, row_pointers
from .writer import Writer

LONG = 128  # columns; shorter runs are quicker written in passing, in the order of memory

Run = tuple[int, int]  # first column, and the first one after


def blank_runs(program: Program) -> dict[int, list[Run]]:
    """For every output its long runs of zeros."""
    return {k: _runs(result) for k, result in enumerate(program.results)}


def _runs(result: Sequence[object]) -> list[Run]:
    runs, start = [], 0
    for zero, group in groupby(result, _zero):
        end = start + len(list(group))
        if zero and end - start >= LONG:
            runs.append((start, end))
        start = end
    return runs


def _zero(x: object) -> bool:
    return not isinstance(x, Expr) and x == 0.0


def covered(runs: Sequence[Run], column: int) -> bool:
    """Whether a column and its neighbour lie in a run."""
    return any(start <= column and column + 2 <= end for start, end in runs)


def blank(w: Writer, layout: Layout, k: int, runs: Sequence[Run]) -> str:
    """A function that fills the runs of output k in every row."""
    w.label("entry")
    rows = row_pointers(w, layout, len(layout.inputs) + k)
    fill = library_function(w, layout, "memset")
    for start, end in runs:
        for row in rows:
            w.line(f"call ptr {fill}(ptr {w.at(row, start)}, i32 0, i64 {8 * (end - start)})")
    w.do("ret void")
    return w.function(f"internal void @blank.{k}(ptr noalias %frame) noinline #1")
