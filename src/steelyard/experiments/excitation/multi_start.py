"""Multi-start search: many coarse optimisations, variations of the best, and a fine final level."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...compiler.runtime.threads import threads
from ...motion.collision.sweep import Gaps
from ...motion.trajectories.basis import MotionBasis
from ...motion.trajectories.limits import TrajectoryLimits
from .barrier import Constraint, LogBarrier, TorqueLimit, box_constraints
from .excitation_thresholds import THRESHOLDS, SearchLevel
from .information import FisherInformation
from .interior_point import InteriorPointState, maximise
from .obstacles import KeepClear
from .random_motions import RandomMotions

Array = NDArray[np.float64]
Progress: TypeAlias = Callable[[str, float], None]
T = TypeVar("T")


class StartPool:
    """Runs jobs one after the other while the main thread waits for Ctrl-C.

    `jobs` is how many there will be in all.

    Steps of the optimiser are too short for threads side by side: they would wait for Python's lock
    longer than they work.
    """

    def __init__(self, jobs: int, progress: Progress | None = None) -> None:
        self._jobs, self._progress = jobs, progress
        self._done = 0
        self._stop = False

    def stopped(self) -> bool:
        """Return whether Ctrl-C was pressed: jobs then return what they have."""
        return self._stop

    def work(self, jobs: Sequence[Callable[[], T]]) -> list[T]:
        """Run the jobs and return their results in order.

        After Ctrl-C all jobs are still called, and should return at once.
        """
        with ThreadPoolExecutor(1) as pool:
            futures = [pool.submit(job) for job in jobs]
            waiting = set(futures)
            while waiting:
                waiting = self._wait(waiting)
            return [future.result() for future in futures]

    def _wait(self, waiting: set[Future[T]]) -> set[Future[T]]:
        """Return the unfinished jobs after a moment; the second Ctrl-C is raised."""
        try:
            completed, waiting = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
            self._report(len(completed))
        except KeyboardInterrupt:
            if self.stopped():
                raise
            self._stop = True
        return waiting

    def _report(self, completed: int) -> None:
        self._done += completed
        if self._progress and completed:
            self._progress(
                f"{self._done} of {self._jobs} searches", min(1.0, self._done / self._jobs)
            )


class Start(NamedTuple):
    """A start: criterion, number, coefficients, and coefficients before its last level."""

    value: float
    number: int
    x: Array
    before: Array


@dataclass(frozen=True, eq=False)
class MultiStart:
    """The problem that all starts share. `reserve` times what a level adds to distances is kept."""

    basis: MotionBasis
    information: FisherInformation
    limits: TrajectoryLimits
    gaps: tuple[Gaps, ...] = ()
    reserve: float = 1.0

    def clear(self, level: SearchLevel) -> tuple[Constraint, ...]:
        """Return the distance constraints with the reserve of a level.

        Before the last level, only pairs that often come near.
        """
        gaps = (
            each if level.points == THRESHOLDS.search_levels[-1].points else each.frequent
            for each in self.gaps
        )
        return tuple(KeepClear(each, self.reserve * level.extra, level.every) for each in gaps)

    def design(self, level: SearchLevel) -> InteriorPointState:
        """Build the problem on the samples of a level.

        A series is larger between them by 1 / cos(pi / points) at most (Ehlich, Zeller 1964).
        """
        count = level.points * self.basis.density
        effort = level.effort * self.limits.effort
        torque = (TorqueLimit(self.information.robot, effort),) if np.isfinite(effort).any() else ()
        # none at rest, where friction jumps
        rows = self.basis.rows((np.arange(count) + 0.5) * self.basis.period / count)
        inner = self.limits.inner(math.cos(math.pi / level.points))
        return InteriorPointState(
            self.information,
            LogBarrier(rows, box_constraints(inner), (*torque, *self.clear(level))),
        )

    def first(self, number: int, seed: int) -> Start | None:
        """Draw a random motion; None where none is found within the limits."""
        motions = RandomMotions(
            self.limits, self.basis, self.information, self.clear(THRESHOLDS.search_levels[0])
        )
        candidates = (
            each
            for each in motions.search(
                THRESHOLDS.start_draws, np.random.default_rng([seed, number])
            )
            if each is not None
        )
        best = next(candidates, None)
        return (
            None
            if best is None
            else Start(best[1].log_det, number, x := self.basis.coefficients(best[0]), x)
        )

    def advance(
        self,
        start: Start,
        level: SearchLevel,
        design: InteriorPointState,
        stopped: Callable[[], bool],
    ) -> Start | None:
        """Optimise a start at a level; None where no motion near it is within the limits."""
        with threads(1):
            x = self.inside(design, start.x)
            if x is None:
                return None
            point = maximise(design, x, level.weights, level.steps, stopped)
            return Start(point.point.criterion, start.number, point.point.x, start.x)

    def inside(self, design: InteriorPointState, x: Array) -> Array | None:
        """Shrink the motion until it is within the limits; None if that fails."""
        for share in THRESHOLDS.inside_factor ** (
            THRESHOLDS.inside_growth ** np.arange(THRESHOLDS.inside_shrinks)
        ):
            for centre in (self.limits.centre, x[:, 0]):
                moved = share * x
                moved[:, 0] += (1 - share) * centre
                if np.isfinite(design.barrier.value(design.states(moved))):
                    return moved
        return None

    def hop(
        self,
        start: Start,
        size: float,
        design: InteriorPointState,
        rng: np.random.Generator,
        stopped: Callable[[], bool],
    ) -> Start | None:
        """Optimise a random variation of a motion; `size` is the relative size of the variation.

        Wales and Doye 1997 (basin hopping).
        """
        change = rng.normal(size=start.x.shape)
        change[:, 0] *= THRESHOLDS.centre_variation * self.limits.reach
        change[:, 1:] *= np.std(start.x[:, 1:], axis=1, keepdims=True)
        return self.advance(
            start._replace(x=start.x + size * change), THRESHOLDS.variation_level, design, stopped
        )

    @property
    def work(self) -> int:
        """A measure of the time that a step takes.

        The number of coefficients, twice as many with distances.
        """
        return self.basis.size * len(self.limits.lower) * (2 if self.gaps else 1)

    def variations(self, starts: int) -> int:
        """Return the number of variations of the best motion: more where one takes less time."""
        return starts * min(
            max(round(THRESHOLDS.variation_work / self.work), THRESHOLDS.least_variations),
            THRESHOLDS.largest_variations,
        )

    def rounds(self, starts: int) -> int:
        """Return the number of rounds from other starts; more than one for small problems."""
        return max(
            1, min(round(THRESHOLDS.round_work / self.work), starts // THRESHOLDS.round_starts)
        )

    def jobs(self, starts: int) -> int:
        """Return the number of jobs of a run: starts, survivors and variations."""
        return (
            self.rounds(starts)
            * (
                starts
                + min(starts, THRESHOLDS.search_levels[1].survivors)
                + self.variations(starts)
            )
            + THRESHOLDS.search_levels[2].survivors
        )

    def run(self, starts: int, seed: int, pool: StartPool) -> list[Start]:
        """Run the search; return the starts, most advanced and best first.

        After Ctrl-C, the results so far.
        """
        results = [
            self._round(range(k * starts, (k + 1) * starts), seed, pool)
            for k in range(self.rounds(starts))
        ]
        return self._further(
            _ranked(chain.from_iterable(results)), THRESHOLDS.search_levels[2], pool
        )

    def _round(self, numbers: range, seed: int, pool: StartPool) -> list[Start]:
        """Optimise the starts of these numbers, and variations of the best of them."""
        ranked = _ranked(pool.work([partial(self._begin, k, seed, pool) for k in numbers]))
        ranked = self._further(ranked, THRESHOLDS.search_levels[1], pool)
        design = self.design(THRESHOLDS.variation_level)
        for number in range(self.variations(len(numbers)) if ranked else 0):
            size, rng = (
                THRESHOLDS.variations[number % len(THRESHOLDS.variations)],
                np.random.default_rng([seed, numbers.stop, number]),
            )
            varied = pool.work([partial(self.hop, ranked[0], size, design, rng, pool.stopped)])
            ranked = _ranked([*ranked, *varied])
        return ranked

    def _further(self, starts: list[Start], level: SearchLevel, pool: StartPool) -> list[Start]:
        """Optimise the best starts at another level; return them before all starts."""
        if pool.stopped():
            return starts
        design = self.design(level)
        further = pool.work(
            [
                partial(self.advance, start, level, design, pool.stopped)
                for start in starts[: level.survivors]
            ]
        )
        return [*_ranked(further), *starts]

    def _begin(self, number: int, seed: int, pool: StartPool) -> Start | None:
        start = None if pool.stopped() else self.first(number, seed)
        return start and self.advance(
            start,
            THRESHOLDS.search_levels[0],
            self.design(THRESHOLDS.search_levels[0]),
            pool.stopped,
        )


def _ranked(starts: Iterable[Start | None]) -> list[Start]:
    return sorted((s for s in starts if s is not None), key=lambda s: (-s.value, s.number))
