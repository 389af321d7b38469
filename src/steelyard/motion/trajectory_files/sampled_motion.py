"""The interface of a motion that writers of trajectory files use."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..trajectories.motion_check import MotionCheck

Array = NDArray[np.float64]


class SampledMotion(Protocol):
    """Samples t [s] (N,); q [rad|m], qd, qdd (N, n) with joint names.

    `sliding` names the prismatic joints.
    """

    @property
    def t(self) -> Array: ...

    @property
    def q(self) -> Array: ...

    @property
    def qd(self) -> Array: ...

    @property
    def qdd(self) -> Array: ...

    @property
    def n(self) -> int: ...

    @property
    def duration(self) -> float: ...

    @property
    def labels(self) -> tuple[str, ...]: ...

    @property
    def sliding(self) -> tuple[str, ...]: ...

    @property
    def safety(self) -> MotionCheck: ...

    def sample(self, rate: float) -> SampledMotion:
        """Return the same motion at another rate [Hz]."""
        ...
