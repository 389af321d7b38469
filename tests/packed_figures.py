"""The figures of a report read back.

The other half of reporting/compress_figures.py, written apart from it and as the page's script does
it.
"""

from __future__ import annotations

import base64
import gzip
import io
import json
from typing import Any

import numpy as np

LETTERS = [chr(k) for k in range(35, 127) if chr(k) != "<"]
VALUES = {letter: k for k, letter in enumerate(LETTERS)}


def bytes_of(text: str) -> bytes:
    """Two letters are 13 bits."""
    bits = "".join(
        f"{VALUES[a] * 91 + VALUES[b]:013b}" for a, b in zip(text[::2], text[1::2], strict=True)
    )
    return bytes(int(bits[k : k + 8], 2) for k in range(0, len(bits) - 7, 8))


def unpacked(text: str) -> dict[str, Any]:
    """Figures by name, every series as an array."""
    with gzip.open(io.BytesIO(bytes_of(text).rstrip(b"\0") + bytes(8))) as file:
        data = file.read()
    length = int.from_bytes(data[:4], "little")
    return series(
        json.loads(data[4 : 4 + length]), np.frombuffer(data[4 + length :], np.uint8).astype(int)
    )


def series(part: Any, store: np.ndarray) -> Any:
    if isinstance(part, dict) and "bdata" in part:
        return np.frombuffer(base64.b64decode(part["bdata"]), "<f4")
    if isinstance(part, dict) and {"at", "n", "low", "step"} <= set(part):
        index, n = part["at"], part["n"]
        k = np.cumsum(store[index : index + n] + 256 * store[index + n : index + 2 * n]) % 65536
        x = np.where(k == 65535, np.nan, part["low"] + part["step"] * k)
        return x.reshape(part["rows"], -1) if "rows" in part else x
    if isinstance(part, dict):
        return {key: series(value, store) for key, value in part.items()}
    return [series(value, store) for value in part] if isinstance(part, list) else part
