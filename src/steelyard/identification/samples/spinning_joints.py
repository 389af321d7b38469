"""Joints that turn many times: positions beyond a turn that are radians all the same."""

from __future__ import annotations

import numpy as np

from ...signals.log import Log
from .samples_thresholds import THRESHOLDS


def spins(log: Log, joint: int) -> bool:
    """Whether a joint turns many times, as a pendulum does.

    Qd is the derivative of q, at a plausible speed.
    """
    if log.qd is None:
        return False
    speed, rate = log.qd[:, joint], np.gradient(log.q[:, joint], log.t)
    use = np.isfinite(speed) & np.isfinite(rate)
    gain = float(rate[use] @ speed[use]) / max(float(rate[use] @ rate[use]), 1e-300)
    return (
        abs(gain - 1.0) <= THRESHOLDS.velocity_agreement
        and float(np.max(np.abs(speed[use]), initial=0.0)) <= THRESHOLDS.fastest_spin
    )
