"""`--config FILE.toml`: options in a file, so that a project is identified by one line.

Keys at the top are the options of `identify` and of reading logs; a table named by a command, such
as `[excite]`, has the options of its group.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from ..errors import CallError, suggest, translate_errors
from ..option_groups.collision import CollisionOptions
from ..option_groups.excitation import ExcitationOptions
from ..options import options_of
from ..resource_limits import exists, read_regular
from ..toml_text import parse_toml

OF_LOGS = ("joints", "freeze", "mapping", "effort")
"""Keys that every command with a log takes from a file; the others are options of `identify`."""
TABLES: Mapping[str, type] = {"excite": ExcitationOptions, "payload": CollisionOptions}
"""Tables of a file by command, with the group of options that each may have."""


def config_keys() -> tuple[str, ...]:
    """Return the keys that a file may have beside its tables."""
    from ..identification.model.model_options import ModelOptions
    from ..identification.samples.preparation import Preparation

    names = {field.name for group in (ModelOptions, Preparation) for field in fields(group)}
    return (*OF_LOGS, "estimator", *sorted(names - {"controller"}))


def read_config(path: Path | None) -> dict[str, Any]:
    """Return the content of a file, {} for None; a key may be spelled as its option is.

    The path of a mapping is relative to the file's folder.
    """
    if path is None:
        return {}
    if not exists(path, CallError):
        raise CallError(f"there is no file {path}")
    content = read_regular(path, "text", CallError)
    with translate_errors(f"{path}: not a TOML file", CallError):
        text = content.decode("utf-8")
    data = {
        key.replace("-", "_"): value
        for key, value in parse_toml(text, str(path), CallError).items()
    }
    known = (*config_keys(), *TABLES)
    wrong = [f"{key!r} is not an option; {suggest(key, known)}" for key in data if key not in known]
    for command in data.keys() & TABLES.keys():
        data[command] = read_table(path, command, data[command])
    if wrong:
        raise CallError(f"{path}: {'; '.join(wrong)}")
    for key in ("mapping", "effort", "estimator"):
        if key in data and not isinstance(data[key], str):
            raise CallError(f"{path}: {key} = {data[key]!r}; expected a text")
    return data | ({"mapping": path.parent / data["mapping"]} if "mapping" in data else {})


def read_table(path: Path, command: str, table: Any) -> dict[str, Any]:
    """Return the options of a command's table; texts are read as on the command line."""
    options = {each.name: each for each in options_of(TABLES[command])}
    if not isinstance(table, Mapping):
        raise CallError(f"{path}: {command} = {table!r}; expected a table [{command}]")
    values = {key.replace("-", "_"): value for key, value in table.items()}
    for key in values:
        if key not in options:
            raise CallError(
                f"{path}: [{command}] {key!r} is not an option; {suggest(key, options)}"
            )
    return {key: options[key].read(value) for key, value in values.items()}


def columns_of(
    file: Mapping[str, Any], mapping: Path | None, effort: str | None
) -> tuple[Path | None, str | None]:
    """Return the mapping of a log and the meaning of its effort; typed values come first."""
    return mapping or file.get("mapping"), effort or file.get("effort")


def chosen(file: Mapping[str, Any], typed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of an identification; typed options replace the file's."""
    stated = {key: value for key, value in typed.items() if value is not None}
    options = {**{key: value for key, value in file.items() if key not in TABLES}, **stated}
    if "cutoff" in stated or ("cutoff" in options and "smoothing" not in options):
        options["smoothing"] = "butterworth"
    return options
