"""States whose thresholds the fit's own log confirms.

Each half of it is checked by the other half.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..held_out_residuals import HalfStreams
from ..motion_states import STATES, States, Visits, joined_visits, visits
from .covered_motion import covered_motion
from .monitored_states import MonitoredStates, MonitoredThreshold, are_trusted
from .near_states import near_states
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
    halves: Sequence[HalfStreams], words: tuple[str, ...], gain: float, rule: CalibrationRule
) -> Bools:
    """Return the states (n, 4) in which thresholds of one half of the log hold in the other half.

    Each half is calibrated by `rule` alone, and observes the motion of the other half as a live
    robot. A state is confirmed if each half is monitored there by the other, and no residual
    exceeds its threshold; of a trusted joint, it is enough that one half is monitored. Roberts et
    al., Ecography 40 (2017), p. 913 (blocked cross-validation).

    Parameters
    ----------
    halves : residuals of each half, and of the other one by its model
    words : word of the verdict on each joint
    gain : bandwidth of the observer [1/s]
    rule : constants of the calibration
    """
    n = len(words)
    checked = np.zeros((2, n, len(STATES)), bool)
    exceeded = np.zeros((n, len(STATES)), bool)
    for number, half in enumerate(halves):
        if not half.parts:
            continue
        states = states_of_half(half, words, gain, rule)
        for part in half.others:
            limit = MonitoredThreshold(states, half.limits, gain, rule).along(part)
            index = classifier(half.limits, gain, rule).classify(part.qd, part.dt)
            checked[number] |= in_states(np.isfinite(limit), index)
            exceeded |= in_states(part.residual > limit, index)
    trusted = are_trusted(words)[:, None]
    return np.where(trusted, checked.any(axis=0), checked.all(axis=0)) & ~exceeded


def states_of_half(
    half: HalfStreams, words: tuple[str, ...], gain: float, rule: CalibrationRule
) -> MonitoredStates:
    """Return the monitored states of one half of the log: all with enough visits."""
    every = joined_visits(
        [
            visits(classifier(half.limits, gain, rule).classify(part.qd, part.dt), part.residual)
            for part in half.parts
        ]
    )
    largest, counts = largest_of_states(every, len(words))
    covered = covered_motion(half.parts, rule.factor)
    return MonitoredStates(
        low=covered.low,
        high=covered.high,
        speed=covered.speed,
        torque=covered.torque,
        spread=covered.spread,
        threshold=np.where(counts >= rule.fewest, rule.factor * largest, np.inf),
        confirmed=np.ones_like(counts, bool),
        words=words,
        near=near_states(half.parts),
    )


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
