"""The formats of logs: a row for each, and one way to read them all, within limits and with one boundary to the libraries that do it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...errors import LogError, foreign, require_package
from ...isolation.child import call_isolated
from ...resource_limits import check_regular, check_size
from .bag import read_bag
from .column_table import ColumnTable
from .csv import read_csv
from .mat import read_mat
from .npz import read_npz
from .parquet import read_parquet

Rows = tuple[int, int]


class LogFormat(NamedTuple):
    """A reader, what a good file of it is, the packages it imports and the extra that brings the first of them.

    apart: the packages can crash on damaged files, or are told by them to take any amount of memory; they run in a process of their own.
    """

    read: Callable[..., ColumnTable]
    kind: str
    packages: tuple[str, ...] = ()
    extra: str = ""
    apart: bool = False


TEXT = LogFormat(read_csv, "a table of text that can be read")
PARQUET = LogFormat(read_parquet, "a Parquet file that can be read", ("polars",), "tables", apart=True)
NPZ = LogFormat(read_npz, "an npz file of plain arrays")
MAT = LogFormat(read_mat, "a .mat file that can be read", ("scipy.io", "h5py"), apart=True)
BAG = LogFormat(read_bag, "a bag that can be read", ("rosbags.highlevel", "rosbags.typesys"), "bags", apart=True)

LOG_FORMATS = {
    ".csv": TEXT, ".txt": TEXT, ".tsv": TEXT, ".dat": TEXT,
    ".parquet": PARQUET, ".pq": PARQUET,
    ".npz": NPZ, ".mat": MAT,
    ".db3": BAG, ".mcap": BAG, ".bag": BAG,
}  # fmt: skip


def read_columns(path: Path, joints: Sequence[str] | None = None, topic: str | None = None, rows: Rows | None = None) -> ColumnTable:
    """Return the columns of a file by its ending, or of a folder that is a bag; LogError with the path if it cannot be read.

    rows: the first and the one after the last row that are read of a Parquet file.
    """
    row = BAG if path.is_dir() else LOG_FORMATS[path.suffix.lower()]
    size = 0 if path.is_dir() else check_regular(path, LogError)
    if rows is not None and row is not PARQUET:
        raise LogError(f"{path}: rows= is for Parquet, of which a part can be read without the rest; read the log, and take log[a:b]")
    if row is not BAG and rows is None:  # of a bag only the joint states count, which may be a small part
        check_size(path, size, "memory", LogError)
    if row.extra:
        require_package(row.packages[0], row.extra, f"reading {path.name}")
    if not row.apart:
        return table_of_format(row, path, joints, topic)
    arguments = str(path), None if joints is None else list(joints), topic, None if rows is None else list(rows)
    parts = call_isolated(parts_of_file, arguments, f"{path}: not {row.kind}", LogError, row.packages, size)
    names = parts["joint_names"]
    return ColumnTable(**parts | {"joint_names": None if names is None else tuple(names), "remarks": tuple(parts["remarks"])})


def parts_of_file(path: str, joints: Sequence[str] | None, topic: str | None, rows: Sequence[int] | None) -> dict[str, Any]:
    """Return the fields of the table of a file as plain data; runs in the process of its own."""
    place = Path(path)
    row = BAG if place.is_dir() else LOG_FORMATS[place.suffix.lower()]
    table = table_of_format(row, place, joints, topic, rows)
    return {name: getattr(table, name) for name in ColumnTable.__dataclass_fields__}


def table_of_format(
    row: LogFormat, path: Path, joints: Sequence[str] | None, topic: str | None, rows: Sequence[int] | None = None
) -> ColumnTable:
    """Return the table of a file by its format; whatever the libraries throw is a LogError, and so is a table that is too large."""
    with foreign(f"{path}: not {row.kind}", LogError):
        table = row.read(path, joints=joints, topic=topic, rows=rows)
    bytes_of = {name: np.asarray(column).nbytes for name, column in table.columns.items()}
    check_size(path, sum(bytes_of.values()), "memory", LogError, what=f"its {len(bytes_of)} columns take")
    return table
