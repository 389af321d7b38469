"""What a process holds: memory, open handles, threads and child processes.

Linux only: read from /proc.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Resources:
    """Resident memory of this process and of its children together [MB].

    Handles, threads, and children that live.
    """

    memory: float
    children_memory: float
    handles: int
    threads: int
    children: int


def resources() -> Resources:
    """Return what this process holds now."""
    children = _children()
    return Resources(
        _megabytes(os.getpid()),
        sum(_megabytes(child) for child in children),
        len(os.listdir("/proc/self/fd")) - 1,  # without the descriptor of the listing
        len(os.listdir("/proc/self/task")),
        len(children),
    )


def _children() -> list[int]:
    results: list[int] = []
    for task in Path("/proc/self/task").iterdir():
        with suppress(OSError):  # a thread that has ended
            results += [int(child) for child in (task / "children").read_text().split()]
    return results


def _megabytes(process: int) -> float:
    with suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return float(line.split()[1]) / 1024
    return 0.0
