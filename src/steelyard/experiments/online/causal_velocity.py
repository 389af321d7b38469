"""Velocities as the collision observer uses them.

Measured and checked, or the causal derivative of positions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .online_thresholds import THRESHOLDS
from .sample_rows import LowPass

Array = NDArray[np.float64]


class FilteredMotion(NamedTuple):
    """Samples after the low-pass.

    Q, qd and tau (N, n), intervals dt (N,), and how many came before them.
    """

    q: Array
    qd: Array
    tau: Array
    dt: Array
    skipped: int


class CausalDerivative:
    """Differentiate positions without looking ahead, and delay the torque as much.

    q_f = F q, qd_f = d/dt q_f = a (q - q_f), tau_f = F tau with F = a / (s + a): qd_f is the exact
    derivative of q_f, and all three have one delay. It starts at zero velocity; samples are
    returned once that is forgotten.

    Parameters
    ----------
    bandwidth : a [1/s]
    """

    def __init__(self, bandwidth: float) -> None:
        self.bandwidth = bandwidth
        self._filter, self._time = LowPass(bandwidth), 0.0

    def run(self, q: Array, tau: Array, dt: Array) -> FilteredMotion:
        """Return the filtered samples of q and tau (N, n), dt (N,) [s] apart."""
        n = q.shape[1]
        y = self._filter.run(np.concatenate([q, tau], axis=1), dt, np.concatenate([q[0], tau[0]]))
        time = self._time + np.cumsum(dt)
        self._time = float(time[-1])
        skipped = int(np.searchsorted(time, THRESHOLDS.settling_constants / self.bandwidth))
        smooth, speed = y[:, :n], self.bandwidth * (q - y[:, :n])
        return FilteredMotion(
            smooth[skipped:], speed[skipped:], y[skipped:, n:], dt[skipped:], skipped
        )


class VelocityGuard:
    """Hold a velocity that jumps where time stamps are irregular.

    A driver that differentiates positions divides by a wrong interval when a sample comes late: one
    velocity is too small, the next too large. A jump by more than `jump` in the two samples after
    an irregular interval is replaced by the last velocity.

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
        low, high = (share * self.interval for share in THRESHOLDS.regular_intervals)
        irregular = ((dt < low) | (dt > high)) & (dt > 0.0)
        suspect = irregular | np.append(self._suspect, irregular[:-1])
        result = qd.copy() if suspect.any() else qd
        for k in np.flatnonzero(suspect):
            before = result[k - 1] if k else self._last
            if before is not None:
                result[k] = np.where(np.abs(qd[k] - before) > self.jump, before, qd[k])
        self._last, self._suspect = result[-1].copy(), bool(irregular[-1])
        return result
