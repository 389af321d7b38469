"""ColumnTable: the columns of a file of any format, before they have a meaning."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import LogError, suggest

Columns = NDArray[Any]

EMPTY = {"", "nan", "na", "n/a", "null", "none", "-"}
"""Cells of text that stand for no number, in lower case."""


@dataclass(frozen=True, eq=False)
class ColumnTable:
    """Named columns (N,) or blocks (N, n) of numbers or text.

    source: the file.  joint_names: those that the file itself gives.  headless: the file has no
    names, so they were made up. metadata: what a file written by steelyard says beside its signals
    (effort, payload, units, joint_names). lines: of a text file, where each row stands.
    """

    columns: Mapping[str, Columns]
    source: str
    joint_names: tuple[str, ...] | None = None
    remarks: tuple[str, ...] = ()
    headless: bool = False
    metadata: Mapping[str, Any] = field(default_factory=dict)
    lines: tuple[int, ...] = ()

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self.columns)

    def column(self, name: str) -> Columns:
        """Return a column by its name; raise LogError with the closest names if there is none."""
        if name not in self.columns:
            raise LogError(f"{self.source}: no column '{name}': {suggest(name, self.names)}")
        return self.columns[name]

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Return a column as float64; raise LogError if it holds text."""
        column = self.column(name)
        if is_text(column):
            bad = next((i for i, cell in enumerate(column.flat) if not is_number(cell)), 0)
            line = (
                f", line {self.lines[bad]} of the file"
                if column.ndim == 1 and len(self.lines) == len(column)
                else ""
            )
            raise LogError(
                f"{self.source}: column '{name}' holds text: {str(column.flat[bad])!r} in row"
                f" {bad + 1}{line}"
            )
        return np.asarray(column, np.float64)

    def renamed(self, names: list[str]) -> ColumnTable:
        """Return the table with other names for its columns."""
        return replace(
            self, columns=dict(zip(names, self.columns.values(), strict=True)), headless=False
        )


def is_text(column: Columns) -> bool:
    """Return whether a column holds text or objects, not numbers."""
    return column.dtype.kind in "OUS"


def is_number(cell: object, comma: bool = False) -> bool:
    """Return whether a cell is a number, with a decimal comma if `comma`, or empty."""
    text = str(cell).strip()
    if text.lower() in EMPTY:
        return True
    try:
        float(text.replace(",", ".") if comma else text)
    except ValueError:
        return False
    return "_" not in text


def read_metadata(text: str | None, source: str) -> dict[str, Any]:
    """Return the metadata that steelyard wrote into a file as JSON; {} for None."""
    try:
        data = json.loads(text) if text else {}
    except ValueError as error:
        raise LogError(f"{source}: its metadata is not JSON: {error}") from None
    return data if isinstance(data, dict) else {}


def written_joints(metadata: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the joint names of the metadata that steelyard wrote, None where it has none."""
    names = metadata.get("joint_names")
    return (
        tuple(names)
        if isinstance(names, list) and names and all(isinstance(name, str) for name in names)
        else None
    )


def merge(tables: list[ColumnTable]) -> ColumnTable:
    """Return one table of several files that were logged together.

    Same number of rows, columns side by side.
    """
    first = tables[0]
    columns: dict[str, Columns] = dict(first.columns)
    for table in tables[1:]:
        for name, column in table.columns.items():
            if name in columns and not np.array_equal(columns[name], column):
                raise LogError(
                    f"{first.source} and {table.source} both have a column '{name}', and they"
                    " differ: say which file is which, {'q': ..., 'tau': ...}"
                )
            columns[name] = column
    lengths = {
        table.source: len(next(iter(table.columns.values()))) for table in tables if table.columns
    }
    if len(set(lengths.values())) > 1:
        raise LogError(
            "the files have different numbers of samples: "
            + ", ".join(f"{name} {count}" for name, count in lengths.items())
        )
    return replace(
        first,
        columns=columns,
        headless=False,
        remarks=tuple(r for table in tables for r in table.remarks),
    )
