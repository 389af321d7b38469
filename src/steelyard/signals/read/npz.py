"""NumPy's npz: one array per signal."""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import LogError
from ...resource_limits import check_size
from ..schema import JOINTS, METADATA
from .column_table import ColumnTable, is_text, read_metadata
from .columns import SCHEMA

JOINT_NAMES = ("joint_names", "names", "joints")


def read_npz(path: Path, **_: Any) -> ColumnTable:
    """Return the arrays of an npz file. Pickled objects are refused: they could run code."""
    with path.open("rb") as file:
        with zipfile.ZipFile(file) as archive:
            check_size(
                path,
                sum(part.file_size for part in archive.infolist()),
                "memory",
                LogError,
                what="its arrays take",
            )
        file.seek(0)
        with np.load(file, allow_pickle=False) as data:
            return table_of_arrays({name: data[name] for name in data.files}, str(path))


def table_of_arrays(arrays: Mapping[str, NDArray[Any]], source: str) -> ColumnTable:
    """Return a table of the arrays that have a row for each sample.

    (N,), (N, n), or (n, N) transposed. Others are left out.
    """
    texts = {name: checked_text(name, a) for name, a in arrays.items() if is_text(a)}
    names = next(
        (tuple(str(x) for x in np.ravel(texts[key])) for key in JOINT_NAMES if key in texts), None
    )
    remarks = tuple(str(x) for x in np.ravel(texts["remarks"])) if "remarks" in texts else ()
    metadata = (
        {"effort": str(texts["effort"])} if "effort" in texts and texts["effort"].ndim == 0 else {}
    )
    metadata |= read_metadata(str(texts[METADATA]) if METADATA in texts else None, source)
    numeric = {name: a for name, a in arrays.items() if a.dtype.kind in "fiu" and a.ndim in (1, 2)}
    numbers = {name: squeezed(name, a) for name, a in numeric.items() if a.shape != (1, 1)}
    if not numbers:
        raise LogError(
            f"{source}: no arrays of numbers in it: {', '.join(arrays) or 'it is empty'}"
        )
    N = sample_count(numbers)
    table = {name: a if a.shape[0] == N else a.T for name, a in numbers.items() if N in a.shape}
    table = {
        name: a[:, None] if a.ndim == 1 and is_signal_of_joints(name, ((JOINTS,),)) else a
        for name, a in table.items()
    }
    return ColumnTable(table, source, names, remarks, metadata=metadata)


def checked_text(name: str, a: NDArray[Any]) -> NDArray[Any]:
    """Return an array of text; ValueError for code points that are not characters."""
    if a.dtype.kind == "U" and a.size and a.dtype.itemsize:
        codes = (
            np.ascontiguousarray(a)
            .reshape(-1)
            .view(np.dtype(np.uint32).newbyteorder(a.dtype.byteorder))
        )
        if codes.max() > sys.maxunicode:
            raise ValueError(f"{name} holds numbers that are not characters")
    return a


def squeezed(name: str, a: NDArray[Any]) -> NDArray[Any]:
    """Return a matrix of one row or column as a vector.

    The one column of a signal of one joint stays.
    """
    vector = a.ndim == 2 and 1 in a.shape and not (a.shape[1] == 1 and is_signal_of_joints(name))
    return np.ravel(a) if vector else a


def is_signal_of_joints(name: str, shapes: object = None) -> bool:
    """Return whether the schema has a signal of this name, per joint, of these shapes."""
    row = SCHEMA.get(name)
    return row is not None and row.per_joint and shapes in (None, row.shapes)


def sample_count(arrays: Mapping[str, NDArray[Any]]) -> int:
    """Return the length that most arrays share, the longer one of two."""
    lengths = [max(a.shape) for a in arrays.values()]
    return max(set(lengths), key=lambda length: (lengths.count(length), length))
