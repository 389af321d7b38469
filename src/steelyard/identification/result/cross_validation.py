"""Blocked cross-validation: consecutive parts are left out in turn, for neighbouring samples are no independent ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import CallError
from ...signals.log import Log
from ..model.problem import Problem, merged

if TYPE_CHECKING:
    from ...robot import Robot
    from .fit import Fit
    from .validation import Validation

Array = NDArray[np.float64]


def held_out_squares(problem: Problem, weights: Array, solve: Callable[[Array], Array]) -> float:
    """Weighted squares on each part of the samples, with what `solve(triangle)` finds on the others, summed.

    Costs no further pass over the samples: accumulators merge. Roberts et al., Ecography 40 (2017), p. 913 (blocked cross-validation).
    """
    total = 0.0
    used = [k for k, fold in enumerate(problem.folds) if sum(fold.counts)]
    for k in used:
        base = solve(merged(problem.folds, without=k).triangle(weights))
        total += float(np.sum(weights**2 * problem.folds[k].residual_squares(base)))
    return total


def best_strength(problem: Problem, weights: Array, grid: Array, solve: Callable[[Array, float], Array]) -> float:
    """The value of the grid whose solutions leave the least on the parts that they have not seen; the only one without asking."""
    if len(grid) == 1:
        return float(grid[0])

    def cost(strength: float) -> float:
        return held_out_squares(problem, weights, lambda triangle: solve(triangle, strength))

    return float(grid[int(np.argmin([cost(float(strength)) for strength in grid]))])


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """One fit and its validation for each part that was left out."""

    fits: tuple[Fit, ...]
    validations: tuple[Validation, ...]

    @property
    def total_relative_error(self) -> float:
        """|e| / |tau| over everything that was left out."""
        e = sum(float(np.sum(v.residuals**2)) for v in self.validations)
        tau = sum(float(np.sum((v.measured * v.keep) ** 2)) for v in self.validations)
        return float(np.sqrt(e / tau)) if tau else 0.0

    def __str__(self) -> str:
        rows = [f"part {k}: {v.total_relative_error:.2%}" for k, v in enumerate(self.validations, 1)]
        return "\n".join([*rows, f"in all: {self.total_relative_error:.2%}"])


def cross_validate(robot: Robot, log: Log | Sequence[Log], blocks: int = 4, **options: Any) -> CrossValidation:
    """Identify from all logs but one and validate on it, in turn; a single log is cut into so many consecutive blocks.

    `options` are those of `identify`.
    """
    from ..identify import identify

    logs = list(log) if not isinstance(log, Log) else [log]
    if len(logs) == 1:
        if blocks < 2:
            raise CallError(f"cross_validate: at least two blocks are needed, not {blocks}")
        edges = np.linspace(0, logs[0].N, blocks + 1).astype(int)
        logs = [logs[0][a:b] for a, b in pairwise(edges)]
    fits = tuple(identify(robot, [other for j, other in enumerate(logs) if j != k], **options) for k in range(len(logs)))
    return CrossValidation(fits, tuple(fit.validate(one) for fit, one in zip(fits, logs, strict=True)))
