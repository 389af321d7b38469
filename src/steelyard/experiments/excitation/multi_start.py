"""Many starts of the optimiser: all of them on few samples, the best of them on more, the very best on many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...compiler.runtime.threads import thread_count, threads
from ...motion.collision.sweep import Gaps
from ...motion.trajectories.basis import MotionBasis
from ...motion.trajectories.limits import MotionLimits
from .barrier import Constraint, LogBarrier, TorqueLimit, boxes
from .information import Information
from .interior_point import Design, maximise
from .obstacles import KeepClear
from .random_motions import RandomMotions

Array = NDArray[np.float64]
Progress: TypeAlias = Callable[[str, float], None]
T = TypeVar("T")


class Crew:
    """Runs jobs, as many at a time as there are threads; `jobs` is how many there will be in all."""

    def __init__(self, jobs: int, progress: Progress | None = None) -> None:
        self._jobs, self._progress = jobs, progress
        self._done = 0
        self._stop = False

    def stopped(self) -> bool:
        """Whether Ctrl-C was pressed: jobs return what they have."""
        return self._stop

    def work(self, jobs: Sequence[Callable[[], T]]) -> list[T]:
        """The results in the order of the jobs. After Ctrl-C all jobs are still called, and should return at once."""
        with ThreadPoolExecutor(max(1, min(thread_count(), len(jobs)))) as pool:
            futures = [pool.submit(job) for job in jobs]
            waiting = set(futures)
            while waiting:
                waiting = self._wait(waiting)
            return [future.result() for future in futures]

    def _wait(self, waiting: set[Future[T]]) -> set[Future[T]]:
        """Those that are still at work a moment later. The second Ctrl-C passes."""
        try:
            finished, waiting = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
            self._tell(len(finished))
        except KeyboardInterrupt:
            if self.stopped():
                raise
            self._stop = True
        return waiting

    def _tell(self, finished: int) -> None:
        self._done += finished
        if self._progress and finished:
            self._progress(f"{self._done} of {self._jobs} searches", min(1.0, self._done / self._jobs))


class Stage(NamedTuple):
    """How many of the best go on, samples per detail of the motion, weights of the barrier, steps for each, share of the effort that is
    used, and what is added to distances [m]: reserves for what happens between the samples; distances are looked at in each `every`-th.
    """

    kept: int
    points: int
    weights: tuple[float, ...]
    steps: int
    effort: float
    extra: float
    every: int


STAGES = (
    Stage(10**9, 12, (0.5, 0.05, 0.008), 30, 0.98, 0.02, 2),
    Stage(4, 24, (0.008, 0.001), 40, 0.99, 0.008, 1),
    Stage(1, 48, (0.001, 0.0002), 40, 0.997, 0.002, 1),
)
DRAWS = 3  # random motions of which the best is a start
ROOM, SHRINKS = 0.97, 60  # a stage begins inside the limits: the factor by which a motion shrinks, and how often it may


class Start(NamedTuple):
    """A start by its number, with its coefficients and the log-det on the samples of its last stage."""

    value: float
    number: int
    x: Array


@dataclass(frozen=True, eq=False)
class MultiStart:
    """The problem that all starts share; if not `thorough`, distances that are seldom small are left to the certificate.

    `reserve` times what a stage adds to distances is kept.
    """

    basis: MotionBasis
    information: Information
    limits: MotionLimits
    gaps: tuple[Gaps, ...] = ()
    thorough: bool = False
    reserve: float = 1.0

    def clear(self, stage: Stage) -> tuple[Constraint, ...]:
        """The walls and links to stay clear of, with the reserve of a stage."""
        return tuple(KeepClear(each if self.thorough else each.frequent, self.reserve * stage.extra, stage.every) for each in self.gaps)

    def design(self, stage: Stage) -> Design:
        """The problem on the samples of a stage."""
        count = stage.points * self.basis.density
        effort = stage.effort * self.limits.effort
        torque = (TorqueLimit(self.information.robot, effort),) if np.isfinite(effort).any() else ()
        rows = self.basis.rows((np.arange(count) + 0.5) * self.basis.period / count)  # none at rest, where friction jumps
        return Design(self.information, LogBarrier(rows, boxes(self.limits), (*torque, *self.clear(stage))))

    def first(self, number: int, seed: int) -> Start | None:
        """The best of some random motions; None where none is within the limits."""
        motions = RandomMotions(self.limits, self.basis, self.information, self.clear(STAGES[0]))
        best = list(motions.search(DRAWS, np.random.default_rng([seed, number])))[-1]
        return None if best is None else Start(best[1].log_det, number, self.basis.coefficients(best[0]))

    def advance(self, start: Start, stage: Stage, design: Design, stopped: Callable[[], bool]) -> Start | None:
        """The start after a stage; None where no motion near it is within the limits of that stage."""
        with threads(1):
            x = self.inside(design, start.x)
            if x is None:
                return None
            x = maximise(design, x, stage.weights, stage.steps, stopped)
            return start._replace(value=design.information.value(design.states(x)[:3]), x=x)

    def inside(self, design: Design, x: Array) -> Array | None:
        """Coefficients of the same motion, smaller by as much as it takes to be within the limits."""
        for share in ROOM ** np.arange(1, SHRINKS):
            for centre in (self.limits.centre, x[:, 0]):
                moved = share * x
                moved[:, 0] += (1 - share) * centre
                if np.isfinite(design.merit(design.states(moved), 1.0)):
                    return moved
        return None

    def run(self, starts: int, seed: int, crew: Crew) -> list[Start]:
        """The starts, those that went through most stages first and the best of them first. After Ctrl-C, as far as they came."""
        found = crew.work([partial(self._begin, k, seed, crew) for k in range(starts)])
        done, left = _ranked(found), list[Start]()
        for stage in STAGES[1:]:
            if crew.stopped():
                break
            design = self.design(stage)
            found = crew.work([partial(self.advance, start, stage, design, crew.stopped) for start in done[: stage.kept]])
            further = _ranked(found)
            left, done = ([*done[stage.kept :], *left], further) if further else (left, done)
        return [*done, *left]

    def _begin(self, number: int, seed: int, crew: Crew) -> Start | None:
        start = None if crew.stopped() else self.first(number, seed)
        return start and self.advance(start, STAGES[0], self.design(STAGES[0]), crew.stopped)


def jobs(starts: int) -> int:
    """How many jobs a run has: all starts, and those that go on."""
    return sum(min(starts, stage.kept) for stage in STAGES)


def _ranked(starts: Iterable[Start | None]) -> list[Start]:
    return sorted((s for s in starts if s is not None), key=lambda s: (-s.value, s.number))
