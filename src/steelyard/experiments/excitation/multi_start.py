"""Many starts of the optimiser on few samples, variations of the best of them, and the very best on many samples."""

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
    """Runs jobs one after the other while the main thread waits for Ctrl-C; `jobs` is how many there will be in all.

    Steps of the optimiser are too short for threads side by side: they would wait for Python's lock longer than they work.
    """

    def __init__(self, jobs: int, progress: Progress | None = None) -> None:
        self._jobs, self._progress = jobs, progress
        self._done = 0
        self._stop = False

    def stopped(self) -> bool:
        """Whether Ctrl-C was pressed: jobs return what they have."""
        return self._stop

    def work(self, jobs: Sequence[Callable[[], T]]) -> list[T]:
        """The results in the order of the jobs. After Ctrl-C all jobs are still called, and should return at once."""
        with ThreadPoolExecutor(1) as pool:
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
    Stage(10**9, 16, (0.1, 0.01), 30, 0.98, 0.015, 2),
    Stage(3, 16, (0.003,), 40, 0.98, 0.01, 1),
    Stage(1, 48, (0.001, 0.0002), 40, 0.995, 0.004, 1),
)
HOP = Stage(1, 16, (0.01, 0.003), 40, 0.98, 0.01, 1)
HOPS = (0.15, 0.3, 0.6)  # variations of the best motion by so much of its own size, in turn
WORK, FEWEST, MOST = 350, 1, 4  # coefficients that are varied for each start; variations of each
ROUND, FULL = 160, 4  # coefficients of a second round; starts of a round at least, where there are several
CENTRE = 0.1  # of its travel: how far the centre of a variation moves where all of its size varies
DRAWS = 12  # random motions, the first of which that is within the limits is a start
SMALLER, GROWING, SHRINKS = 0.998, 1.5, 17  # a stage begins inside the limits: a motion is made smaller by powers of that, that grow


class Start(NamedTuple):
    """A start by its number, with its coefficients, the criterion on the samples of its last stage, and the coefficients before that."""

    value: float
    number: int
    x: Array
    before: Array


