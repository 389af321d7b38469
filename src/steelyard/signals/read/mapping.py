"""Mapping: what the columns of a log mean, given in a call or in a small TOML file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from collections.abc import Mapping as Dictionary
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from ...errors import CallError, LogError, suggest
from ..clean.transmission import Transmission
from ..log import EFFORTS
from ..units import UNITS, spelled
from .columns import QUANTITIES

VECTORS = ("ratio", "sign", "offset", "torque_constant")
SIDES = ("position", "torque")


@dataclass(frozen=True, eq=False)
class Mapping:
    """What a log's columns mean. Everything is optional where the columns' names say it.

    columns: per signal of the schema, or effort, a column, a list of columns in the joints' order, or {joint: column}.
    joints: names for the columns of q in their order.  effort: 'torque' or 'current', what an effort column holds.
    rate [Hz] where there is no time; time_unit 's', 'ms', 'us', 'ns'; angle 'rad' or 'deg'.
    layout: the quantities of a file without header, as 't q qd tau'.  topic: of a bag.  files: {quantity: file}, or a list.
    transmission: gears, coupling, signs, offsets, torque constants, applied last.
    """

    columns: Dictionary[str, Any] = field(default_factory=dict)
    joints: tuple[str, ...] | None = None
    effort: str | None = None
    rate: float | None = None
    time_unit: str | None = None
    angle: str | None = None
    layout: str | None = None
    topic: str | None = None
    files: Dictionary[str, str] | tuple[str, ...] | None = None
    transmission: Transmission | None = None

    def __post_init__(self) -> None:
        errors = field_errors({f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("transmission", "files")})
        if errors:
            raise CallError("mapping: " + "; ".join(errors))

    def updated(self, **given: Any) -> Mapping:
        """Return a copy with the given fields that are not None."""
        own = {f.name: getattr(self, f.name) for f in fields(self)}
        return Mapping(**(own | {name: value for name, value in given.items() if value is not None}))


def read_mapping(path: str | Path, joints: Sequence[str] | None = None) -> Mapping:
    """Read a mapping from a TOML file; all its errors are reported at once. `joints` are the robot's, for tables keyed by joint."""
    path = Path(path)
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise LogError(f"{path}: no such mapping file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise LogError(f"{path}: not a TOML file: {error}") from None
    return mapping_of(data, str(path), joints)


def mapping_of(data: Dictionary[str, Any], source: str = "mapping", joints: Sequence[str] | None = None) -> Mapping:
    """Make a mapping of a dictionary such as a TOML file gives; LogError lists all its errors."""
    gears = data.get("transmission")
    errors = field_errors({name: value for name, value in data.items() if name != "transmission"})
    names = data.get("joints") or joints
    vectors = {}
    if isinstance(gears, dict):
        errors += [
            f"transmission.{key}: unknown: {suggest(key, (*VECTORS, *SIDES, 'coupling'))}"
            for key in gears
            if key not in (*VECTORS, *SIDES, "coupling")
        ]
        vectors = {key: in_order(key, gears[key], names, errors) for key in VECTORS if key in gears}
    elif gears is not None:
        errors.append(f"transmission: a table was expected, found {gears!r}")
    if errors:
        raise LogError(f"{source}: " + "; ".join(errors))
    rest: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in data.items() if name != "transmission"
    }
    if gears is None:
        return Mapping(**rest)
    try:
        made = Transmission.of(**vectors, coupling=gears.get("coupling"), **{key: gears[key] for key in SIDES if key in gears})
    except CallError as error:
        raise LogError(f"{source}: {error}") from None
    return Mapping(**rest, transmission=made)


def in_order(key: str, value: Any, names: Sequence[str] | None, errors: list[str]) -> Any:
    """Return a vector given as a list or by joint name; its errors are added to `errors`."""
    if isinstance(value, dict):
        if names is None:
            errors.append(f"transmission.{key}: keyed by joint, but the joints are not known: give joints = [...]")
            return None
        errors += [f"transmission.{key}.{joint}: no such joint: {suggest(joint, names)}" for joint in value if joint not in names]
        value = [value.get(joint, 0.0 if key == "offset" else 1.0) for joint in names]
    if not isinstance(value, list) or not all(isinstance(v, (int, float)) and not isinstance(v, bool) and np.isfinite(v) for v in value):
        errors.append(f"transmission.{key}: one finite number per joint was expected, found {value!r}")
    return value


def field_errors(data: Dictionary[str, Any]) -> list[str]:
    """Return the errors in the fields of a mapping, one sentence each."""
    known = {f.name for f in fields(Mapping)}
    errors = [f"{key}: unknown: {suggest(key, sorted(known))}" for key in data if key not in known]
    for key, (good, expected) in CHECKS.items():
        value = data.get(key)
        if value is not None and not good(value):
            errors.append(f"{key}: {expected} was expected, found {value!r}")
    for part in ("columns", "files"):
        if isinstance(data.get(part), dict):
            errors += [f"{part}.{key}: unknown: {suggest(key, QUANTITIES)}" for key in data[part] if key not in QUANTITIES]
    return errors


def is_string(value: Any) -> bool:
    """Return whether it is a string."""
    return isinstance(value, str)


def is_names(value: Any) -> bool:
    """Return whether it is a list of strings."""
    return isinstance(value, (list, tuple)) and all(map(is_string, value))


CHECKS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "effort": (lambda v: v in EFFORTS, "'torque' or 'current'"),
    "rate": (lambda v: isinstance(v, (int, float)) and not isinstance(v, bool) and v > 0, "a positive number [Hz]"),
    "time_unit": (lambda v: is_string(v) and spelled(v) in UNITS["s"], "'s', 'ms', 'us' or 'ns'"),
    "angle": (lambda v: v in ("rad", "deg"), "'rad' or 'deg'"),
    "joints": (is_names, "a list of joint names"),
    "layout": (lambda v: is_string(v) and bool(v.split()) and all(w in QUANTITIES for w in v.split()), "quantities such as 't q qd tau'"),
    "topic": (is_string, "a name such as '/joint_states'"),
    "columns": (lambda v: isinstance(v, dict), "a table of quantities"),
    "files": (lambda v: is_names(v) or (isinstance(v, dict) and is_names(list(v.values()))), "a list of files or a table {quantity: file}"),
}
