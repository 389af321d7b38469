"""States of a joint that differ in their model error: forward, backward, reversing, standing.

Causal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .online_thresholds import THRESHOLDS

Array = NDArray[np.float64]
States = NDArray[np.int8]
Bools = NDArray[np.bool_]
STATES = ("forward", "backward", "reversing", "standing")
FORWARD, BACKWARD, REVERSING, STANDING = range(len(STATES))


class StateClassifier:
    """Classify each joint at each sample as moving forward or backward, reversing or standing.

    A joint stands if it was no faster than `rest` during the last `window`. It reverses if, during
    the last `window`, its velocity was no larger than `slow` or changed sign. Otherwise it moves,
    in the direction of its velocity.

    Parameters
    ----------
    rest : speed of a joint at rest, (n,) [rad/s|m/s]
    slow : speed below which dry friction is not at its Coulomb level, (n,) [rad/s|m/s]
    window : memory of the observer [s]
    """

    def __init__(self, rest: Array, slow: Array, window: float) -> None:
        self.rest, self.slow = rest, np.maximum(slow, rest)
        self._last = np.full(len(rest), np.nan)
        self._event, self._moved = (Recently(len(rest), window) for _ in range(2))

    def classify(self, qd: Array, dt: Array) -> States:
        """Return the states (N, n) of samples qd (N, n), dt (N,) [s] apart."""
        speed, before = np.abs(qd), np.concatenate([self._last[None], qd[:-1]])
        events = self._event.update((speed <= self.slow) | (qd * before < 0.0), dt)
        moved = self._moved.update(speed > self.rest, dt)
        self._last = qd[-1]
        states = np.where(events, REVERSING, np.where(qd > 0.0, FORWARD, BACKWARD))
        return np.where(moved, states, STANDING).astype(np.int8)


class Recently:
    """Report for each joint whether an event occurred during the last `window` [s]."""

    def __init__(self, n: int, window: float) -> None:
        self.window = window * (1.0 + THRESHOLDS.window_rounding)
        self._time, self._last = 0.0, np.full(n, -np.inf)

    def update(self, event: Bools, dt: Array) -> Bools:
        """Return whether a recent sample had an event, (N, n); samples are dt (N,) [s] apart."""
        time = (self._time + np.cumsum(dt))[:, None]
        last = np.maximum.accumulate(np.where(event, time, self._last), axis=0)
        self._time, self._last = float(time[-1, 0]), last[-1]
        return np.asarray(time - last <= self.window)


class Visits(NamedTuple):
    """Visits of joints to states.

    Joint and state of each, and the largest value during it, all (V,).
    """

    joint: NDArray[np.intp]
    state: NDArray[np.intp]
    largest: Array


def visits(states: States, values: Array) -> Visits:
    """Return the visits of consecutive samples: runs of one state of one joint.

    Parameters
    ----------
    states : states of the joints, (N, n)
    values : values of which a visit has the largest, (N, n)
    """
    joints, kinds, largest = list[Array](), list[Array](), list[Array]()
    for j in range(states.shape[1]):
        starts = np.append(0, np.flatnonzero(np.diff(states[:, j])) + 1)
        joints.append(np.full(len(starts), j))
        kinds.append(states[starts, j])
        largest.append(np.maximum.reduceat(values[:, j], starts))
    joint, state = (np.concatenate(x).astype(np.intp) for x in (joints, kinds))
    return Visits(joint, state, np.concatenate(largest))


def joined_visits(parts: list[Visits]) -> Visits:
    """Return the visits of several stretches of motion together."""
    joint, state = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("joint", "state")
    )
    return Visits(joint, state, np.concatenate([part.largest for part in parts]))
