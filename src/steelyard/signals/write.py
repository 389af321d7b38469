"""Write a log: whole or not at all, and over nothing unless asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..errors import needs_extra
from ..files import write_whole
from .log import Log


def to_csv(log: Log, path: str | Path, overwrite: bool = False) -> Path:
    """t [s] and q_<joint> [rad], qd_, qdd_, tau_ [N m], current_ [A], with all their digits; remarks as comments on top."""

    def write(part: Path) -> None:
        names, table = wide(log)
        with part.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(f"# {remark}\n" for remark in log.remarks)
            file.write(",".join(names) + "\n")
            np.savetxt(file, table, fmt="%.17g", delimiter=",")

    return write_whole(path, write, overwrite)


def to_npz(log: Log, path: str | Path, overwrite: bool = False) -> Path:
    """t, q, qd, qdd, tau, current as far as there, joint_names, effort and remarks."""

    def write(part: Path) -> None:
        arrays: dict[str, Any] = {name: getattr(log, name) for name in ("t", *log.signals)}
        if log.joint_names is not None:
            arrays["joint_names"] = np.array(log.joint_names)
        if log.effort is not None:
            arrays["effort"] = np.array(log.effort)
        with part.open("wb") as file:
            np.savez_compressed(file, **arrays, remarks=np.array(log.remarks, dtype=str))

    return write_whole(path, write, overwrite)


def to_parquet(log: Log, path: str | Path, overwrite: bool = False) -> Path:
    """The columns of to_csv as Parquet."""
    try:
        import polars as pl
    except ImportError:
        raise needs_extra("polars", "tables", "writing Parquet") from None
    names, table = wide(log)
    frame = pl.DataFrame({name: table[:, i] for i, name in enumerate(names)})
    return write_whole(path, frame.write_parquet, overwrite)


def wide(log: Log) -> tuple[list[str], np.ndarray]:
    """Names and numbers (N, columns) of all signals side by side."""
    names = ["t"] + [f"{signal}_{joint}" for signal in log.signals for joint in log.labels]
    return names, np.column_stack([log.t] + [getattr(log, signal) for signal in log.signals])
