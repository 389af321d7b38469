"""Reading a log for a window: cleaned for all work, and raw for the doctor."""

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


def read_both(
    path: Path, robot: Robot, mapping: Path | None = None, effort: str | None = None
) -> tuple[Log, Log | None]:
    """Return the log of a file, and the same log without cleaning.

    None in its place for a large file.
    """
    log = read_log(path, robot, mapping, effort)
    large = path.is_dir() or path.stat().st_size > LARGE
    return log, None if large else read_log(path, robot, mapping, effort, clean=False)


def smooth_rates(robot: Robot, log: Log) -> tuple[Array, Array]:
    """Return smoothed velocities and accelerations (N, n) of a log; zeros if smoothing fails."""
    from ...identification.observations.prepare import prepare

    try:
        samples = prepare(robot, log, Preparation())
    except SteelyardError:
        return np.zeros_like(log.q), np.zeros_like(log.q)
    indices = np.clip(np.searchsorted(samples.t, log.t), 0, len(samples.t) - 1)
    return samples.qd[indices], samples.qdd[indices]
