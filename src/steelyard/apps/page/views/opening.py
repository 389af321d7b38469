"""Opening a robot and a log: by name, from the folder, or from this machine through the browser."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from nicegui import ui

from ....mechanism import robots
from ...table_words import log_endings
from ..server.folder import ROBOTS
from ..server.uploads import ROBOT_KINDS, upload_endings
from ..window import PageWindow
from .controls import choice, guarded, part, set_text, tell

FILE, BUILT_IN, NOTHING = "file:", "built-in:", ""


class Opening:
    """The line of the page on which robot and log are chosen."""

    def __init__(self, window: PageWindow, changed: Mapping[str, Callable[[], None]]) -> None:
        """`changed` has what to do after a robot, a log or a fit was opened, by these words."""
        self.window, self.changed = window, changed
        with part("nav", classes="opening", aria_label="Robot and log"):
            choice("Robot", self._robots(), self._chosen(), self.open_robot, id="choose-robot")
            upload_field(window, "robot", "Upload a robot", ROBOT_KINDS)
            choice("Log", self._logs(), self._chosen_log(), self.open_log, id="choose-log")
            upload_field(window, "log", "Upload a log", upload_endings())
        self.facts = part("p", "", "facts")
        self.show()
        ui.on("uploaded", lambda event: self._uploaded(event.args))

    def show(self) -> None:
        """Show which robot and log are open."""
        robot, log = self.window.robot, self.window.log
        sentence = "No robot is open." if robot is None else f"{robot.name}: {robot.n} joints"
        set_text(
            self.facts,
            sentence if log is None else f"{sentence} · {log.N} samples over {log.duration:.3g} s",
        )

    def invite(self) -> None:
        """Show how to begin, if no robot is open."""
        part("h2", "Choose a robot")
        part(
            "p",
            "Choose one above: a built-in one, one of the folder, or upload a URDF or TOML file."
            " Then a log of its motion.",
            "note",
        )

    def open_robot(self, value: str) -> None:
        """Open a robot by its value in the list."""
        from ....robot import load

        def opened() -> bool:
            if value.startswith(BUILT_IN) and value.removeprefix(BUILT_IN) in robots(
                installed=False
            ):
                self.window.take_robot(
                    load(value.removeprefix(BUILT_IN)), value.removeprefix(BUILT_IN)
                )
            elif value.startswith(FILE):
                path = self.window.folder.inside(value.removeprefix(FILE))
                self.window.take_robot(load(path), str(path))
            else:
                return False
            return True

        if guarded(opened):
            self.changed["robot"]()

    def open_log(self, value: str) -> None:
        """Open a log by its value in the list."""
        from ..opened_log import read_both

        def opened() -> bool:
            if not value.startswith(FILE):
                return False
            if self.window.robot is None:
                tell("A log needs a robot: choose one first.", bad=True)
                return False
            path = self.window.folder.inside(value.removeprefix(FILE))
            log, raw = read_both(path, self.window.robot)
            self.window.take_log(log, str(path), raw)
            return True

        if guarded(opened):
            self.changed["log"]()

    def _uploaded(self, answer: Any) -> None:
        if answer.get("ok"):
            self.changed.get(answer.get("kind"), lambda: None)()
        else:
            tell(str(answer.get("sentence", ""))[:600], bad=True)

    def _robots(self) -> dict[str, str]:
        named = {f"{FILE}{name}": name for name in self.window.folder.files(ROBOTS)}
        named |= {f"{BUILT_IN}{name}": name for name in robots(installed=False)}
        chosen = self._chosen()
        return (
            {NOTHING: "Robot …"}
            | ({} if chosen in named or not chosen else {chosen: chosen.partition(":")[2]})
            | named
        )

    def _chosen(self) -> str:
        name = self.window.robot_name
        if not name:
            return NOTHING
        return (
            f"{BUILT_IN}{name}"
            if name.lower() in robots(installed=False)
            else f"{FILE}{self._inside(name)}"
        )

    def _logs(self) -> dict[str, str]:
        named = {f"{FILE}{name}": name for name in self.window.folder.files(log_endings())}
        chosen = self._chosen_log()
        return (
            {NOTHING: "Log …"}
            | ({} if chosen in named or not chosen else {chosen: chosen.partition(":")[2]})
            | named
        )

    def _chosen_log(self) -> str:
        return f"{FILE}{self._inside(self.window.log_name)}" if self.window.log_name else NOTHING

    def _inside(self, name: str) -> str:
        from pathlib import Path

        path = Path(name).resolve()
        root = self.window.folder.root
        return path.relative_to(root).as_posix() if path.is_relative_to(root) else name


def upload_field(window: PageWindow, kind: str, text: str, endings: tuple[str, ...]) -> None:
    """Show a button that uploads a file of some endings.

    What becomes of it comes back as the event `uploaded`.
    """
    with part("label", classes="upload"):
        part("span", text)
        chosen = part(
            "input", type="file", accept=",".join(endings), aria_label=text, id=f"upload-{kind}"
        )
        chosen.on(
            "change",
            js_handler=(
                "(event) => steelyard.upload(event.target,"
                f" {json.dumps(f'/upload/{window.key}/{kind}')}, {json.dumps(kind)})"
            ),
        )
