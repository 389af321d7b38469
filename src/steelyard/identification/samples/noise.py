"""The noise of a signal, told by differences of neighbouring samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def rough(*signals: Array) -> Array:
    """Return the standard deviation of the noise of signals (N, n), each (n,): their fourth differences, from which motion is gone.

    White noise of deviation s has fourth differences of deviation sqrt(70) s.
    """
    return np.array([np.std(np.diff(x, 4, axis=0), axis=0) / np.sqrt(70.0) for x in signals])
