"""A form of a group of options: a field for each option, derived from its declaration."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from ....errors import SteelyardError
from ....options import Option, options_of
from .controls import choice, field, number, part, tell

SEVERAL = ";"  # between the values of an option that may be repeated


class OptionForm:
    """Fields of the options of a group, and the values that they have.

    Parameters
    ----------
    group : dataclass of the options
    values : values at the start
    first : names of the options that are shown at once, with their labels; the others are below,
        under the headings of their panels
    key : beginning of the identifiers of the fields, `design` for `design-seconds`
    """

    def __init__(
        self, group: type, values: Mapping[str, Any], first: Mapping[str, str], key: str
    ) -> None:
        self.options = {each.name: each for each in options_of(group) if each.spec.command_line}
        self.values, self.key = dict(values), key
        self.texts = {name: f"{value:g}" for name, value in values.items()}
        with part("div", classes="fields"):
            for name, label in first.items():
                self._field(self.options[name], label)
        panels: dict[str, list[Option]] = {}
        for name, each in self.options.items():
            if name not in first:
                panels.setdefault(each.spec.panel, []).append(each)
        for panel, rows in panels.items():
            with part("details", classes="options"):
                part("summary", panel)
                with part("div", classes="fields"):
                    for each in rows:
                        self._field(each, each.name.replace("_", " ").capitalize())

    def _field(self, option: Option, label: str) -> None:
        """Show the field of an option."""
        attributes = {"id": f"{self.key}-{option.name}", "title": option.sentence}
        change = partial(self.set_text, option.name)
        unit = f" [{option.spec.unit}]" if option.spec.unit else ""
        with field(f"{label}{unit}"):
            if option.spec.choices:
                choice(label, option.spec.choices, str(option.default), change, **attributes)
            elif option.spec.parse is None and option.kind in (int, float):
                value = self.texts.get(option.name, "")
                number(label, value, change, placeholder=_shown(option.default), **attributes)
            else:
                hint = option.spec.metavar or _shown(option.default)
                element = part(
                    "input", type="text", aria_label=label, placeholder=hint, **attributes
                )
                element.on(
                    "change",
                    lambda e: change(str(e.args)),
                    js_handler="(event) => emit(event.target.value)",
                )

    def set_text(self, name: str, text: str) -> None:
        """Take the text of a field; an empty one stands for the default."""
        option = self.options[name]
        if not text.strip():
            self.values.pop(name, None)
            self.texts.pop(name, None)
            return
        try:
            self.values[name] = read_field(option, text)
            self.texts[name] = text.strip()
        except (ValueError, OverflowError):
            tell(f"{name}: expected a number", bad=True)
        except SteelyardError as error:
            tell(" ".join(str(error).split()), bad=True)

    @property
    def words(self) -> str:
        """The options as typed on a command line."""
        words: list[str] = []
        for name, text in self.texts.items():
            option = self.options[name]
            for each in _several(text) if option.spec.repeated else [text]:
                words += [option.flag, each]
        return shlex.join(words)


def read_field(option: Option, text: str) -> Any:
    """Return the value of a field's text."""
    if option.spec.parse is not None:
        return option.read(_several(text) if option.spec.repeated else text)
    return int(float(text)) if option.kind is int else (option.kind or str)(text)


def _several(text: str) -> Sequence[str]:
    return [each.strip() for each in text.split(SEVERAL) if each.strip()]


def _shown(default: Any) -> str:
    return "" if default is None or default == () else str(default)
