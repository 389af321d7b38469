"""`--config FILE.toml`: the options of an identification in a file, so that a project is identified by one line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from ..errors import CallError, foreign, suggest
from ..resource_limits import exists, read_regular
from ..toml_text import parse_toml

OF_LOGS = ("joints", "freeze", "mapping", "effort")
"""Keys that every command with a log takes from a file; the others are those of `identify`."""


def config_keys() -> tuple[str, ...]:
    """Return the keys that a file may have."""
    from ..identification.model.model_options import ModelOptions
    from ..identification.samples.preparation import Preparation

    found = {field.name for group in (ModelOptions, Preparation) for field in fields(group)} - {"controller"}
    return (*OF_LOGS, "estimator", *sorted(found))


def read_config(path: Path | None) -> dict[str, Any]:
    """Return what a file says, {} for None; a key may be spelled as its option is. The path of a mapping is from the file's folder."""
    if path is None:
        return {}
    if not exists(path, CallError):
        raise CallError(f"there is no file {path}")
    content = read_regular(path, "text", CallError)
    with foreign(f"{path}: not a TOML file", CallError):
        text = content.decode("utf-8")
    data = {key.replace("-", "_"): value for key, value in parse_toml(text, str(path), CallError).items()}
    known = config_keys()
    wrong = [f"{key!r} is no option; {suggest(key, known)}" for key in data if key not in known]
    if wrong:
        raise CallError(f"{path}: {'; '.join(wrong)}")
    for key in ("mapping", "effort", "estimator"):
        if key in data and not isinstance(data[key], str):
            raise CallError(f"{path}: {key} = {data[key]!r}; expected a text")
    return data | ({"mapping": path.parent / data["mapping"]} if "mapping" in data else {})


def columns_of(file: Mapping[str, Any], mapping: Path | None, effort: str | None) -> tuple[Path | None, str | None]:
    """Return the mapping of a log and what its effort is, as typed or else as the file says."""
    return mapping or file.get("mapping"), effort or file.get("effort")


def chosen(file: Mapping[str, Any], typed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a command: those of the file, and over them those that were typed, which are not None."""
    given = {key: value for key, value in typed.items() if value is not None}
    made = {**file, **given}
    if "cutoff" in given or ("cutoff" in made and "smoothing" not in made):
        made["smoothing"] = "butterworth"
    return made
