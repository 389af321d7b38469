"""Tables in memory: DataFrames of any library through narwhals, and dictionaries of arrays."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arguments import short_repr
from ...errors import LogError, require_package, translate_errors
from .column_table import ColumnTable
from .columns import parse_column
from .npz import table_of_arrays

SOURCE = "the table"
"""Name of a table in memory in messages, where a file has its path."""


def is_table(value: Any) -> bool:
    """Return whether a value is a table in memory: a DataFrame, or a dictionary of arrays.

    A dictionary of paths is {quantity: file}.
    """
    if isinstance(value, (str, Path, os.PathLike)):
        return False
    if isinstance(value, Mapping):
        return bool(value) and not any(isinstance(x, (str, os.PathLike)) for x in value.values())
    return hasattr(type(value), "columns") or hasattr(type(value), "column_names")


def table_of_memory(value: Any) -> ColumnTable:
    """Return the columns of a DataFrame, or of a dictionary of arrays (N,) or (N, n)."""
    return table_of_dictionary(value) if isinstance(value, Mapping) else table_of_frame(value)


def table_of_dictionary(arrays: Mapping[str, Any]) -> ColumnTable:
    """Return the columns of {name: values}: arrays (N,) or (N, n), lists, or columns of frames."""
    with translate_errors(f"{SOURCE}: not a dictionary of arrays", LogError):
        columns = {str(name): np.asarray(values) for name, values in arrays.items()}
    if any(column.ndim == 2 for column in columns.values()):
        return table_of_arrays(columns, SOURCE)
    rows = {name: len(column) if column.ndim == 1 else 0 for name, column in columns.items()}
    if len(set(rows.values())) > 1:
        counts = ", ".join(f"{name} {count}" for name, count in rows.items())
        raise LogError(f"{SOURCE}: its columns have different numbers of rows: {counts}")
    return ColumnTable(columns, SOURCE)


def table_of_frame(frame: Any) -> ColumnTable:
    """Return the columns of a DataFrame of pandas, polars, PyArrow or another library.

    Dates become nanoseconds since 1970, durations seconds, lists of equal length blocks (N, n). An
    index of times is a column where no other column has times.
    """
    require_package("narwhals", "tables", "reading a DataFrame")
    import narwhals as nw

    try:
        table = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise LogError(
            f"{SOURCE}: {short_repr(frame)} is not a DataFrame; expected one of pandas, polars or"
            " PyArrow (a LazyFrame as frame.collect()), or a dictionary of arrays {'t': ...}"
        ) from None
    if not len(table):
        raise LogError(f"{SOURCE}: it has no rows")
    with translate_errors(f"{SOURCE}: not a table that can be read", LogError):
        columns = {str(name): array_of_series(table[name]) for name in table.columns}
        if not any(parse_column(name).quantity == "t" for name in columns):
            columns = times_of_index(table) | columns
    return ColumnTable(columns, SOURCE)


def times_of_index(table: Any) -> dict[str, NDArray[Any]]:
    """Return the index of a narwhals DataFrame as a column of times; {} where it counts rows."""
    import narwhals as nw

    index = nw.maybe_get_index(table)
    if index is None or getattr(index, "nlevels", 1) > 1:
        return {}
    values = np.asarray(index)
    kind = values.dtype.kind
    if kind == "M":
        return {"t": values.astype("datetime64[ns]").astype(np.int64)}
    if kind == "m":
        return {"t": values / np.timedelta64(1, "s")}
    named = index.name is not None and parse_column(str(index.name)).quantity == "t"
    return {str(index.name) if named else "t": values} if named or kind == "f" else {}


def array_of_series(series: Any) -> NDArray[Any]:
    """Return a narwhals Series as numbers (N,), blocks (N, n) of lists, or objects (N,)."""
    import narwhals as nw

    kind = series.dtype
    if kind == nw.Datetime:
        return np.asarray(series.dt.timestamp("ns").to_numpy())
    if kind == nw.Duration:
        return np.asarray(series.dt.total_nanoseconds().to_numpy() / 1e9)
    if kind.is_numeric() or kind == nw.Boolean:
        return np.asarray(series.to_numpy())
    cells = series.to_list()
    if all(isinstance(cell, (list, tuple, np.ndarray)) for cell in cells):
        widths = {len(cell) for cell in cells}
        if len(widths) == 1 and widths != {0}:
            return np.asarray([list(cell) for cell in cells], float)
    column = np.empty(len(cells), dtype=object)
    column[:] = cells
    return column
