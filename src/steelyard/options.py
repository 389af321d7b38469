"""Options declared once: dataclass fields that carry unit, help, choices and parser.

A group of options is a frozen dataclass whose fields are made by `option`. Functions, commands,
configuration files, page forms, documentation tables and the JSON schema derive from these fields.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from .errors import CallError, suggest
from .option_values import check_units

T = TypeVar("T")
METADATA = "steelyard.option"
PLAIN: Mapping[str, type] = {
    "float": float,
    "int": int,
    "str": str,
    "bool": bool,
    "Path": Path,
}
JSON_TYPES = {
    float: "number",
    int: "integer",
    str: "string",
    bool: "boolean",
    Path: "string",
}


@dataclass(frozen=True)
class OptionSpec:
    """What is known of an option besides its type and default.

    Parameters
    ----------
    help : one sentence for `--help`, forms and tables
    unit : SI unit, alternatives divided by "|"; empty for names and switches
    choices : allowed values of an option that names one of several
    parse : function that turns the text of a command line or form into the value
    metavar : placeholder of the value in `--help`
    panel : heading under which `--help` and forms show the option
    command_line : whether a command offers the option; others are set in Python or `--config`
    python_only : whether the value is a Python object, which neither commands nor files can have
    flag : spelling on the command line, where it differs from the name; "--on/--off" of a switch
    switch : value that the flag alone stands for, of an option that takes other values in Python
    repeated : whether the option may be typed several times; `parse` then takes the list of texts
    least : least value of a number
    schema : JSON schema of the value, where its type is not a number, a text or a switch
    """

    help: str
    unit: str = ""
    choices: tuple[str, ...] = ()
    parse: Callable[[str], Any] | None = None
    metavar: str = ""
    panel: str = ""
    command_line: bool = True
    python_only: bool = False
    flag: str = ""
    switch: Any = None
    repeated: bool = False
    least: float | None = None
    schema: Mapping[str, Any] | None = None

    @property
    def offered(self) -> bool:
        """Whether commands and forms offer the option."""
        return self.command_line and not self.python_only


@dataclass(frozen=True)
class Option:
    """An option of a group: name, annotation of the type, default and specification."""

    name: str
    annotation: str
    default: Any
    spec: OptionSpec

    @property
    def flag(self) -> str:
        """The option's spelling on the command line, such as `--base-frequency`.

        A switch that is on by default is `--rotor/--no-rotor`.
        """
        word = self.name.replace("_", "-")
        is_on = self.kind is bool and self.default is True
        return self.spec.flag or (f"--{word}/--no-{word}" if is_on else f"--{word}")

    @property
    def sentence(self) -> str:
        """The help of the option, with its unit and whether it may be repeated."""
        shown = not self.spec.unit or f"[{self.spec.unit}]" in self.spec.help
        unit = "" if shown else f" [{self.spec.unit}]"
        return f"{self.spec.help}{unit}{' May be repeated.' if self.spec.repeated else ''}"

    @property
    def is_switch(self) -> bool:
        """Whether the flag stands alone, without a value."""
        return self.kind is bool or self.spec.switch is not None

    def words(self, texts: Sequence[str]) -> list[str]:
        """Return the option as typed on a command line; of a switch, for the text of a bool."""
        on, _, off = self.flag.partition("/")
        if not self.is_switch:
            return [word for text in texts for word in (on, text)]
        return [word for text in texts if (word := on if text == str(True) else off)]

    @property
    def kind(self) -> type | None:
        """The plain type of the value: float, int, str, bool or Path; None for any other."""
        return PLAIN.get(self.annotation.removesuffix(" | None"))

    def read(self, value: Any) -> Any:
        """Return the value of a text, or of the list of texts of a repeated option.

        A value that is not a text stays as it is; of a switch, True is the value that its flag
        stands for. An error carries the option's name.
        """
        if value is True and self.spec.switch is not None:
            return self.spec.switch
        texts = value if self.spec.repeated else [value]
        is_text = isinstance(texts, (list, tuple)) and all(isinstance(x, str) for x in texts)
        if self.spec.parse is None or not is_text or not texts:
            return value
        if self.spec.unit:
            parse_text(lambda each: check_units(each, self.spec.unit), texts, self.name, self.name)
        return parse_text(self.spec.parse, value, self.name, self.name)


def option(default: Any = MISSING, *, factory: Any = MISSING, **spec: Any) -> Any:
    """Declare a dataclass field that is an option; further keywords are fields of `OptionSpec`."""
    arguments = {"default": default} if factory is MISSING else {"default_factory": factory}
    return field(metadata={METADATA: OptionSpec(**spec)}, **arguments)


def options_of(group: type) -> tuple[Option, ...]:
    """Return the options of a group in the order of its fields, inherited ones last."""
    declared = sorted(fields(group), key=lambda each: each.name not in group.__annotations__)
    return tuple(
        Option(
            name=each.name,
            annotation=each.type if isinstance(each.type, str) else each.type.__name__,
            default=_default(each),
            spec=each.metadata[METADATA],
        )
        for each in declared
        if METADATA in each.metadata
    )


def _default(each: Field[Any]) -> Any:
    """Return the default of a field, from its factory where it has one."""
    return each.default if each.default_factory is MISSING else each.default_factory()


def parse_text(
    parse: Callable[[Any], Any], text: Any, name: str, argument: str | None = None
) -> Any:
    """Return the value of a text; an error begins with a name and carries an argument."""
    try:
        return parse(text)
    except CallError as error:
        raise CallError(f"{name}: {error.message}", argument=argument) from None


def from_keywords(
    group: type[T], keywords: Mapping[str, Any], function: str, base: T | None = None
) -> T:
    """Return a group of options from the keywords of a call.

    Parameters
    ----------
    group : dataclass of the options
    keywords : values by name
    function : name of the function, for the error
    base : values of the options that `keywords` does not have; the defaults unless given

    Raises
    ------
    CallError, naming the nearest options, for a keyword that the group does not have.
    """
    names = [each.name for each in options_of(group)]
    for name in keywords:
        if name not in names:
            raise CallError(f"{function} has no option called {name!r}; {suggest(name, names)}")
    if base is None:
        return group(**keywords)
    return replace(base, **keywords)  # type: ignore[type-var]


def values_of(group: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a mapping that are options of a group."""
    names = {each.name for each in options_of(group)}
    return {name: value for name, value in values.items() if name in names}


