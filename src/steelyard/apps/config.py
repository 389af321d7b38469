"""`--config FILE.toml`: options in a file, so that a project is identified by one line.

Keys at the top are the options of `identify` and of reading logs; a table named by a command, such
as `[excite]`, has the options of its groups.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import CallError, suggest, translate_errors
from ..option_groups.excitation import ExcitationOptions
from ..option_groups.identification import FoldingOptions, IdentifyOptions
from ..option_groups.logs import JointSelectionOptions, LogReadingOptions
from ..option_groups.payload import PayloadOptions, StaticPoseOptions
from ..options import Option, options_of
from ..resource_limits import exists, read_regular
from ..toml_text import parse_toml

LOGS: Sequence[type] = (JointSelectionOptions, LogReadingOptions)
"""Groups whose keys every command with a log takes from a file."""
OF_LOGS = tuple(each.name for group in LOGS for each in options_of(group))
TOP: Sequence[type] = (IdentifyOptions, FoldingOptions)
"""Groups of the other keys at the top of a file."""
TABLES: Mapping[str, Sequence[type]] = {
    "excite": (ExcitationOptions,),
    "payload": (PayloadOptions, StaticPoseOptions),
}
"""Tables of a file by command, with the groups of options that each may have."""


def file_options(groups: Sequence[type]) -> dict[str, Option]:
    """Return the options of groups that a file may have, by name."""
    return {
        each.name: each
        for group in groups
        for each in options_of(group)
        if not each.spec.python_only
    }


def config_keys() -> tuple[str, ...]:
    """Return the keys that a file may have beside its tables."""
    return (*OF_LOGS, *sorted(file_options(TOP)))


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
    data |= {key: each.read(data[key]) for key, each in file_options(TOP).items() if key in data}
    return data | ({"mapping": path.parent / data["mapping"]} if "mapping" in data else {})


def read_table(path: Path, command: str, table: Any) -> dict[str, Any]:
    """Return the options of a command's table; texts are read as on the command line."""
    options = file_options(TABLES[command])
    if not isinstance(table, Mapping):
        raise CallError(f"{path}: {command} = {table!r}; expected a table [{command}]")
    values = {key.replace("-", "_"): value for key, value in table.items()}
    for key in values:
        if key not in options:
            raise CallError(
                f"{path}: [{command}] {key!r} is not an option; {suggest(key, options)}"
            )
    return {key: options[key].read(value) for key, value in values.items()}


def columns_of(file: Mapping[str, Any], typed: Mapping[str, Any]) -> tuple[Path | None, str | None]:
    """Return the mapping of a log and the meaning of its effort; typed values come first."""
    values = {**file, **typed}
    return values.get("mapping"), values.get("effort")


def chosen(file: Mapping[str, Any], typed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of an identification; typed options replace the file's."""
    stated = {key: value for key, value in typed.items() if value is not None}
    options = {**{key: value for key, value in file.items() if key not in TABLES}, **stated}
    typed_alone = "cutoff" in stated and "smoothing" not in stated
    if typed_alone or ("cutoff" in options and "smoothing" not in options):
        options["smoothing"] = "butterworth"
    return options
