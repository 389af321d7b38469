"""Protocols of periodic motions and of linear spaces of them, as excitation design uses them."""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...checks.states import States
from ...errors import CallError
from .limits import MotionBounds

Array = NDArray[np.float64]


class PeriodicMotion(Protocol):
    """A motion that repeats after a period [s], at rest where it begins.

    `density` is the number of its finest details in one.
    """

    @property
    def centre(self) -> Array: ...

    @property
    def period(self) -> float: ...

    @property
    def density(self) -> int: ...

    def __call__(self, t: ArrayLike) -> States: ...

    def bounds(self, fine: bool = True) -> MotionBounds:
        """Return bounds that hold at all times."""
        ...

    def scaled(self, factors: ArrayLike, centre: ArrayLike | None = None) -> PeriodicMotion:
        """Scale the amplitudes, optionally about another centre."""
        ...


class MotionBasis(Protocol):
    """A linear space of motions.

    `size` coefficients a joint, of which the first is the position that the others are added to.
    """

    @property
    def period(self) -> float: ...

    @property
    def density(self) -> int: ...

    @property
    def size(self) -> int: ...

    def rows(self, t: Array) -> Array:
        """Return q, qd, qdd and jerk of unit coefficients at times t (N,) [s]: (4, N, m)."""
        ...

    def motion(self, x: Array) -> PeriodicMotion:
        """Return the motion with coefficients x (n, m)."""
        ...

    def coefficients(self, motion: Any) -> Array:
        """Return the coefficients (n, m) of a motion of this space."""
        ...


def read_only(motion: object, *names: str) -> None:
    """Replace these fields of a frozen dataclass by read-only copies."""
    for name in names:
        value = np.array(getattr(motion, name), dtype=np.float64)
        value.flags.writeable = False
        object.__setattr__(motion, name, value)


def require_frequency(base_frequency: float) -> None:
    """Raise CallError unless a base frequency is a positive number of Hz."""
    if not (math.isfinite(base_frequency) and base_frequency > 0):
        raise CallError(
            f"base_frequency = {base_frequency!r}; expected a positive number of Hz",
            argument="base_frequency",
        )
