"""Preparation: the options of how logs become samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arguments import any_of, brief, is_real, per_joint, whole_number
from ...errors import CallError

Array = NDArray[np.float64]
SMOOTHING = ("auto", "kalman", "periodic", "butterworth", None)


@dataclass(frozen=True)
class Preparation:
    """How logs become samples.

    smoothing: 'kalman' (noise levels by maximum likelihood), 'periodic' (a motion that repeats, averaged over its periods and
    differentiated as a Fourier series), 'butterworth' (needs `cutoff` [Hz]), None (the log has qd and qdd), or 'auto': None where the log
    has qd and qdd, periodic where the motion repeats, Kalman otherwise. period [s]: of a motion that repeats; None looks for it.
    decimate: low-pass torque and regressor and keep one sample in so many; 1 keeps all, None takes the rate that the motion needs.
    mask: least |qd| [rad/s|m/s] of the rows in use. delay: seconds by which the torque lags, or 'estimate'. Both are one number, one per
    joint, or joint -> number. controller: of steelyard.simulation, what moved the robot, with its reference or without one for the
    commanded positions of the log; estimators that simulate the robot use it.
    """

    smoothing: str | None = "auto"
    cutoff: float | None = None
    decimate: int | None = None
    mask: Mapping[str, float] | Sequence[float] | float | None = None
    delay: str | float | Sequence[float] | Mapping[str, float] = "estimate"
    controller: Any = None
    period: float | None = None

    def __post_init__(self) -> None:
        any_of("smoothing", self.smoothing, SMOOTHING)
        if self.smoothing == "butterworth" and self.cutoff is None:
            raise CallError("smoothing='butterworth' needs cutoff= [Hz]")
        if self.cutoff is not None and not (is_real(self.cutoff) and 0 < self.cutoff < np.inf):
            raise CallError(f"cutoff must be a positive number, not {brief(self.cutoff)} Hz")
        if self.cutoff is not None and self.smoothing != "butterworth":
            raise CallError(
                f"cutoff={self.cutoff:g} would be ignored: smoothing={self.smoothing!r} has no cut-off; "
                "give smoothing='butterworth' with it, or leave it out"
            )
        if self.period is not None and not (is_real(self.period) and 0 < self.period < np.inf):
            raise CallError(f"period must be a positive number [s], not {brief(self.period)}")
        if self.period is not None and self.smoothing not in ("auto", "periodic"):
            raise CallError(
                f"period={self.period:g} would be ignored: smoothing={self.smoothing!r} does not average; leave one of them out"
            )
        if self.decimate is not None:
            object.__setattr__(self, "decimate", whole_number("decimate", self.decimate, 1, 1e6))
        if isinstance(self.delay, str) and self.delay != "estimate":
            raise CallError(f"delay must be 'estimate' or seconds, not {self.delay!r}")

    def least_speeds(self, joint_names: Sequence[str]) -> Array | None:
        """The mask as one speed per joint, (n,) [rad/s|m/s]; None without a mask."""
        return None if self.mask is None else per_joint("mask", self.mask, joint_names, 0.0, "rad/s|m/s")

    def given_delay(self, joint_names: Sequence[str]) -> Array | None:
        """The delay of each joint's torque, (n,) [s]; None if it is to be estimated."""
        return None if isinstance(self.delay, str) else per_joint("delay", self.delay, joint_names, unit="s")
