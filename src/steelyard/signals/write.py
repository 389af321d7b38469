"""Write a log to CSV, npz or Parquet; `read_log` gives the same log back."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ..drawing.table import Table
from ..errors import LogError, require_package
from ..files import write_whole
from ..fork import threads_lost
from ..isolation.child import call_isolated
from .log import Log
from .schema import METADATA


def to_csv(log: Log, path: str | Path, overwrite: bool = False) -> Path:
    """Write t and one column per joint and signal, such as q_elbow, in SI units with all digits; remarks are comments on top."""

    def write(part: Path) -> None:
        comments = (*log.remarks, *(f"{METADATA}: {json.dumps(data)}" for data in [metadata(log)] if data))
        columns = wide(log)
        with part.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(f"# {comment}\n" for comment in comments)
            file.write(",".join(columns) + "\n")
            np.savetxt(file, np.column_stack(list(columns.values())), fmt="%.17g", delimiter=",")

    return write_whole(path, write, overwrite)


def to_npz(log: Log, path: str | Path, overwrite: bool = False) -> Path:
    """Write the arrays of all signals by their names, joint_names, remarks and the metadata."""

    def write(part: Path) -> None:
        arrays: dict[str, Any] = {name: getattr(log, name) for name in ("t", *log.signals)}
        if log.joint_names is not None:
            arrays["joint_names"] = np.array(log.joint_names)
        arrays |= {"remarks": np.array(log.remarks, dtype=str), METADATA: np.array(json.dumps(metadata(log)))}
        with part.open("wb") as file:
            np.savez_compressed(file, **arrays)

    return write_whole(path, write, overwrite)


def to_parquet(log: Log, path: str | Path, overwrite: bool = False) -> Path:
    """Write the columns of `to_csv` as Parquet."""
    require_package("polars", "tables", "writing Parquet")

    def write(part: Path) -> None:
        given = str(part), wide(log), json.dumps(metadata(log))
        if threads_lost("polars"):
            call_isolated(write_parquet, given, f"{path}: cannot be written", LogError, ("polars",))
        else:
            write_parquet(*given)

    return write_whole(path, write, overwrite)


def write_parquet(path: str, columns: dict[str, np.ndarray], text: str) -> None:
    """Write columns {name: (N,)} and the text of the metadata."""
    import polars as pl

    pl.DataFrame(columns).write_parquet(path, metadata={METADATA: text})


def to_pandas(log: Log) -> Any:
    """Return the columns of `to_csv` as a pandas DataFrame. Example: `to_pandas(log).plot(x="t", y="tau_joint1")`."""
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
        columns |= {f"{name}_{label}" if label else name: numbers[:, i] for i, label in enumerate(labels)}
    return columns


def metadata(log: Log) -> dict[str, Any]:
    """Return what is known of the log beside its signals, as far as there."""
    payload = None if log.payload is None else asdict(log.payload)
    known = {"effort": log.effort, "payload": payload, "units": log.units}
    return {name: value for name, value in known.items() if value}
