"""One pass over the samples with an estimate in hand: predicted against measured torque, and the scores that uncertainty is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.problem import Problem

Array = NDArray[np.float64]
CELLS = 1500  # most scores kept: neighbours are added up


@dataclass(frozen=True, eq=False)
class Residuals:
    """Per kept sample: time (N,); torque predicted, predicted by the robot as given, and measured (N, n); which rows count; which log (N,).

    `scores` (c, b): Y^T W^2 e summed over cells of consecutive samples; `ends` are the cells where a log ends.
    """

    t: Array
    predicted: Array
    before: Array
    measured: Array
    keep: NDArray[np.bool_]
    log: NDArray[np.intp]
    scores: Array
    ends: tuple[int, ...]
    cell: int

    @property
    def values(self) -> Array:
        """Measured less predicted, (N, n) [N m|N]."""
        return self.measured - self.predicted


def residuals(problem: Problem, base: Array, weights: Array) -> Residuals:
    """Everything that is asked of the samples once the base parameters (b,) are known; weights (n,) are those of the estimate."""
    cell = max(1, -(-problem.N // CELLS))
    parts: list[tuple[NDArray[Any], ...]] = []
    scores: list[list[Array]] = [[] for _ in problem.samples]
    rest: list[Array | None] = [None] * len(problem.samples)
    given = problem.base.values(problem.model.initial)
    for block in problem.blocks():
        fitted = block.Y @ base
        keep = np.ones(fitted.shape, bool) if block.keep is None else block.keep
        e = (block.tau - fitted) * keep
        s = np.matmul((e * weights**2)[:, None, :], block.Y)[:, 0]
        before = block.Y @ given + block.known
        parts.append((block.t, fitted + block.known, before, block.tau + block.known, keep, np.full(len(block.t), block.log)))
        carried = rest[block.log]
        s = s if carried is None else np.concatenate([carried, s])
        whole = len(s) // cell * cell
        scores[block.log].append(s[:whole].reshape(-1, cell, s.shape[1]).sum(axis=1))
        rest[block.log] = s[whole:]
    for k, leftover in enumerate(rest):
        if leftover is not None and len(leftover):
            scores[k].append(leftover.sum(axis=0, keepdims=True))
    joined = [np.concatenate(s) for s in scores if s]
    t, predicted, given, measured, kept, log = (np.concatenate(x) for x in zip(*parts, strict=True))
    ends = tuple(np.cumsum([len(s) for s in joined]).tolist())
    return Residuals(t, predicted, given, measured, kept.astype(bool), log.astype(np.intp), np.concatenate(joined), ends, cell)
