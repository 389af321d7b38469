"""Writers of logs: CSV, npz and Parquet; `read_log` restores the same log."""

from __future__ import annotations

import io
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ..csv_text import csv_text
from ..drawing.table import Table
from ..errors import LogError, require_package
from ..files import write_atomic
from ..fork import threads_lost
from ..isolation.child import call_isolated
from ..names import escape_name
from .log import Log
from .read.columns import NamedColumn, parse_column
from .read.joint_columns import ends_in_number, joint_number
from .schema import METADATA


def to_csv(log: Log, path: str | Path, overwrite: bool = False) -> Path:
    """Write t and one column per joint and signal, such as q_elbow, as CSV.

    Units are SI, with all digits. Remarks are comments at the top.
    """
    columns, data = wide(log), metadata(log)
    comments = (
        *([f"{METADATA}: {json.dumps(data)}"] if data else []),
        *map(escape_name, log.remarks),
    )
    head = "".join(f"# {comment}\n" for comment in comments) + csv_text(list(columns), ())
    table = io.BytesIO()
    np.savetxt(table, np.column_stack(list(columns.values())), fmt="%.17g", delimiter=",")
    return write_atomic(path, head.encode() + table.getvalue(), overwrite)


def to_npz(log: Log, path: str | Path, overwrite: bool = False) -> Path:
    """Write the arrays of all signals by their names, joint_names, remarks and the metadata."""
    arrays: dict[str, Any] = {name: getattr(log, name) for name in ("t", *log.signals)}
    if log.joint_names is not None:
        arrays["joint_names"] = np.array(log.joint_names)
    arrays |= {
        "remarks": np.array(log.remarks, dtype=str),
        METADATA: np.array(json.dumps(metadata(log))),
    }
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return write_atomic(path, file.getvalue(), overwrite)


def to_parquet(log: Log, path: str | Path, overwrite: bool = False) -> Path:
    """Write the columns of `to_csv` as Parquet."""
    require_package("polars", "tables", "writing Parquet")

    def write(file: BinaryIO) -> None:
        arguments = wide(log), json.dumps(metadata(log))
        if threads_lost("polars"):
            content = call_isolated(
                parquet_bytes, arguments, f"{path}: cannot be written", LogError, ("polars",)
            )
        else:
            content = parquet_bytes(*arguments)
        file.write(content)

    return write_atomic(path, write, overwrite)


def parquet_bytes(columns: dict[str, np.ndarray], text: str) -> bytes:
    """Return columns {name: (N,)} and the text of the metadata as the bytes of a Parquet file."""
    import polars as pl

    file = io.BytesIO()
    pl.DataFrame(columns).write_parquet(file, metadata={METADATA: text})
    return file.getvalue()


def to_pandas(log: Log) -> Any:
    """Return the columns of `to_csv` as a pandas DataFrame.

    Example: `to_pandas(log).plot(x="t", y="tau_joint1")`.
    """
    return Table("", (), (), data=wide(log)).to_pandas()


def to_polars(log: Log) -> Any:
    """Return the columns of `to_csv` as a polars DataFrame."""
    return Table("", (), (), data=wide(log)).to_polars()


def wide(log: Log) -> dict[str, np.ndarray]:
    """Return the columns of all signals side by side, {name: (N,)}."""
    columns = {"t": log.t}
    for name in log.signals:
        value = getattr(log, name)
        labels = log.schema[name].column_labels(value, log.labels)
        numbers = value.reshape(log.N, len(labels))
        columns |= {
            f"{name}_{label}" if label else name: numbers[:, i] for i, label in enumerate(labels)
        }
    return columns


def metadata(log: Log) -> dict[str, Any]:
    """Return what the log has beside its signals: effort, payload, units, joint names."""
    payload = None if log.payload is None else asdict(log.payload)
    names = list(log.joint_names or ()) if has_ambiguous_columns(log) else None
    known = {"effort": log.effort, "payload": payload, "units": log.units, "joint_names": names}
    return {name: value for name, value in known.items() if value}


def has_ambiguous_columns(log: Log) -> bool:
    """Return whether columns need the joint names beside them to be read back in this order."""
    names = log.joint_names or ()
    numbers = [joint_number(name) for name in names if ends_in_number(name)]
    if any(name.isdigit() for name in names) or numbers != sorted(set(numbers)):
        return True
    expected = [
        (f"{signal}_{name}", signal, name)
        for signal in log.signals
        for name in names
        if not log.schema[signal].components
    ]
    return any(
        parse_column(column) != NamedColumn(column, signal, name)
        for column, signal, name in expected
    )
