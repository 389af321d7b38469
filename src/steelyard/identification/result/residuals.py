"""Residuals of an estimate, and what each stretch of the motion says about its parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..model.problem import Block, Problem
from ..model.rows import Rows
from ..samples.samples import joined
from .jackknife import Cells, motion_cells
from .result_thresholds import THRESHOLDS

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Residuals:
    """For each kept sample: time (N,); torque predicted and measured (N, n); rows in use (N, n).

    `scores` (c, b) and `information` (c, b, b): Y^T W^2 e and Y^T W^2 Y of each of the cells of the
    motion.
    """

    t: Array
    predicted: Array
    measured: Array
    keep: NDArray[np.bool_]
    cells: Cells
    scores: Array
    information: Array

    @property
    def values(self) -> Array:
        """Measured minus predicted torque, (N, n) [N m|N]."""
        return self.measured - self.predicted


def residuals(problem: Problem, base: Array, weights: Array) -> Residuals:
    """Compute residuals of base parameters (b,), and scores and information, in one pass.

    `weights` (n,) are the weights of the estimate.
    """
    cells = motion_cells(problem)
    numbers, every, N = (
        np.concatenate(cells.numbers),
        -(-problem.N // THRESHOLDS.information_samples),
        problem.N,
    )
    predicted, measured, used = (
        np.empty((N, problem.n)),
        np.empty((N, problem.n)),
        np.ones((N, problem.n), bool),
    )
    scores, thin = np.zeros((cells.count, len(base))), list[Thinned]()

    def evaluate(block: Block) -> tuple[list[tuple[int, Array]], Thinned]:
        span = slice(block.first, block.first + len(block.t))
        rows = block.every_column
        fitted = rows @ base
        predicted[span], measured[span] = fitted + block.known, block.tau + block.known
        if block.keep is not None:
            used[span] = block.keep
        runs, e = runs_of(numbers[span]), (block.tau - fitted) * weights**2 * used[span]
        return [(number, score(rows[part], e[part])) for number, part in runs], thinned(
            rows, weights * used[span], runs, every
        )

    for scored, few in problem.each(evaluate):
        thin.append(few)
        for number, more in scored:
            scores[number] += more
    return Residuals(
        t=joined(problem.times),
        predicted=predicted,
        measured=measured,
        keep=used,
        cells=cells,
        scores=scores,
        information=information(thin, cells.count),
    )


def runs_of(number: NDArray[np.intp]) -> list[tuple[int, slice]]:
    """Return cell number and slice of each run of samples in one cell, from cells (N,)."""
    edges = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(number)]
    return [(int(number[a]), slice(a, b)) for a, b in pairwise(edges)]


def score(rows: Rows, e: Array) -> Array:
    """Return Y^T e summed over samples, (b,), for e (N, n)."""
    total = np.zeros(rows.width)
    for j, columns in enumerate(rows.reach.columns):
        total[columns] += e[:, j] @ rows.row(j)
    return total


@dataclass(frozen=True, eq=False)
class Thinned:
    """Some samples of a block: their rows, multiplied by weights, and the cell of each, (N,)."""

    rows: Rows
    cells: NDArray[np.intp]


def thinned(rows: Rows, weights: Array, runs: list[tuple[int, slice]], every: int) -> Thinned:
    """Return one in `every` samples of each run, which counts for those that were left out.

    Rows multiplied by weights (N, n).
    """
    indices = [np.arange(part.start, part.stop, every) for _, part in runs]
    index = np.concatenate(indices)
    counts = [
        np.sqrt((part.stop - part.start) / len(chosen))
        for (_, part), chosen in zip(runs, indices, strict=True)
    ]
    sizes = [len(chosen) for chosen in indices]
    w = weights[index] * np.repeat(counts, sizes)[:, None]
    entries = rows.entries[index] * np.repeat(w, [len(columns) for columns in rows.reach], axis=1)
    return Thinned(replace(rows, entries=entries), np.repeat([number for number, _ in runs], sizes))


def information(parts: Sequence[Thinned], count: int) -> Array:
    """Return Y^T W^2 Y of each of `count` cells, (c, b, b)."""
    cells, rows = np.concatenate([part.cells for part in parts]), parts[0].rows
    order = np.argsort(cells, kind="stable")
    entries = np.concatenate([part.rows.entries for part in parts])[order]
    edges = np.searchsorted(cells[order], np.arange(count + 1))
    total = np.zeros((count, rows.width, rows.width))
    for number, (a, b) in enumerate(pairwise(edges)):
        block = replace(rows, entries=entries[a:b])
        for j, columns in enumerate(rows.reach):
            total[number][np.ix_(columns, columns)] += block.row(j).T @ block.row(j)
    return total
