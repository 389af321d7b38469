"""An experiment without a robot: hidden true parameters, two motions, their logs, identification and validation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..identification import Fit, Validation, identify
from ..motion import Trajectory
from ..robot import Robot
from ..signals.log import Log
from ..simulation import hidden, record
from .excitation.excite import excite

SECONDS, HARMONICS, RATE = 20.0, 10, 500.0


@dataclass(frozen=True, eq=False)
class Experiment:
    """What was hidden, what was done, what was found."""

    robot: Robot
    truth: Robot
    motion: Trajectory
    log: Log
    other: Log
    fit: Fit
    validation: Validation

    def write(self, folder: Path) -> None:
        """The logs, as any other tool may read them, and the motion that was chosen."""
        from ..signals.write import to_csv

        to_csv(self.log, folder / "log.csv")
        to_csv(self.other, folder / "validation.csv")
        self.motion.sample(100.0).to_csv(folder / "motion.csv")


def run(robot: Robot, seed: int, tell: Callable[[str, float], None]) -> Experiment:
    """Hide, move, record, identify, validate. One long period per motion, so that no ripple comes twice."""
    truth = hidden(robot, seed)
    tell("choosing a motion", 0.0)
    chosen = excite(robot, SECONDS, HARMONICS, 1 / SECONDS, seed, progress=lambda _, share: tell("choosing a motion", 0.3 * share))
    second = excite(robot, SECONDS, HARMONICS, 1 / SECONDS, seed + 1, candidates=10)
    tell("recording", 0.3)
    log, other = (record(truth, motion, RATE, seed + k) for k, motion in enumerate((chosen, second)))
    fit = identify(robot, log, progress=lambda sentence, share: tell(sentence, 0.35 + 0.6 * share))
    tell("validating", 0.95)
    return Experiment(robot, truth, chosen, log, other, fit, fit.validate(other))