def json_schema(group: type, fill: Callable[[str], str] = str) -> dict[str, Any]:
    """Return the JSON schema of a group: an object with a property for each option of a file.

    Units are in the key `unit`, the heading of `--help` in `panel`.

    Parameters
    ----------
    group : dataclass of options
    fill : function that fills the placeholders of help texts with words of tables
    """
    properties = {}
    for each in options_of(group):
        if each.spec.python_only:
            continue
        row: dict[str, Any] = {"description": fill(each.spec.help), **_type_schema(each)}
        if each.spec.least is not None:
            row["minimum"] = each.spec.least
        for key in ("unit", "panel"):
            if getattr(each.spec, key):
                row[key] = getattr(each.spec, key)
        if each.default is not None and each.default is not MISSING:
            row["default"] = each.default
        properties[each.name] = row
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": group.__name__,
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }


def _type_schema(each: Option) -> dict[str, Any]:
    """Return the part of a property that says which values are allowed."""
    or_null = each.annotation.endswith(" | None")
    if each.spec.schema is not None:
        return dict(each.spec.schema)
    if each.spec.choices:
        return {"enum": [*each.spec.choices, *((None,) if or_null else ())]}
    if each.kind is None:
        return {}
    name = JSON_TYPES[each.kind]
    return {"type": [name, "null"] if or_null else name}


def markdown_table(group: type, fill: Callable[[str], str] = str) -> str:
    """Return a group as a table in Markdown: name, flag, unit, default and meaning.

    Parameters
    ----------
    group : dataclass of options
    fill : function that fills the placeholders of help texts with words of tables
    """
    rows = ["| option | command line | unit | default | meaning |", "|---|---|---|---|---|"]
    for each in options_of(group):
        flag = f"`{each.flag}`" if each.spec.offered else ""
        default = "" if each.default is None else f"`{each.default!r}`"
        unit, meaning = (
            text.replace("|", "\\|") for text in (each.spec.unit, fill(each.spec.help))
        )
        rows.append(f"| `{each.name}` | {flag} | {unit} | {default} | {meaning} |")
    return "\n".join(rows) + "\n"
