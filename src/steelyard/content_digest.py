"""A digest of values for keys of caches: every field is walked, so that a key cannot lack one.

A key must distinguish everything that a cached result was computed from. A list of attributes
written by hand forgets the next attribute. `content_digest` walks a value instead: numbers by their
bits, text, arrays, containers, and the fields of this package's dataclasses with the name of their
class. A new field is part of every key by itself. What cannot be distinguished by content
(functions, objects of other packages, paths of files) raises `NoDigest`: the caller then computes
without a cache.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any

import numpy as np

from .cached import cached_property

PACKAGE = __name__.partition(".")[0]
HOOK = "__content_digest__"  # attribute of a class that keeps the digest of its objects


class NoDigest(TypeError):
    """A value cannot be compared with others by its content."""


def content_digest(value: Any, algorithm: Callable[[], Any] | None = None) -> str:
    """Return a digest of a value that is equal for equal contents, in every process.

    Parameters
    ----------
    value : numbers, text, arrays, containers, and dataclasses and named tuples of this package.
        Fields of dataclasses with `compare=False` do not count: by declaration they do not decide
        whether two objects are equal.
    algorithm : constructor of a hash of `hashlib`; BLAKE2b of 20 bytes by default

    Returns
    -------
    Hexadecimal digits. NoDigest is raised for a value that contains anything else.
    """
    h = hashlib.blake2b(digest_size=20) if algorithm is None else algorithm()
    _feed(h.update, value)
    return str(h.hexdigest())


def _feed(update: Callable[[Any], None], value: Any) -> None:
    """Write a value with its type and length, so that no two values give the same bytes."""
    kind = type(value)
    feed = _PLAIN.get(kind)
    if feed is not None:
        feed(update, value)
    elif isinstance(value, np.ndarray | np.generic):
        _array(update, np.asarray(value))
    elif kind.__module__.partition(".")[0] != PACKAGE:
        raise NoDigest(f"{kind.__module__}.{kind.__qualname__} has no digest")
    else:
        _package_object(update, value, kind)


def _package_object(update: Callable[[Any], None], value: Any, kind: type) -> None:
    """Write an object of this package."""
    update(b"o" + f"{kind.__module__}.{kind.__qualname__}".encode() + b"\0")
    if hasattr(kind, HOOK):
        update(getattr(value, HOOK).encode())
    elif isinstance(value, Enum):
        _feed(update, value.name)
    elif isinstance(value, tuple):
        _sequence(update, value)
    elif is_dataclass(value):
        names = [f.name for f in fields(value) if f.compare]
        _refuse_others(value, kind)
        for name in names:
            _feed(update, name)
            _feed(update, getattr(value, name))
        update(b".")
    else:
        raise NoDigest(f"{kind.__qualname__} is not a dataclass and has no digest")


def _refuse_others(value: Any, kind: type) -> None:
    """Raise NoDigest for attributes that are neither fields nor cached properties."""
    known = {f.name for f in fields(value)}
    for name in getattr(value, "__dict__", ()):
        if name not in known and not isinstance(getattr(kind, name, None), cached_property):
            raise NoDigest(f"{kind.__qualname__} has the attribute {name!r}, which is not a field")


def _float(update: Callable[[Any], None], value: float) -> None:
    update(b"f" + struct.pack("<d", value))


def _text(update: Callable[[Any], None], value: str) -> None:
    _bytes(update, value.encode("utf-8", "surrogatepass"), b"s")


def _bytes(update: Callable[[Any], None], value: bytes, tag: bytes = b"b") -> None:
    update(tag + struct.pack("<q", len(value)))
    update(value)


def _word(update: Callable[[Any], None], value: Any) -> None:
    _bytes(update, repr(value).encode(), b"w")  # int, bool, None, complex: exact


def _sequence(update: Callable[[Any], None], value: Any) -> None:
    update((b"l" if isinstance(value, list) else b"t") + struct.pack("<q", len(value)))
    for item in value:
        _feed(update, item)


def _mapping(update: Callable[[Any], None], value: Mapping[Any, Any]) -> None:
    """Write a mapping in its order, since results of iterating over it may depend on the order."""
    update(b"m" + struct.pack("<q", len(value)))
    for key, item in value.items():
        _feed(update, key)
        _feed(update, item)


def _set(update: Callable[[Any], None], value: frozenset[Any]) -> None:
    update(b"e")
    _sequence(update, sorted(content_digest(item) for item in value))


def _array(update: Callable[[Any], None], value: np.ndarray[Any, Any]) -> None:
    if value.dtype.hasobject:
        raise NoDigest("an array of Python objects has no digest")
    _text(update, f"{value.dtype.str} {value.dtype.fields} {value.shape}")
    update(np.ascontiguousarray(value).reshape(-1).view(np.uint8).data)


_PLAIN: dict[type, Callable[[Callable[[Any], None], Any], None]] = {
    float: _float,
    str: _text,
    bytes: _bytes,
    int: _word,
    bool: _word,
    complex: _word,
    type(None): _word,
    tuple: _sequence,
    list: _sequence,
    dict: _mapping,
    MappingProxyType: _mapping,
    set: _set,
    frozenset: _set,
}
