"""Parquet through polars; LeRobot files with joint names from meta/info.json."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import LogError, translate_errors
from ...resource_limits import read_regular
from ..schema import METADATA
from ..signal_thresholds import THRESHOLDS
from .column_table import Columns, ColumnTable, is_text, read_metadata, written_joints

STATE = "observation.state"
SIGNALS = {
    "timestamp": "t",
    STATE: "q",
    "observation.velocity": "qd",
    "observation.effort": "effort",
    "observation.torque": "tau",
    "observation.current": "current",
    "action": "reference",
}


def read_parquet(path: Path, rows: Sequence[int] | None = None, **_: Any) -> ColumnTable:
    """Return the columns of a Parquet file, or of some of its rows.

    Lists in cells stay lists, dates become nanoseconds since 1970, durations seconds.
    """
    import polars as pl

    # the name is a name, and says nothing about the columns
    scanned = pl.scan_parquet(path, glob=False, hive_partitioning=False)
    frame = (scanned if rows is None else scanned.slice(rows[0], rows[1] - rows[0])).collect()
    written = pl.read_parquet_metadata(path).get(METADATA)
    if not frame.height:
        raise LogError(f"{path}: the file holds no rows")
    columns = {name: array_of(frame[name]) for name in frame.columns}
    metadata = read_metadata(written, str(path))
    return lerobot_table(
        ColumnTable(columns, str(path), written_joints(metadata), metadata=metadata), path
    )


def rows_of_parquet(path: str) -> int:
    """Return how many rows a Parquet file has, from its footer alone."""
    import polars as pl

    return int(
        pl.scan_parquet(path, glob=False, hive_partitioning=False).select(pl.len()).collect().item()
    )


def array_of(series: Any) -> NDArray[Any]:
    """Return a column as an array: numbers, (N, n) blocks of fixed-size arrays, or objects."""
    kind = series.dtype
    if kind.is_temporal():
        unit = {"ms": 10**6, "us": 10**3}.get(getattr(kind, "time_unit", "ns"), 1)
        nanoseconds = np.asarray(series.cast(int).to_numpy() * unit)
        return nanoseconds / 1e9 if kind.base_type().__name__ == "Duration" else nanoseconds
    if kind.is_numeric():
        return np.asarray(series.to_numpy())
    if kind.is_nested():
        if (block := block_of(series)) is not None:
            return block
        lists = series.to_list()
        widths = {len(item) if item is not None else -1 for item in lists}
        numeric = all(isinstance(x, (int, float)) for item in lists[:1] for x in item or ())
        if len(widths) == 1 and numeric and widths != {0}:
            return np.asarray(lists, float)
        result = np.empty(len(lists), dtype=object)
        result[:] = lists
        return result
    return np.array(series.to_list(), dtype=object)


def block_of(series: Any) -> NDArray[Any] | None:
    """Return a column of lists of equal length as a block (N, n); None for other columns."""
    inner = getattr(series.dtype, "inner", None)
    if inner is None or not inner.is_numeric() or series.null_count():
        return None
    lists = series.arr.to_list() if hasattr(series.dtype, "size") else series
    widths = lists.list.len()
    if widths.n_unique() != 1 or not widths[0]:
        return None
    numbers = lists.explode()
    return (
        None
        if numbers.null_count()
        else np.asarray(numbers.to_numpy(), float).reshape(len(series), -1)
    )


def lerobot_table(table: ColumnTable, path: Path) -> ColumnTable:
    """Return the signals of an episode file of LeRobot under the names of the schema.

    Any other table as it is.
    """
    if STATE not in table.columns or np.ndim(table.columns[STATE]) != 2:
        return table
    width = table.columns[STATE].shape[1]
    columns = {
        SIGNALS[name]: column
        for name, column in table.columns.items()
        if name in SIGNALS and _fits(column, width)
    }
    names = names_of(path)
    remarks = [
        "LeRobot does not say the unit of observation.state: taken as rad; if it is in degrees, say"
        " angle='deg'."
    ]
    if names is not None and len(names) != width:
        raise LogError(
            f"{path}: observation.state has {width} numbers, meta/info.json names {len(names)}:"
            f" {', '.join(names)}"
        )
    if names is None:
        remarks.append(
            "No meta/info.json was found above the file: the numbers of observation.state have no"
            " names."
        )
    episodes = table.columns.get("episode_index")
    if "t" in columns and episodes is not None and len(np.unique(episodes)) > 1:
        columns["t"] = concatenate_episodes(np.asarray(columns["t"], float), episodes)
        remarks.append(
            f"{len(np.unique(episodes))} episodes follow each other,"
            f" {THRESHOLDS.episode_pause:g} s apart."
        )
    return ColumnTable(
        columns, table.source, names, (*table.remarks, *remarks), metadata=table.metadata
    )


def names_of(path: Path) -> tuple[str, ...] | None:
    """Return the names of observation.state in meta/info.json above the file; None without."""
    places = [
        folder / "meta" / "info.json"
        for folder in list(path.resolve().parents)[: THRESHOLDS.searched_folders]
    ]
    file = next((candidate for candidate in places if candidate.is_file()), None)
    if file is None:
        return None
    content = read_regular(file, "text", LogError)
    with translate_errors(f"{file}: not an info.json of LeRobot", LogError):
        listed: Any = json.loads(content)["features"][STATE].get("names")
        lists = list(listed.values()) if isinstance(listed, dict) else [listed]
        names = [str(name) for each in lists for name in (each if isinstance(each, list) else [])]
    return tuple(name.removesuffix(".pos") for name in names) or None


def concatenate_episodes(t: Columns, episodes: Columns) -> Columns:
    """Return times [s] that continue from episode to episode; in the file each starts at 0."""
    times, start = np.asarray(t, float).copy(), 0.0
    for episode in dict.fromkeys(episodes.tolist()):
        mask = episodes == episode
        times[mask] += start - t[mask][0]
        start = float(times[mask][-1]) + THRESHOLDS.episode_pause
    return times


def _fits(column: Columns, width: int) -> bool:
    """Return whether a column has one number per sample, or as many as the state."""
    return not is_text(column) and (column.ndim == 1 or column.shape[1] == width)
