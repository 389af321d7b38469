"""A Log from a table: which columns are which signal, of which joint, in which unit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import CallError, LogError, mention, suggest
from ..log import Log
from ..schema import Payload
from ..units import unit_factor
from .column_table import ColumnTable
from .columns import QUANTITIES, SCHEMA, NamedColumn, parse_column
from .joint_columns import arrange, list_columns, simplified
from .mapping import Mapping
from .time_column import read_time

Array = NDArray[np.float64]
Names = tuple[str, ...] | None

BASIC = ("q", "qd", "qdd", "tau", "current", "effort")
"""Quantities that must be understood; others are left out with a remark if they do not fit."""


class Picked(NamedTuple):
    """A quantity in SI units, with the names of its joints and the unit in the file.

    `in_order` has the columns that were given to the joints by their order, since no name says
    whose they are.
    """

    value: Array
    joints: Names
    unit: str | None
    in_order: tuple[str, ...] = ()


def to_log(table: ColumnTable, robot: Names, mapping: Mapping) -> Log:
    """Return the log in a table.

    `robot` are the joint names to look for, in their order; without them the file's own order is
    kept.
    """
    if mapping.layout is not None:
        table = name_by_layout(table, mapping.layout, len(robot) if robot else None)
    joints = robot or mapping.joints or table.joint_names
    known = tuple(dict.fromkeys((*(joints or ()), *(table.joint_names or ()))))
    parsed = [parse_column(name, known) for name in table.names]
    time = read_time(table, parsed, mapping.columns.get("t"), mapping.time_unit)
    picked, left_out = pick_all(table, parsed, joints, mapping)
    if "q" not in picked:
        raise LogError(no_positions(table, robot))
    if len(picked["q"].value) == 1:
        raise LogError(f"{table.source}: the file has one row; expected samples at several times")
    signals, effort = torque_or_current(
        table, {quantity: each.value for quantity, each in picked.items()}, mapping
    )
    t, remarks = time.t, (*time.remarks, *without_torque(signals, mapping))
    if t is None:
        if mapping.rate is None:
            raise LogError(
                f"{table.source}: no column of time: name it with"
                f" {mention('columns', {'t': '...'})}, or give {mention('rate')} [Hz]."
                f" {list_columns(table)}"
            )
        t, remarks = (
            np.arange(len(signals["q"])) / mapping.rate,
            (
                f"No column of time: {mapping.rate:.6g} Hz, as given.",
                *remarks,
            ),
        )
    units = {"t": time.unit} | {quantity: each.unit for quantity, each in picked.items()}
    names = joints or next((each.joints for each in picked.values() if each.joints), None)
    return Log(
        t=t,
        **signals,
        joint_names=names if names is not None and len(names) == signals["q"].shape[1] else None,
        effort=effort,
        remarks=table.remarks
        + remarks
        + left_out
        + taken_in_order(picked, robot)
        + skipped_commands(parsed),
        source=table.source,
        payload=payload_of(table),
        units=table.metadata.get("units", {})
        | {name: unit for name, unit in units.items() if unit},
    )


def pick_all(
    table: ColumnTable, parsed: Sequence[NamedColumn], joints: Names, mapping: Mapping
) -> tuple[dict[str, Picked], tuple[str, ...]]:
    """Return all quantities of the table by name, and remarks on columns that do not fit."""
    picked: dict[str, Picked] = {}
    remarks = []
    for quantity in (*BASIC, *(name for name in QUANTITIES if name not in ("t", *BASIC))):
        try:
            signal = pick(table, parsed, quantity, joints, mapping)
        except LogError as error:
            if quantity in BASIC or quantity in mapping.columns:
                raise
            remarks.append(
                f"{quantity} was left out: {str(error).removeprefix(f'{table.source}: ')}"
            )
            continue
        if signal is not None and (quantity in BASIC or np.any(np.isfinite(signal.value))):
            picked[quantity] = signal
            joints = joints or signal.joints
    return picked, tuple(remarks)


def pick(
    table: ColumnTable,
    parsed: Sequence[NamedColumn],
    quantity: str,
    joints: Names,
    mapping: Mapping,
) -> Picked | None:
    """Return a quantity in SI units; None where the table has none."""
    asked = mapping.columns.get(quantity)
    if asked is not None:
        return pick_asked(table, quantity, asked, joints, mapping)
    matching = [c for c in parsed if c.quantity == quantity and not c.command]
    if quantity == "q" and not matching:  # positions of motors or links are all there is
        matching = [
            c for c in parsed if c.quantity in ("motor_position", "link_position") and not c.command
        ]
    if not matching:
        return None
    blocks = [c for c in matching if table.columns[c.name].ndim == 2]
    if blocks:
        return order_block(
            table,
            quantity,
            in_si(table, quantity, [single_block(table, quantity, blocks)], mapping),
            joints,
        )
    row = SCHEMA.get(quantity)
    if row is not None and row.components:
        return in_si(table, quantity, by_component(table, quantity, matching), mapping)
    if row is not None and () in row.shapes and [c.label for c in matching] == [""]:
        signal = in_si(table, quantity, matching, mapping)
        return signal._replace(value=signal.value[:, 0])
    columns = arrange(table, quantity, matching, joints)
    if columns is None:
        return None
    labels = tuple(c.label for c in columns)
    signal = in_si(table, quantity, columns, mapping)._replace(
        joints=joints or (None if all(map(str.isdigit, labels)) else labels)
    )
    by_name = all(
        simplified(label) == simplified(joint)
        for label, joint in zip(labels, joints or labels, strict=True)
    )
    return signal if by_name else signal._replace(in_order=tuple(c.name for c in columns))


def pick_asked(
    table: ColumnTable, quantity: str, asked: Any, joints: Names, mapping: Mapping
) -> Picked:
    """Return the columns that the mapping names: one block, a list in order, or {joint: column}."""
    if isinstance(asked, str):
        table.column(asked)
        return order_block(
            table, quantity, in_si(table, quantity, [parse_column(asked)], mapping), joints
        )
    if isinstance(asked, dict):
        order = tuple(joints or asked)
        missing = [joint for joint in order if joint not in asked]
        if missing:
            raise LogError(
                f"{table.source}: columns.{quantity} names no column for joint '{missing[0]}':"
                f" {suggest(missing[0], asked)}"
            )
        joints, asked = order, [asked[joint] for joint in order]
    for name in asked:
        table.column(name)
    check_column_count(table, quantity, len(asked), joints)
    return in_si(table, quantity, [parse_column(name) for name in asked], mapping)._replace(
        joints=joints
    )


def in_si(
    table: ColumnTable, quantity: str, columns: Sequence[NamedColumn], mapping: Mapping
) -> Picked:
    """Return the columns side by side (N, n), each in SI units."""
    row = SCHEMA.get(quantity)
    of_columns = list(row.components.values()) if row else []
    parts, from_unit = [], None
    for i, column in enumerate(columns):
        si = (
            of_columns[i]
            if len(of_columns) == len(columns)
            else row.unit
            if row and not of_columns
            else ""
        )
        unit = column.unit or (mapping.angle if si.startswith("rad") else None)
        scale = unit_factor(unit, si) if si else 1.0
        if scale is None:
            raise LogError(
                f"{table.source}: column '{column.name}' is in '{unit}', which is not a unit of"
                f" {quantity}"
            )
        from_unit = unit if scale != 1.0 else from_unit
        parts.append(table.numbers(column.name) * scale)
    return Picked(np.column_stack(parts), None, from_unit)


def single_block(table: ColumnTable, quantity: str, blocks: Sequence[NamedColumn]) -> NamedColumn:
    """Return the only block, or the one that is called just like the quantity."""
    plain = [c for c in blocks if c.name.lower() == quantity] or list(blocks)
    if len(plain) > 1:
        raise LogError(
            f"{table.source}: several arrays could be {quantity}:"
            f" {', '.join(c.name for c in plain)}; say which:"
            f" {mention('columns', {quantity: '...'})}"
        )
    return plain[0]


def order_block(table: ColumnTable, quantity: str, signal: Picked, joints: Names) -> Picked:
    """Put the columns of an array into joint order, where the file names its joints."""
    names, count = table.joint_names, signal.value.shape[1]
    if (
        names is None
        or joints is None
        or len(names) != count
        or joints == names
        or components_of(quantity)
    ):
        check_column_count(table, quantity, count, joints)
        unnamed = joints is not None and joints != names and not components_of(quantity)
        columns = tuple(f"{quantity}[{j}]" for j in range(count)) if unnamed else ()
        return signal._replace(joints=None if components_of(quantity) else joints, in_order=columns)
    absent = [joint for joint in joints if joint not in names]
    if absent:
        raise LogError(
            f"{table.source}: no joint '{absent[0]}' in {quantity}: {suggest(absent[0], names)}"
        )
    return signal._replace(
        value=signal.value[:, [names.index(joint) for joint in joints]], joints=joints
    )


def components_of(quantity: str) -> tuple[str, ...]:
    """Return the names of the components of a signal that is not per joint; () for one that is."""
    return tuple(SCHEMA[quantity].components) if quantity in SCHEMA else ()


def check_column_count(table: ColumnTable, quantity: str, count: int, joints: Names) -> None:
    """Raise LogError where the numbers of columns and of joints or components differ."""
    expected, what = (
        (components_of(quantity), "components") if components_of(quantity) else (joints, "joints")
    )
    if expected is not None and len(expected) != count:
        raise LogError(
            f"{table.source}: {count} columns of {quantity} for {len(expected)} {what}:"
            f" {', '.join(expected)}"
        )


def by_component(
    table: ColumnTable, quantity: str, columns: Sequence[NamedColumn]
) -> list[NamedColumn]:
    """Return the columns in the order of the signal's components.

    Raise LogError where one is missing.
    """
    by_label = {c.label: c for c in columns}
    missing = [f"{quantity}_{name}" for name in components_of(quantity) if name not in by_label]
    if missing:
        raise LogError(f"{table.source}: no column {', '.join(missing)}")
    return [by_label[name] for name in components_of(quantity)]


def torque_or_current(
    table: ColumnTable, signals: dict[str, Array], mapping: Mapping
) -> tuple[dict[str, Array], str | None]:
    """Return the signals with `effort` as tau or current, and which of both it is.

    It must be stated: the data do not show it.
    """
    effort = signals.pop("effort", None)
    stated = mapping.effort or table.metadata.get("effort")
    if effort is not None and "tau" not in signals:
        if stated is None:
            raise LogError(
                f"{table.source}: is `effort` torque [N m] or motor current [A]? The data do not"
                f" show it: give {mention('effort', 'torque')} or {mention('effort', 'current')}"
            )
        signals["tau" if stated == "torque" else "current"] = effort
    return signals, stated or (
        "torque" if "tau" in signals else "current" if "current" in signals else None
    )


def payload_of(table: ColumnTable) -> Payload | None:
    """Return the payload that the file's metadata has; None for none."""
    try:
        return Payload(**data) if (data := table.metadata.get("payload")) else None
    except (TypeError, CallError) as error:
        raise LogError(f"{table.source}: its payload cannot be read: {error}") from None


