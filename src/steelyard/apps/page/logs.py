"""Reading a log for a window: mended, for all work, and as it is in the file, for the doctor."""

from __future__ import annotations

from pathlib import Path

from ...robot import Robot
from ...signals import Log, read_log

LARGE = 32 * 2**20  # bytes of a file that is not read twice


def read_both(path: Path, robot: Robot, mapping: Path | None = None, effort: str | None = None) -> tuple[Log, Log | None]:
    """Return the log of a file, and the same with nothing mended; None in its place for a large file."""
    log = read_log(path, robot, mapping, effort)
    large = path.is_dir() or path.stat().st_size > LARGE
    return log, None if large else read_log(path, robot, mapping, effort, clean=False)
