"""Write a log: whole or not at all, and over nothing unless asked."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import LogError, needs_extra
from .log import Log


def to_csv(log: Log, path: str | Path, overwrite: bool = False) -> Path:
    """t [s] and q_<joint> [rad], qd_, qdd_, tau_ [N m], current_ [A], with all their digits; remarks as comments on top."""

    def write(part: Path) -> None:
        names, table = wide(log)
        with part.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(f"# {remark}\n" for remark in log.remarks)
            file.write(",".join(names) + "\n")
            np.savetxt(file, table, fmt="%.17g", delimiter=",")

    return whole(Path(path), overwrite, write)


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

    return whole(Path(path), overwrite, write)


def to_parquet(log: Log, path: str | Path, overwrite: bool = False) -> Path:
    """The columns of to_csv as Parquet."""
    try:
        import polars as pl
    except ImportError:
        raise needs_extra("polars", "tables", "writing Parquet") from None
    names, table = wide(log)
    frame = pl.DataFrame({name: table[:, i] for i, name in enumerate(names)})
    return whole(Path(path), overwrite, frame.write_parquet)


def wide(log: Log) -> tuple[list[str], np.ndarray]:
    """Names and numbers (N, columns) of all signals side by side."""
    names = ["t"] + [f"{signal}_{joint}" for signal in log.signals for joint in log.labels]
    return names, np.column_stack([log.t] + [getattr(log, signal) for signal in log.signals])


def whole(path: Path, overwrite: bool, write: Callable[[Path], None]) -> Path:
    """Write beside the target and put it in place at the end."""
    if path.exists() and not overwrite:
        raise LogError(f"{path}: it exists already: give overwrite=True, or another name")
    if not path.parent.is_dir():
        raise LogError(f"{path}: no such folder: {path.parent}")
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    part = Path(name)
    try:
        write(part)
        part.chmod(0o644)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return path
