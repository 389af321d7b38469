"""Mapping: the meaning of a log's columns, stated in a call or in a small TOML file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Mapping as Dictionary
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypedDict

from ...errors import CallError, LogError, suggest, translate_errors
from ...option_groups.logs import EFFORTS
from ...resource_limits import exists, read_regular
from ...toml_text import parse_toml
from ..clean.correction import ORDERS, PER_JOINT, Correction
from ..clean.transmission import Transmission
from ..signal_thresholds import THRESHOLDS
from ..units import UNITS, spelled
from .columns import QUANTITIES

TABLES = ("transmission", "correction")
VECTORS = ("ratio", "sign", "offset", "torque_constant")
SIDES = ("position", "torque")


@dataclass(frozen=True, eq=False)
class Mapping:
    """The meaning of a log's columns; optional where the columns' names are clear.

    columns: per signal of the schema, or effort, a column, a list of columns in the joints' order,
    or {joint: column}. joints: names for the columns of q in their order.  effort: 'torque' or
    'current', what an effort column holds. rate [Hz] where there is no time; time_unit 's', 'ms',
    'us', 'ns'; angle 'rad' or 'deg'. layout: the quantities of a file without header, as 't q qd
    tau'.  topic: of a bag.  files: {quantity: file}, or a list. transmission: gears, coupling,
    signs, offsets, torque constants.  correction: what is wrong with the log, as the doctor finds
    it; applied last, to the joints of the robot.
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
    correction: Correction | None = None

    def __post_init__(self) -> None:
        errors = field_errors(
            {
                f.name: getattr(self, f.name)
                for f in fields(self)
                if f.name not in (*TABLES, "files")
            }
        )
        if errors:
            raise CallError("mapping: " + "; ".join(errors))

    def updated(self, **options: Any) -> Mapping:
        """Return a copy with the given fields that are not None."""
        current = {f.name: getattr(self, f.name) for f in fields(self)}
        return Mapping(
            **(current | {name: value for name, value in options.items() if value is not None})
        )


class MappingKeywords(TypedDict, total=False):
    """Keywords of `read_log`: the fields of `Mapping` but `effort`, which it names, and `files`."""

    columns: Dictionary[str, Any]
    joints: Sequence[str] | None
    rate: float | None
    time_unit: str | None
    angle: str | None
    layout: str | None
    topic: str | None
    transmission: Transmission | None
    correction: Correction | None


def read_mapping(path: str | Path, joints: Sequence[str] | None = None) -> Mapping:
    """Read a mapping from a TOML file; all its errors are reported at once.

    `joints` are the robot's, for tables keyed by joint.
    """
    path = Path(path)
    if not exists(path, LogError):
        raise LogError(f"{path}: no such mapping file")
    content = read_regular(path, "text", LogError)
    with translate_errors(f"{path}: not a TOML file", LogError):
        text = content.decode("utf-8")
    data = parse_toml(text, str(path), LogError)
    return mapping_of(data, str(path), joints)


def files_named(path: str | Path) -> list[Path]:
    """Return the files that a TOML file names as its log, in the order in which it names them.

    They are beside it.
    """
    path = Path(path)
    with translate_errors(f"{path}: not a TOML file", LogError):
        text = read_regular(path, "text", LogError).decode("utf-8")
    named = parse_toml(text, str(path), LogError).get("files") or ()
    names = named.values() if isinstance(named, dict) else named if isinstance(named, list) else ()
    return [path.parent / name for name in names if isinstance(name, str)]


def mapping_of(
    data: Dictionary[str, Any], source: str = "mapping", joints: Sequence[str] | None = None
) -> Mapping:
    """Make a mapping of a dictionary such as a TOML file gives; LogError lists all its errors."""
    plain: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in data.items()
        if name not in TABLES
    }
    errors = [
        *huge_numbers(data),
        *field_errors({name: value for name, value in data.items() if name not in TABLES}),
    ]
    names = data.get("joints") or joints
    gears = (
        transmission_options(data["transmission"], names, errors)
        if "transmission" in data
        else None
    )
    corrections = (
        correction_options(data["correction"], names, errors) if "correction" in data else None
    )
    if errors:
        raise LogError(f"{source}: " + "; ".join(errors))
    try:
        transmission = None if gears is None else Transmission.of(**gears)
        return Mapping(
            **plain,
            transmission=transmission,
            correction=None if corrections is None else Correction.of(**corrections),
        )
    except CallError as error:
        raise LogError(f"{source}: {error.message}") from None


def transmission_options(
    table: Any, names: Sequence[str] | None, errors: list[str]
) -> dict[str, Any]:
    """Return the arguments of a transmission in a table; its errors are added to `errors`."""
    if not is_table("transmission", table, (*VECTORS, *SIDES, "coupling"), errors):
        return {}
    if "coupling" in table and not is_matrix(table["coupling"]):
        errors.append(
            "transmission.coupling: rows of numbers, each as long, were expected, found"
            f" {table['coupling']!r:.200}"
        )
    usual = {"offset": 0.0}
    vectors = {
        key: in_order(f"transmission.{key}", table[key], names, usual.get(key, 1.0), errors)
        for key in VECTORS
        if key in table
    }
    return vectors | {key: table[key] for key in (*SIDES, "coupling") if key in table}


