"""A form of groups of options: a field for each option, derived from its declaration."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from ....errors import SteelyardError
from ....options import Option, options_of
from ...table_words import with_table_words
from .controls import check_box, choice, field, number_field, part, tell

SEVERAL = ";"  # between the values of an option that may be repeated
YES_OR_NO = {"": "by default", str(True): "yes", str(False): "no"}


class OptionForm:
    """Fields of the options of groups, and the values that they have.

    Parameters
    ----------
    groups : dataclasses of the options
    values : values at the start
    first : names of the options that are shown at once, with their labels; the others are below,
        under the headings of their panels
    key : beginning of the identifiers of the fields, `design` for `design-seconds`
    choices : words to choose from, of options whose words are rows of a table; "" is the default
    """

    def __init__(
        self,
        groups: Sequence[type],
        values: Mapping[str, Any],
        first: Mapping[str, str],
        key: str,
        choices: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        self.options = form_options(groups)
        self.values, self.key, self.choices = dict(values), key, choices or {}
        self.texts = {
            name: f"{value:g}" if isinstance(value, float) else str(value)
            for name, value in values.items()
        }
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
        attributes = {"id": f"{self.key}-{option.name}", "title": with_table_words(option.sentence)}
        change = partial(self.set_text, option.name)
        value = self.texts.get(option.name, "")
        if option.is_switch and option.default is not None:
            is_on = bool(self.values.get(option.name, option.default))
            check_box(label, is_on, lambda on: change(str(on)), **attributes)
            return
        words = YES_OR_NO if option.is_switch else self._words_to_choose(option)
        unit = f" [{option.spec.unit}]" if option.spec.unit else ""
        with field(f"{label}{unit}"):
            if words:
                choice(label, words, value or _shown(option.default), change, **attributes)
            elif option.spec.parse is None and option.kind in (int, float):
                number_field(label, value, change, placeholder=_shown(option.default), **attributes)
            else:
                hint = option.spec.metavar or _shown(option.default)
                element = part(
                    "input",
                    type="text",
                    value=value,
                    aria_label=label,
                    placeholder=hint,
                    **attributes,
                )
                element.on(
                    "change",
                    lambda e: change(str(e.args)),
                    js_handler="(event) => emit(event.target.value)",
                )

    def _words_to_choose(self, option: Option) -> Mapping[str, str]:
        """Return the words of an option that names one of several, by their texts."""
        if option.name in self.choices:
            return self.choices[option.name]
        words = {word: word for word in option.spec.choices}
        return {"": "by default", **words} if words and option.default is None else words

    def set_text(self, name: str, text: str) -> None:
        """Take the text of a field; empty texts and default switches are not passed on."""
        option = self.options[name]
        if not text.strip() or (option.is_switch and text == str(option.default)):
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
            words += option.words(_several(text) if option.spec.repeated else [text])
        return shlex.join(words)


def form_options(groups: Sequence[type]) -> dict[str, Option]:
    """Return the options of groups that a form has, by name; the first group with one wins."""
    options: dict[str, Option] = {}
    for group in groups:
        for each in options_of(group):
            if each.spec.offered:
                options.setdefault(each.name, each)
    return options


def read_field(option: Option, text: str) -> Any:
    """Return the value of a field's text."""
    if option.is_switch:
        return option.read(text == str(True))
    if option.spec.parse is not None:
        return option.read(_several(text) if option.spec.repeated else text)
    return int(float(text)) if option.kind is int else (option.kind or str)(text)


def _several(text: str) -> Sequence[str]:
    return [each.strip() for each in text.split(SEVERAL) if each.strip()]


def _shown(default: Any) -> str:
    return "" if default is None or default == () else str(default)
