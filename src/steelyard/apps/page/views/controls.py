"""The parts that views are made of.

Plain elements of HTML with labels, which browsers and screen readers know how to work.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from html import escape
from typing import Any

from nicegui import ui
from nicegui.element import Element

from ....drawing.table import Table
from ....drawing.visible import escape_control_chars
from ....errors import SteelyardError

SOON = 0.04  # [s] between two messages of a slider that is moved


def part(tag: str, text: str = "", classes: str = "", **attributes: Any) -> Element:
    """Return an element with text, which is never read as HTML.

    `_` in the names of attributes stands for `-`.
    """
    element = Element(tag)
    if text:
        element._text = escape_control_chars(text)
    element.classes(classes)
    for name, value in attributes.items():
        element.props[name.rstrip("_").replace("_", "-")] = value
    return element


def button(
    text: str, action: Callable[[], Any] | None = None, classes: str = "", **attributes: Any
) -> Element:
    """Return a button that calls `action`."""
    element = part("button", text, classes, type="button", **attributes)
    if action is not None:
        element.on("click", lambda _: action(), [])
    return element


def script_button(text: str, script: str, classes: str = "", **attributes: Any) -> Element:
    """Return a button that runs a line of JavaScript in the browser alone."""
    return part("button", text, classes, type="button", **attributes).on(
        "click", js_handler=f"(event) => {{ {script} }}"
    )


def slider(
    label: str,
    low: float,
    high: float,
    value: float,
    action: Callable[[float], Any],
    step: float | None = None,
) -> Element:
    """Return a slider; its label is what a screen reader says."""
    step = step or (high - low) / 400
    element = part(
        "input", type="range", min=low, max=high, step=f"{step:.6g}", value=value, aria_label=label
    )
    return element.on(
        "input",
        lambda e: action(float(e.args)),
        js_handler="(event) => emit(event.target.value)",
        throttle=SOON,
    )


def number_field(
    label: str, value: Any, action: Callable[[str], Any], **attributes: Any
) -> Element:
    """Return a field for a number with a label."""
    element = part(
        "input", type="number", value=value, aria_label=label, **{"step": "any"} | attributes
    )
    return element.on(
        "change", lambda e: action(str(e.args)), js_handler="(event) => emit(event.target.value)"
    )


def choice(
    label: str,
    options: Iterable[str] | Mapping[str, str],
    value: str,
    action: Callable[[str], Any],
    **attributes: Any,
) -> Element:
    """Return a list to choose from, with a label."""
    rows = options if isinstance(options, Mapping) else {each: each for each in options}
    with part("select", aria_label=label, **attributes) as element:
        for key, text in rows.items():
            each = part("option", text, value=key)
            if key == value:
                each.props["selected"] = True
    return element.on(
        "change", lambda e: action(str(e.args)), js_handler="(event) => emit(event.target.value)"
    )


def check_box(
    text: str,
    value: bool,
    action: Callable[[bool], Any] | None = None,
    script: str = "",
    **attributes: Any,
) -> Element:
    """Return a box to tick with its text; `script` runs in the browser, with `on` as its state."""
    with part("label", classes="check") as element:
        box = part("input", type="checkbox", checked=value, **attributes)
        part("span", text)
    if action is not None:
        box.on(
            "change",
            lambda e: action(bool(e.args)),
            js_handler="(event) => emit(event.target.checked)",
        )
    if script:
        box.on("change", js_handler=f"(event) => {{ const on = event.target.checked; {script} }}")
    return element


def field(text: str) -> Element:
    """Return a place for a control below its name."""
    with part("div", classes="field") as element:
        part("span", text, "name", aria_hidden="true")
    return element


def html(text: str, tag: str = "div", classes: str = "", **attributes: Any) -> ui.html:
    """Return HTML that we wrote ourselves."""
    element = ui.html(text, sanitize=False, tag=tag).classes(classes)
    for name, value in attributes.items():
        element.props[name.rstrip("_").replace("_", "-")] = value
    return element


def table_element(shown: Table) -> None:
    """Show a table; a wide one can be scrolled, also by keys."""
    html(
        shown.to_html(),
        classes="sheet",
        tabindex="0",
        role="region",
        aria_label=escape_control_chars(shown.title),
    )


class Snippet:
    """The Python lines and the command that do the same as the page, to be copied."""

    def __init__(self, python: str, command: str = "") -> None:
        with part("details", classes="recipe"):
            part(
                "summary",
                "The same in Python and on the command line" if command else "The same in Python",
            )
            self._texts = [
                self._lines(name, text)
                for name, text in (("Python", python), ("command", command))
                if text
            ]

    def _lines(self, name: str, text: str) -> Element:
        with part("div", classes="lines"):
            element = part("pre", text, tabindex="0", aria_label=f"{name} lines")
            script = "steelyard.copy(event.target, event.target.previousElementSibling.textContent)"
            script_button("Copy", script, "quiet", aria_label=f"Copy the {name} lines")
        return element

    def say(self, *texts: str) -> None:
        """Show other lines in the same places."""
        for element, text in zip(self._texts, texts, strict=False):
            set_text(element, text)


def set_text(element: Element, text: str) -> None:
    """Give an element another text."""
    if element._text != escape_control_chars(text):
        element._text = escape_control_chars(text)
        element.update()


def tell(sentence: str, bad: bool = False) -> None:
    """Say a sentence at the edge of the page, for a while; screen readers say it too."""
    ui.run_javascript(
        f"steelyard.tell({json.dumps(escape_control_chars(sentence))}, {json.dumps(bad)})"
    )


def guarded(action: Callable[[], Any]) -> Any:
    """Call a function; an error of steelyard is shown on the page."""
    try:
        return action()
    except SteelyardError as error:
        tell(" ".join(str(error).split()), bad=True)
        return None


def html_text(value: str) -> str:
    """Return a text as it may stand in HTML."""
    return escape(escape_control_chars(value))