def name_by_layout(table: ColumnTable, layout: str, n: int | None) -> ColumnTable:
    """Return the table with columns named after a layout such as 't q tau'.

    One column of time, n of each signal of joints.
    """
    parts = layout.split()
    fixed = {
        part: ["t"] if part == "t" else [f"{part}_{name}" for name in components_of(part)]
        for part in parts
    }
    wide = [part for part in parts if not fixed[part]]
    known = sum(len(names) for names in fixed.values())
    n = n or ((len(table.names) - known) // len(wide) if wide else 0)
    if not wide or len(table.names) != known + n * len(wide):
        raise LogError(
            f"{table.source}: layout '{layout}' with {n} joints needs {known + n * len(wide)}"
            f" columns, found {len(table.names)}"
        )
    return table.renamed(
        [name for part in parts for name in fixed[part] or [f"{part}{j + 1}" for j in range(n)]]
    )


# sentences


def without_torque(signals: dict[str, Array], mapping: Mapping) -> tuple[str, ...]:
    """Return a remark on a log of currents alone, unless the mapping has torque constants."""
    constants = (
        mapping.transmission is not None and mapping.transmission.torque_constant is not None
    )
    if "tau" in signals or "current" not in signals or constants:
        return ()
    return (
        (
            "The log has currents [A] and no torques: torque_constant [N m/A] of a transmission"
            " makes torques of them."
        ),
    )


def skipped_commands(parsed: Sequence[NamedColumn]) -> tuple[str, ...]:
    """Return a remark on columns that are left out since they were not measured."""
    names = [c.name for c in parsed if c.command and c.quantity in QUANTITIES]
    return (
        (f"Columns that hold commands, not measurements, were left out: {', '.join(names[:12])}.",)
        if names
        else ()
    )


def taken_in_order(picked: dict[str, Picked], robot: Names) -> tuple[str, ...]:
    """Return a remark on columns that were assigned to joints by order, not by name."""
    columns = {quantity: signal.in_order for quantity, signal in picked.items() if signal.in_order}
    if robot is None or not columns:
        return ()
    shown = next(iter(columns.values()))
    pairs = ", ".join(f"{column} is {joint}" for column, joint in zip(shown, robot, strict=True))
    return (
        (
            f"Columns of {', '.join(columns)} name no joints of the robot and were taken in its"
            f" order: {pairs}. Is that right?"
        ),
    )


def no_positions(table: ColumnTable, robot: Names) -> str:
    """Return the sentence for a table in which no column is a position."""
    such = (
        f"'q_{robot[0]}', '{robot[0]}.position', or q1 to q{len(robot)}" if robot else "q1, q2, ..."
    )
    layout = f", or with {mention('layout', 't q tau')} as there is no header"
    columns = f"say which they are with {mention('columns', {'q': [...]})}"
    how = f"{columns}{layout if table.headless else ''}"
    return (
        f"{table.source}: no column holds positions: {how}. Expected columns such as {such}."
        f" {list_columns(table)}"
    )
