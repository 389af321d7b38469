"""Residuals of the samples, predicted by base parameters that were estimated without them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..model.accumulator import Accumulator
from ..model.model_thresholds import THRESHOLDS as MODEL_THRESHOLDS
from ..model.problem import Block, Problem, merged
from .residual_thresholds import THRESHOLDS

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Solve = Callable[[Accumulator], Array]


@dataclass(frozen=True, eq=False)
class HeldOutRows:
    """Some of the kept samples with their residuals [N m|N].

    Parameters
    ----------
    index : (M,) their numbers among the kept samples
    folds : (M,) block of the motion that each is in
    torque : (M, n) measured torque without the known one
    residuals : (M, n) residuals of the base parameters of all samples
    blocks : (folds, M, n) residuals of base parameters that were estimated without each block
    halves : (2, M, n) the same without each half of the blocks
    """

    index: Indices
    folds: Indices
    torque: Array
    residuals: Array
    blocks: Array
    halves: Array

    @property
    def half(self) -> Indices:
        """The half of the motion that each sample is in, (M,)."""
        return np.asarray(2 * self.folds // len(self.blocks))


def motion_blocks(cells: Indices) -> Indices:
    """Return the block (N,) of each sample, from the cell of the motion that it is in, (N,).

    Blocks are consecutive stretches of states that were not visited before: a repeated motion is
    in the block of its first time, so that no block is predicted from its own repeats. Roberts et
    al., Ecography 40 (2017), p. 913 (blocked cross-validation).
    """
    return np.asarray(cells * MODEL_THRESHOLDS.folds // (int(cells.max()) + 1))


def held_out_rows(
    problem: Problem, solve: Solve, base: Array, cells: Indices
) -> HeldOutRows | None:
    """Return residuals of samples that were left out; None where the others are too few.

    Parameters
    ----------
    problem : the problem that was solved
    solve : base parameters (b,) as a function of folded rows
    base : (b,) that predict torques; without some rows they change as `solve` does
    cells : (N,) cell of the motion of each kept sample
    """
    folds, count = motion_blocks(cells), MODEL_THRESHOLDS.folds
    parts = fold_parts(problem, folds, count)
    halves = merged(parts[: count // 2]), merged(parts[count // 2 :])
    rests = [*(merged(parts, without=k) for k in range(count)), *reversed(halves)]
    if min(sum(rest.counts) for rest in rests) < 2 * problem.base.n_base:
        return None
    whole = solve(problem.total)
    bases = [base, *(base + solve(rest) - whole for rest in rests)]
    stride = -(-len(folds) // THRESHOLDS.samples)

    def residuals(block: Block) -> tuple[Array, Array]:
        thin = slice(-block.first % stride, None, stride)
        rows, tau = block.rows[thin], block.tau[thin]
        return tau, np.array([tau - rows @ each for each in bases])

    torques, errors = zip(*problem.each(residuals), strict=True)
    whole_residuals, *others = np.concatenate(errors, axis=1)
    index = np.arange(0, len(folds), stride)
    return HeldOutRows(
        index=index,
        folds=folds[index],
        torque=np.concatenate(torques),
        residuals=whole_residuals,
        blocks=np.array(others[:count]),
        halves=np.array(others[count:]),
    )


def fold_parts(problem: Problem, folds: Indices, count: int) -> tuple[Accumulator, ...]:
    """Return the accumulators of the rows of each of `count` blocks; folds (N,)."""
    empty = Accumulator.empty(problem.reach, problem.base.n_base)

    def folded(block: Block) -> list[tuple[int, Accumulator]]:
        number, parts = folds[block.first : block.first + len(block.t)], []
        for k in np.unique(number):
            there = number == k
            rows = replace(block.rows, entries=block.rows.entries[there])
            keep = None if block.keep is None else block.keep[there]
            parts.append((int(k), empty.fold_rows(rows, block.tau[there], keep)))
        return parts

    result = [empty] * count
    for each in problem.each(folded):
        for number, more in each:
            result[number] = more.merge(result[number])
    return tuple(result)
