"""Error messages of the command line: options instead of a function's arguments."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import get_args

from ..errors import Mention, SteelyardError

FLAGS = {  # arguments that commands spell in another way
    "overwrite": "--force", "logs": "LOG", "log": "LOG", "loaded": "LOG", "pose": "--xyz",
    "count": "--poses",
}  # fmt: skip


def command_flags(parameters: Iterable[inspect.Parameter]) -> dict[str, str]:
    """Return the flag of each option of a command, by the name of its parameter."""
    flags = {}
    for each in parameters:
        long = [name for name in _declared(each) if name.startswith("--")]
        flags[each.name] = long[0].partition("/")[0] if long else f"--{each.name.replace('_', '-')}"
    return flags


def typed_flags(parameters: Iterable[inspect.Parameter], words: Sequence[str]) -> dict[str, str]:
    """Return the spelling that was typed of each option that has several, such as `-o`."""
    flags = {}
    for each in parameters:
        spellings = _declared(each)
        for word in words:
            if len(spellings) > 1 and word.partition("=")[0] in spellings:
                flags[each.name] = word.partition("=")[0]
    return flags


def _declared(parameter: inspect.Parameter) -> list[str]:
    """Return the spellings of an option; typer keeps the first one as its default."""
    info = get_args(parameter.annotation)[1]
    declared = (info.default, *(info.param_decls or ()))
    return [name for name in declared if isinstance(name, str) and name.startswith("-")]


def command_line_text(error: SteelyardError, flags: Mapping[str, str]) -> str:
    """Return the message of an error with the arguments that it mentions as options.

    An argument without an option, but with a key in the file of --mapping or --config, is worded
    so: `rate = ... in the file of --mapping`.
    """
    sentence = error.spelled(lambda each: _spelled(each, flags))
    flag = flags.get(error.argument or "") or FLAGS.get(error.argument or "")
    before, name, rest = sentence.partition(error.argument or "\n")
    if flag is None or not name or not (not before or before[:-2].isidentifier()):
        return sentence
    return f"{flag} {rest.removeprefix(' = ')}" if rest.startswith(" = ") else f"{flag}{rest}"


def _spelled(each: Mention, flags: Mapping[str, str]) -> str:
    """Return a mentioned argument as an option, as a key of a file, or as Python spells it."""
    if not each.name:  # words for Python alone
        return ""
    flag = flags.get(each.name) or FLAGS.get(each.name)
    if flag is not None:
        value = "" if each.value in (None, "True", "False") else each.plain
        return f"{flag} {value}" if value else flag
    for option, keys in _file_keys().items():
        if option in flags and each.name in keys:
            return f"{each.name} = {_toml(each)} in the file of --{option}"
    return each.python


def _toml(each: Mention) -> str:
    """Return the value of a mention as TOML writes it; `...` without one."""
    if each.value is None:
        return "..."
    return each.value if each.value.startswith(("'", '"')) else each.plain


def _file_keys() -> dict[str, tuple[str, ...]]:
    """Return the keys of the files of --mapping and --config."""
    from ..signals.read.mapping import Mapping as LogMapping
    from .config import config_keys

    columns = tuple(field.name for field in fields(LogMapping))
    return {"mapping": (*columns, "files"), "config": config_keys()}
