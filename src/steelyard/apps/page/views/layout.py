"""The whole page of a window: what is open, the robot in 3-D, and the tabs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.resources import files
from typing import Any

from nicegui import ui
from nicegui.element import Element

from ..opened_log import smooth_rates
from ..window import PageWindow
from .controls import part, script_button, tell
from .opening import Opening
from .robot_view import PlayedMotion, RobotView

VIEWS = {
    "robot": "RobotTab", "log": "LogTab", "identify": "IdentifyTab", "compare": "CompareTab",
    "design": "DesignTab", "payload": "PayloadTab", "simulate": "SimulateTab",
}  # fmt: skip
"""The tabs of the page in order: key, the label with "_" for " ", and class in `KEY_tab.py`."""


def build_page(window: PageWindow) -> None:
    """Build the page of a window, as its work is now."""
    ui.add_head_html(
        f"<style>{_asset('page.css')}</style><script type='module'>{_asset('page.js')}</script>"
    )
    ui.query(".nicegui-content").classes(remove="nicegui-content")
    Page(window)


def _asset(name: str) -> str:
    return (files("steelyard.apps.page") / "assets" / name).read_text(encoding="utf-8")


class Page:
    """The parts of the page, and what happens when another robot, log or tab is chosen."""

    def __init__(self, window: PageWindow) -> None:
        self.window = window
        with part("header", classes="top"):
            part("h1", "steelyard", "brand")
            self.opening = Opening(
                window,
                {"robot": self.robot_changed, "log": self.log_changed, "fit": self.fits_changed},
            )
            script_button(
                "",
                "steelyard.nextTheme()",
                "quiet",
                id="theme",
                aria_label="Light, dark, or as the system",
                data_word="auto",
            )
        with part("div", classes="work"):
            with part("div", classes="left"):
                self.robot_view = RobotView(window)
            with part("div", classes="right"):
                self.tabs: dict[str, Element] = {}
                with part("div", classes="tabs", role="tablist", aria_label="What to do"):
                    for key in VIEWS:
                        self.tabs[key] = part(
                            "button",
                            key.replace("_", " ").capitalize(),
                            type="button",
                            role="tab",
                            id=f"tab-{key}",
                            aria_controls="panel",
                        )
                        self.tabs[key].on("click", partial(self._clicked, key), [])
                self.panel = part(
                    "div", classes="panel", id="panel", role="tabpanel", tabindex="-1"
                )
        part("div", classes="said", id="said", role="status", aria_live="polite")
        self.robot_view.build()
        if window.log is not None:
            self._play_log()
        self.open(window.tab)
        if window.problem:
            tell(window.problem, bad=True)
            window.problem = ""

    def open(self, key: str) -> None:
        """Show a tab."""
        self.window.tab = key
        self.robot_view.moved.clear()
        for each, element in self.tabs.items():
            element.props["aria-selected"] = "true" if each == key else "false"
            element.props["tabindex"] = "0" if each == key else "-1"
        self.panel.props["aria-labelledby"] = f"tab-{key}"
        self.panel.clear()
        with self.panel:
            if self.window.robot is None:
                self.opening.invite()
            else:
                view_of(key)(self.window, self.robot_view)

    def _clicked(self, key: str, _: Any) -> None:
        if key != self.window.tab:  # what is open keeps the focus and the fields
            self.open(key)

    def robot_changed(self) -> None:
        """Show another robot."""
        self.robot_view.clear()
        self.robot_view.build()
        self.opening.show()
        self.open("robot")

    def log_changed(self) -> None:
        """Show another log."""
        self._play_log()
        self.opening.show()
        self.open("log")

    def fits_changed(self) -> None:
        """Show the fits that can be compared."""
        self.open("compare")

    def _play_log(self) -> None:
        log = self.window.log
        if log is not None and self.window.robot is not None:
            ordered, robot = log.reordered(self.window.robot), self.window.robot
            self.robot_view.load(
                self.window.log_name or "log",
                PlayedMotion(ordered.t, ordered.q, partial(smooth_rates, robot, ordered)),
            )


def view_of(key: str) -> Callable[[PageWindow, RobotView], Any]:
    """Return the class of a tab; its module is imported when the tab is opened."""
    from importlib import import_module

    view: Callable[[PageWindow, RobotView], Any]
    view = getattr(import_module(f".{key}_tab", __package__), VIEWS[key])
    return view
