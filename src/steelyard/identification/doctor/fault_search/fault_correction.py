"""FaultCorrection: a correction of a log, or of the model that explains it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....signals.clean.correction import Correction
from .thinned_log import ThinnedLog

Array = NDArray[np.float64]
Gravity = tuple[float, float, float]
Pair = tuple[int, int]
Length = tuple[int, float]
LowPass = tuple[float, int]


@dataclass(frozen=True)
class FaultCorrection(Correction):
    """A correction of a log, and of gravity, geometry, couplings and springs of the model.

    `lifted` times the described gravity torque is added to the torque. `gravity` [m/s^2] replaces
    the described gravity. `couplings` are pairs of joints that share a motor, `springs` joints with
    an unknown torque that depends on their position. `lengths` are pairs of a joint and the factor
    of its distance from the joint before it. `low_pass` is the cut-off [Hz] of a zero-phase filter
    through which the torque was logged, and its order.
    """

    lifted: float = 0.0
    gravity: Gravity | None = None
    couplings: tuple[Pair, ...] = ()
    springs: tuple[int, ...] = ()
    lengths: tuple[Length, ...] = ()
    low_pass: LowPass | None = None

    @property
    def any_model(self) -> bool:
        """Whether the regressor is of all parameters, for another gravity or geometry."""
        return self.gravity is not None or bool(self.lengths)

    def with_length(self, joint: int, factor: float) -> FaultCorrection:
        """Return the correction with another factor of a joint's distance; 1 removes it."""
        others = tuple(each for each in self.lengths if each[0] != joint)
        return self.changed(lengths=others if factor == 1.0 else (*others, (joint, factor)))

    def length(self, joint: int) -> float:
        """Return the factor of a joint's distance from the joint before it."""
        return dict(self.lengths).get(joint, 1.0)

    def states(self, thinned_log: ThinnedLog) -> tuple[Array, Array, Array]:
        """Return corrected q, qd, qdd, each (N, n)."""
        return (
            self.positions(thinned_log.q),
            self.rates(thinned_log.qd, 1),
            self.rates(thinned_log.qdd, 2),
        )