@dataclass(frozen=True, eq=False)
class MultiStart:
    """The problem that all starts share. `reserve` times what a stage adds to distances is kept."""

    basis: MotionBasis
    information: Information
    limits: MotionLimits
    gaps: tuple[Gaps, ...] = ()
    reserve: float = 1.0

    def clear(self, stage: Stage) -> tuple[Constraint, ...]:
        """The walls and links to stay clear of, with the reserve of a stage; before the last one, those that often come near."""
        gaps = (each if stage.points == STAGES[-1].points else each.frequent for each in self.gaps)
        return tuple(KeepClear(each, self.reserve * stage.extra, stage.every) for each in gaps)

    def design(self, stage: Stage) -> Design:
        """The problem on the samples of a stage; a series is larger between them by 1 / cos(pi / points) at most (Ehlich, Zeller 1964)."""
        count = stage.points * self.basis.density
        effort = stage.effort * self.limits.effort
        torque = (TorqueLimit(self.information.robot, effort),) if np.isfinite(effort).any() else ()
        rows = self.basis.rows((np.arange(count) + 0.5) * self.basis.period / count)  # none at rest, where friction jumps
        inner = self.limits.inner(math.cos(math.pi / stage.points))
        return Design(self.information, LogBarrier(rows, boxes(inner), (*torque, *self.clear(stage))))

    def first(self, number: int, seed: int) -> Start | None:
        """A random motion; None where none is found within the limits."""
        motions = RandomMotions(self.limits, self.basis, self.information, self.clear(STAGES[0]))
        found = (each for each in motions.search(DRAWS, np.random.default_rng([seed, number])) if each is not None)
        best = next(found, None)
        return None if best is None else Start(best[1].log_det, number, x := self.basis.coefficients(best[0]), x)

    def advance(self, start: Start, stage: Stage, design: Design, stopped: Callable[[], bool]) -> Start | None:
        """The start after a stage; None where no motion near it is within the limits of that stage."""
        with threads(1):
            x = self.inside(design, start.x)
            if x is None:
                return None
            at = maximise(design, x, stage.weights, stage.steps, stopped)
            return Start(at.point.criterion, start.number, at.point.x, start.x)

    def inside(self, design: Design, x: Array) -> Array | None:
        """Coefficients of the same motion, smaller by as much as it takes to be within the limits."""
        for share in SMALLER ** (GROWING ** np.arange(SHRINKS)):
            for centre in (self.limits.centre, x[:, 0]):
                moved = share * x
                moved[:, 0] += (1 - share) * centre
                if np.isfinite(design.barrier.value(design.states(moved))):
                    return moved
        return None

    def hop(self, start: Start, size: float, design: Design, rng: np.random.Generator, stopped: Callable[[], bool]) -> Start | None:
        """What a random variation of a motion becomes, of which `size` is the share that varies. Wales and Doye 1997 (basin hopping)."""
        change = rng.normal(size=start.x.shape)
        change[:, 0] *= CENTRE * self.limits.reach
        change[:, 1:] *= np.std(start.x[:, 1:], axis=1, keepdims=True)
        return self.advance(start._replace(x=start.x + size * change), HOP, design, stopped)

    @property
    def work(self) -> int:
        """A measure of the time that a step takes: the number of coefficients, twice as many with distances."""
        return self.basis.size * len(self.limits.lower) * (2 if self.gaps else 1)

    def variations(self, starts: int) -> int:
        """How many variations of the best motion are tried: more where one takes less time."""
        return starts * min(max(round(WORK / self.work), FEWEST), MOST)

    def rounds(self, starts: int) -> int:
        """How often all of it is done, from other starts: more than once where one takes little time."""
        return max(1, min(round(ROUND / self.work), starts // FULL))

    def jobs(self, starts: int) -> int:
        """How many jobs a run has: all starts, those that go on, and variations."""
        return self.rounds(starts) * (starts + min(starts, STAGES[1].kept) + self.variations(starts)) + STAGES[2].kept

    def run(self, starts: int, seed: int, crew: Crew) -> list[Start]:
        """The starts, those that went through most stages first and the best of them first. After Ctrl-C, as far as they came."""
        found = [self._round(range(k * starts, (k + 1) * starts), seed, crew) for k in range(self.rounds(starts))]
        return self._further(_ranked(chain.from_iterable(found)), STAGES[2], crew)

    def _round(self, numbers: range, seed: int, crew: Crew) -> list[Start]:
        """What becomes of the starts of these numbers, and of variations of the best of them."""
        found = _ranked(crew.work([partial(self._begin, k, seed, crew) for k in numbers]))
        found = self._further(found, STAGES[1], crew)
        design = self.design(HOP)
        for number in range(self.variations(len(numbers)) if found else 0):
            size, rng = HOPS[number % len(HOPS)], np.random.default_rng([seed, numbers.stop, number])
            varied = crew.work([partial(self.hop, found[0], size, design, rng, crew.stopped)])
            found = _ranked([*found, *varied])
        return found

    def _further(self, found: list[Start], stage: Stage, crew: Crew) -> list[Start]:
        """The best of the motions found after another stage, then the motions found."""
        if crew.stopped():
            return found
        design = self.design(stage)
        further = crew.work([partial(self.advance, start, stage, design, crew.stopped) for start in found[: stage.kept]])
        return [*_ranked(further), *found]

    def _begin(self, number: int, seed: int, crew: Crew) -> Start | None:
        start = None if crew.stopped() else self.first(number, seed)
        return start and self.advance(start, STAGES[0], self.design(STAGES[0]), crew.stopped)


def _ranked(starts: Iterable[Start | None]) -> list[Start]:
    return sorted((s for s in starts if s is not None), key=lambda s: (-s.value, s.number))
