"""Identification of each half of a fit's own log, every choice included."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ....errors import SteelyardError, SteelyardWarning
from ....identification.identify import identify
from ....identification.result.fit import Fit
from ....identification.result.held_out_motion import HeldOutMotion
from ....signals.log import Log
from ..online_thresholds import THRESHOLDS


def half_fits(fit: Fit) -> tuple[Fit | None, Fit | None]:
    """Return the fit of each half of the measured motion, None where it cannot be identified.

    Smoothing, delay, friction terms and predictor are chosen again, with the options of the caller:
    choices that depend on the other half would make its residuals too small. Hastie,
    Tibshirani and Friedman, "The Elements of Statistical Learning", 2nd edition, 2009,
    section 7.10.2 (cross-validation of all steps).
    """
    first, second = (half_fit(fit, half) for half in (0, 1))
    return first, second


def half_fit(fit: Fit, half: int) -> Fit | None:
    """Return the fit of one half, 0 or 1; None if it is too short or has no stored options."""
    options = fit.pipeline.requested
    logs = half_logs([part for part in fit.pipeline.held_out if part.half == half], fit)
    if options is None or not logs:
        return None
    model = replace(options.model, drive_gains=())  # the torques are multiplied by them
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SteelyardWarning)
            result = identify(
                fit.initial,
                logs,
                options.estimator,
                preparation=options.preparation,
                model=model,
                diagnose=False,
            )
    except SteelyardError:
        return None
    return result if result.pipeline.held_out else None


def half_logs(parts: Sequence[HeldOutMotion], fit: Fit) -> list[Log]:
    """Return consecutive parts of the measured motion as logs without gaps."""
    groups: list[list[HeldOutMotion]] = []
    for part in parts:
        before = groups[-1][-1] if groups else None
        if before is not None and follows(before, part):
            groups[-1].append(part)
        else:
            groups.append([part])
    return [joined_log(group, fit) for group in groups]


def follows(before: HeldOutMotion, part: HeldOutMotion) -> bool:
    """Return whether a part begins one sample after the end of the part before it."""
    step = float(part.t[0] - before.t[-1])
    usual = float(np.median(np.diff(part.t)))
    return 0.0 < step <= THRESHOLDS.regular_intervals[1] * usual


def joined_log(parts: Sequence[HeldOutMotion], fit: Fit) -> Log:
    """Return consecutive parts as one log."""
    speeds = [part.qd for part in parts if part.qd is not None]
    return Log(
        t=np.concatenate([part.t for part in parts]),
        q=np.concatenate([part.q for part in parts]),
        qd=np.concatenate(speeds) if len(speeds) == len(parts) else None,
        tau=np.concatenate([part.tau for part in parts]),
        joint_names=fit.robot.joint_names,
    )
