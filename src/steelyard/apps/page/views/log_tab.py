"""The tab of a log: its signals under the playback cursor, with the findings of the doctor."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....drawing.colours import ORANGE, WINE
from ....drawing.signal_figures import MarkedSamples, overlaid_joints
from ....identification.doctor import Diagnosis, Finding
from ....identification.doctor.channels import marked_samples
from ....signals.log import Log
from ....signals.log_pictures import joint_signals
from .. import code_snippets
from ..job import Job
from ..window import PageWindow
from ..work import examined
from .controls import Snippet, html, html_text, part
from .job_view import JobView
from .plots import plot
from .robot_view import RobotView

Marks = NDArray[np.bool_]
WHOLE = 0.98  # of the samples, from which a finding is about the whole log


class LogTab:
    """The tab of the log."""

    def __init__(self, window: PageWindow, robot_view: RobotView) -> None:
        self.window, self.robot_view = window, robot_view
        if window.log is None or window.robot is None:
            part("h2", "No log is open")
            part(
                "p",
                "Choose a log of the robot's motion above, or upload one: CSV, Parquet, npz, mat or"
                " MCAP with positions and torques.",
                "note",
            )
            return
        self.log: Log = (
            window.raw_log.reordered(window.robot)
            if window.raw_log is not None
            else window.log.reordered(window.robot)
        )
        with part("section", aria_label="Log"):
            part("h2", "Log")
            part(
                "p",
                f"{self.log.N} samples over {self.log.duration:.4g} s at {self.log.rate:.4g} Hz:"
                f" {', '.join(self.log.signals)}.",
                "note",
            )
            for remark in window.log.remarks:
                part("p", remark, "note")
        with part("section", aria_label="What the doctor finds"):
            part("h2", "What the doctor finds")
            JobView(window, "doctor", "Examine the log", self._begin, self._examined)
            self.findings = part("div", aria_live="polite")
        self.figure = part("section", aria_label="Channels")
        lines = code_snippets.python_lines(window, "print(sy.doctor(robot, log))", log=True)
        Snippet(
            lines,
            code_snippets.command_line(
                "doctor", code_snippets.robot_file(window), code_snippets.log_file(window)
            ),
        )
        self._show()

    def _begin(self) -> Job[Diagnosis]:
        return Job(examined, (self.window.robot, self.log))

    def _examined(self, diagnosis: Diagnosis) -> None:
        self.window.diagnosis = diagnosis
        self._show()

    def _show(self) -> None:
        diagnosis, marks = self.window.diagnosis, list[tuple[Finding, Marks]]()
        if diagnosis is not None:
            marks = [(each, marked_samples(self.log, each)) for each in diagnosis.findings]
        self.findings.clear()
        with self.findings:
            if diagnosis is not None:
                part("p", diagnosis.verdict, "lead")
                rows = "".join(_finding(each, self._where(samples)) for each, samples in marks)
                if rows:
                    html(rows, "ul", "findings")
        bands = [
            MarkedSamples(samples=samples, colour=WINE if each.severity == "fault" else ORANGE)
            for each, samples in marks
            if samples.mean() < WHOLE
        ]
        self.figure.clear()
        with self.figure:
            part("h2", "Channels")
            part(
                "p",
                "The line is the instant that the robot is shown at. Click in a figure to go there,"
                " drag to zoom, double-click to return.",
                "note",
            )
            assert self.window.robot is not None
            names = self.window.robot.joint_names
            plot(
                overlaid_joints(self.log.t, names, joint_signals(self.log), bands),
                "Channels of the log over time",
                timed=True,
            )

    def _where(self, samples: Marks) -> str:
        """Return when a finding shows, in words."""
        rows = np.flatnonzero(samples)
        if not len(rows) or samples.mean() >= WHOLE:
            return "the whole log"
        return (
            f"{len(rows)} samples, from {self.log.t[rows[0]]:.4g} s to {self.log.t[rows[-1]]:.4g} s"
        )


def _finding(each: Finding, where: str) -> str:
    fix = (
        html_text(f" {each.remedy}")
        if each.hypotheses
        else f"<code>{html_text(each.fix)}</code>"
        if each.fix
        else ""
    )
    return (
        f'<li class="{each.severity}">{html_text(each.sentence)} <span'
        f' class="unit">({html_text(where)})</span>{fix}</li>'
    )
