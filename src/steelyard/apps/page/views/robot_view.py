"""The 3-D view of the robot, and the line of time below it on which motions are played."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from nicegui import ui
from numpy.typing import NDArray

from ....cached import cached_property
from ..scene_content import content, frames_of, inertias, pose_rows, tip_ellipsoid
from ..window import PageWindow
from .controls import check_box, choice, part, script_button, set_text

Array = NDArray[np.float64]
LAYERS = {
    "links": "Links",
    "frames": "Frames",
    "centres": "Centres of mass",
    "ellipsoids": "Inertia",
    "velocity": "Manipulability",
}
RATES = {"0.25": "¼ speed", "0.5": "½ speed", "1": "Real time", "2": "2 × speed", "5": "5 × speed"}
FPS = 30


@dataclass(frozen=True, eq=False)
class PlayedMotion:
    """A motion to be played.

    Q (N, n) [rad|m] over t (N,) [s]; `rates` returns qd and qdd, when they are asked for.
    """

    t: Array
    q: Array
    rates: Callable[[], tuple[Array, Array]]

    def at(self, time: float, values: Array) -> Array:
        """Return values (N, n) at a time [s], (n,)."""
        return np.array(
            [
                np.interp(time, self.t, column)
                for column in np.where(np.isfinite(values), values, 0.0).T
            ]
        )

    @cached_property
    def derivatives(self) -> tuple[Array, Array]:
        """Velocities and accelerations, (N, n) each."""
        return self.rates()


class RobotView:
    """The view of a window's robot.

    `moved` functions are called with the time [s] of a motion that is played.
    """

    def __init__(self, window: PageWindow) -> None:
        self.window = window
        self.motion: PlayedMotion | None = None
        self.moved: list[Callable[[float], None]] = []
        with part("section", classes="stage", aria_label="The robot in 3-D"):
            camera = ui.scene.perspective_camera(fov=38, near=0.01, far=1000)
            self.scene = ui.scene(
                width=600,
                height=480,
                grid=False,
                fps=FPS,
                background_color="#ffffff",
                camera=camera,
            ).classes("view")
            self.scene.props["role"] = "img"
            self.scene.props["aria-label"] = "The robot at its present position"
            with part("div", classes="layers", role="group", aria_label="What is drawn"):
                for layer, text in LAYERS.items():
                    check_box(
                        text,
                        layer == "links",
                        script=f"steelyard.show({self.scene.id}, '{layer}', on)",
                    )
        self.line = part("section", classes="player", aria_label="Playing")
        with self.line:
            script_button("Play", "steelyard.toggle()", "main", id="play")
            line = part(
                "input",
                type="range",
                id="timeline",
                min=0,
                max=1,
                step="any",
                value=0,
                aria_label="Time",
            )
            line.on("input", js_handler="(event) => steelyard.seek(Number(event.target.value))")
            part("output", "0.00 s", id="clock", for_="timeline")
            choice("Speed", RATES, "1", lambda _: None).on(
                "change", js_handler="(event) => steelyard.rate(Number(event.target.value))"
            )
            self.title = part("p", "", "what")
        self.line.set_visibility(False)
        ui.on("played", lambda event: self._played(float(event.args["time"])))

    def build(self) -> None:
        """Redraw the robot."""
        if self.window.robot is None:
            return
        shown = content(self.window)
        r = shown["reach"]
        self.scene.move_camera(1.35 * r, -1.6 * r, 1.15 * r, 0, 0, 0.27 * r, duration=0)
        self._run("build", shown)
        self.pose()

    def inertias(self) -> None:
        """Redraw masses and inertias, identified ones if there is a fit."""
        if self.window.robot is not None:
            fit = self.window.fitted
            self._run(
                "inertias",
                inertias(self.window.robot, None if fit is None else fit.fit)["inertias"],
            )

    def pose(self) -> None:
        """Show the robot at the window's position."""
        window = self.window
        if window.robot is None or window.q is None:
            return
        velocity = tip_ellipsoid(window.robot, window.q, window.frame) if window.frame else None
        self._run("pose", pose_rows(window.robot, window.q)[0].round(6).ravel().tolist(), velocity)

    def ghosts(self, positions: Array) -> None:
        """Show the robot at further positions (k, n) [rad|m] as ghosts."""
        robot = self.window.robot
        content = (
            []
            if robot is None or not len(positions)
            else pose_rows(robot, positions).round(6).reshape(len(positions), -1).tolist()
        )
        self._run("ghosts", content)

    def load(self, name: str, motion: PlayedMotion) -> None:
        """Put a motion on the line of time."""
        assert self.window.robot is not None
        self.motion = motion
        self.window.q = motion.at(float(motion.t[0]), motion.q)
        self.line.set_visibility(True)
        set_text(self.title, name)
        self._run("load", frames_of(self.window.robot, motion.t, motion.q) | {"name": name})

    def clear(self) -> None:
        """Take the motion away."""
        self.motion = None
        self.line.set_visibility(False)

    def _played(self, time: float) -> None:
        if self.motion is None or self.window.robot is None:
            return
        self.window.q = self.motion.at(time, self.motion.q)
        for function in self.moved:
            function(time)

    def _run(self, function: str, *arguments: Any) -> None:
        spelled = ", ".join(json.dumps(each) for each in (self.scene.id, *arguments))
        ui.run_javascript(f"steelyard.{function}({spelled})")
