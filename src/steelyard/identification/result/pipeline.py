"""What was done to the samples of a fit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..estimators.drive_gains import DriveGains
from ..samples.preparation import Preparation
from .prediction import Region

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SamplePipeline:
    """What was done to the samples: preparation, delay (n,) [s] taken out, drive gains, and the interval [s] between kept samples.

    `region` has the states that they cover.
    """

    preparation: Preparation
    delay: Array
    gains: DriveGains
    interval: float
    region: Region
