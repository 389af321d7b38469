"""What may be chosen about the way from logs to rows of the regressor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...errors import CallError, choices

SMOOTHING = ("auto", "kalman", "butterworth", None)


@dataclass(frozen=True)
class Options:
    """How samples are made ready.

    smoothing: 'kalman' (noise levels by maximum likelihood), 'butterworth' (needs `cutoff` [Hz]), None (the log has qd and qdd), or 'auto':
    as the log says where it has qd and qdd, Kalman where not. decimate: every so many samples are kept, torque and regressor columns
    through the same low-pass first; 1 keeps all. mask: joint -> least |qd| [rad/s|m/s] of the rows kept. delay: seconds by which torque
    is late, one number or one per joint, or 'estimate'.
    """

    smoothing: str | None = "auto"
    cutoff: float | None = None
    decimate: int = 1
    mask: tuple[tuple[str, float], ...] = ()
    delay: str | float | tuple[float, ...] = "estimate"

    def __post_init__(self) -> None:
        if self.smoothing not in SMOOTHING:
            raise CallError(f"smoothing {self.smoothing!r} is unknown; {choices(str(self.smoothing), [str(s) for s in SMOOTHING])}")
        if self.smoothing == "butterworth" and self.cutoff is None:
            raise CallError("smoothing='butterworth' needs cutoff= [Hz]")
        if self.cutoff is not None and not self.cutoff > 0:
            raise CallError(f"cutoff must be positive, not {self.cutoff!r} Hz")
        if int(self.decimate) != self.decimate or self.decimate < 1:
            raise CallError(f"decimate must be a whole number from 1 on, not {self.decimate!r}")
        if isinstance(self.delay, str) and self.delay != "estimate":
            raise CallError(f"delay must be 'estimate' or seconds, not {self.delay!r}")


def frozen_mask(mask: Mapping[str, float] | float | None, joint_names: tuple[str, ...]) -> tuple[tuple[str, float], ...]:
    """The mask by joint name; one number stands for all joints."""
    if mask is None:
        return ()
    table = dict.fromkeys(joint_names, float(mask)) if not isinstance(mask, Mapping) else dict(mask)
    for name, value in table.items():
        if name not in joint_names:
            raise CallError(f"mask: no joint is called {name!r}; {choices(str(name), joint_names)}")
        if not value >= 0:
            raise CallError(f"mask: the least |qd| of {name!r} must not be negative, not {value!r}")
    return tuple((name, float(value)) for name, value in table.items())
