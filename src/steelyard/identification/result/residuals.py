"""Residuals of an estimate, and what each stretch of the motion says about its parameters."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.problem import Block, Problem
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
    parts: list[tuple[NDArray[Any], ...]] = []
    scores, information = np.zeros((cells.count, len(base))), np.zeros((cells.count, len(base), len(base)))
    done = [0] * len(problem.samples)
    every = -(-problem.N // MOST)
    for block in problem.blocks():
        fitted = block.Y @ base
        keep = np.ones(fitted.shape, bool) if block.keep is None else block.keep
        parts.append((block.t, fitted + block.known, block.tau + block.known, keep))
        number = cells.numbers[block.log][done[block.log] : done[block.log] + len(block.t)]
        done[block.log] += len(block.t)
        add(scores, information, block, (block.tau - fitted) * keep, weights * keep, number, every)
    t, predicted, measured, kept = (np.concatenate(x) for x in zip(*parts, strict=True))
    return Residuals(t, predicted, measured, kept.astype(bool), cells, scores, information)


def add(scores: Array, information: Array, block: Block, e: Array, w: Array, number: NDArray[np.intp], every: int) -> None:
    """Add the scores and the information of a block to those of its cells; information from one in `every` samples."""
    edges = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(number)]
    for a, b in pairwise(edges):
        scores[number[a]] += np.tensordot(e[a:b] * w[a:b] ** 2, block.Y[a:b], axes=2)
        rows = (block.Y[a:b:every] * w[a:b:every, :, None]).reshape(-1, block.Y.shape[2])
        information[number[a]] += (b - a) / len(range(a, b, every)) * (rows.T @ rows)
