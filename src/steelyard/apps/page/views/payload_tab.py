"""What the robot carries.

From the log that is open, with the load, and one without it or an identified robot.
"""

from __future__ import annotations

from ....experiments import PayloadEstimate
from ....option_groups.payload import PayloadOptions
from ....signals import read_log
from ...show.load import load_table
from ...table_words import log_endings
from .. import code_snippets
from ..job import Job
from ..window import PageWindow
from ..work import weighed
from .controls import Snippet, choice, field, html, html_text, part, table_element, tell
from .job_view import JobView
from .option_form import OptionForm
from .robot_view import RobotView

FITTED, NONE = "fit", ""
FIRST = {"link": "Link of the load", "frame": "Frame of the result", "static": "At rest only"}


class PayloadTab:
    """The tab of the payload."""

    def __init__(self, window: PageWindow, robot_view: RobotView) -> None:
        self.window = window
        self.other = FITTED if window.fitted is not None else NONE
        part("h2", "Identify the payload")
        if window.log is None:
            part("p", "Open a log of the robot with its load first.", "note")
            return
        part(
            "p",
            "The open log is the one with the load. Compare it with a log without load, best of the"
            " same motion, or with the latest fit.",
            "note",
        )
        options = {NONE: "choose …"} | (
            {FITTED: "the latest fit"} if window.fitted is not None else {}
        )
        options |= {name: name for name in window.folder.files(log_endings())}
        with part("div", classes="fields"), field("Without load"):
            choice("Log without load, or fit", options, self.other, self._other, id="choose-empty")
        self.form = OptionForm((PayloadOptions,), {}, FIRST, "payload")
        JobView(window, "payload", "Weigh", self._begin, self._done)
        self.place = part("div", aria_live="polite")
        self._show()

    def _other(self, value: str) -> None:
        self.other = value

    def _begin(self) -> Job[PayloadEstimate] | None:
        window = self.window
        if self.other == NONE:
            tell("Choose a log without load, or identify the robot first.", bad=True)
            return None
        assert window.robot is not None
        values = dict(self.form.values)
        if self.other == FITTED and window.fitted is not None:
            return Job(weighed, (window.fitted.fit.robot, window.log, None, values))
        empty = read_log(window.folder.inside(self.other), window.robot)
        return Job(weighed, (window.robot, window.log, empty, values))

    def _done(self, estimate: PayloadEstimate) -> None:
        self.window.load = estimate
        self._show()

    def _show(self) -> None:
        estimate = self.window.load
        self.place.clear()
        if estimate is None:
            return
        with self.place:
            part(
                "p",
                estimate.verdict.word,
                f"word {estimate.verdict.word.replace(' ', '-')}",
                id="load-verdict",
            )
            part("p", str(estimate.verdict), "lead")
            html(
                "".join(f"<li>{html_text(each)}</li>" for each in estimate.verdict.reasons),
                "ul",
                "reasons",
            )
            table_element(load_table(estimate))
            keywords = code_snippets.keywords(self.form.values)
            if self.other in (FITTED, NONE):
                lines = (
                    "robot = sy.load('results/identified.urdf')",
                    f"print(sy.payload(robot, log{keywords}).summary())",
                )
                command = code_snippets.command_line(
                    "payload", "results", code_snippets.log_file(self.window)
                )
            else:
                lines = (
                    f"empty = sy.read_log({self.other!r}, robot)",
                    f"print(sy.payload(robot, log, empty{keywords}).summary())",
                )
                command = code_snippets.command_line(
                    "payload",
                    code_snippets.robot_file(self.window),
                    code_snippets.log_file(self.window),
                    empty=self.other,
                )
            command = f"{command} {self.form.words}".strip()
            Snippet(code_snippets.python_lines(self.window, *lines, log=True), command)
