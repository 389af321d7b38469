"""A rehearsal of an identification without a robot.

A perturbed robot takes the place of the real one: it moves, is recorded, identified and validated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..identification import Fit, Validation, identify
from ..motion import Trajectory
from ..robot import Robot
from ..signals.log import Log
from ..signals.write import to_csv
from ..simulation import perturbed, record
from .excitation.excite import excite
from .experiment_thresholds import THRESHOLDS


@dataclass(frozen=True, eq=False)
class Rehearsal:
    """The described robot and the one that was recorded, the motion, both logs, and the result."""

    robot: Robot
    true_robot: Robot
    motion: Trajectory
    log: Log
    other: Log
    fit: Fit
    validation: Validation

    def write(self, folder: Path) -> None:
        """Write both logs and the motion as CSV into a folder."""
        to_csv(self.log, folder / "log.csv")
        to_csv(self.other, folder / "validation.csv")
        self.motion.sample(100.0).to_csv(folder / "motion.csv")


def rehearse(robot: Robot, seed: int, progress: Callable[[str, float], None]) -> Rehearsal:
    """Perturb, move, record, identify and validate a robot.

    Each motion is one long period, so that no ripple repeats.
    """
    true_robot = perturbed(robot, seed)
    progress("choosing a motion", 0.0)
    chosen = excite(
        robot,
        THRESHOLDS.rehearsal_seconds,
        THRESHOLDS.rehearsal_harmonics,
        1 / THRESHOLDS.rehearsal_seconds,
        seed,
        starts=THRESHOLDS.rehearsal_starts,
        progress=lambda _, share: progress("choosing a motion", 0.3 * share),
    )
    second = excite(
        robot,
        THRESHOLDS.rehearsal_seconds,
        THRESHOLDS.rehearsal_harmonics,
        1 / THRESHOLDS.rehearsal_seconds,
        seed + 1,
        candidates=10,
    )
    progress("recording", 0.3)
    log, other = (
        record(true_robot, motion, THRESHOLDS.rehearsal_rate, seed + k)
        for k, motion in enumerate((chosen, second))
    )
    fit = identify(
        robot, log, progress=lambda sentence, share: progress(sentence, 0.35 + 0.6 * share)
    )
    progress("validating", 0.95)
    return Rehearsal(
        robot=robot,
        true_robot=true_robot,
        motion=chosen,
        log=log,
        other=other,
        fit=fit,
        validation=fit.validate(other),
    )
