"""Jobs on several threads, with progress, that Ctrl-C ends without losing what is done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from threading import Event
from typing import TypeAlias, TypeVar

from ...compiler.runtime.threads import thread_count

Progress: TypeAlias = Callable[[str, float], None]
T = TypeVar("T")


class Crew:
    """Runs jobs, as many at a time as there are threads; `jobs` is how many there will be in all."""

    def __init__(self, jobs: int, progress: Progress | None = None) -> None:
        self._jobs, self._progress = jobs, progress
        self._done = 0
        self._stop = Event()

    def stopped(self) -> bool:
        """Whether Ctrl-C was pressed: jobs return what they have."""
        return self._stop.is_set()

    def work(self, jobs: Sequence[Callable[[], T]]) -> list[T]:
        """The results in the order of the jobs. After Ctrl-C all jobs are still called, and should return at once."""
        with ThreadPoolExecutor(max(1, min(thread_count(), len(jobs)))) as pool:
            futures = [pool.submit(job) for job in jobs]
            waiting = set(futures)
            while waiting:
                waiting = self._wait(waiting)
            return [future.result() for future in futures]

    def _wait(self, waiting: set[Future[T]]) -> set[Future[T]]:
        """Those that are still at work a moment later. The second Ctrl-C passes."""
        try:
            finished, waiting = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
            self._tell(len(finished))
        except KeyboardInterrupt:
            if self.stopped():
                raise
            self._stop.set()
        return waiting

    def _tell(self, finished: int) -> None:
        self._done += finished
        if self._progress and finished:
            self._progress(f"{self._done} of {self._jobs} searches", min(1.0, self._done / self._jobs))
