"""States whose thresholds the fit's own log confirms.

Each half of it is checked by the other half.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..held_out_residuals import HeldOutLimits, ResidualStream
from ..motion_states import STATES, Recently, States, Visits, joined, visits
from .covered_motion import covered_motion
from .rule import CalibrationRule, classifier

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
Counts = NDArray[np.intp]


def largest_of_states(every: Visits, n: int) -> tuple[Array, Counts]:
    """Return the largest residual [N m|N] and the number of visits of each joint and state, (n, 4).

    The largest residual of a state without visits is -inf.
    """
    largest, counts = np.full((n, len(STATES)), -np.inf), np.zeros((n, len(STATES)), np.intp)
    np.maximum.at(largest, (every.joint, every.state), every.largest)
    np.add.at(counts, (every.joint, every.state), 1)
    return largest, counts


def confirmed_states(
    streams: Sequence[ResidualStream], limits: HeldOutLimits, gain: float, rule: CalibrationRule
) -> Bools:
    """Return the states (n, 4) in which thresholds of one half of the log hold in the other half.

    Both halves are calibrated by `rule`, and each threshold is applied to the motion of the other
    half, as predicted by the model of this half. A state is confirmed if at least one half is
    monitored there by the other, and no residual exceeds its threshold.
    Roberts et al., Ecography 40 (2017), p. 913 (blocked cross-validation).

    Parameters
    ----------
    streams : residuals of the parts of the fit's log
    limits : speeds of the fit's motion
    gain : bandwidth of the observer [1/s]
    rule : constants of the calibration
    """
    n = len(limits.speed)
    if not all(part.has_half_model for part in streams):
        return np.zeros((n, len(STATES)), bool)
    checked, exceeded = (np.zeros((n, len(STATES)), bool) for _ in range(2))
    states = [classifier(limits, gain, rule).classify(part.qd, part.dt) for part in streams]
    for half in (0, 1):
        parts = [
            (part, state) for part, state in zip(streams, states, strict=True) if part.half == half
        ]
        others = [
            (part, state) for part, state in zip(streams, states, strict=True) if part.half != half
        ]
        if not parts:
            continue
        every = joined([visits(state, part.by_model[0]) for part, state in parts])
        largest, counts = largest_of_states(every, n)
        threshold = np.where(counts >= rule.fewest, rule.factor * largest, np.inf)
        covered = covered_motion([part for part, _ in parts], rule.factor)
        for part, state in others:
            beyond = covered.beyond(part.q, part.qd, part.torque, part.spread)
            beyond = Recently(n, rule.memory / gain).update(beyond, part.dt)
            limit = np.where(beyond, np.inf, threshold[np.arange(n), state])
            checked |= in_states(np.isfinite(limit), state)
            exceeded |= in_states(part.by_model[-1] > limit, state)
    return checked & ~exceeded


def in_states(event: Bools, states: States) -> Bools:
    """Return whether an event (N, n) occurred in each state of each joint, (n, 4)."""
    return np.stack([(event & (states == k)).any(axis=0) for k in range(len(STATES))], axis=1)


def tail_probability(every: Visits, n: int, factor: float) -> Array:
    """Return the probability (n, 4) that the next visit exceeds `factor` times the largest one.

    Largest residuals of visits are taken as log-normal; mean and variance are estimated, so the
    prediction has Student's t distribution with m - 1 degrees of freedom. 1 with fewer than 2
    visits. Meeker, Hahn and Escobar, "Statistical Intervals", 2nd edition, 2017, chapter 4.

    Parameters
    ----------
    every : visits of joints to states
    n : number of joints
    factor : threshold over the largest residual
    """
    from scipy.special import stdtr

    result = np.ones((n, len(STATES)))
    for joint, state in {(int(j), int(k)) for j, k in zip(every.joint, every.state, strict=True)}:
        values = every.largest[(every.joint == joint) & (every.state == state)]
        m = len(values)
        if m < 2 or not np.all(values > 0.0):
            continue
        logs = np.log(values)
        error = max(float(np.std(logs, ddof=1)), 1e-9) * np.sqrt(1.0 + 1.0 / m)
        result[joint, state] = stdtr(m - 1, (logs.mean() - logs.max() - np.log(factor)) / error)
    return result
