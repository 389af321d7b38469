"""A Log out of a table: which columns are q, qd, qdd, tau, current, of which joint, in which unit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import LogError, choices
from ..log import Log
from ..units import factor
from .clock import read_time
from .column_table import Table
from .columns import Column, parse
from .mapping import Mapping

Array = NDArray[np.float64]
Signal = tuple[Array, "tuple[str, ...] | None"]

SIGNALS = ("q", "qd", "qdd", "tau", "current", "effort")


def assemble(table: Table, robot: Sequence[str] | None, mapping: Mapping) -> Log:
    """The log in a table. `robot` are the joint names to look for, in their order; without them the file's own order stands."""
    if mapping.layout is not None:
        table = laid_out(table, mapping.layout, len(robot) if robot else None)
    joints = robot or mapping.joints or table.joint_names
    found = [parse(name, joints or ()) for name in table.names]
    t, said = read_time(table, found, mapping.columns.get("t"), mapping.time_unit)
    signals: dict[str, Array] = {}
    names: tuple[str, ...] | None = tuple(joints) if joints else None
    for quantity in SIGNALS:
        signal = pick(table, found, quantity, names, mapping)
        if signal is not None:
            signals[quantity], own = signal
            names = names or own
    if "q" not in signals:
        raise LogError(no_positions(table, robot))
    signals, effort = torque_or_current(table, signals, mapping)
    N = len(signals["q"])
    if t is None:
        if mapping.rate is None:
            raise LogError(f"{table.source}: no column of time: name it with columns={{'t': '...'}}, or give rate= [Hz]. {listed(table)}")
        t, said = np.arange(N) / mapping.rate, (f"No column of time: {mapping.rate:.6g} Hz, as given.",)
    skipped = [c.name for c in found if c.command and c.quantity in SIGNALS]
    if skipped:
        said += (f"Columns that hold commands, not measurements, were left out: {', '.join(skipped[:12])}.",)
    if names is not None and len(names) != signals["q"].shape[1]:
        names = None
    return Log(
        t=t,
        **signals,
        joint_names=names,
        effort=effort,
        remarks=table.remarks + said,
        source=table.source,
    )


def pick(table: Table, found: Sequence[Column], quantity: str, joints: Sequence[str] | None, mapping: Mapping) -> Signal | None:
    """The (N, n) array of a quantity and the names of its joints, in SI units; None where the table has none."""
    asked = mapping.columns.get(quantity)
    if asked is not None:
        return asked_for(table, quantity, asked, joints, mapping)
    own = [c for c in found if c.quantity == quantity and not c.command]
    blocks = [c for c in own if table.columns[c.name].ndim == 2]
    if blocks:
        return whole_block(table, quantity, in_si(table, quantity, [the_one(table, quantity, blocks)], mapping), joints)
    if not own:
        return None
    columns = arranged(table, quantity, own, joints)
    if columns is None:
        return None
    labels = tuple(c.label for c in columns)
    return in_si(table, quantity, columns, mapping), tuple(joints) if joints else (None if all(map(str.isdigit, labels)) else labels)


def asked_for(table: Table, quantity: str, asked: Any, joints: Sequence[str] | None, mapping: Mapping) -> Signal:
    """The columns that the mapping names: one block, a list in order, or {joint: column}."""
    if isinstance(asked, str):
        table.column(asked)
        return whole_block(table, quantity, in_si(table, quantity, [parse(asked)], mapping), joints)
    if isinstance(asked, dict):
        order = list(joints or asked)
        missing = [joint for joint in order if joint not in asked]
        if missing:
            raise LogError(f"{table.source}: columns.{quantity} names no column for joint '{missing[0]}': {choices(missing[0], asked)}")
        joints, asked = order, [asked[joint] for joint in order]
    for name in asked:
        table.column(name)
    return in_si(table, quantity, [parse(name) for name in asked], mapping), matching(table, quantity, len(asked), joints)


def in_si(table: Table, quantity: str, columns: Sequence[Column], mapping: Mapping) -> Array:
    """The columns side by side (N, n), each in SI units."""
    parts = []
    for column in columns:
        unit = column.unit or (mapping.angle if quantity in ("q", "qd", "qdd") else None)
        scale = 1.0 if quantity == "effort" else factor(unit, quantity)
        if scale is None:
            raise LogError(f"{table.source}: column '{column.name}' is in '{unit}', which is no unit of {quantity}")
        parts.append(table.numbers(column.name) * scale)
    return np.column_stack(parts)


def the_one(table: Table, quantity: str, blocks: Sequence[Column]) -> Column:
    """The only block there is, or the one that is called just like the quantity."""
    plain = [c for c in blocks if c.name.lower() == quantity] or list(blocks)
    if len(plain) > 1:
        raise LogError(
            f"{table.source}: several arrays could be {quantity}: {', '.join(c.name for c in plain)}; "
            f"say which: columns={{'{quantity}': '...'}}"
        )
    return plain[0]


def whole_block(table: Table, quantity: str, block: Array, joints: Sequence[str] | None) -> Signal:
    """An array of all joints, its columns in the order of the names where the file itself gives names."""
    own = table.joint_names
    if own is None or joints is None or len(own) != block.shape[1] or tuple(joints) == own:
        return block, matching(table, quantity, block.shape[1], joints)
    absent = [joint for joint in joints if joint not in own]
    if absent:
        raise LogError(f"{table.source}: no joint '{absent[0]}' in {quantity}: {choices(absent[0], own)}")
    return block[:, [own.index(joint) for joint in joints]], tuple(joints)


