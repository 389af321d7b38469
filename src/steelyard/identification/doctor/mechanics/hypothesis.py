"""Hypothesis: a correction of the log, of gravity or of the drives that may make a log agree with the robot."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....signals.clean.correction import Correction
from .view import View

Array = NDArray[np.float64]
Gravity = tuple[float, float, float]
Pair = tuple[int, int]


@dataclass(frozen=True)
class Hypothesis(Correction):
    """A correction, with what is no matter of the log alone.

    `lifted` times the described torque of gravity is added to the torque; `gravity` [m/s^2] replaces that of the description;
    `couplings` are pairs of joints that share a motor.
    """

    lifted: float = 0.0
    gravity: Gravity | None = None
    couplings: tuple[Pair, ...] = ()

    def states(self, view: View) -> tuple[Array, Array, Array]:
        """Return corrected q, qd, qdd, each (N, n)."""
        return self.positions(view.q), self.rates(view.qd, 1), self.rates(view.qdd, 2)
