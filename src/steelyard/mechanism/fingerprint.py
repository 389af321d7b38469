"""A name for all that a mechanism is: equal mechanisms have equal fingerprints, whatever file they came from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from hashlib import blake2b
from typing import Any

from .model import Mechanism


def fingerprint(mechanism: Mechanism) -> str:
    """BLAKE2b (32 hexadecimal digits) of names, structure and the bits of every number; source and remarks do not count."""
    digest = blake2b(digest_size=16)
    for atom in _atoms((mechanism.name, mechanism.links, mechanism.joints, mechanism.gravity, mechanism.couplings)):
        digest.update(f"{len(atom)}:{atom};".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _atoms(value: Any) -> Iterator[str]:
    if is_dataclass(value):
        yield type(value).__name__
        for field in fields(value):
            yield from _atoms(getattr(value, field.name))
    elif isinstance(value, tuple):
        yield f"({len(value)}"
        for item in value:
            yield from _atoms(item)
    elif isinstance(value, str) or value is None:
        yield repr(value)
    else:
        yield (float(value) + 0.0).hex()  # -0.0 equals 0.0
