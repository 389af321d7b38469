"""CSV with any delimiter, decimal point or comma, header or not, and comments.

Read by NumPy, large files by polars where it is installed, and cell by cell where neither can.
"""

from __future__ import annotations

import csv as standard
import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import LogError
from ...fork import threads_lost
from ...resource_limits import read_regular
from ..schema import METADATA
from ..signal_thresholds import THRESHOLDS
from ..units import is_unit
from .column_table import EMPTY, ColumnTable, is_number, read_metadata, written_joints

COMMENTS = ("#", "%", "//")
DELIMITERS = (";", "\t", "|", ",", " ")
NO_UNIT = ("", "-", "1")  # in a row of units
MEASURED = ("actual_q", "actual_qd", "actual_current", "target_q")
"""Joint columns of ur_rtde: positions [rad], velocities [rad/s], currents [A], commands [rad]."""

OF_A_UR = ("actual_TCP_pose_0", "target_moment_0", "joint_control_output_0", "speed_scaling")
"""Columns by which a recording of ur_rtde is known: others call positions actual_q too."""


class Dialect(NamedTuple):
    """The dialect of a text file: delimiter, decimal comma, header."""

    delimiter: str
    comma: bool
    header: tuple[str, ...] | None


def read_csv(path: Path, **_: Any) -> ColumnTable:
    """Return the columns of a text file, before they have a meaning."""
    lines = [
        (number, line) for number, line in enumerate(decoded(path).splitlines(), 1) if line.strip()
    ]
    numbered = [(number, line) for number, line in lines if not line.lstrip().startswith(COMMENTS)]
    body = [line for _, line in numbered]
    if not body:
        raise LogError(f"{path}: the file is empty: it holds no rows")
    comments = [
        line.strip().lstrip("#%/ ") for _, line in lines[:40] if line.lstrip().startswith(COMMENTS)
    ]
    written = next(
        (c.removeprefix(f"{METADATA}: ") for c in comments if c.startswith(f"{METADATA}: ")), None
    )
    dialect = sniff(body[:40], comments)
    rows = (
        body[1:]
        if dialect.header is not None and tuple(cells(body[0], dialect.delimiter)) == dialect.header
        else body
    )
    rows, dialect, remarks = without_units(rows, dialect)
    places = [number for number, _ in numbered[len(numbered) - len(rows) :]]
    if not rows:
        raise LogError(
            f"{path}: a header and no rows, so no samples: {', '.join(dialect.header or ())}"
        )
    by_library = (by_numpy, by_polars)
    if len(rows) * len(cells(rows[0], dialect.delimiter)) > THRESHOLDS.numpy_cells:
        by_library = (by_polars, by_numpy)
    columns = (
        by_library[0](rows, dialect)
        or by_library[1](rows, dialect)
        or by_hand(rows, dialect, path, places)
    )
    names = dialect.header or tuple(f"column{i + 1}" for i in range(len(columns)))
    if len(names) != len(columns):
        raise LogError(
            f"{path}: the header names {len(names)} columns ({', '.join(names)}), the rows have"
            f" {len(columns)}"
        )
    named = dict(zip(unique(names), columns, strict=True))
    metadata = read_metadata(written, str(path))
    return ur_rtde_table(
        ColumnTable(
            named,
            str(path),
            written_joints(metadata),
            remarks,
            dialect.header is None,
            metadata=metadata,
            lines=tuple(places),
        )
    )


def without_units(rows: list[str], dialect: Dialect) -> tuple[list[str], Dialect, tuple[str, ...]]:
    """Move a row of units below the header into the names, 'q1 [deg]', with a remark."""
    units = cells(rows[0], dialect.delimiter) if rows and dialect.header else []
    named = [unit.strip("[]()") for unit in units]
    if (
        not any(named)
        or len(named) != len(dialect.header or ())
        or not all(is_unit(unit) or unit in NO_UNIT for unit in named)
    ):
        return rows, dialect, ()
    header = tuple(
        f"{name} [{unit}]" if is_unit(unit) else name
        for name, unit in zip(dialect.header or (), named, strict=True)
    )
    seen = ", ".join(dict.fromkeys(unit for unit in named if is_unit(unit)))
    return (
        rows[1:],
        dialect._replace(header=header),
        (f"The row below the header was read as units: {seen}.",),
    )


def decoded(path: Path) -> str:
    """Return the text of a file, in UTF-8 or UTF-16 with or without its mark, else Latin-1."""
    data = read_regular(path, "memory", LogError)
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16")
    if b"\0" in data[:4096]:
        raise LogError(f"{path}: not a text file")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def sniff(body: Sequence[str], comments: Sequence[str]) -> Dialect:
    """Find delimiter, decimal comma and header from the first lines.

    The delimiter gives rows of equal length and the most numbers.
    """
    probe = body[1:] if len(body) > 1 else body

    def score(delimiter: str) -> tuple[bool, float, bool, int]:
        rows = [cells(line, delimiter) for line in probe]
        numeric = np.mean(
            [is_number(cell, comma) for row in rows for cell in row for comma in [delimiter != ","]]
        )
        even = len({len(row) for row in rows}) == 1 and len(rows[0]) > 1
        return (
            even,
            float(numeric),
            len(cells(body[0], delimiter)) > 1,
            -DELIMITERS.index(delimiter),
        )

    delimiter = max(DELIMITERS, key=score)
    rows = [cells(line, delimiter) for line in probe]
    comma = delimiter != "," and any(
        "," in cell and is_number(cell, True) for row in rows for cell in row
    )
    first = cells(body[0], delimiter)
    if any(not is_number(cell, comma) for cell in first) and not repeats_text(
        first, rows[0], comma
    ):
        return Dialect(delimiter, comma, tuple(first))
    named = [
        c
        for line in comments
        if len(c := cells(line, delimiter)) == len(first)
        and not any(is_number(x, comma) for x in c)
    ]
    return Dialect(delimiter, comma, tuple(named[-1]) if named and len(first) > 1 else None)


