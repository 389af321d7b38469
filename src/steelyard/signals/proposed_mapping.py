"""Proposal of a mapping for an unknown log: the signal and joint of each column."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import LogError
from .log import Log
from .read.column_table import ColumnTable, merge
from .read.columns import NamedColumn, parse_column
from .read.joint_columns import arrange, list_columns, simplified
from .read.mapping import Mapping, mapping_of
from .read.read_log import of_quantity, read_table
from .read.time_column import read_time
from .read.to_log import name_by_layout, no_positions, single_block, to_log

SIGNALS = ("q", "qd", "qdd", "tau", "current", "effort")


class ProposedMapping(NamedTuple):
    """A proposed mapping: its fields, the joints that the log has, remarks, and open questions.

    `unknown` are fields that do not follow from the file: 'effort', 'rate', 'torque_constant'.
    `log` is the log as the mapping reads it, before any transmission; None while effort or rate is
    unknown.
    """

    fields: dict[str, Any]
    joints: tuple[str, ...]
    sentences: tuple[str, ...]
    unknown: tuple[str, ...]
    log: Log | None


def propose_mapping(
    paths: Sequence[Path], joints: Sequence[str], **options: Any
) -> ProposedMapping:
    """Propose a mapping for the log in one or several files of a robot with these joints.

    options: known fields of `Mapping`, such as effort, rate [Hz], layout, topic. A log may have
    some of the joints: by name, or as many numbered columns as the first of them. LogError names
    what cannot be matched.
    """
    settings = Mapping(**options)
    table, files = _table_of(paths, joints, settings)
    if settings.layout is not None:
        table = name_by_layout(table, settings.layout, None)
    parsed = [parse_column(name, joints) for name in table.names]
    moving, how = _joints_of(table, parsed, joints)
    columns = {} if table.joint_names and not table.metadata else _columns_of(table, parsed, moving)
    fields: dict[str, Any] = {**({"files": files} if files else {}), **options}
    unknown = []
    if read_time(table, parsed, None, settings.time_unit).t is None and settings.rate is None:
        unknown.append("rate")
    named = {c.quantity for c in parsed if not c.command}
    stated = settings.effort or table.metadata.get("effort")
    if "effort" in named and "tau" not in named and stated is None:
        unknown.append("effort")
    log = None if unknown else to_log(table, moving, mapping_of({**fields, "columns": columns}))
    if "tau" not in named and ("current" in named or stated == "current"):
        unknown.append("torque_constant")
    return ProposedMapping({**fields, "columns": columns}, moving, how, tuple(unknown), log)


def _table_of(
    paths: Sequence[Path], joints: Sequence[str], settings: Mapping
) -> tuple[ColumnTable, list[str] | dict[str, str] | None]:
    """Return the table of all files, and the `files` entry of a mapping.

    The entry is a list, a file per quantity, or None for a single file.
    """
    tables = [read_table(path, None, settings) for path in paths]
    if len(tables) == 1:
        return tables[0], None
    if all(
        {parse_column(name, joints).quantity for name in table.names} & set(SIGNALS)
        for table in tables
    ):
        return merge(tables), [str(path) for path in paths]
    quantities = [parse_column(path.stem).quantity for path in paths]
    doubtful = [
        str(path)
        for path, quantity in zip(paths, quantities, strict=True)
        if quantity is None or quantities.count(quantity) > 1
    ]
    if doubtful:
        raise LogError(
            f"{doubtful[0]}: neither its columns nor its name say what it holds: call it after q,"
            " qd, tau, effort or current"
        )
    named = dict(zip(map(str, quantities), tables, strict=True))
    files = {str(quantity): str(path) for quantity, path in zip(quantities, paths, strict=True)}
    return (
        merge([of_quantity(table, quantity, tuple(joints)) for quantity, table in named.items()]),
        files,
    )


def _joints_of(
    table: ColumnTable, parsed: Sequence[NamedColumn], joints: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the joints with positions in the table, in robot order, and how they were matched."""
    positions = _positions(parsed)
    if not positions:
        raise LogError(no_positions(table, tuple(joints)))
    blocks = [c for c in positions if np.ndim(table.columns[c.name]) == 2]
    labels = [c.label for c in positions]
    if blocks:
        width = table.columns[single_block(table, "q", blocks).name].shape[1]
        labels = list(table.joint_names) if table.joint_names else [""] * width
    known = {simplified(label) for label in labels if label}
    named = tuple(joint for joint in joints if simplified(joint) in known)
    if named:
        others = [joint for joint in joints if joint not in named]
        rest = f" The log does not have {', '.join(others)}: fixed." if others else ""
        return named, (f"{len(named)} joints were matched by name: {', '.join(named)}.{rest}",)
    if len(labels) > len(joints):
        raise LogError(
            f"{table.source}: {len(labels)} columns of positions for {len(joints)} joints:"
            f" {', '.join(joints)}. {list_columns(table)}"
        )
    first = tuple(joints[: len(labels)])
    return first, (
        (
            f"No column names a joint: the {len(first)} positions are assigned to "
            f"{', '.join(first)}, in this order."
        ),
    )


def _positions(parsed: Sequence[NamedColumn]) -> list[NamedColumn]:
    positions = [c for c in parsed if c.quantity == "q" and not c.command]
    return positions or [
        c for c in parsed if c.quantity in ("motor_position", "link_position") and not c.command
    ]


def _columns_of(
    table: ColumnTable, parsed: Sequence[NamedColumn], joints: tuple[str, ...]
) -> dict[str, Any]:
    """Return the columns of each signal: a block by its name, others by joint."""
    columns: dict[str, Any] = {}
    for quantity in SIGNALS:
        matching = (
            _positions(parsed)
            if quantity == "q"
            else [c for c in parsed if c.quantity == quantity and not c.command]
        )
        blocks = [c for c in matching if np.ndim(table.columns[c.name]) == 2]
        if blocks:
            columns[quantity] = single_block(table, quantity, blocks).name
        elif matching and (arranged := arrange(table, quantity, matching, joints)):
            columns[quantity] = {
                joint: column.name for joint, column in zip(joints, arranged, strict=True)
            }
    return columns
