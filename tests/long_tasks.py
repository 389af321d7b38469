"""Programs that start processes and wait.

The residual of them when they are killed is looked at in tests/withstands.
"""

from __future__ import annotations

import sys
import threading
import time
from typing import Any

from steelyard.errors import LogError
from steelyard.isolation.child import call_isolated

SECONDS = 300.0  # far longer than the tests wait


def sleep_in_child(seconds: float = SECONDS) -> None:
    """Sleep in the process that reads files."""
    from steelyard.resource_limits import reading_limits

    with reading_limits(seconds=SECONDS):
        call_isolated(time.sleep, (seconds,), "it was not read", LogError)


def sleep_in_job(progress: Any) -> None:
    """Sleep in a job of the page, which says that it has begun."""
    progress("sleeping", 0.5)
    time.sleep(SECONDS)


def reading() -> None:
    """A file is being read; the process for that was started by the main thread."""
    sleep_in_child(0.0)
    in_thread(sleep_in_child)


def reading_by_thread() -> None:
    """A file is being read; the process for that was started by another thread."""
    in_thread(sleep_in_child)


def workers(function: Any = time.sleep, *arguments: Any) -> Any:
    """Two workers fold logs."""
    from steelyard.identification.out_of_core.run_tasks import LocalWorkers

    pool = LocalWorkers(2)
    for _ in range(2):
        pool.submit(function, *(arguments or (SECONDS,)))
    return pool


def workers_by_thread() -> None:
    """Two workers fold logs; a thread started them."""
    in_thread(workers)


def reading_workers() -> Any:
    """Two workers read logs, each in its own process."""
    return workers(sleep_in_child, SECONDS)


def page_job() -> Any:
    """The page computes something."""
    from steelyard.apps.page.job import Job

    job = Job(sleep_in_job, ())
    while job.look() == "running" and job.sentence != "sleeping":
        time.sleep(0.02)
    return job


def in_thread(function: Any) -> None:
    """Call a function in a thread."""
    threading.Thread(target=function, daemon=True).start()


if __name__ == "__main__":
    kept = globals()[sys.argv[1]]()
    print("started", flush=True)
    time.sleep(SECONDS)
