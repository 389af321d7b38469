"""Preparation: the options of how logs become samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...arguments import is_real, one_of, per_joint, short_repr, whole_number
from ...errors import CallError, mention
from ...option_groups.identification import SMOOTHERS, PreparationFields

Array = NDArray[np.float64]
SMOOTHING = (*SMOOTHERS, None)


@dataclass(frozen=True)
class Preparation(PreparationFields):
    """How logs become samples.

    Parameters
    ----------
    smoothing : 'kalman' (noise levels by maximum likelihood), 'periodic' (averaged over the periods
        of the motion and differentiated as a Fourier series), 'butterworth' (needs `cutoff`), None
        (the log has qd and qdd), or 'auto': None where the log has qd and qdd, periodic where the
        motion repeats, Kalman otherwise
    cutoff : [Hz] of the Butterworth filter
    decimate : low-pass torque and regressor and keep one sample in `decimate`; 1 keeps all, None
        takes the rate that the motion needs
    mask : least |qd| [rad/s|m/s] of the rows in use: a number, one per joint, or joint -> number
    delay : [s] by which the torque lags: a number, one per joint, joint -> number, or 'estimate'
    controller : controller of steelyard.simulation that moved the robot, with its reference or
        without one for the commanded positions of the log; for estimators that simulate the robot
    period : [s] of a motion that repeats; None estimates it
    """

    def __post_init__(self) -> None:
        one_of("smoothing", self.smoothing, SMOOTHING)
        if self.smoothing == "butterworth" and self.cutoff is None:
            raise CallError(f"{mention('smoothing', 'butterworth')} needs {mention('cutoff')} [Hz]")
        if self.cutoff is not None and not (is_real(self.cutoff) and 0 < self.cutoff < np.inf):
            raise CallError(
                f"cutoff must be a positive number, not {short_repr(self.cutoff)} Hz",
                argument="cutoff",
            )
        if self.cutoff is not None and self.smoothing != "butterworth":
            raise CallError(
                f"{mention('cutoff', self.cutoff)} would be ignored:"
                f" {mention('smoothing', self.smoothing)} has no cut-off; give"
                f" {mention('smoothing', 'butterworth')} with it, or leave it out"
            )
        if self.period is not None and not (is_real(self.period) and 0 < self.period < np.inf):
            raise CallError(
                f"period must be a positive number [s], not {short_repr(self.period)}",
                argument="period",
            )
        if self.period is not None and self.smoothing not in ("auto", "periodic"):
            raise CallError(
                f"{mention('period', self.period)} would be ignored:"
                f" {mention('smoothing', self.smoothing)} does not average; leave one of them out"
            )
        if self.decimate is not None:
            object.__setattr__(self, "decimate", whole_number("decimate", self.decimate, 1, 1e6))
        if isinstance(self.delay, str) and self.delay != "estimate":
            raise CallError(
                f"delay must be 'estimate' or seconds, not {self.delay!r}", argument="delay"
            )

    def least_speeds(self, joint_names: Sequence[str]) -> Array | None:
        """Return the mask as one speed per joint, (n,) [rad/s|m/s]; None without a mask."""
        return (
            None
            if self.mask is None
            else per_joint("mask", self.mask, joint_names, 0.0, "rad/s|m/s")
        )

    def given_delay(self, joint_names: Sequence[str]) -> Array | None:
        """Return the delay of each joint's torque, (n,) [s]; None if it is to be estimated."""
        return (
            None
            if isinstance(self.delay, str)
            else per_joint("delay", self.delay, joint_names, unit="s")
        )
