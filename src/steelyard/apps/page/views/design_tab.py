"""A motion worth recording: designed, judged by the accuracy to expect, played on the robot, and written."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ....drawing.signal_figures import motion_signals, overlaid_joints
from ....motion import Trajectory
from .. import recipes
from ..job import Job
from ..window import Window
from ..work import designed
from .controls import Recipe, button, field, guarded, number, part, table, tell
from .job_view import JobView
from .plots import plot
from .stage import Motion, Stage

RATE = 100.0  # [Hz] of the figure and of the file


class DesignTab:
    """The tab of excitation."""

    def __init__(self, window: Window, stage: Stage) -> None:
        self.window, self.stage = window, stage
        self.options: dict[str, Any] = {"seconds": 20.0, "starts": 4, "margin": 0.9, "seed": 0}
        part("h2", "Design a motion to record")
        assert window.robot is not None
        if window.robot.tree.loops:
            part("p", "Motions are designed for robots without loops.", "note")
            return
        part("p", "A motion within all limits that shows the parameters best, at rest at both ends.", "note")
        with part("div", classes="fields"):
            for name, text in (("seconds", "Seconds"), ("starts", "Searches"), ("margin", "Share of limits"), ("seed", "Seed")):
                with field(text):
                    number(text, self.options[name], partial(self._set, name), id=f"design-{name}")
        JobView(window, "design", "Design", self._begin, self._done)
        self.place = part("div", aria_live="polite")
        self._show()

    def _set(self, name: str, text: str) -> None:
        try:
            self.options[name] = type(self.options[name])(float(text))
        except (ValueError, OverflowError):
            tell(f"{name}: expected a number", bad=True)

    def _begin(self) -> Job[Trajectory]:
        return Job(designed, (self.window.robot, dict(self.options)))

    def _done(self, motion: Trajectory) -> None:
        self.window.motion = motion
        self._show()
        self._play()
        tell("Designed: play it before it is sent.")

    def _play(self) -> None:
        if self.window.motion is not None:
            found = self.window.motion
            self.stage.load("designed motion", Motion(found.t, found.q, lambda: (found.qd, found.qdd)))

    def _show(self) -> None:
        motion = self.window.motion
        self.place.clear()
        if motion is None or motion.excitation is None or motion.excitation.accuracy is None:
            return
        found = motion.excitation
        with self.place:
            part("p", found.safety.line, "lead", id="motion-check")
            part(
                "p",
                f"{motion.duration:.3g} s, condition {found.condition:.3g}, {found.base_parameters} base parameters.",
                "lead",
                id="designed",
            )
            with part("div", classes="row"):
                button("Play on the robot", self._play, "quiet")
                button("Write motion.csv to the folder", self._write, "quiet", id="write-motion")
            command = recipes.command_line("excite", recipes.robot_file(self.window), **self.options, o="motion.csv")
            call = f"motion = sy.excite(robot{recipes.keywords(self.options)})"
            Recipe(recipes.python_lines(self.window, call, 'motion.write("motion.csv")'), command)
            sampled = motion.sample(RATE)
            robot = self.window.robot
            assert robot is not None
            tau = np.asarray(robot.inverse_dynamics(sampled.q, sampled.qd, sampled.qdd))
            signals = motion_signals(robot.torque_units, sampled.q, sampled.qd, tau)
            plot(overlaid_joints(sampled.t, motion.labels, signals), "The designed motion over time", timed=True)
            table(found.accuracy.torque_table())  # type: ignore[union-attr]
            table(found.accuracy.table())  # type: ignore[union-attr]

    def _write(self) -> None:
        def written() -> str:
            motion = self.window.motion
            assert motion is not None
            return self.window.folder.save("motion.csv", lambda path: motion.write(path, rate=RATE)).name

        name = guarded(written)
        if name:
            tell(f"Wrote {name}.")
