"""Excitation: joints that stand, motions that stay in a corner, logs that are too short to tell the unknowns apart."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...checks.states import joint_travel
from .finding import Finding
from .mechanics.candidate import STANDING
from .mechanics.witness import Trial, Witness

Array = NDArray[np.float64]
CORNER = 0.1  # of the travel of the joint that moves most
FEWEST_ROWS = 2.2  # independent rows for each unknown
FIX = "a motion made by steelyard excite, long and wide enough"


def rows_per_unknown(witness: Witness) -> float:
    """Return how many independent rows the log holds for each unknown."""
    return witness.view.band * float(np.sum(witness.view.keep)) / witness.unknowns.model.base.n_base


def poor_excitation(witness: Witness, trial: Trial) -> Iterator[Finding]:
    """Report a motion that shows too little of the robot; harmless for what it does show."""
    robot = witness.unknowns.model.robot
    q = trial.hypothesis.states(witness.view)[0]
    span = np.ptp(q, axis=0)
    lower, upper = joint_travel(robot)
    share = span / np.maximum(upper - lower, 1e-9)
    still = [name for name, moved in zip(robot.joint_names, span, strict=True) if moved < STANDING]
    rows = rows_per_unknown(witness)
    if np.max(share) < CORNER:
        sentence = (
            f"No joint moves through more than {np.max(share):.0%} of its travel: inertia hardly shows, and gravity at one posture only."
        )
        yield Finding("poor excitation", (), sentence, 0.98, FIX, "remark")
    elif still:
        who = f"{', '.join(still)} {'stands' if len(still) == 1 else 'stand'}"
        sentence = f"{who}, moving by less than {STANDING} rad|m in all: what depends on that is not shown."
        yield Finding("poor excitation", tuple(still), sentence, 0.98, FIX, "remark")
    elif rows < FEWEST_ROWS:
        sentence = (
            f"The log holds about {rows:.1f} independent postures for each unknown, expected at least {FEWEST_ROWS}: it is too short."
        )
        yield Finding("poor excitation", (), sentence, 0.9, FIX, "remark")
