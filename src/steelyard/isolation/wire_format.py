"""Plain data and arrays as bytes, without pickle, between the two processes of `isolation`.

A message is the length of its head (8 bytes), the head in JSON, then the arrays' bytes one after
the other. The head has the number of the part where the data have an array or bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

PLAIN = "fiubUS"  # kinds of arrays that are bytes and nothing else


def encode(value: Any) -> list[Any]:
    """Return the parts of a message, each to be written as it is.

    Data are None, booleans, numbers, strings, lists, dictionaries, arrays and bytes. An array of
    objects becomes a list; any other object becomes its text.
    """
    parts: list[NDArray[Any]] = []
    head = json.dumps(
        {"value": _to_plain(value, parts), "sizes": [part.nbytes for part in parts]}, default=str
    ).encode()
    return [
        len(head).to_bytes(8, "little"),
        head,
        *(part.reshape(-1).view(np.uint8).data for part in parts if part.nbytes),
    ]


def decode(read: Callable[[int], memoryview]) -> Any:
    """Return the value of a message; read(n) returns the next n bytes."""
    head = json.loads(bytes(read(int.from_bytes(read(8), "little"))))
    parts = [read(size) for size in head["sizes"]]
    return _from_plain(head["value"], parts)


def _to_plain(value: Any, parts: list[NDArray[Any]]) -> Any:
    if isinstance(value, np.ndarray) and value.dtype.kind in PLAIN:
        parts.append(np.ascontiguousarray(value))
        return {"array": len(parts) - 1, "dtype": value.dtype.str, "shape": value.shape}
    if isinstance(value, np.ndarray):
        return {"objects": value.ravel().tolist(), "shape": value.shape}
    if isinstance(value, bytes):
        parts.append(np.frombuffer(value, np.uint8))
        return {"bytes": len(parts) - 1}
    if isinstance(value, (list, tuple)):
        return {"list": [_to_plain(item, parts) for item in value]}
    if isinstance(value, dict):
        return {"dictionary": [[str(key), _to_plain(item, parts)] for key, item in value.items()]}
    return value


def _from_plain(value: Any, parts: list[memoryview]) -> Any:
    if not isinstance(value, dict):
        return value
    if "array" in value:
        part, kind = parts[value["array"]], np.dtype(value["dtype"])
        return (np.frombuffer(part, kind) if len(part) else np.empty(0, kind)).reshape(
            value["shape"]
        )
    if "objects" in value:
        objects = np.empty(len(value["objects"]), dtype=object)
        objects[:] = value["objects"]
        return objects.reshape(value["shape"])
    if "bytes" in value:
        return bytes(parts[value["bytes"]])
    if "list" in value:
        return [_from_plain(item, parts) for item in value["list"]]
    return {key: _from_plain(item, parts) for key, item in value["dictionary"]}
