"""The table of log file formats, and the one function that reads a file of any of them.

Files are read within limits on their size; errors of parser libraries become a `LogError`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import LogError, require_package, translate_errors
from ...isolation.child import call_isolated
from ...resource_limits import check_regular, check_size
from .bag import read_bag
from .column_table import ColumnTable
from .csv import read_csv
from .mat import read_mat
from .npz import read_npz
from .parquet import read_parquet

Rows = tuple[int, int]


@dataclass(frozen=True)
class LogFormat:
    """A log file format: its endings, its reader, and the packages that the reader imports.

    Attributes
    ----------
    name : name of the format, as users call it.
    endings : endings of file names, lower case, with the dot.
    read : reader, `read(path, joints=, topic=, rows=) -> ColumnTable`.
    description : one line on what such a file holds.
    valid_file : what a readable file is, for "PATH: not ...".
    packages : packages that the reader imports.
    extra : extra of steelyard that installs the first of them; "" if none is needed.
    isolated : whether the packages can crash, or take any amount of memory, on a damaged file; they
        then run in a separate process.
    """

    name: str
    endings: tuple[str, ...]
    read: Callable[..., ColumnTable]
    description: str
    valid_file: str
    packages: tuple[str, ...] = ()
    extra: str = ""
    isolated: bool = False


TEXT = LogFormat(
    name="CSV",
    endings=(".csv", ".txt", ".tsv", ".dat"),
    read=read_csv,
    description="text table with one column per signal and joint",
    valid_file="a table of text that can be read",
)
PARQUET = LogFormat(
    name="Parquet",
    endings=(".parquet", ".pq"),
    read=read_parquet,
    description="the same columns, or lists in cells (LeRobot)",
    valid_file="a Parquet file that can be read",
    packages=("polars",),
    extra="tables",
    isolated=True,
)
NPZ = LogFormat(
    name="NumPy",
    endings=(".npz",),
    read=read_npz,
    description="arrays called as the signals, and joint_names",
    valid_file="an npz file of plain arrays",
)
MAT = LogFormat(
    name="MATLAB",
    endings=(".mat",),
    read=read_mat,
    description="arrays, and fields of structures; version 7.3 needs steelyard[hdf5]",
    valid_file="a .mat file that can be read",
    packages=("scipy.io", "h5py"),
    isolated=True,
)
BAG = LogFormat(
    name="ROS bag",
    endings=(".db3", ".mcap", ".bag"),
    read=read_bag,
    description="joint states of a rosbag2 (folder or .db3), MCAP or ROS 1 bag",
    valid_file="a bag that can be read",
    packages=("rosbags.highlevel", "rosbags.typesys"),
    extra="bags",
    isolated=True,
)

LOG_FORMATS: dict[str, LogFormat] = {
    ending: row for row in (TEXT, PARQUET, NPZ, MAT, BAG) for ending in row.endings
}
"""The format of every ending; help texts, file dialogs and searches for logs derive from it."""


def read_columns(
    path: Path,
    joints: Sequence[str] | None = None,
    topic: str | None = None,
    rows: Rows | None = None,
) -> ColumnTable:
    """Read the columns of a file by its ending, or of a folder as a bag.

    `rows` is the range (first, stop) that is read of a Parquet file. A file that cannot be read is
    a LogError with its path.
    """
    row = BAG if path.is_dir() else LOG_FORMATS[path.suffix.lower()]
    size = 0 if path.is_dir() else check_regular(path, LogError)
    if rows is not None and row is not PARQUET:
        raise LogError(
            f"{path}: rows= needs a Parquet file; read the whole log, and take a part of it:"
            " sy.read_log(...)[a:b]"
        )
    # a bag may hold much more than the joint states that are read
    if row is not BAG and rows is None:
        check_size(path, size, "memory", LogError)
    if row.extra:
        require_package(row.packages[0], row.extra, f"reading {path.name}")
    if not row.isolated:
        return table_of_format(row, path, joints, topic)
    arguments = (
        str(path),
        None if joints is None else list(joints),
        topic,
        None if rows is None else list(rows),
    )
    parts = call_isolated(
        parts_of_file, arguments, f"{path}: not {row.valid_file}", LogError, row.packages, size
    )
    names = parts["joint_names"]
    return ColumnTable(
        **parts
        | {
            "joint_names": None if names is None else tuple(names),
            "remarks": tuple(parts["remarks"]),
        }
    )


def parts_of_file(
    path: str, joints: Sequence[str] | None, topic: str | None, rows: Sequence[int] | None
) -> dict[str, Any]:
    """Return the fields of a file's table as plain data; runs in the separate process."""
    file = Path(path)
    row = BAG if file.is_dir() else LOG_FORMATS[file.suffix.lower()]
    table = table_of_format(row, file, joints, topic, rows)
    return {name: getattr(table, name) for name in ColumnTable.__dataclass_fields__}


def table_of_format(
    row: LogFormat,
    path: Path,
    joints: Sequence[str] | None,
    topic: str | None,
    rows: Sequence[int] | None = None,
) -> ColumnTable:
    """Read a file with the reader of its format.

    Errors of the libraries, and a table that is too large for the memory, become a LogError.
    """
    with translate_errors(f"{path}: not {row.valid_file}", LogError):
        table = row.read(path, joints=joints, topic=topic, rows=rows)
    sizes = {name: np.asarray(column).nbytes for name, column in table.columns.items()}
    check_size(path, sum(sizes.values()), "memory", LogError, what=f"its {len(sizes)} columns take")
    return table
