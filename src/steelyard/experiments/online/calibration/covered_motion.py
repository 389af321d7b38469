"""Ranges of the held-out motion, beyond which the residuals are unknown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..held_out_residuals import ResidualStream

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class CoveredMotion:
    """Ranges of each joint in the held-out motion, all (n,).

    Attributes
    ----------
    low, high : range of positions [rad|m]
    speed : largest speed [rad/s|m/s]
    torque : largest filtered torque of the model [N m|N]
    spread : largest parameter uncertainty, times the factor of the threshold [N m|N]
    """

    low: Array
    high: Array
    speed: Array
    torque: Array
    spread: Array

    def beyond_positions(self, q: Array) -> Bools:
        """Return whether positions q (N, n) are beyond the range, (N, n)."""
        return np.asarray((q < self.low) | (q > self.high))

    def beyond(self, q: Array, qd: Array, torque: Array, spread: Array) -> Bools:
        """Return whether each joint is beyond its own ranges, (N, n), from samples (N, n)."""
        fast = (np.abs(qd) > self.speed) | (np.abs(torque) > self.torque)
        return np.asarray(self.beyond_positions(q) | fast | (spread > self.spread))


def covered_motion(streams: Sequence[ResidualStream], factor: float) -> CoveredMotion:
    """Return the ranges of some held-out motion.

    Parameters
    ----------
    streams : residuals of parts of the fit's log
    factor : allowed uncertainty over the largest one of the motion; the factor of the threshold
    """
    low = np.min([part.q.min(axis=0) for part in streams], axis=0)
    high = np.max([part.q.max(axis=0) for part in streams], axis=0)
    speed, torque, spread = (
        np.max([np.abs(getattr(part, name)).max(axis=0) for part in streams], axis=0)
        for name in ("qd", "torque", "spread")
    )
    return CoveredMotion(low, high, speed, torque, factor * spread)
