"""MATLAB .mat files: by SciPy, and by h5py from version 7.3 on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import LogError, require_package
from .column_table import ColumnTable
from .npz import table_of_arrays


def read_mat(path: Path, **_: Any) -> ColumnTable:
    """Return the arrays of a .mat file.

    Fields of structures are named with dots, as rec.position.
    """
    with path.open("rb") as file:
        hdf5 = file.read(128)[:10] != b"MATLAB 5.0" and is_hdf5(path)
    arrays = from_hdf5(path) if hdf5 else from_mat5(path)
    return table_of_arrays(arrays, str(path))


def is_hdf5(path: Path) -> bool:
    """Return whether the file holds HDF5, at its start or after MATLAB's header of 512 bytes."""
    with path.open("rb") as file:
        return b"\x89HDF\r\n\x1a\n" in file.read(520 + 8)


def from_mat5(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file up to version 7.2."""
    import warnings

    from scipy.io import loadmat

    with warnings.catch_warnings():
        # about objects that SciPy cannot read, which are not signals
        warnings.simplefilter("ignore")
        data = loadmat(path, squeeze_me=True, struct_as_record=False)
    return {
        name: value
        for key, item in data.items()
        if not key.startswith("__")
        for name, value in flattened(str(key), item)
    }


def flattened(name: str, item: Any) -> list[tuple[str, NDArray[Any]]]:
    """Return a variable as named arrays; structures become one array per field."""
    if hasattr(item, "_fieldnames"):
        return [
            pair
            for field in item._fieldnames
            for pair in flattened(f"{name}.{field}", getattr(item, field))
        ]
    array = np.asarray(item)
    if array.dtype.kind == "O":
        return (
            [(name, array.astype(str))]
            if array.ndim == 1 and all(isinstance(x, str) for x in array)
            else []
        )
    return [(name, array)] if array.dtype.kind in "fiubUS" else []


def from_hdf5(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file of version 7.3, which is HDF5.

    Its arrays are stored transposed.
    """
    require_package("h5py", "hdf5", "reading a .mat file of version 7.3")
    import h5py

    arrays: dict[str, NDArray[Any]] = {}

    def visit(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and (item.is_virtual or item.external):
            raise LogError(
                f"{path}: '{name}' takes its numbers from another file, which is not read"
            )
        if (
            isinstance(item, h5py.Dataset)
            and not name.startswith("#")
            and item.dtype.kind in "fiu"
            and "MATLAB_empty" not in item.attrs
        ):
            arrays[name.replace("/", ".")] = np.asarray(item[()]).T

    with h5py.File(path, "r") as file:
        file.visititems(visit)
    return arrays
