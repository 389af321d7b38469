"""Long computations in a separate process, which report their progress and can be cancelled."""

from __future__ import annotations

import multiprocessing
import os
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, Generic, TypeVar

from ...compiler.progress import compile_progress
from ...errors import SteelyardError
from ...parent_process import end_with_parent

T = TypeVar("T")
OFTEN = 0.05  # [s] between two reports
IMPORTED = ["steelyard.apps.page.work"]  # once, by the process that the others are forked from


class Job(Generic[T]):
    """A call in a child process: function(*arguments, progress=..., **named).

    `share` is how much is done, `sentence` what is being done; `result` or `error` is there once
    `state` is 'done' or 'failed'.
    """

    def __init__(
        self,
        function: Callable[..., T],
        arguments: tuple[Any, ...],
        named: Mapping[str, Any] | None = None,
    ) -> None:
        context = process_context()
        self._answers, theirs = context.Pipe(duplex=False)
        self._child = context.Process(
            target=_work, args=(theirs, function, arguments, dict(named or {})), daemon=True
        )
        self.sentence, self.share, self.state = "starting", 0.0, "running"
        self.result: T | None = None
        self.error = ""
        self._child.start()
        theirs.close()
        self.started = time.monotonic()

    @property
    def seconds(self) -> float:
        """How long it has run."""
        return time.monotonic() - self.started

    def look(self) -> str:
        """Read the child's messages and return the state: running, done, failed or cancelled."""
        while self.state == "running" and self._answers.poll():
            try:
                kind, *content = self._answers.recv()
            except (EOFError, OSError):
                self._end(
                    "failed",
                    "the work ended without a result; it may have needed more memory than there is",
                )
                break
            if kind == "progress":
                self.sentence, self.share = content
            elif kind == "result":
                self.result = content[0]
                self._end("done")
            else:
                self._end("failed", content[0])
        return self.state

    def cancel(self) -> None:
        """End the child at once; nothing of its work is kept."""
        if self.state == "running":
            self._child.kill()
            self._end("cancelled")

    def _end(self, state: str, error: str = "") -> None:
        self.state, self.error, self.share = state, error, 1.0 if state == "done" else self.share
        self._answers.close()
        self._child.join(timeout=2)


def process_context() -> Any:
    """Return the context that starts processes: forked from one that only imported the work.

    Where forking is not possible, each process imports it again.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(IMPORTED)
    return context


def _work(
    answers: Connection,
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    named: dict[str, Any],
) -> None:
    """Call the function in the child and send what it says and returns."""
    # of the fork server, which ends with the page
    end_with_parent(os.getppid(), by_main_thread=True)
    last, done = [-1.0], [0.0]

    def progress(sentence: str, share: float) -> None:
        done[0] = share
        if time.monotonic() - last[0] >= OFTEN or share >= 1:
            last[0] = time.monotonic()
            answers.send(("progress", sentence, float(share)))

    with suppress(BrokenPipeError, KeyboardInterrupt):
        try:
            with compile_progress(
                lambda sentence, share: progress(f"{sentence} … {share:.0%}", done[0])
            ):
                answers.send(("result", function(*arguments, progress=progress, **named)))
        except SteelyardError as error:
            answers.send(("error", " ".join(str(error).split())))
        except Exception as error:  # noqa: BLE001 - any error is shown in place of the result
            line = traceback.format_exception_only(type(error), error)[-1].strip()
            answers.send(("error", f"a defect in steelyard, {line}; please report it"))
