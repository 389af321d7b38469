"""ArchiveProblem: the factors of all logs of an archive, with samples of a few logs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...cached import cached_property
from ...errors import ProblemError
from ..model.accumulator import Accumulator
from ..model.model_thresholds import THRESHOLDS as MODEL_THRESHOLDS
from ..model.problem import Problem
from ..result.jackknife import Cells
from ..result.residuals import Residuals, residuals
from .out_of_core_thresholds import THRESHOLDS

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ArchiveProblem(Problem):
    """A problem with the factor of all logs.

    `samples` are a few stretches, the pilot, whose residuals are shown. `cells` are the factors of
    parts of the logs; parts with the same motion are merged. `ends` are the numbers of cells up to
    the end of each log with a distinct motion.
    """

    cells: tuple[Accumulator, ...] = ()
    ends: tuple[int, ...] = ()

    @property
    def varied(self) -> bool:
        """Whether enough logs have distinct motions to show the uncertainty."""
        return len(self.ends) >= THRESHOLDS.least_motions

    @cached_property
    def total(self) -> Accumulator:
        """All logs folded."""
        return merge_tree(self.cells)

    @cached_property
    def folds(self) -> tuple[Accumulator, ...]:
        """Accumulators of up to `folds` sets of cells without common motions.

        If all logs repeat the pilot, the folds of the pilot.
        """
        if not self.varied:
            return self.accumulate(MODEL_THRESHOLDS.folds)
        edges = [
            k * len(self.cells) // MODEL_THRESHOLDS.folds for k in range(MODEL_THRESHOLDS.folds + 1)
        ]
        return tuple(merge_tree(self.cells[a:b]) for a, b in pairwise(edges))

    @property
    def has_consecutive_folds(self) -> bool:
        """Whether `folds` are consecutive parts of the pilot's samples."""
        return not self.varied

    @cached_property
    def regressor_noise(self) -> Accumulator:
        """Errors of the regressor of the pilot, scaled to the number of all samples."""
        return scaled(super().regressor_noise, self.share)

    @cached_property
    def share(self) -> float:
        """How many times as many rows all logs have as the pilot."""
        return sum(self.total.counts) / max(self.rows, 1)

    def check_rows(self) -> None:
        """Raise ProblemError if there are fewer rows than unknowns."""
        if (rows := int(sum(self.total.counts))) < self.base.n_base:
            raise ProblemError(
                f"{rows} rows are left for {self.base.n_base} base parameters; longer logs or a"
                " lower mask are needed"
            )


def merge_tree(accumulators: Sequence[Accumulator]) -> Accumulator:
    """Merge accumulators pairwise in a tree, so that their order alone determines rounding."""
    level = list(accumulators)
    while len(level) > 1:
        pairs = [level[k].merge(level[k + 1]) for k in range(0, len(level) - 1, 2)]
        level = pairs if len(level) % 2 == 0 else [*pairs, level[-1]]
    return level[0]


def scaled(part: Accumulator, times: float) -> Accumulator:
    """Return an accumulator as of `times` as many samples like these."""
    factors = tuple(np.sqrt(times) * R for R in part.factors)
    return replace(part, factors=factors, counts=tuple(times * count for count in part.counts))


def archive_residuals(problem: Problem, base: Array, weights: Array) -> Residuals:
    """Return the pilot's residuals with scores and information of all cells of the archive.

    Scores and information follow from the factors: Y^T W^2 e = R^T W^2 (z - R base). Where all logs
    repeat the motion of the pilot, its scores and information are scaled instead.
    """
    assert isinstance(problem, ArchiveProblem)
    pilot = residuals(problem, base, weights)
    if not problem.varied:
        return replace(
            pilot,
            scores=problem.share * pilot.scores,
            information=problem.share * pilot.information,
        )
    rows = [cell.triangle(weights) for cell in problem.cells]
    information = np.array([R[:, :-1].T @ R[:, :-1] for R in rows])
    scores = np.array([R[:, :-1].T @ (R[:, -1] - R[:, :-1] @ base) for R in rows])
    return replace(pilot, cells=Cells((), problem.ends), scores=scores, information=information)
