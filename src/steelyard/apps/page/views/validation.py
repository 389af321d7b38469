"""A fit tried on another log.

Its torques predicted, and shown with the report's table and figure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ....identification import Validation
from ....signals import read_log
from ...table_words import log_endings
from .. import code_snippets
from ..job import Job
from ..window import PageWindow
from ..work import validate_log
from .controls import choice, field, part, tell
from .job_view import JobView

NONE, OPEN = "", "open:"


class ValidationPart:
    """The part of a page that validates the latest fit.

    `changed` is called once it has another validation.
    """

    def __init__(self, window: PageWindow, changed: Callable[[], None]) -> None:
        self.window, self.changed, self.other = window, changed, NONE
        latest = window.fitted
        assert latest is not None
        logs = {NONE: "choose …"} | ({} if window.log is latest.log else {OPEN: "the open log"})
        with part("section", aria_label="Validation"):
            with part("div", classes="fields"), field("Another log"):
                files = {name: name for name in window.folder.files(log_endings())}
                choice(
                    "Log of another motion to validate on",
                    logs | files,
                    NONE,
                    self._other,
                    id="choose-validation",
                )
            JobView(window, "validate", "Validate on it", self._begin, self._done)

    def _other(self, name: str) -> None:
        self.other = name

    def _begin(self) -> Job[Validation] | None:
        window = self.window
        if self.other == NONE or window.fitted is None or window.robot is None:
            tell("Choose a log of another motion first.", bad=True)
            return None
        log = (
            window.log
            if self.other == OPEN
            else read_log(window.folder.inside(self.other), window.robot)
        )
        return Job(validate_log, (window.fitted.fit, log))

    def _done(self, validation: Validation) -> None:
        latest = self.window.fitted
        if latest is None:
            return
        name = self.window.log_name if self.other == OPEN else self.other
        named = replace(latest, validation=validation, validated_on=name or code_snippets.YOURS_LOG)
        self.window.fits[-1] = named
        tell(f"Validated: {named.verdict.word}.")
        self.changed()
