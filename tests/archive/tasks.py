"""Tasks that go wrong in a worker."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from steelyard.errors import LogError


def square(x: int) -> int:
    """The square of a number."""
    return x * x


def killed_once(x: int, folder: str) -> int:
    """The square of a number; the first process that is asked for 5 is killed."""
    mark = Path(folder) / "killed"
    if x == 5 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return x * x


def deadly(x: int) -> int:
    """The square of a number; every process that is asked for 5 is killed."""
    if x == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return x * x


def refused(x: int) -> int:
    """The square of a number; 5 is refused in words."""
    if x == 5:
        raise LogError("run5.csv: 5 is not taken")
    return x * x


def broken(x: int) -> int:
    """A fault of the program."""
    raise ZeroDivisionError(f"{x}")


def slow_square(x: int) -> int:
    """The square of a number, after a while."""
    time.sleep(0.3)
    return x * x
