"""Excitation: joints that stand, motions that stay in a corner, logs that are too short to tell the unknowns apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ...checks.states import joint_travel
from ..model.linear_model import Model
from ..samples.samples import Samples
from .finding import Finding
from .mechanics.candidate import STANDING
from .mechanics.view import View, view_of
from .mechanics.witness import Trial, Witness

Array = NDArray[np.float64]
CORNER = 0.1  # of the travel of the joint that moves most
FEWEST_ROWS = 2.2  # independent rows for each unknown
TOO_FEW = 1.5  # independent rows for each unknown, below which whatever is measured seems to fit: two periods of the motion, six joints
FIX = "a motion made by steelyard excite, long and wide enough"


def rows_per_unknown(view: View, model: Model) -> float:
    """Return how many independent rows the log holds for each unknown."""
    return view.band * float(np.sum(view.keep)) / model.base.n_base


def too_short(model: Model, samples: Sequence[Samples]) -> str:
    """Return a sentence if samples hold too few independent rows to tell the unknowns apart, '' if not."""
    rows = rows_per_unknown(view_of(samples), model)
    return short_sentence(rows) if rows < TOO_FEW else ""


def short_sentence(rows: float) -> str:
    """Return what is said of so few independent rows for each unknown."""
    return f"The log holds about {rows:.1f} independent postures for each unknown, expected at least {FEWEST_ROWS}: it is too short."


def poor_excitation(witness: Witness, trial: Trial) -> Iterator[Finding]:
    """Report a motion that shows too little of the robot; harmless for what it does show."""
    robot = witness.unknowns.model.robot
    q = trial.hypothesis.states(witness.view)[0]
    span = np.ptp(q, axis=0)
    lower, upper = joint_travel(robot)
    share = span / np.maximum(upper - lower, 1e-9)
    still = [name for name, moved in zip(robot.joint_names, span, strict=True) if moved < STANDING]
    rows = rows_per_unknown(witness.view, witness.unknowns.model)
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
        yield Finding("poor excitation", (), short_sentence(rows), 0.9, FIX, "remark")