def matching(table: Table, quantity: str, count: int, joints: Sequence[str] | None) -> tuple[str, ...] | None:
    """The joints' names where there are as many as columns."""
    if joints is not None and len(joints) != count:
        raise LogError(f"{table.source}: {count} columns of {quantity} for {len(joints)} joints: {', '.join(joints)}")
    return tuple(joints) if joints else None


def arranged(table: Table, quantity: str, columns: Sequence[Column], joints: Sequence[str] | None) -> list[Column] | None:
    """The columns in the order of the joints: by name, by a name spelled a little differently, or by number."""
    labels = [c.label for c in columns]
    twice = next((c for c in columns if labels.count(c.label) > 1), None)
    if twice is not None and (joints is None or twice.label in joints or all(map(ends_in_number, labels))):
        same = ", ".join(c.name for c in columns if c.label == twice.label)
        raise LogError(
            f"{table.source}: several columns could be {quantity} of '{twice.label}': {same}; say which: columns={{'{quantity}': [...]}}"
        )
    numbered = all(map(ends_in_number, labels))
    if joints is None:
        return (
            sorted(columns, key=lambda c: number(c.label))
            if numbered and len({number(label) for label in labels}) == len(labels)
            else list(columns)
        )
    for key in (str, plainly):
        by_label = {key(c.label): c for c in columns}
        if all(key(joint) in by_label for joint in joints):
            return [by_label[key(joint)] for joint in joints]
    if numbered and len(columns) == len(joints) and not any(label in joints for label in labels):
        return sorted(columns, key=lambda c: number(c.label))
    if quantity in ("qd", "qdd"):  # they can be had from q
        return None
    raise LogError(missing_joint(table, quantity, columns, joints))


def missing_joint(table: Table, quantity: str, columns: Sequence[Column], joints: Sequence[str]) -> str:
    """The sentence for columns that do not fit the joints."""
    labels = [c.label for c in columns]
    if all(map(ends_in_number, labels)) and not any(label in joints for label in labels):
        names = ", ".join(c.name for c in columns)
        return f"{table.source}: {len(columns)} columns of {quantity} ({names}) for {len(joints)} joints: {', '.join(joints)}"
    absent = next(joint for joint in joints if plainly(joint) not in {plainly(label) for label in labels})
    return f"{table.source}: no column of {quantity} for joint '{absent}': {choices(absent, labels)}. {listed(table)}"


def torque_or_current(table: Table, signals: dict[str, Array], mapping: Mapping) -> tuple[dict[str, Array], str | None]:
    """What `effort` holds, put where it belongs. It is stated, never guessed."""
    signals = dict(signals)
    unnamed = signals.pop("effort", None)
    stated = mapping.effort or table.effort
    if unnamed is not None and "tau" not in signals:
        if stated is None:
            raise LogError(
                f"{table.source}: is `effort` torque [N m] or motor current [A]? It cannot be told from the data: "
                "give effort='torque' or effort='current'"
            )
        signals["tau" if stated == "torque" else "current"] = unnamed
    return signals, stated or ("torque" if "tau" in signals else "current" if "current" in signals else None)


def laid_out(table: Table, layout: str, n: int | None) -> Table:
    """A table whose columns are named after a layout such as 't q tau': one column of time, n of each other quantity."""
    parts = layout.split()
    wide = [p for p in parts if p != "t"]
    rest = len(table.names) - parts.count("t")
    n = n or (rest // len(wide) if wide else 0)
    if not wide or rest != n * len(wide):
        raise LogError(
            f"{table.source}: layout '{layout}' with {n} joints needs {parts.count('t') + n * len(wide)} columns, found {len(table.names)}"
        )
    names = [name for part in parts for name in (["t"] if part == "t" else [f"{part}{j + 1}" for j in range(n)])]
    return Table(dict(zip(names, table.columns.values(), strict=True)), table.source, table.joint_names, table.effort, table.remarks)


def no_positions(table: Table, robot: Sequence[str] | None) -> str:
    """The sentence for a table in which no column is a position."""
    wanted = (
        f" Expected columns such as 'q_{robot[0]}', '{robot[0]}.position', or q1 to q{len(robot)}."
        if robot
        else " Expected columns such as q1, q2, ..."
    )
    how = "say which they are with columns={'q': [...]}" + (
        ", or with layout='t q tau' as there is no header" if table.facts.get("headless") else ""
    )
    return f"{table.source}: no column holds positions: {how}.{wanted} {listed(table)}"


def listed(table: Table) -> str:
    """The columns that were found, to end a message with."""
    names = table.names
    return f"Columns found: {', '.join(names[:40])}{f', and {len(names) - 40} more' if len(names) > 40 else ''}."


def ends_in_number(label: str) -> bool:
    """Whether a label is numbered."""
    return bool(re.search(r"\d+$", label))


def number(label: str) -> int:
    """The number that ends a label."""
    match = re.search(r"\d+$", label)
    return int(match[0]) if match else 0


def plainly(label: str) -> str:
    """A label in lower case, without signs and without the word joint."""
    return re.sub(r"[^0-9a-z]|joint", "", label.lower()) or label
