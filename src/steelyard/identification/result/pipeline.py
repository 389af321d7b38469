"""What was done to the samples of a fit, so that another log can be treated in the same way."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...robot import Robot
from ...signals.log import Log
from ..estimators.drive_gains import DriveGains
from ..samples.preparation import Preparation
from ..samples.samples import Samples, prepare
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

    def run(self, robot: Robot, log: Log) -> tuple[Samples, int]:
        """Treat another log in the same way: return its samples and the decimation to the same interval."""
        (samples,) = self.gains.apply((prepare(robot, log, self.preparation).advanced(self.delay),))
        return samples, max(1, round(self.interval / float(np.median(np.diff(samples.t)))))
