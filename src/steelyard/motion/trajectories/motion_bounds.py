"""Bounds of a motion over all times."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class MotionBounds(NamedTuple):
    """Bounds of a motion over all t, (n,) each: lower <= q <= upper, |qd| <= velocity, |qdd| <= acceleration, |jerk| <= jerk."""

    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    jerk: Array
