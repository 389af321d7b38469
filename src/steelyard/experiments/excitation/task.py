"""One search of a motion: what is asked for, how it is optimised, and the proof that the limits are kept."""

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
from ...motion.trajectories.limits import MotionLimits
from .information import Information
from .multi_start import STAGES, Crew, MultiStart, Progress, Start
from .random_motions import RandomMotions, within

REPAIRS, RESERVES = 3, (2.0, 4.0)  # of the best starts, if they do not keep their distances: factors of the last stage's reserves
CUTS = (0.0, 0.0005, 0.001, 0.0025, 0.005, 0.01)  # a motion that passes a limit between samples is made that much smaller
LARGE_CUTS = (0.02, 0.04, 0.08, 0.16, 0.32)  # where nothing else helps


@dataclass(frozen=True)
class Task:
    """What is asked for: limits, a space of motions, the information to gain, the seed of what is random, distances to keep.

    `quick` are the same distances, close enough for the search.
    """

    limits: MotionLimits
    basis: MotionBasis
    information: Information
    seed: int
    gaps: tuple[Gaps, ...] = ()
    quick: tuple[Gaps, ...] = ()

    @property
    def starts(self) -> MultiStart:
        """The problem that all starts share."""
        return MultiStart(self.basis, self.information, self.limits, self.quick or self.gaps)

    def search(self, candidates: int, progress: Progress | None) -> tuple[PeriodicMotion, Certificate]:
        """The best of random motions and of variations of the best."""
        motions = self._random()
        best = None
        for count, best in enumerate(motions.search(candidates, np.random.default_rng(self.seed)), start=1):
            if progress:
                state = f"condition {best[1].condition:.3g}" if best else "no motion within the limits yet"
                progress(f"{count} of {candidates} motions, {state}", count / candidates)
        made = self.certified(best[0], (*CUTS, *LARGE_CUTS)) if best else None
        if made is None:
            raise ProblemError(motions.refusal())
        return made

    @on_one_core
    def optimise(self, starts: int, progress: Progress | None) -> tuple[PeriodicMotion, Certificate]:
        """The best of several optimised motions that keeps its limits at every instant."""
        crew = Crew(self.starts.jobs(starts), progress)
        found = self.starts.run(starts, self.seed, crew)
        tries = [partial(self._kept, start, crew) for start in found[:REPAIRS]]
        tries += [partial(self.certified, self.basis.motion(start.x), (*CUTS, *LARGE_CUTS)) for start in found]
        made = next((motion for attempt in tries if (motion := attempt()) is not None), None)
        if made is not None:
            return made
        if crew.stopped():
            raise KeyboardInterrupt
        raise ProblemError(self._random().refusal())

    def _kept(self, start: Start, crew: Crew) -> tuple[PeriodicMotion, Certificate] | None:
        """The motion of a start if it keeps all limits, else what it becomes in the last stage with larger reserves between the samples."""
        made = self.certified(self.basis.motion(start.x))
        for reserve in RESERVES if self.gaps else ():
            if made is not None:
                break
            problem = replace(self.starts, reserve=reserve)
            again = problem.advance(start._replace(x=start.before), STAGES[-1], problem.design(STAGES[-1]), crew.stopped)
            made = again and self.certified(self.basis.motion(again.x))
        return made

    def certified(self, motion: PeriodicMotion, cuts: Sequence[float] = CUTS) -> tuple[PeriodicMotion, Certificate] | None:
        """The motion, smaller by as little as it takes to keep all limits at every instant, and what it uses of them; None if none does."""
        for cut in cuts:
            smaller = within(motion.scaled(1.0 - cut), self.limits)
            certificate = certify(self.information.robot, smaller, self.limits, gaps=self.gaps)
            if certificate.holds:
                return smaller, certificate
            if certificate.spare < 0 and cuts is CUTS:
                return None  # links are not farther apart in a motion that is hardly smaller
        return None

    def _random(self) -> RandomMotions:
        return RandomMotions(self.limits, self.basis, self.information, self.starts.clear(STAGES[-1]))
