"""Joint states: messages of names, positions, velocities and efforts as a table per joint."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import LogError
from .column_table import ColumnTable, is_text
from .columns import parse_column
from .time_column import read_time

Array = NDArray[np.float64]

FIELDS = ("position", "velocity", "effort")
NAME_COLUMNS = ("name", "names", "joint", "joints", "joint_name", "joint_names")


class Message(NamedTuple):
    """One sensor_msgs/JointState: time t [s], joint names, as many numbers per field, or none."""

    t: float
    name: tuple[str, ...]
    position: Sequence[float]
    velocity: Sequence[float]
    effort: Sequence[float]


class Series(NamedTuple):
    """One joint: t (N,) and position, velocity, effort (N, 3), NaN where a message had none."""

    t: Array
    values: Array


def table_of(
    messages: Sequence[Message], source: str, selected: Sequence[str] | None = None
) -> ColumnTable:
    """Return a table of all joints, or of those `selected`, in any order of the messages."""
    if not messages:
        raise LogError(f"{source}: no joint state in it")
    series = series_by_joint(messages, source)
    joints = [name for name in selected or () if name in series] or list(series)
    chosen = [series[name] for name in joints]
    t, values, remarks = on_one_clock(joints, chosen)
    columns: dict[str, NDArray[Any]] = {"t": t}
    for i, field in enumerate(FIELDS):
        if np.any(np.isfinite(values[:, :, i])):
            columns |= {f"{name}.{field}": values[:, j, i] for j, name in enumerate(joints)}
    return ColumnTable(columns, source, tuple(joints), remarks=remarks)


def series_by_joint(messages: Sequence[Message], source: str) -> dict[str, Series]:
    """Return the series of each joint; messages of the same shape are stacked at once."""
    groups: dict[tuple[Any, ...], list[Message]] = {}
    for message in messages:
        groups.setdefault((message.name, *(len(getattr(message, f)) for f in FIELDS)), []).append(
            message
        )
    parts: dict[str, list[Series]] = {}
    for (names, *lengths), group in groups.items():
        n = len(names) or max(lengths)
        for length, field in zip(lengths, FIELDS, strict=True):
            if length not in (0, n):
                raise LogError(
                    f"{source}: a message has {n} names and {length} numbers in '{field}'"
                )
        t = np.array([message.t for message in group])
        stacked = np.full((len(group), n, 3), np.nan)
        for i, (length, field) in enumerate(zip(lengths, FIELDS, strict=True)):
            if length:
                stacked[:, :, i] = np.array([getattr(message, field) for message in group], float)
        for j, name in enumerate(names or tuple(f"joint{j + 1}" for j in range(n))):
            parts.setdefault(name, []).append(Series(t, stacked[:, j]))
    return {name: concatenate_series(pieces) for name, pieces in parts.items()}


def concatenate_series(parts: list[Series]) -> Series:
    """Concatenate series from several kinds of messages in order of time."""
    if len(parts) == 1:
        return parts[0]
    t, values = np.concatenate([p.t for p in parts]), np.concatenate([p.values for p in parts])
    order = np.argsort(t, kind="stable")
    return Series(t[order], values[order])


def on_one_clock(
    joints: Sequence[str], series: Sequence[Series]
) -> tuple[Array, Array, tuple[str, ...]]:
    """Return t (N,), values (N, n, 3) and remarks.

    As measured if all joints share times; otherwise interpolated to the longest series.
    """
    base = max(series, key=lambda s: len(s.t))
    if all(np.array_equal(s.t, base.t) for s in series):
        return base.t, np.stack([s.values for s in series], axis=1), ()
    start, stop = max(s.t.min() for s in series), min(s.t.max() for s in series)
    t = np.unique(base.t[(base.t >= start) & (base.t <= stop)])
    if len(t) == 0:
        raise LogError(f"the joints {', '.join(joints)} were never logged at the same time")
    moved = [
        name for name, s in zip(joints, series, strict=True) if not np.array_equal(s.t, base.t)
    ]
    values = np.stack([interpolate_series(s, t) for s in series], axis=1)
    return (
        t,
        values,
        (
            (
                f"Joints came in different messages: {', '.join(moved)} were interpolated to the"
                " time stamps of the others."
            ),
        ),
    )


def interpolate_series(series: Series, t: Array) -> Array:
    """Interpolate position, velocity and effort of a joint linearly at other times."""
    result = np.full((len(t), 3), np.nan)
    for i in range(3):
        good = np.isfinite(series.values[:, i])
        if good.any():
            result[:, i] = np.interp(t, series.t[good], series.values[good, i])
    return result


# joint states in text files


def joint_states_of_text(
    table: ColumnTable, joints: Sequence[str] | None, time_column: str | None, time_unit: str | None
) -> ColumnTable:
    """Return a table with one column per joint for a text file of joint states.

    Any other table as it is.
    """
    table = name_echoed_columns(table)
    names = names_column(table)
    if names is None or not field_columns(table):
        return table
    time = read_time(table, [parse_column(name) for name in table.names], time_column, time_unit)
    if time.t is None:
        raise LogError(
            f"{table.source}: joint states without a column of time: {', '.join(table.names)}"
        )
    wide = table_of(messages_of_text(table, time.t, names), table.source, joints)
    return replace(wide, metadata=table.metadata, remarks=time.remarks + wide.remarks)


def name_echoed_columns(table: ColumnTable) -> ColumnTable:
    """Name the columns that `ros2 topic echo --csv` writes.

    Seconds, nanoseconds, frame, names, positions, velocities, efforts.
    """
    columns = list(table.columns.values())
    text = [i for i, column in enumerate(columns) if column.dtype.kind == "O"]
    if not table.headless or not text or text[-1] < 3:
        return table
    first = next(i for i in text if i >= 2 and all(j in text for j in range(i, text[-1] + 1)))
    places = range(max(first, 3), text[-1] + 1)
    names = [str(columns[i][0]) for i in places]
    numbers = columns[text[-1] + 1 :]
    if not names or len(numbers) % len(names) or any(len(set(columns[i])) != 1 for i in places):
        return table
    of_field = (
        f"{name}.{field}" for field in FIELDS[: len(numbers) // len(names)] for name in names
    )
    named = dict(zip(of_field, numbers, strict=True))
    return ColumnTable(
        {"stamp.sec": columns[0], "stamp.nanosec": columns[1], **named}, table.source, tuple(names)
    )


def names_column(table: ColumnTable) -> str | None:
    """Return the column of text that holds joint names; None for none."""
    texts = [name for name, column in table.columns.items() if is_text(column)]
    return next(
        (
            name
            for name in texts
            if name.strip().lower().split(".")[-1].split("/")[-1] in NAME_COLUMNS
        ),
        None,
    )


def field_columns(table: ColumnTable) -> dict[str, str]:
    """Return {field: column}, found by the last word of the column's name."""
    last = {re.split(r"[./]", name.strip().lower())[-1]: name for name in table.names}
    return {field: last[field] for field in FIELDS if field in last}


