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

Array = NDArray[np.float64]
MOST = 20_000  # samples from which the information of cells is summed


@dataclass(frozen=True, eq=False)
class Residuals:
    """For each kept sample: time (N,); torque predicted and measured (N, n); rows in use (N, n).

    `scores` (c, b) and `information` (c, b, b): Y^T W^2 e and Y^T W^2 Y of each of the cells of the motion.
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
    """Compute the residuals of base parameters (b,), and scores and information with the weights (n,) of the estimate, in one pass."""
    cells = motion_cells(problem)
    numbers, every, N = np.concatenate(cells.numbers), -(-problem.N // MOST), problem.N
    predicted, measured, used = np.empty((N, problem.n)), np.empty((N, problem.n)), np.ones((N, problem.n), bool)
    scores, thin = np.zeros((cells.count, len(base))), list[Thinned]()

    def look(block: Block) -> tuple[list[tuple[int, Array]], Thinned]:
        own = slice(block.first, block.first + len(block.t))
        rows = block.every_column
        fitted = rows @ base
        predicted[own], measured[own] = fitted + block.known, block.tau + block.known
        if block.keep is not None:
            used[own] = block.keep
        runs, e = runs_of(numbers[own]), (block.tau - fitted) * weights**2 * used[own]
        return [(number, score(rows[part], e[part])) for number, part in runs], thinned(rows, weights * used[own], runs, every)

    for own, few in problem.each(look):
        thin.append(few)
        for number, more in own:
            scores[number] += more
    return Residuals(joined(problem.times), predicted, measured, used, cells, scores, information(thin, cells.count))


def runs_of(number: NDArray[np.intp]) -> list[tuple[int, slice]]:
    """Return the cell and the samples of each run of consecutive samples in the same cell, from the cell of each sample (N,)."""
    edges = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(number)]
    return [(int(number[a]), slice(a, b)) for a, b in pairwise(edges)]


def score(rows: Rows, e: Array) -> Array:
    """Return Y^T e summed over samples, (b,), for e (N, n)."""
    made = np.zeros(rows.width)
    for j, columns in enumerate(rows.reach.columns):
        made[columns] += e[:, j] @ rows.row(j)
    return made


@dataclass(frozen=True, eq=False)
class Thinned:
    """Some samples of a block: their rows, multiplied by weights, and the cell of each, (N,)."""

    rows: Rows
    cells: NDArray[np.intp]


def thinned(rows: Rows, weights: Array, runs: list[tuple[int, slice]], every: int) -> Thinned:
    """Return one in `every` samples of each run, which counts for those that were left out; rows multiplied by weights (N, n)."""
    kept = [np.arange(part.start, part.stop, every) for _, part in runs]
    index = np.concatenate(kept)
    counts = [np.sqrt((part.stop - part.start) / len(at)) for (_, part), at in zip(runs, kept, strict=True)]
    sizes = [len(at) for at in kept]
    w = weights[index] * np.repeat(counts, sizes)[:, None]
    entries = rows.entries[index] * np.repeat(w, [len(columns) for columns in rows.reach], axis=1)
    return Thinned(replace(rows, entries=entries), np.repeat([number for number, _ in runs], sizes))


def information(parts: Sequence[Thinned], count: int) -> Array:
    """Return Y^T W^2 Y of each of `count` cells, (c, b, b)."""
    cells, rows = np.concatenate([part.cells for part in parts]), parts[0].rows
    order = np.argsort(cells, kind="stable")
    entries = np.concatenate([part.rows.entries for part in parts])[order]
    edges = np.searchsorted(cells[order], np.arange(count + 1))
    made = np.zeros((count, rows.width, rows.width))
    for number, (a, b) in enumerate(pairwise(edges)):
        own = replace(rows, entries=entries[a:b])
        for j, columns in enumerate(rows.reach):
            made[number][np.ix_(columns, columns)] += own.row(j).T @ own.row(j)
    return made
