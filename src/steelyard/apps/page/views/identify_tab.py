"""The tab that runs an identification and shows and exports its result."""

from __future__ import annotations

from functools import partial
from typing import Any

from nicegui import ui

from ....identification import Fit
from ....option_groups.identification import IdentifyOptions
from ....reporting.content import Content, gather
from ...config import chosen
from ...table_words import estimator_names
from .. import code_snippets
from ..job import Job
from ..results import FIT, REPORT, ROBOT, C, made_file, save_results
from ..window import NamedFit, PageWindow
from ..work import identified
from .controls import (
    Snippet,
    button,
    guarded,
    html,
    html_text,
    part,
    table_element,
    tell,
)
from .job_view import JobView
from .option_form import OptionForm
from .plots import plot
from .robot_view import RobotView
from .validation import ValidationPart

FIRST = {"estimator": "Estimator", "prior": "Prior"}
TITLES = {
    "validation": "Another motion",
    "singular": "What was seen",
    "budget": "Where the error comes from",
}
GRIDS = {"coverage": "Region of the motion", "friction": "Friction over the samples",
         "speed": "Residual torque over velocity",
         "position": "Residual torque over position"}  # fmt: skip


class IdentifyTab:
    """The tab of identification."""

    def __init__(self, window: PageWindow, robot_view: RobotView) -> None:
        self.window, self.robot_view = window, robot_view
        with part("section", aria_label="Identification"):
            part("h2", "Identify the robot from the log")
            if window.log is None:
                part("p", "Choose or upload a log first.", "note")
                return
            names = {"": "auto", **{name: name for name in estimator_names() if name != "auto"}}
            self.form = OptionForm((IdentifyOptions,), {}, FIRST, "identify", {"estimator": names})
            JobView(window, "identify", "Identify", self._begin, self._done)
        self.place = part("div", aria_live="polite")
        self._show()

    def _options(self) -> dict[str, Any]:
        """Return the options as a command line would pass them on."""
        return chosen({}, self.form.values)

    def _begin(self) -> Job[Fit]:
        return Job(identified, (self.window.robot, self.window.log, self._options()))

    def _done(self, fit: Fit) -> None:
        window = self.window
        if window.log is None:
            return
        lines = [
            f"fit = sy.identify(robot, log{code_snippets.keywords(self._options())})",
            "print(fit.summary())",
        ]
        command = code_snippets.command_line(
            "identify",
            code_snippets.robot_file(window),
            code_snippets.log_file(window),
            o="results",
        )
        command = f"{command} {self.form.words}".strip()
        values = self.form.values
        name = f"{len(window.fits) + 1}: {values.get('estimator', 'auto')}"
        name += ", CAD prior" if values.get("prior") == "cad" else ""
        window.fits.append(
            NamedFit(
                name, fit, code_snippets.python_lines(window, *lines, log=True), command, window.log
            )
        )
        self._show()
        self.robot_view.inertias()
        tell(f"Identified: {fit.verdict.word}.")

    def _show(self) -> None:
        latest = self.window.fitted
        self.place.clear()
        if latest is None:
            return
        with self.place:
            shown = gather(latest.fit, latest.validation)
            judgement(shown)
            ValidationPart(self.window, self._show)
            self._exports(latest)
            Snippet(*code_snippets.fit_lines(latest))
            for key, figure in shown.figures.items():
                part("h3", TITLES.get(key, key.capitalize()))
                plot(figure, TITLES.get(key, key.capitalize()), timed=key == "torques")
            for key, grid in shown.grids.items():
                with part("details", classes="fold", id=f"grid-{key}"):
                    part("summary", GRIDS.get(key, key.capitalize()))
                    for figure in grid.figures:
                        plot(figure, f"{GRIDS.get(key, key)}: {figure.name}")
                    part("p", grid.caption, "note")
            for key in ("verdict", "links", "errors", "causes", "region", "base"):
                table_element(shown.tables[key])
            with part("details", classes="fold"):
                part("summary", "How it was made")
                for sentence in shown.story:
                    part("p", sentence, "note")

    def _exports(self, latest: NamedFit) -> None:
        with part("div", classes="row", role="group", aria_label="Export"):
            button("Save all to the folder", lambda: self._save(latest), "quiet", id="save")
            for kind, text in {
                REPORT: "Report",
                ROBOT: "Robot",
                FIT: "fit.json",
                C: "C code",
            }.items():
                button(
                    f"Download {text}",
                    partial(self._download, latest, kind),
                    "quiet",
                    id=f"download-{kind}",
                )

    def _save(self, latest: NamedFit) -> None:
        path = guarded(lambda: save_results(self.window.folder, latest))
        if path is not None:
            tell(f"Wrote {path.relative_to(self.window.folder.root)} in {self.window.folder.root}.")

    def _download(self, latest: NamedFit, kind: str) -> None:
        file = guarded(lambda: made_file(latest, kind))
        if file is not None:
            self.window.results.append(file)
            ui.navigate.to(f"/result/{self.window.key}/{len(self.window.results) - 1}")


def judgement(shown: Content) -> None:
    """Show the verdict with its reasons and the headline numbers."""
    part("p", shown.word, f"word {shown.word.replace(' ', '-')}", id="verdict")
    part("p", shown.verdict, "lead")
    html(
        "".join(f"<li>{html_text(each)}</li>" for each in (*shown.reasons, *shown.advice)),
        "ul",
        "reasons",
    )
    tiles = (
        f"<div><dt>{html_text(t.label)}</dt><dd>{html_text(t.value)}<span"
        f' class="unit">{html_text(t.unit)}</span></dd></div>'
        for t in shown.tiles
    )
    html("".join(tiles), "dl", "tiles")