def correction_options(
    table: Any, names: Sequence[str] | None, errors: list[str]
) -> dict[str, Any]:
    """Return the arguments of a correction in a table; its errors are added to `errors`."""
    if not is_table("correction", table, tuple(Correction.__dataclass_fields__), errors):
        return {}
    usual = {"offset": 0.0, "delay": 0.0}
    options: dict[str, Any] = {}
    for key, value in table.items():
        if key in ORDERS:
            options[key] = joint_order(f"correction.{key}", value, names, errors)
        elif key in PER_JOINT:
            options[key] = in_order(f"correction.{key}", value, names, usual.get(key, 1.0), errors)
        elif isinstance(value, bool) if key != "clock" else is_measurable_number(value):
            options[key] = value
        elif key in Correction.__dataclass_fields__:
            errors.append(
                f"correction.{key}: {'a number' if key == 'clock' else 'true or false'} was"
                f" expected, found {value!r}"
            )
    return options | {"n": len(names)} if names else options


def is_table(name: str, table: Any, known: Sequence[str], errors: list[str]) -> bool:
    """Return whether it is a table; errors in its keys are added to `errors`."""
    if not isinstance(table, dict):
        errors.append(f"{name}: a table was expected, found {table!r}")
        return False
    errors += [f"{name}.{key}: unknown: {suggest(key, known)}" for key in table if key not in known]
    return True


def in_order(
    key: str, value: Any, names: Sequence[str] | None, usual: float, errors: list[str]
) -> Any:
    """Return a vector given as a list or by joint name, `usual` for others.

    Its errors are added to `errors`.
    """
    if isinstance(value, dict):
        if not known_joints(key, value, names, errors):
            return None
        value = [value.get(joint, usual) for joint in names or ()]
    if not isinstance(value, list) or not all(map(is_measurable_number, value)):
        errors.append(f"{key}: one finite number per joint was expected, found {value!r}")
    return value


def joint_order(key: str, value: Any, names: Sequence[str] | None, errors: list[str]) -> Any:
    """Return the index of the joint whose columns each joint takes.

    The value is {joint: joint}, or the list of their names.
    """
    listed = isinstance(value, list) and all(map(is_string, value))
    if listed and names is not None and len(value) == len(names):
        value = dict(zip(names, value, strict=True))
    if not isinstance(value, dict) or not all(map(is_string, value.values())):
        errors.append(
            f"{key}: a table {{joint: joint}} or the joints' names in their order was expected,"
            f" found {value!r}"
        )
        return None
    if not known_joints(key, {**value, **dict.fromkeys(value.values(), 0)}, names, errors):
        return None
    return [list(names or ()).index(value.get(joint, joint)) for joint in names or ()]


def known_joints(
    key: str, table: Dictionary[str, Any], names: Sequence[str] | None, errors: list[str]
) -> bool:
    """Return whether all keys of a table are joints; its errors are added to `errors`."""
    if names is None:
        errors.append(f"{key}: keyed by joint, but the joints are not known: give joints = [...]")
        return False
    wrong = [
        f"{key}.{joint}: no such joint: {suggest(joint, names)}"
        for joint in table
        if joint not in names
    ]
    errors += wrong
    return not wrong


def huge_numbers(value: Any, key: str = "") -> list[str]:
    """Return an error for each whole number larger than any measurement, nested ones too."""
    if isinstance(value, dict):
        return [
            error
            for name, item in value.items()
            for error in huge_numbers(item, f"{key}.{name}".lstrip("."))
        ]
    if isinstance(value, (list, tuple)):
        return [error for item in value for error in huge_numbers(item, key)]
    return (
        [f"{key}: a number beyond {THRESHOLDS.largest_number:g} was found"]
        if isinstance(value, int) and abs(value) > THRESHOLDS.largest_number
        else []
    )


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
            errors += [
                f"{part}.{key}: unknown: {suggest(key, QUANTITIES)}"
                for key in data[part]
                if key not in QUANTITIES
            ]
    return errors


def is_measurable_number(value: Any) -> bool:
    """Return whether it is a finite number, and not larger than any measurement."""
    return (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and abs(value) <= THRESHOLDS.largest_number
    )


def is_matrix(value: Any) -> bool:
    """Return whether it is a list of lists of finite numbers, each as long."""
    rows: Any = value if isinstance(value, (list, tuple)) else [None]
    return all(
        isinstance(row, (list, tuple))
        and len(row) == len(rows[0])
        and all(map(is_measurable_number, row))
        for row in rows
    )


def is_string(value: Any) -> bool:
    """Return whether it is a string."""
    return isinstance(value, str)


def is_names(value: Any) -> bool:
    """Return whether it is a list of strings."""
    return isinstance(value, (list, tuple)) and all(map(is_string, value))


CHECKS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "effort": (lambda v: v in EFFORTS, "'torque' or 'current'"),
    "rate": (lambda v: is_measurable_number(v) and v > 0, "a positive number [Hz]"),
    "time_unit": (lambda v: is_string(v) and spelled(v) in UNITS["s"], "'s', 'ms', 'us' or 'ns'"),
    "angle": (lambda v: v in ("rad", "deg"), "'rad' or 'deg'"),
    "joints": (is_names, "a list of joint names"),
    "layout": (
        lambda v: is_string(v) and bool(v.split()) and all(w in QUANTITIES for w in v.split()),
        "quantities such as 't q qd tau'",
    ),
    "topic": (is_string, "a name such as '/joint_states'"),
    "columns": (lambda v: isinstance(v, dict), "a table of quantities"),
    "files": (
        lambda v: is_names(v) or (isinstance(v, dict) and is_names(list(v.values()))),
        "a list of files or a table {quantity: file}",
    ),
}
