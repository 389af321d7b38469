"""Parquet, through polars."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import LogError
from ..schema import METADATA
from .column_table import ColumnTable, read_metadata
from .recorders.lerobot import lerobot_table


def read_parquet(path: Path, **_: Any) -> ColumnTable:
    """Return the columns of a Parquet file; lists in cells stay lists, times become nanoseconds since 1970."""
    import polars as pl

    frame = pl.read_parquet(path, glob=False, hive_partitioning=False)  # the name is a name, and says nothing about the columns
    written = pl.read_parquet_metadata(path).get(METADATA)
    if not frame.height:
        raise LogError(f"{path}: the file holds no rows")
    columns = {name: array_of(frame[name]) for name in frame.columns}
    return lerobot_table(ColumnTable(columns, str(path), metadata=read_metadata(written, str(path))), path)


def array_of(series: Any) -> NDArray[Any]:
    """Return a column as an array: numbers, (N, n) blocks of fixed-size arrays, or objects."""
    kind = series.dtype
    if kind.is_temporal():
        return np.asarray(series.cast(int).to_numpy() * {"ms": 10**6, "us": 10**3}.get(getattr(kind, "time_unit", "ns"), 1))
    if kind.is_numeric():
        return np.asarray(series.to_numpy())
    if kind.is_nested():
        lists = series.to_list()
        widths = {len(item) if item is not None else -1 for item in lists}
        numeric = all(isinstance(x, (int, float)) for item in lists[:1] for x in item or ())
        if len(widths) == 1 and numeric and widths != {0}:
            return np.asarray(lists, float)
        result = np.empty(len(lists), dtype=object)
        result[:] = lists
        return result
    return np.array(series.to_list(), dtype=object)
