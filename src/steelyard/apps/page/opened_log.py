"""Reading a log for a window: mended, for all work, and as it is in the file, for the doctor."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...errors import SteelyardError
from ...identification.samples.preparation import Preparation
from ...robot import Robot
from ...signals import Log, read_log

Array = NDArray[np.float64]
LARGE = 32 * 2**20  # bytes of a file that is not read twice


def read_both(path: Path, robot: Robot, mapping: Path | None = None, effort: str | None = None) -> tuple[Log, Log | None]:
    """Return the log of a file, and the same with nothing mended; None in its place for a large file."""
    log = read_log(path, robot, mapping, effort)
    large = path.is_dir() or path.stat().st_size > LARGE
    return log, None if large else read_log(path, robot, mapping, effort, clean=False)


def smooth_rates(robot: Robot, log: Log) -> tuple[Array, Array]:
    """Return velocities and accelerations (N, n) at the samples of a log, as an identification would use them; zero if it could not."""
    from ...identification.samples.samples import prepare

    try:
        made = prepare(robot, log, Preparation())
    except SteelyardError:
        return np.zeros_like(log.q), np.zeros_like(log.q)
    at = np.clip(np.searchsorted(made.t, log.t), 0, len(made.t) - 1)
    return made.qd[at], made.qdd[at]
