"""The noise of a signal, estimated from differences of neighbouring samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...signals.segments import windows
from .samples_thresholds import THRESHOLDS

Array = NDArray[np.float64]


def rough(*signals: Array) -> Array:
    """Return the standard deviation of the noise of signals (N, n), each (n,).

    Their fourth differences, from which motion is gone.

    White noise of deviation s has fourth differences of deviation sqrt(70) s. Of long signals
    windows are read that are spread over all.
    """
    parts = [
        [
            np.diff(x[part], 4, axis=0)
            for part in windows(
                slice(0, len(x)), THRESHOLDS.noise_samples, THRESHOLDS.noise_windows
            )
        ]
        for x in signals
    ]
    return np.array(
        [np.std(x[0] if len(x) == 1 else np.concatenate(x), axis=0) / np.sqrt(70.0) for x in parts]
    )
