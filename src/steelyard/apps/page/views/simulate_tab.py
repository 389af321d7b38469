"""A simulated motion to where the robot stands, with sliders for the gains of its controller."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....drawing.signal_figures import motion_signals, overlaid_joints
from ....errors import CallError, SteelyardError
from ....option_groups.simulation import SimulationFields, StepOptions
from ....options import values_of
from ....simulation import Run
from ...controllers import CONTROLLERS
from .. import code_snippets
from ..window import PageWindow
from ..work import simulated
from .controls import Snippet, button, choice, field, part, slider, tell
from .option_form import OptionForm
from .plots import plot
from .robot_view import PlayedMotion, RobotView

MOST_SECONDS, MOST_STEPS = 20.0, 100_000
GROUPS = (StepOptions, SimulationFields)
BEGIN: dict[str, Any] = {"seconds": 2.0, "every": 5}
FIRST = {"seconds": "Seconds"}


class SimulateTab:
    """The tab of simulation."""

    def __init__(self, window: PageWindow, robot_view: RobotView) -> None:
        self.window, self.robot_view = window, robot_view
        assert window.robot is not None
        assert window.q is not None
        self.controller, self.kp, self.kd = "computed-torque", 100.0, 20.0
        self.start, self.goal = np.array(window.robot.near_zero), np.array(window.q)
        part("h2", "Simulate a motion")
        if window.robot.tree.loops:
            part(
                "p", "Robots with loops are simulated from Python: sy.simulate(robot, ...).", "note"
            )
            return
        if np.allclose(self.start, self.goal):
            self.goal = self.goal + 0.5 * np.array(
                [min(1.0, limits.upper) for limits in window.robot.tree.limits]
            )
        part("p", "From zero to where the robot stood when this tab was opened.", "note")
        with part("div", classes="fields"), field("Controller"):
            choice("Controller", tuple(CONTROLLERS), self.controller, self._controller)
        self.form = OptionForm(GROUPS, BEGIN, FIRST, "simulate")
        with part("div", classes="joint"):
            part("span", "Gain of position", "name")
            slider(
                "Gain of the position error",
                0,
                400,
                self.kp,
                lambda value: self._gain("kp", value),
                1,
            )
            self.shown_kp = part("output", f"{self.kp:g}")
        with part("div", classes="joint"):
            part("span", "Gain of speed", "name")
            slider(
                "Gain of the velocity error",
                0,
                80,
                self.kd,
                lambda value: self._gain("kd", value),
                0.5,
            )
            self.shown_kd = part("output", f"{self.kd:g}")
        with part("div", classes="row"):
            button("Simulate", self.run, "main", id="simulate")
        self.place = part("div", aria_live="polite")
        self._show()

    def _controller(self, name: str) -> None:
        self.controller = name if name in CONTROLLERS else self.controller
        self._again()

    def _options(self) -> dict[str, Any]:
        """Return the options of the form, within what the page computes at once."""
        steps = StepOptions(**values_of(StepOptions, self.form.values))
        seconds = min(MOST_SECONDS, max(0.2, steps.seconds))
        if seconds != steps.seconds:
            self.form.set_text("seconds", f"{seconds:g}")
        if seconds > MOST_STEPS * steps.step:
            raise CallError(
                f"{seconds:g} s in steps of {steps.step:g} s are more than {MOST_STEPS} steps: use"
                " a longer step here, or sy.simulate from Python"
            )
        return {**self.form.values, "seconds": seconds}

    def _gain(self, name: str, value: float) -> None:
        setattr(self, name, value)
        from .controls import set_text

        set_text(self.shown_kp if name == "kp" else self.shown_kd, f"{value:g}")
        self._again()

    def _again(self) -> None:
        if self.window.run is not None:
            self.run(play=False)

    def run(self, play: bool = True) -> None:
        """Simulate, show, and put the motion on the line of time."""
        assert self.window.robot is not None
        try:
            run: Run = simulated(
                self.window.robot,
                self.controller,
                self.start,
                self.goal,
                self._options(),
                (self.kp, self.kd),
            )
        except SteelyardError as error:
            tell(str(error), bad=True)
            return
        self.window.run = run
        self._show()
        if run.finite:
            still = np.zeros_like(run.q)
            self.robot_view.load(
                "simulated motion", PlayedMotion(run.t, run.q, lambda: (run.qd, still))
            )
        else:
            tell("The motion diverges with these gains.", bad=True)

    def _show(self) -> None:
        run, robot = self.window.run, self.window.robot
        self.place.clear()
        if run is None or robot is None or run.q.shape[-1] != robot.n:
            return
        with self.place:
            good = np.all(np.isfinite(run.q), axis=-1)
            distance = np.abs(run.q[good][-1] - self.goal).max() if good.any() else np.nan
            part(
                "p",
                f"At the end the farthest joint is {distance:.3g} rad|m from its goal.",
                "lead",
                id="simulated",
            )
            commanded = run.reference[good] if run.reference is not None else None
            units = robot.torque_units
            signals = motion_signals(units, run.q[good], tau=run.tau[good], commanded=commanded)
            plot(
                overlaid_joints(run.t[good], robot.joint_names, signals),
                "The simulated motion over time",
                timed=True,
            )
            texts = [",".join(f"{x:.6g}" for x in values) for values in (self.start, self.goal)]
            command = code_snippets.command_line(
                "simulate",
                code_snippets.robot_file(self.window),
                controller=self.controller,
                kp=self.kp,
                kd=self.kd,
            )
            options = self._options()
            row = CONTROLLERS[self.controller]
            gains = row.gains(self.kp, self.kd)
            start, goal = (code_snippets.array_source(x) for x in (self.start, self.goal))
            lines = ("from steelyard.motion import point_to_point",
                     f"from steelyard.simulation import {row.class_name}",
                     f"start, goal = {start}, {goal}",
                     f"motion = point_to_point(start, goal, {options['seconds']:g},"
                     " joint_names=robot.joint_names)",
                     f"law = {row.class_name}(motion, {gains[0]:g}, {gains[1]:g})",
                     f"run = sy.simulate(robot, law, q0=start{code_snippets.keywords(options)})",
                     "print(run.q[-1])")  # fmt: skip
            Snippet(
                code_snippets.python_lines(self.window, *lines),
                f"{command} {self.form.words} --q0={texts[0]} --to={texts[1]}",
            )
