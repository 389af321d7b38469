"""Assignment of columns to joints: by name, by a similar name, or by number."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...errors import LogError, mention, suggest
from .column_table import ColumnTable
from .columns import NamedColumn


def arrange(
    table: ColumnTable, quantity: str, columns: Sequence[NamedColumn], joints: Sequence[str] | None
) -> list[NamedColumn] | None:
    """Return the columns in joint order: by name, by a similar name, or by number."""
    labels = [c.label for c in columns]
    numbered = all(map(ends_in_number, labels))
    twice = next((c for c in columns if labels.count(c.label) > 1), None)
    if twice is not None and (joints is None or twice.label in joints or numbered):
        same = ", ".join(c.name for c in columns if c.label == twice.label)
        raise LogError(
            f"{table.source}: several columns could be {quantity} of '{twice.label}': {same}; say"
            f" which: {mention('columns', {quantity: [...]})}"
        )
    in_order = sorted(columns, key=lambda c: joint_number(c.label))
    if joints is None:
        return (
            in_order
            if numbered and len({joint_number(label) for label in labels}) == len(labels)
            else list(columns)
        )
    for key in (str, simplified):
        by_label = {key(c.label): c for c in columns}
        if all(key(joint) in by_label for joint in joints):
            return [by_label[key(joint)] for joint in joints]
    if numbered and len(columns) == len(joints) and not any(label in joints for label in labels):
        return in_order
    if quantity in ("qd", "qdd"):  # they can be computed from q
        return None
    raise LogError(missing_joint(table, quantity, columns, joints))


def missing_joint(
    table: ColumnTable, quantity: str, columns: Sequence[NamedColumn], joints: Sequence[str]
) -> str:
    """Return the sentence for columns that do not fit the joints."""
    labels = [c.label for c in columns]
    if all(map(ends_in_number, labels)) and not any(label in joints for label in labels):
        names = ", ".join(c.name for c in columns)
        return (
            f"{table.source}: {len(columns)} columns of {quantity} ({names}) for {len(joints)}"
            f" joints: {', '.join(joints)}"
        )
    absent = next(
        joint
        for joint in joints
        if simplified(joint) not in {simplified(label) for label in labels}
    )
    return (
        f"{table.source}: no column of {quantity} for joint '{absent}': {suggest(absent, labels)}."
        f" {list_columns(table)}"
    )


def list_columns(table: ColumnTable) -> str:
    """Return the columns that were found, to end a message with."""
    names = table.names
    return (
        "Columns found:"
        f" {', '.join(names[:40])}{f', and {len(names) - 40} more' if len(names) > 40 else ''}."
    )


def ends_in_number(label: str) -> bool:
    """Return whether a label ends in a number."""
    return bool(re.search(r"\d+$", label))


def joint_number(label: str) -> int:
    """Return the number that ends a label, 0 for none."""
    match = re.search(r"\d+$", label)
    return int(match[0]) if match else 0


def simplified(label: str) -> str:
    """Return a label in lower case, without signs and without the word joint."""
    return re.sub(r"[^0-9a-z]|joint", "", label.lower()) or label
