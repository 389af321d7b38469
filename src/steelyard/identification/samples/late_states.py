"""Logged velocities and accelerations that come late against the positions are not used."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...signals.clean.delay import Delay, estimate_delay
from ...signals.log import Log
from ...signals.segments import split, windows
from .samples_thresholds import THRESHOLDS

Array = NDArray[np.float64]


def without_late_states(log: Log) -> Log:
    """Return a log without velocities and accelerations where they come late.

    Drivers filter velocities by causal filters. Late states are late against the torque, too, and
    friction reverses at the wrong time; derivatives of the positions are not late. Velocities
    without accelerations are combined with the positions, and may be later. A log without
    velocities, or whose velocities are in time, is returned as it is.
    """
    late = 0.0 if log.qd is None else late_velocity(log.t, log.q, log.qd)
    if late <= (THRESHOLDS.fused_velocity_delay if log.qdd is None else 0.0):
        return log
    return log.replace(qd=None, qdd=None).remarked(
        f"The measured velocity is {1e3 * late:.3g} ms late against the positions and was not used:"
        " velocities and accelerations are derived from the positions."
    )


def late_velocity(t: Array, q: Array, qd: Array) -> float:
    """Return the delay [s] of velocities against the derivative of the positions, 0 if in time.

    The median delay of the joints counts, if it is significant in most of them.

    Parameters
    ----------
    t : (N,) times [s]
    q, qd : (N, n) positions and velocities
    """
    part = max(split(t), key=lambda s: s.stop - s.start)
    stride = max(1, round(THRESHOLDS.velocity_step / float(np.median(np.diff(t)))))
    part = windows(part, THRESHOLDS.delay_samples * stride, 1)[0]
    t, q, qd = (x[part][::stride] for x in (t, q, qd))
    step, longest = np.diff(t), THRESHOLDS.longest_velocity_delay
    if not all(np.isfinite(x).all() for x in (t, q, qd)) or np.any(step <= 0):
        return 0.0
    least_samples = 4 * longest / float(np.median(step)) + 8
    if len(t) < least_samples:
        return 0.0
    delay = estimate_delay(np.gradient(q, t, axis=0), qd, float(np.median(step)), longest)
    used = follows_positions(delay)
    return common_delay(delay.seconds[used], delay.sigma[used]) if used.any() else 0.0


def follows_positions(delay: Delay) -> NDArray[np.bool_]:
    """Return for each joint whether its velocities follow its positions, but for a delay."""
    return np.isfinite(delay.sigma) & (delay.correlation > THRESHOLDS.velocity_correlation)


def common_delay(seconds: Array, sigma: Array) -> float:
    """Return the median delay [s] of several joints, 0 if it is not significant in most of them.

    Parameters
    ----------
    seconds, sigma : delays of the joints and their standard deviations [s]
    """
    least = np.maximum(
        THRESHOLDS.velocity_delay_deviations * sigma, THRESHOLDS.least_velocity_delay
    )
    late = int(np.count_nonzero(seconds > least))
    return float(np.median(seconds)) if late > len(seconds) - late else 0.0