def repeats_text(first: Sequence[str], second: Sequence[str], comma: bool) -> bool:
    """Return whether the words of the first row are repeated in the second.

    Then they are data, such as joint names, and no header.
    """
    words = [i for i, cell in enumerate(first) if not is_number(cell, comma)]
    return (
        len(first) == len(second)
        and first is not second
        and all(first[i] == second[i] for i in words)
        and len(words) < len(first)
    )


def cells(line: str, delimiter: str) -> list[str]:
    """Return the cells of a line, quotes respected; runs of spaces count once."""
    if delimiter == " ":
        line = " ".join(line.split())
    return [
        cell.strip()
        for cell in next(standard.reader([line], delimiter=delimiter, skipinitialspace=True))
    ]


def by_numpy(rows: Sequence[str], dialect: Dialect) -> list[NDArray[Any]] | None:
    """Parse the columns by NumPy; return None where a cell is not a number."""
    text = (row.replace(",", ".") for row in rows) if dialect.comma else rows
    try:
        table = np.loadtxt(
            text,
            delimiter=None if dialect.delimiter == " " else dialect.delimiter,
            ndmin=2,
            comments=None,
        )
    except ValueError:
        return None
    return list(table.T.copy())


def by_polars(rows: Sequence[str], dialect: Dialect) -> list[NDArray[Any]] | None:
    """Parse the columns by polars.

    Return None where it cannot be used or rows differ in length, so that `by_hand` can name the
    row.
    """
    if dialect.delimiter == " " or threads_lost("polars"):
        return None
    try:
        import polars as pl
    except ImportError:
        return None
    try:
        frame = pl.read_csv(
            io.StringIO("\n".join(rows)),
            separator=dialect.delimiter,
            has_header=False,
            infer_schema=False,
        )
    except pl.exceptions.PolarsError:
        return None
    if frame.height != len(rows) or frame.null_count().row(0) != (0,) * frame.width:
        return None
    columns = []
    for series in frame:
        plain = series.str.strip_chars()
        numbers = (plain.str.replace(",", ".", literal=True) if dialect.comma else plain).cast(
            pl.Float64, strict=False
        )
        if numbers.null_count():
            return None
        columns.append(numbers.to_numpy().copy())
    return columns


def by_hand(
    rows: Sequence[str], dialect: Dialect, path: Path, lines: Sequence[int]
) -> list[NDArray[Any]]:
    """Parse the columns cell by cell.

    Empty cells are NaN, text stays text; raise LogError for a row of another length.
    """
    table = [cells(row, dialect.delimiter) for row in rows]
    width = len(dialect.header or table[0])
    for i, row in enumerate(table):
        if len(row) == width + 1 and row[-1] == "":
            del row[-1]  # a delimiter at the end of the line
        if len(row) != width:
            raise LogError(
                f"{path}, sample {i + 1} (line {lines[i]}): {len(row)} cells where {width} columns"
                f" were expected: {rows[i][:80]!r}"
            )
    return [column_of([row[i] for row in table], dialect.comma) for i in range(width)]


def column_of(cell: Sequence[str], comma: bool) -> NDArray[Any]:
    """Return numbers, or the text where a cell is neither a number nor empty."""
    if all(is_number(c, comma) for c in cell):
        return np.array(
            [
                np.nan if c.lower() in EMPTY else float(c.replace(",", ".") if comma else c)
                for c in cell
            ]
        )
    return np.array(cell, dtype=object)


def unique(names: Sequence[str]) -> list[str]:
    """Return the names, those that are repeated with a number: 'q1 (2)'."""
    seen: dict[str, int] = {}
    result = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        result.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return result


def ur_rtde_table(table: ColumnTable) -> ColumnTable:
    """Return what a recording of ur_rtde has of the joints; any other table as it is."""
    joints = [name for name in table.names if name.rpartition("_")[0] == "actual_q"]
    if (
        "timestamp" not in table.columns
        or not joints
        or not any(name in table.columns for name in OF_A_UR)
    ):
        return table
    columns = {
        name: column
        for name, column in table.columns.items()
        if name == "timestamp" or name.rpartition("_")[0] in MEASURED
    }
    signals = [name for name in MEASURED if f"{name}_0" in columns]
    skipped = len(table.columns) - len(columns)
    others = f"; {skipped} other columns are left out" if skipped else ""
    return replace(
        table,
        columns=columns,
        remarks=(
            *table.remarks,
            f"The columns are columns of ur_rtde: {', '.join(signals)} are read{others}.",
        ),
    )
