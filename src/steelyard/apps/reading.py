"""Logs for commands: read, with what was found said on stderr."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import LogError

if TYPE_CHECKING:
    from ..robot import Robot
    from ..signals.log import Log


def read(path: Path, robot: Robot, mapping: Path | None = None, effort: str | None = None, quiet: bool = False) -> Log:
    """The log of a file, its columns matched to the robot's joints; its remarks on stderr unless `quiet`."""
    from ..signals.read import read_log

    if not path.exists():
        raise LogError(f"there is no file {path}")
    log = read_log(path, robot, mapping, effort)
    for remark in log.remarks if not quiet else ():
        print(f"steelyard: {path}: {remark}", file=sys.stderr)
    return log
