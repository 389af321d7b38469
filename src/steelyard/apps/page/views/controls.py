"""The parts that views are made of: plain elements of HTML with labels, which browsers and screen readers know how to work."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from html import escape
from typing import Any

from nicegui import ui
from nicegui.element import Element

from ....drawing.table import Table
from ....drawing.visible import visible
from ....errors import SteelyardError

SOON = 0.04  # [s] between two messages of a slider that is moved


def part(tag: str, text: str = "", classes: str = "", **attributes: Any) -> Element:
    """Return an element with text, which is never read as HTML; `_` in the names of attributes stands for `-`."""
    made = Element(tag)
    if text:
        made._text = visible(text)
    made.classes(classes)
    for name, value in attributes.items():
        made.props[name.rstrip("_").replace("_", "-")] = value
    return made


def button(text: str, action: Callable[[], Any] | None = None, classes: str = "", **attributes: Any) -> Element:
    """Return a button that calls `action`."""
    made = part("button", text, classes, type="button", **attributes)
    if action is not None:
        made.on("click", lambda _: action(), [])
    return made


def script_button(text: str, script: str, classes: str = "", **attributes: Any) -> Element:
    """Return a button that runs a line of JavaScript in the browser alone."""
    return part("button", text, classes, type="button", **attributes).on("click", js_handler=f"(event) => {{ {script} }}")


def slider(label: str, low: float, high: float, value: float, action: Callable[[float], Any], step: float | None = None) -> Element:
    """Return a slider; its label is what a screen reader says."""
    step = step or (high - low) / 400
    made = part("input", type="range", min=low, max=high, step=f"{step:.6g}", value=value, aria_label=label)
    return made.on("input", lambda e: action(float(e.args)), js_handler="(event) => emit(event.target.value)", throttle=SOON)


def number(label: str, value: Any, action: Callable[[str], Any], **attributes: Any) -> Element:
    """Return a field for a number with a label."""
    made = part("input", type="number", value=value, aria_label=label, **{"step": "any"} | attributes)
    return made.on("change", lambda e: action(str(e.args)), js_handler="(event) => emit(event.target.value)")


def choice(label: str, options: Iterable[str] | Mapping[str, str], value: str, action: Callable[[str], Any], **attributes: Any) -> Element:
    """Return a list to choose from, with a label."""
    rows = options if isinstance(options, Mapping) else {each: each for each in options}
    with part("select", aria_label=label, **attributes) as made:
        for key, text in rows.items():
            each = part("option", text, value=key)
            if key == value:
                each.props["selected"] = True
    return made.on("change", lambda e: action(str(e.args)), js_handler="(event) => emit(event.target.value)")


def check(text: str, value: bool, action: Callable[[bool], Any] | None = None, script: str = "") -> Element:
    """Return a box to tick with its text; `script` runs in the browser, with `on` as its state."""
    with part("label", classes="check") as made:
        box = part("input", type="checkbox", checked=value)
        part("span", text)
    if action is not None:
        box.on("change", lambda e: action(bool(e.args)), js_handler="(event) => emit(event.target.checked)")
    if script:
        box.on("change", js_handler=f"(event) => {{ const on = event.target.checked; {script} }}")
    return made


def field(text: str) -> Element:
    """Return a place for a control below its name."""
    with part("div", classes="field") as made:
        part("span", text, "name", aria_hidden="true")
    return made


def html(text: str, tag: str = "div", classes: str = "", **attributes: Any) -> ui.html:
    """Return HTML that we wrote ourselves."""
    made = ui.html(text, sanitize=False, tag=tag).classes(classes)
    for name, value in attributes.items():
        made.props[name.rstrip("_").replace("_", "-")] = value
    return made


def table(made: Table) -> None:
    """Show a table; a wide one can be scrolled, also by keys."""
    html(made.to_html(), classes="sheet", tabindex="0", role="region", aria_label=visible(made.title))


class Recipe:
    """The Python lines and the command that do the same as the page, to be copied."""

    def __init__(self, python: str, command: str = "") -> None:
        with part("details", classes="recipe"):
            part("summary", "The same in Python and on the command line" if command else "The same in Python")
            self._texts = [self._lines(name, text) for name, text in (("Python", python), ("command", command)) if text]

    def _lines(self, name: str, text: str) -> Element:
        with part("div", classes="lines"):
            made = part("pre", text, tabindex="0", aria_label=f"{name} lines")
            script = "steelyard.copy(event.target, event.target.previousElementSibling.textContent)"
            script_button("Copy", script, "quiet", aria_label=f"Copy the {name} lines")
        return made

    def say(self, *texts: str) -> None:
        """Show other lines in the same places."""
        for place, text in zip(self._texts, texts, strict=False):
            set_text(place, text)


def set_text(element: Element, text: str) -> None:
    """Give an element another text."""
    if element._text != visible(text):
        element._text = visible(text)
        element.update()


def tell(sentence: str, bad: bool = False) -> None:
    """Say a sentence at the edge of the page, for a while; screen readers say it too."""
    ui.run_javascript(f"steelyard.tell({json.dumps(visible(sentence))}, {json.dumps(bad)})")


def guarded(action: Callable[[], Any]) -> Any:
    """Call a function; an error of steelyard is said on the page."""
    try:
        return action()
    except SteelyardError as error:
        tell(" ".join(str(error).split()), bad=True)
        return None


def text_of(value: str) -> str:
    """Return a text as it may stand in HTML."""
    return escape(visible(value))
