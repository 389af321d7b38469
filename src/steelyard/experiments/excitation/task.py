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
from .information import FisherInformation
from .multi_start import SEARCH_LEVELS, MultiStart, Progress, Start, StartPool
from .random_motions import RandomMotions, cut_to_limits

# of the best starts, if they do not keep their distances: factors of the last stage's reserves
REPAIRS, RESERVES = 3, (2.0, 4.0)
# a motion that passes a limit between samples is made that much smaller
CUTS = (0.0, 0.0005, 0.001, 0.0025, 0.005, 0.01)
LARGE_CUTS = (0.02, 0.04, 0.08, 0.16, 0.32)  # where nothing else helps


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
        motion = self.certified(best[0], (*CUTS, *LARGE_CUTS)) if best else None
        if motion is None:
            raise ProblemError(motions.refusal())
        return motion

    @on_one_core
    def optimise(
        self, starts: int, progress: Progress | None
    ) -> tuple[PeriodicMotion, Certificate]:
        """Optimise several motions; return the best that keeps its limits at every instant."""
        crew = StartPool(self.starts.jobs(starts), progress)
        results = self.starts.run(starts, self.seed, crew)
        tries = [partial(self._repaired, start, crew) for start in results[:REPAIRS]]
        tries += [
            partial(self.certified, self.basis.motion(start.x), (*CUTS, *LARGE_CUTS))
            for start in results
        ]
        certified = next((motion for attempt in tries if (motion := attempt()) is not None), None)
        if certified is not None:
            return certified
        if crew.stopped():
            raise KeyboardInterrupt
        raise ProblemError(self._random().refusal())

    def _repaired(self, start: Start, crew: StartPool) -> tuple[PeriodicMotion, Certificate] | None:
        """Return the certified motion of a start, searched again with larger reserves if needed."""
        certified = self.certified(self.basis.motion(start.x))
        for reserve in RESERVES if self.gaps else ():
            if certified is not None:
                break
            problem = replace(self.starts, reserve=reserve)
            again = problem.advance(
                start._replace(x=start.before),
                SEARCH_LEVELS[-1],
                problem.design(SEARCH_LEVELS[-1]),
                crew.stopped,
            )
            certified = again and self.certified(self.basis.motion(again.x))
        return certified

    def certified(
        self, motion: PeriodicMotion, cuts: Sequence[float] = CUTS
    ) -> tuple[PeriodicMotion, Certificate] | None:
        """Reduce the motion until it keeps all limits; return it with its certificate, or None."""
        for cut in cuts:
            smaller = cut_to_limits(motion.scaled(1.0 - cut), self.limits)
            certificate = certify(self.information.robot, smaller, self.limits, gaps=self.gaps)
            if certificate.holds:
                return smaller, certificate
            if certificate.spare < 0 and cuts is CUTS:
                return None  # links are not farther apart in a motion that is hardly smaller
        return None

    def _random(self) -> RandomMotions:
        return RandomMotions(
            self.limits, self.basis, self.information, self.starts.clear(SEARCH_LEVELS[-1])
        )
