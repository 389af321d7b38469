"""Table: the columns of a file, whatever its format, before anybody says what they mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import LogError, choices

Columns = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Table:
    """Named columns (N,) or blocks (N, n) of numbers or text, where they come from, and the joint names that the file itself gives."""

    columns: Mapping[str, Columns]
    source: str
    joint_names: tuple[str, ...] | None = None
    effort: str | None = None
    remarks: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self.columns)

    def column(self, name: str) -> Columns:
        """One column by its name, or LogError with the closest ones."""
        if name not in self.columns:
            raise LogError(f"{self.source}: no column '{name}': {choices(name, self.names)}")
        return self.columns[name]

    def numbers(self, name: str) -> NDArray[np.float64]:
        """One column as float64."""
        column = self.column(name)
        if column.dtype.kind in "OUS":
            bad = next((i for i, cell in enumerate(column.flat) if not is_number(cell)), 0)
            raise LogError(f"{self.source}: column '{name}' holds text: {str(column.flat[bad])!r} in row {bad + 1}")
        return np.asarray(column, np.float64)


def is_number(cell: object) -> bool:
    """Whether a cell can be read as a number; an empty one can, as NaN."""
    text = str(cell).strip()
    if not text:
        return True
    try:
        float(text)
    except ValueError:
        return False
    return True


def merge(tables: list[Table]) -> Table:
    """One table of several files that were logged together: same number of rows, columns side by side."""
    first = tables[0]
    columns: dict[str, Columns] = dict(first.columns)
    for table in tables[1:]:
        for name, column in table.columns.items():
            if name in columns and not np.array_equal(columns[name], column):
                raise LogError(
                    f"{first.source} and {table.source} both have a column '{name}', and they differ: "
                    "say which file is which, {'q': ..., 'tau': ...}"
                )
            columns[name] = column
    lengths = {table.source: len(next(iter(table.columns.values()))) for table in tables if table.columns}
    if len(set(lengths.values())) > 1:
        raise LogError("the files have different numbers of samples: " + ", ".join(f"{name} {count}" for name, count in lengths.items()))
    return Table(columns, first.source, first.joint_names, first.effort, tuple(r for table in tables for r in table.remarks))
