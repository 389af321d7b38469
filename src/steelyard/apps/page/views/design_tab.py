"""The tab that designs a motion for identification, plays it on the robot and writes it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....drawing.signal_figures import motion_signals, overlaid_joints
from ....motion import Trajectory
from ....option_groups.excitation import ExcitationOptions
from .. import code_snippets
from ..job import Job
from ..window import PageWindow
from ..work import designed
from .controls import Snippet, button, guarded, part, table_element, tell
from .job_view import JobView
from .option_form import OptionForm
from .plots import plot
from .robot_view import PlayedMotion, RobotView

RATE = 100.0  # [Hz] of the figure and of the file
START: dict[str, Any] = {"seconds": 20.0, "starts": 4, "margin": 0.9, "seed": 0}
FIRST = {"seconds": "Seconds", "starts": "Searches", "margin": "Share of limits", "seed": "Seed"}


class DesignTab:
    """The tab of excitation."""

    def __init__(self, window: PageWindow, robot_view: RobotView) -> None:
        self.window, self.robot_view = window, robot_view
        part("h2", "Design a motion to record")
        assert window.robot is not None
        if window.robot.tree.loops:
            part("p", "Motions are designed for robots without loops.", "note")
            return
        part(
            "p",
            "A motion within all limits that shows the parameters best, at rest at both ends.",
            "note",
        )
        self.form = OptionForm((ExcitationOptions,), START, FIRST, "design")
        JobView(window, "design", "Design", self._begin, self._done)
        self.result = part("div", aria_live="polite")
        self._show()

    def _begin(self) -> Job[Trajectory]:
        return Job(designed, (self.window.robot, dict(self.form.values)))

    def _done(self, motion: Trajectory) -> None:
        self.window.motion = motion
        self._show()
        self._play()
        tell("Designed: play it before it is sent.")

    def _play(self) -> None:
        if self.window.motion is not None:
            motion = self.window.motion
            self.robot_view.load(
                "designed motion", PlayedMotion(motion.t, motion.q, lambda: (motion.qd, motion.qdd))
            )

    def _show(self) -> None:
        motion = self.window.motion
        self.result.clear()
        if motion is None or motion.excitation is None or motion.excitation.accuracy is None:
            return
        design = motion.excitation
        with self.result:
            part("p", design.safety.line, "lead", id="motion-check")
            part(
                "p",
                f"{motion.duration:.3g} s, condition {design.condition:.3g},"
                f" {design.base_parameters} base parameters.",
                "lead",
                id="designed",
            )
            with part("div", classes="row"):
                button("Play on the robot", self._play, "quiet")
                button("Write motion.csv to the folder", self._write, "quiet", id="write-motion")
            line = code_snippets.command_line(
                "excite", code_snippets.robot_file(self.window), o="motion.csv"
            )
            command = f"{line} {self.form.words}".strip()
            call = f"motion = sy.excite(robot{code_snippets.keywords(self.form.values)})"
            Snippet(
                code_snippets.python_lines(self.window, call, 'motion.write("motion.csv")'), command
            )
            sampled = motion.sample(RATE)
            robot = self.window.robot
            assert robot is not None
            tau = np.asarray(robot.inverse_dynamics(sampled.q, sampled.qd, sampled.qdd))
            signals = motion_signals(robot.torque_units, sampled.q, sampled.qd, tau)
            plot(
                overlaid_joints(sampled.t, motion.labels, signals),
                "The designed motion over time",
                timed=True,
            )
            table_element(design.accuracy.torque_table())  # type: ignore[union-attr]
            table_element(design.accuracy.table())  # type: ignore[union-attr]

    def _write(self) -> None:
        def written() -> str:
            motion = self.window.motion
            assert motion is not None
            return self.window.folder.save(
                "motion.csv", lambda path: motion.write(path, rate=RATE)
            ).name

        name = guarded(written)
        if name:
            tell(f"Wrote {name}.")
