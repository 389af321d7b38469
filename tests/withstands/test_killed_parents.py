"""A process that is killed leaves none of its processes behind, whatever they are doing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from steelyard.errors import LogError
from steelyard.isolation.child import call_isolated, close

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="processes are looked for in /proc"
)
PROGRAMS = {
    "reading": 1,
    "reading_by_thread": 1,
    "workers": 2,
    "workers_by_thread": 2,
    "reading_workers": 4,
    "page_job": 2,
}


def parents() -> dict[int, int]:
    """Return {process: its parent} of all processes that run."""
    results = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
            except OSError:
                continue
            if state != "Z":
                results[int(entry.name)] = int(parent)
    return results


def descendants(process: int) -> set[int]:
    """Return the processes that a process started, and those that they started."""
    table = parents()
    results = {process}
    while more := {child for child, parent in table.items() if parent in results} - results:
        results |= more
    return results - {process}


@pytest.mark.parametrize("program", PROGRAMS)
def test_no_process_outlives_a_killed_parent(program: str, root: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(root / "src"), str(root)))}
    command = [sys.executable, "-m", "tests.long_tasks", program]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, cwd=root, start_new_session=True
    ) as parent:
        try:
            assert parent.stdout is not None
            assert parent.stdout.readline() == b"started\n"
            deadline = time.monotonic() + 60
            while (
                len(children := descendants(parent.pid)) < PROGRAMS[program]
                and time.monotonic() < deadline
            ):
                time.sleep(0.05)
            assert len(children) >= PROGRAMS[program]
            time.sleep(1.0)  # until the children are at work
            children = descendants(parent.pid)
        finally:
            os.kill(parent.pid, signal.SIGKILL)
    deadline = time.monotonic() + 20
    while (alive := children & set(parents())) and time.monotonic() < deadline:
        time.sleep(0.05)
    for process in alive:
        os.kill(process, signal.SIGKILL)
    assert not alive


def test_the_child_outlives_the_thread_that_started_it() -> None:
    """The kernel would kill a child with its thread, if it were asked to."""
    close()
    answers = []
    thread = threading.Thread(
        target=lambda: answers.append(call_isolated(os.getpid, (), "not read", LogError))
    )
    thread.start()
    thread.join()
    time.sleep(0.2)
    assert call_isolated(os.getpid, (), "not read", LogError) == answers[0]
    close()
