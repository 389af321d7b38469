"""FaultCorrection: a correction of a log, of gravity or of couplings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....signals.clean.correction import Correction
from .thinned_log import ThinnedLog

Array = NDArray[np.float64]
Gravity = tuple[float, float, float]
Pair = tuple[int, int]


@dataclass(frozen=True)
class FaultCorrection(Correction):
    """A correction of a log, of gravity and of couplings.

    `lifted` times the described gravity torque is added to the torque. `gravity` [m/s^2] replaces
    the described gravity. `couplings` are pairs of joints that share a motor.
    """

    lifted: float = 0.0
    gravity: Gravity | None = None
    couplings: tuple[Pair, ...] = ()

    def states(self, thinned_log: ThinnedLog) -> tuple[Array, Array, Array]:
        """Return corrected q, qd, qdd, each (N, n)."""
        return (
            self.positions(thinned_log.q),
            self.rates(thinned_log.qd, 1),
            self.rates(thinned_log.qdd, 2),
        )
