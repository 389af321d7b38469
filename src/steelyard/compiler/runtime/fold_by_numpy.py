"""fold_by_numpy: what the compiled loop of `fold_rows` does, by NumPy's QR decomposition, for systems that forbid compiled code."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

PAD = 8  # doubles that the columns of a factor are padded to
ROW = 7  # numbers of a row of the table


def fold_by_numpy(
    start: int, scratch: int, y: int, y_step: int, tau: int, tau_step: int, weights: int, weight_step: int, count: int,
    rows: int, table: int, index: int,
) -> None:  # fmt: skip
    """Fold samples into upper triangular factors in memory, R <- qr([R; w [Y tau]]).

    Parameters
    ----------
    start : address of the factors
    scratch : not used here
    y, tau, weights : addresses of the numbers of the first sample, each with the step in numbers to the next sample
    count : number of samples
    rows, table, index : number of rows of the table, its address, and the address of the columns of Y that its rows name
    """
    for begin, k, first, offset, joint, weight, _ in view(table, (rows, ROW), (ROW, 1), ctypes.c_int64):
        padded = -(-k // PAD) * PAD
        factor = view(start + 8 * begin, (k, k), (padded, 1))
        columns = view(index + 8 * first, (k - 1,), (1,), ctypes.c_int64)
        w = view(weights + 8 * weight, (count,), (weight_step,))
        used = np.flatnonzero(w)
        new = np.empty((len(used), k))
        for position, column in enumerate(columns):
            new[:, position] = view(y + 8 * (offset + column), (count,), (y_step,))[used]
        new[:, -1] = view(tau + 8 * joint, (count,), (tau_step,))[used]
        triangle = np.linalg.qr(np.vstack([np.triu(factor), new * w[used, None]]), mode="r")
        factor[:] = 0.0
        factor[: len(triangle)] = triangle


def view(address: int, shape: tuple[int, ...], steps: tuple[int, ...], kind: Any = ctypes.c_double) -> NDArray[Any]:
    """Return the numbers from an address on, in an array of this shape with steps in numbers."""
    extent = sum((n - 1) * int(step) for n, step in zip(shape, steps, strict=True)) + 1 if all(shape) else 0
    numbers = np.ctypeslib.as_array((kind * extent).from_address(int(address)))
    return np.lib.stride_tricks.as_strided(numbers, shape, [8 * int(step) for step in steps])
