"""States of a joint that differ in their model error: moving, reversing, standing. Causal, sample by sample."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
States = NDArray[np.int8]
STATES = ("moving", "reversing", "standing")
MOVING, REVERSING, STANDING = range(3)
ROUNDING = 1e-6  # of the window: sums of intervals differ by rounding between blocks and single samples
REGULAR = (0.5, 1.5)  # of the median interval between samples: others are irregular


class StateClassifier:
    """Classify each joint at each sample as moving, reversing or standing.

    A joint stands if it was no faster than `rest` during the last `window`. It reverses if, during the
    last `window`, its velocity was no larger than `slow` or changed sign. It moves otherwise.

    Parameters
    ----------
    rest : speed of a joint at rest, (n,) [rad/s|m/s]
    slow : speed below which dry friction is not at its Coulomb level, (n,) [rad/s|m/s]
    window : memory of the observer [s]
    """

    def __init__(self, rest: Array, slow: Array, window: float) -> None:
        self.rest, self.slow, self.window = rest, np.maximum(slow, rest), window * (1.0 + ROUNDING)
        self._time = 0.0
        self._last = np.full(len(rest), np.nan)
        self._event, self._moved = (np.full(len(rest), -np.inf) for _ in range(2))

    def classify(self, qd: Array, dt: Array) -> States:
        """Return the states (N, n) of samples qd (N, n), each dt (N,) [s] after the one before it."""
        time = (self._time + np.cumsum(dt))[:, None]
        speed, before = np.abs(qd), np.concatenate([self._last[None], qd[:-1]])
        event = (speed <= self.slow) | (qd * before < 0.0)
        events = np.maximum.accumulate(np.where(event, time, self._event), axis=0)
        moved = np.maximum.accumulate(np.where(speed > self.rest, time, self._moved), axis=0)
        self._time, self._last, self._event, self._moved = float(time[-1, 0]), qd[-1], events[-1], moved[-1]
        states = np.where(time - events <= self.window, REVERSING, MOVING)
        return np.where(time - moved > self.window, STANDING, states).astype(np.int8)


class VelocityGuard:
    """Hold a velocity that jumps where time stamps are irregular.

    A driver that differentiates positions divides by a wrong interval when a sample comes late: one
    velocity is too small, the next too large. A jump by more than `jump` in the two samples after an
    irregular interval is replaced by the last velocity.

    Parameters
    ----------
    jump : largest usual change between samples, (n,) [rad/s|m/s]
    interval : median interval between samples [s]
    """

    def __init__(self, jump: Array, interval: float) -> None:
        self.jump, self.interval = jump, interval
        self._last: Array | None = None
        self._suspect = False

    def held(self, qd: Array, dt: Array) -> Array:
        """Return velocities (N, n) with implausible samples replaced."""
        low, high = (share * self.interval for share in REGULAR)
        irregular = ((dt < low) | (dt > high)) & (dt > 0.0)
        suspect = irregular | np.append(self._suspect, irregular[:-1])
        result = qd.copy() if suspect.any() else qd
        for k in np.flatnonzero(suspect):
            before = result[k - 1] if k else self._last
            if before is not None:
                result[k] = np.where(np.abs(qd[k] - before) > self.jump, before, qd[k])
        self._last, self._suspect = result[-1].copy(), bool(irregular[-1])
        return result
