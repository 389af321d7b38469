"""Excitation: joints that do not move, motions with a small range, logs that are too short."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ...checks.states import joint_travel
from ..model.linear_model import Model
from ..samples.samples import Samples
from .doctor_thresholds import THRESHOLDS
from .fault_search.log_evidence import LogEvidence, Trial
from .fault_search.thinned_log import ThinnedLog, thin_log
from .finding import Finding

Array = NDArray[np.float64]
FIX = "a longer and wider motion, such as one of `steelyard excite`"


def rows_per_unknown(thinned_log: ThinnedLog, model: Model) -> float:
    """Return how many independent rows the log holds for each unknown, those at rest included."""
    used = np.any(thinned_log.keep, axis=0)
    return thinned_log.band * len(thinned_log.keep) * float(np.sum(used)) / model.base.n_base


def too_short(model: Model, samples: Sequence[Samples]) -> str:
    """Return a sentence if samples have too few independent rows per unknown, '' if not."""
    rows = rows_per_unknown(thin_log(samples), model)
    return short_sentence(rows) if rows < THRESHOLDS.too_few_rows else ""


def short_sentence(rows: float) -> str:
    """Return a sentence on too few independent rows per unknown."""
    return (
        f"The log is too short: about {rows:.1f} independent postures for each unknown, expected at"
        f" least {THRESHOLDS.least_rows}."
    )


def free_swing(cancelled: Array, error: Array, names: Sequence[str]) -> Finding | None:
    """Return a remark on a motion close to free swinging, None for others.

    Inertial and gravity torques cancel there: errors of a few percent of these terms are a large
    part of the torque, so that it shows neither faults nor another robot.

    Parameters
    ----------
    cancelled : torque of each joint over the size of its terms, (n,)
    error : of each joint over its torque, (n,)
    names : of the joints
    """
    free = (cancelled < THRESHOLDS.free_swing) & (error > THRESHOLDS.doubtful_error)
    if not np.any(free):
        return None
    torques = ", ".join(
        f"{name} {share:.0%}"
        for name, share, is_free in zip(names, cancelled, free, strict=True)
        if is_free
    )
    sentence = (
        "The motion is close to free swinging: torque is a small difference of inertial and gravity"
        f" torques ({torques} of their size), and it shows no fault of the log."
    )
    return Finding(
        fault="poor excitation",
        joints=(),
        sentence=sentence,
        probability=0.9,
        fix=FIX,
        severity="remark",
    )


def poor_excitation(log_evidence: LogEvidence, trial: Trial) -> Iterator[Finding]:
    """Yield a remark on a motion that excites too few parameters."""
    robot = log_evidence.unknowns.model.robot
    q = trial.correction.states(log_evidence.thinned_log)[0]
    span = np.ptp(q, axis=0)
    lower, upper = joint_travel(robot)
    share = span / np.maximum(upper - lower, 1e-9)
    still = [
        name
        for name, moved in zip(robot.joint_names, span, strict=True)
        if moved < THRESHOLDS.standing
    ]
    rows = rows_per_unknown(log_evidence.thinned_log, log_evidence.unknowns.model)
    if np.max(share) < THRESHOLDS.least_travel:
        sentence = (
            f"No joint moves through more than {np.max(share):.0%} of its range: inertias are"
            " hardly excited, and gravity is seen at one posture only."
        )
        yield Finding(
            fault="poor excitation",
            joints=(),
            sentence=sentence,
            probability=0.98,
            fix=FIX,
            severity="remark",
        )
    elif still:
        who = f"{', '.join(still)} {'stands' if len(still) == 1 else 'stand'}"
        sentence = (
            f"{who} still (range below {THRESHOLDS.standing} rad|m): parameters that depend on this"
            " motion cannot be identified."
        )
        yield Finding(
            fault="poor excitation",
            joints=tuple(still),
            sentence=sentence,
            probability=0.98,
            fix=FIX,
            severity="remark",
        )
    elif rows < THRESHOLDS.least_rows:
        yield Finding(
            fault="poor excitation",
            joints=(),
            sentence=short_sentence(rows),
            probability=0.9,
            fix=FIX,
            severity="remark",
        )
