"""NumPy's npz: one array for each quantity."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import LogError
from .column_table import Table

NAMES = ("joint_names", "names", "joints")


def read_npz(path: Path, **_: Any) -> Table:
    """The arrays of an npz file. Pickled objects are refused: they could run code."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as data:
            arrays = {name: data[name] for name in data.files}
    except (ValueError, zipfile.BadZipFile, EOFError, AttributeError, TypeError) as error:
        raise LogError(f"{path}: not an npz file of plain arrays: {error}") from None
    return table_of_arrays(arrays, str(path))


def table_of_arrays(arrays: Mapping[str, NDArray[Any]], source: str) -> Table:
    """A table of the arrays that have a row for each sample: (N,), (N, n), or (n, N) turned round. The rest is left out."""
    names = next((tuple(str(x) for x in np.ravel(arrays[key])) for key in NAMES if key in arrays and arrays[key].dtype.kind in "OUS"), None)
    effort = str(arrays["effort"]) if "effort" in arrays and arrays["effort"].dtype.kind == "U" and arrays["effort"].ndim == 0 else None
    remarks = tuple(str(x) for x in arrays["remarks"]) if "remarks" in arrays and arrays["remarks"].dtype.kind == "U" else ()
    signals = {
        name: np.squeeze(a) if a.ndim > 1 and min(a.shape) == 1 else a
        for name, a in arrays.items()
        if a.dtype.kind in "fiu" and a.ndim in (1, 2)
    }
    signals = {name: a for name, a in signals.items() if a.ndim > 0}
    if not signals:
        raise LogError(f"{source}: no arrays of numbers in it: {', '.join(arrays) or 'it is empty'}")
    N = samples(signals)
    rows = {name: a if a.shape[0] == N else a.T for name, a in signals.items() if N in a.shape}
    rows = {name: a[:, None] if a.ndim == 1 and is_signal(name) else a for name, a in rows.items()}
    return Table(rows, source, names, effort, remarks)


def is_signal(name: str) -> bool:
    """Whether an array of one dimension is the signal of a single joint: anything but time whose name is just the quantity."""
    return name in ("q", "qd", "qdd", "tau", "current")


def samples(arrays: Mapping[str, NDArray[Any]]) -> int:
    """The number of samples: the length that most arrays share, the longer one of two."""
    lengths = [max(a.shape) for a in arrays.values()]
    return max(set(lengths), key=lambda length: (lengths.count(length), length))
