"""One search of a motion: problem, optimisation and certificate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ...errors import ProblemError
from ...identification.model.accumulator import on_one_core
from ...motion.collision.sweep import Gaps
from ...motion.trajectories.basis import MotionBasis, PeriodicMotion
from ...motion.trajectories.certificate import Certificate, certify
from ...motion.trajectories.limits import TrajectoryLimits
from .excitation_thresholds import THRESHOLDS
from .information import FisherInformation
from .multi_start import MultiStart, Progress, Start, StartPool
from .random_motions import RandomMotions, cut_to_limits


@dataclass(frozen=True)
class ExcitationSearch:
    """One search: limits, motion basis, information, random seed and distances to keep.

    `quick` are the same distances, close enough for the search.
    """

    limits: TrajectoryLimits
    basis: MotionBasis
    information: FisherInformation
    seed: int
    gaps: tuple[Gaps, ...] = ()
    quick: tuple[Gaps, ...] = ()

    @property
    def starts(self) -> MultiStart:
        """The problem that all starts share."""
        return MultiStart(self.basis, self.information, self.limits, self.quick or self.gaps)

    def search(
        self, candidates: int, progress: Progress | None
    ) -> tuple[PeriodicMotion, Certificate]:
        """Search random motions and variations of the best."""
        motions = self._random()
        best = None
        for count, best in enumerate(
            motions.search(candidates, np.random.default_rng(self.seed)), start=1
        ):
            if progress:
                state = (
                    f"condition {best[1].condition:.3g}"
                    if best
                    else "no motion within the limits yet"
                )
                progress(f"{count} of {candidates} motions, {state}", count / candidates)
        motion = (
            self.certified(best[0], (*THRESHOLDS.small_cuts, *THRESHOLDS.large_cuts))
            if best
            else None
        )
        if motion is None:
            raise ProblemError(motions.refusal())
        return motion

    @on_one_core
    def optimise(
        self, starts: int, progress: Progress | None
    ) -> tuple[PeriodicMotion, Certificate]:
        """Optimise several motions; return the best that keeps its limits at every instant.

        If none does, other random starts are optimised.
        """
        for search in range(THRESHOLDS.searches):
            pool = StartPool(self.starts.jobs(starts), None if search else progress)
            results = self.starts.run(starts, self.seed + 1_000_003 * search, pool)
            certified = self._best_certified(results, pool)
            if certified is not None:
                return certified
            if pool.stopped():
                raise KeyboardInterrupt
        raise ProblemError(self._random().refusal())

    def _best_certified(
        self, results: Sequence[Start], pool: StartPool
    ) -> tuple[PeriodicMotion, Certificate] | None:
        """Return the first of optimised starts that keeps its limits, reduced where needed."""
        tries = [
            partial(self._repaired, start, pool) for start in results[: THRESHOLDS.repaired_starts]
        ]
        tries += [
            partial(
                self.certified,
                self.basis.motion(start.x),
                (*THRESHOLDS.small_cuts, *THRESHOLDS.large_cuts),
            )
            for start in results
        ]
        return next((motion for attempt in tries if (motion := attempt()) is not None), None)

    def _repaired(self, start: Start, pool: StartPool) -> tuple[PeriodicMotion, Certificate] | None:
        """Return the certified motion of a start, searched again with larger reserves if needed."""
        certified = self.certified(self.basis.motion(start.x))
        for reserve in THRESHOLDS.repair_reserves if self.gaps else ():
            if certified is not None:
                break
            problem = replace(self.starts, reserve=reserve)
            again = problem.advance(
                start._replace(x=start.before),
                THRESHOLDS.search_levels[-1],
                problem.design(THRESHOLDS.search_levels[-1]),
                pool.stopped,
            )
            certified = again and self.certified(self.basis.motion(again.x))
        return certified

    def certified(
        self, motion: PeriodicMotion, cuts: Sequence[float] = THRESHOLDS.small_cuts
    ) -> tuple[PeriodicMotion, Certificate] | None:
        """Reduce the motion until it keeps all limits; return it with its certificate, or None."""
        for cut in cuts:
            smaller = cut_to_limits(motion.scaled(1.0 - cut), self.limits)
            certificate = certify(self.information.robot, smaller, self.limits, gaps=self.gaps)
            if certificate.holds:
                return smaller, certificate
            if certificate.spare < 0 and cuts is THRESHOLDS.small_cuts:
                return None  # links are not farther apart in a motion that is hardly smaller
        return None

    def _random(self) -> RandomMotions:
        return RandomMotions(
            self.limits,
            self.basis,
            self.information,
            self.starts.clear(THRESHOLDS.search_levels[-1]),
        )
