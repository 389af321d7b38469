"""Figures and the plotting library in few characters.

Rounded numbers, each series once, gzip, and 13 bits in two letters.

The page undoes it with the browser's own DecompressionStream (assets/unpack.js).
"""

from __future__ import annotations

import base64
import gzip
import json
import struct
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..drawing.figure import Array, Figure
from ..drawing.plotly_renderer import to_plotly
from ..drawing.visible import visible_parts

# steps between the least and the greatest number of a series, at most; a number that is not finite
# is -1
LEVELS = 1 << 13
# numbers of a series that is kept with all digits, and how many times the least the greatest is
FEW, DECADES = 2000, 20.0
NEAR = 1e-6  # of the range of a series: numbers that are nearer are one
# 91 letters; none of them ends a script, or begins markup
LETTERS = "".join(chr(k) for k in range(35, 127) if chr(k) not in "<")
BITS = 13  # in two letters: 2^13 <= 91^2


def compress_figures(figures: Iterable[Figure]) -> bytes:
    """Return figures as gzip of.

    The length of the JSON (4 bytes), the JSON, and the series that it refers to.

    A series of N numbers, unless it spans decades, is {"at": where it begins, "n": N, "low",
    "step"}: low + step * (running sum of its differences, 16 bits). All low bytes of a series come
    before all high bytes. Series that differ in low and step alone are stored once.
    """
    pool: dict[bytes, int] = {}
    parts = {figure.name: to_plotly(figure) for figure in figures}
    text = json.dumps(
        _with_series(visible_parts(parts), pool),
        separators=(",", ":"),
        allow_nan=False,
        ensure_ascii=False,
    ).encode()
    return gzip.compress(struct.pack("<I", len(text)) + text + b"".join(pool), 9, mtime=0)


def _with_series(part: Any, pool: dict[bytes, int]) -> Any:
    """Return a part of a figure with every packed array replaced by its series."""
    if isinstance(part, dict):
        if "bdata" not in part:
            return {key: _with_series(value, pool) for key, value in part.items()}
        x = np.frombuffer(base64.b64decode(part["bdata"]), "<f4").astype(float)
        if spans_decades(x) and grid_step(x, float(x.min()), float(x.max())) is None:
            return part
        steps, low, step = rounded(x)
        offset = pool.setdefault(byte_differences(steps), sum(map(len, pool)))
        shape = {"rows": int(part["shape"].split(",")[0])} if "shape" in part else {}
        return {"at": offset, "n": len(x), "low": low, "step": step} | shape
    return (
        [_with_series(value, pool) for value in part] if isinstance(part, (list, tuple)) else part
    )


def spans_decades(x: Array) -> bool:
    """Return whether numbers (N,) span magnitudes that equal steps would not resolve."""
    return (
        len(x) <= FEW
        and bool(np.all(x > 0))
        and float(x.max(initial=1.0)) > DECADES * float(x.min(initial=1.0))
    )


def rounded(x: Array) -> tuple[NDArray[np.int64], float, float]:
    """Return integers k (N,), low and step with x = low + step k; k = -1 where x is not finite.

    Numbers on a grid, such as times, have the step of the grid; others a power of two, so that
    series of nearly one range share it.
    """
    known = np.isfinite(x)
    if not known.any():
        return np.full(len(x), -1), 0.0, 1.0
    low, high = float(x[known].min()), float(x[known].max())
    step = grid_step(x[known], low, high) or (
        2.0 ** np.ceil(np.log2((high - low) / (LEVELS - 1))) if high > low else 1.0
    )
    k = np.rint((np.where(known, x, low) - low) / step).astype(np.int64)
    return np.where(known, k, -1), low, float(step)


def grid_step(x: Array, low: float, high: float) -> float | None:
    """Return the step of the grid of all numbers (N,), None without one of at most 2^15 steps."""
    apart = np.abs(np.diff(x))
    least = float(np.min(apart[apart > NEAR * (high - low)], initial=np.inf))
    if not 1 <= (high - low) / least < 1 << 15:
        return None
    steps = np.rint(apart / least)
    count = np.rint((high - low) * float(steps @ steps) / float(steps @ apart))
    positions = (x - low) * count / (high - low)
    return (
        float((high - low) / count)
        if np.max(np.abs(positions - np.rint(positions))) < 0.02
        else None
    )


def byte_differences(k: NDArray[np.int64]) -> bytes:
    """Return the differences of whole numbers modulo 2^16, all low bytes before all high bytes."""
    d = np.diff(k, prepend=0).astype("<i8") & 0xFFFF
    return (d & 0xFF).astype(np.uint8).tobytes() + (d >> 8).astype(np.uint8).tobytes()


def letters(data: bytes) -> str:
    """Return bytes as text, 13 bits in two of LETTERS; the rest of the last 13 bits is zero."""
    bits = np.unpackbits(np.frombuffer(data, np.uint8))
    groups = np.pad(bits, (0, -len(bits) % BITS)).reshape(-1, BITS) @ (
        1 << np.arange(BITS - 1, -1, -1)
    )
    alphabet = np.frombuffer(LETTERS.encode(), np.uint8)
    return alphabet[np.stack(np.divmod(groups, len(LETTERS)), axis=1).ravel()].tobytes().decode()