def messages_of_text(table: ColumnTable, t: Array, names: str) -> list[Message]:
    """Return the messages of a table with a column of names.

    One joint per row, or lists in cells.
    """
    fields = field_columns(table)
    cells = {field: table.columns[column] for field, column in fields.items()}
    messages = []
    for i, cell in enumerate(table.columns[names]):
        numbers = [cell_numbers(cells[field][i]) if field in cells else () for field in FIELDS]
        messages.append(
            Message(float(t[i]), tuple(str(name) for name in cell_texts(cell)), *numbers)
        )
    return per_time_stamp(messages)


def per_time_stamp(messages: list[Message]) -> list[Message]:
    """Join rows of one joint each into one message per time stamp."""
    if any(len(message.name) != 1 for message in messages):
        return messages
    stamps: dict[float, list[Message]] = {}
    for message in messages:
        stamps.setdefault(message.t, []).append(message)

    def gathered(group: list[Message], field: str) -> tuple[Any, ...]:
        return tuple(x for message in group for x in getattr(message, field))

    return [
        Message(t, gathered(group, "name"), *(gathered(group, field) for field in FIELDS))
        for t, group in stamps.items()
    ]


def cell_texts(cell: Any) -> list[str]:
    """Return the names in a cell: a list, or text such as ['a', 'b'] or a."""
    if isinstance(cell, (list, tuple, np.ndarray)):
        return [str(x) for x in cell]
    return [
        part.strip(" '\"") for part in str(cell).strip("[]() ").split(",") if part.strip(" '\"")
    ]


def cell_numbers(cell: Any) -> list[float]:
    """Parse the numbers in a cell: a list, a number, or text such as [0.1, 0.2]."""
    if isinstance(cell, (list, tuple, np.ndarray)):
        return [float(x) for x in cell]
    if isinstance(cell, str):
        return [
            float(x)
            for x in re.findall(
                r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|nan|inf)", cell
            )
        ]
    return [float(cell)]
