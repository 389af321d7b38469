"""Held-out errors of two fits, paired by blocks: whether one is worse than the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import steelyard as sy
from benchmarks.unseen.plain import banded

Array = NDArray[np.float64]
BLOCKS = 8  # of each held-out log
NOISE = 0.03  # relative growth of an error that is noise


def block_squares(fit: sy.Fit, logs: Sequence[sy.Log], band: float) -> tuple[Array, Array]:
    """Squares of error and torque in each block of held-out logs, in a band [Hz]."""
    errors, torques = [], []
    for log in (banded(each, band) for each in logs):
        predicted = log.low_pass(np.asarray(fit.predict(log.q, log.qd, log.qdd).torque))
        torque = log.tau[log.inner]
        for part in np.array_split(np.arange(len(torque)), BLOCKS):
            errors.append(np.sum((torque[part] - predicted[part]) ** 2))
            torques.append(np.sum(torque[part] ** 2))
    return np.array(errors), np.array(torques)


def loss(
    less: sy.Fit, more: sy.Fit, logs: Sequence[sy.Log], band: float
) -> tuple[float, float, bool]:
    """Errors with less and with more information, and whether more is worse beyond noise."""
    (before, torque), (after, _) = (block_squares(fit, logs, band) for fit in (less, more))
    errors = [float(np.sqrt(x.sum() / torque.sum())) for x in (before, after)]
    growth = after - before
    spread = np.sqrt(len(growth)) * float(np.std(growth, ddof=1))
    worse = errors[1] > (1.0 + NOISE) * errors[0] and float(growth.sum()) > spread
    return errors[0], errors[1], worse


def new_faults(less: sy.Fit, more: sy.Fit) -> set[str]:
    """Faults that the verdict names only with more information."""
    before, after = (
        {each.fault for each in fit.verdict.findings if each.severity == "fault"}
        for fit in (less, more)
    )
    return after - before
