"""Long work on the page: a button that begins it, how far it is, and a button that ends it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from ....errors import SteelyardError
from ..job import Job
from ..window import PageWindow
from .controls import button, part, set_text, tell

OFTEN = 0.1  # [s]


class JobView:
    """A named job of a window: `make` starts it, `done` takes its result.

    A job that runs while the page is reloaded is found again.
    """

    def __init__(
        self,
        window: PageWindow,
        name: str,
        text: str,
        make: Callable[[], Job[Any] | None],
        done: Callable[[Any], Any],
    ) -> None:
        self.window, self.name, self._make, self._done = window, name, make, done
        with part("div", classes="row"):
            self.begin = button(text, self.start, "main", id=f"{name}-start")
        self.place = part("div", classes="progress", role="group", aria_label=f"Progress: {text}")
        with self.place:
            self.bar = part("progress", max=1, value=0, aria_label=text, id=f"{name}-progress")
            button("Cancel", self.cancel, "danger", id=f"{name}-cancel")
            self.sentence = part("p", "", "note")
        self.timer = ui.timer(OFTEN, self._look, active=False)
        self._show(self.job is not None and self.job.state == "running")

    @property
    def job(self) -> Job[Any] | None:
        """The work, if it was begun."""
        return self.window.jobs.get(self.name)

    def start(self) -> None:
        """Begin the work, unless it runs."""
        if self.job is not None and self.job.state == "running":
            return
        try:
            job = self._make()
        except SteelyardError as error:
            tell(str(error), bad=True)
            return
        if job is not None:
            self.window.jobs[self.name] = job
            self._show(True)

    def cancel(self) -> None:
        """End the work at once."""
        if self.job is not None:
            self.job.cancel()
        self._show(False)
        tell("Cancelled: nothing of it is kept.")

    def _show(self, running: bool) -> None:
        self.begin.props["disabled"] = running
        self.place.set_visibility(running)
        self.timer.active = running

    def _look(self) -> None:
        job = self.job
        if job is None:
            self._show(False)
            return
        state = job.look()
        self.bar.props["value"] = round(job.share, 3)
        set_text(self.sentence, f"{job.sentence} · {job.seconds:.0f} s")
        if state == "running":
            return
        self._show(False)
        self.window.jobs.pop(self.name, None)
        if state == "failed":
            tell(job.error, bad=True)
        elif state == "done":
            self._done(job.result)
