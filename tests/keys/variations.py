"""Values that differ from a value in one leaf.

What a key must distinguish, found by walking fields.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np


def variations(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (path of the leaf, value with that leaf changed), of nested containers and dataclasses.

    Objects are made without their checks: a key does not depend on whether a value makes sense.
    """
    if isinstance(value, tuple):
        yield from of_tuple(value, path)
    elif isinstance(value, Mapping) and not is_dataclass(value):
        for key, item in value.items():
            yield from (
                (where, {**value, key: other})
                for where, other in variations(item, f"{path}[{key!r}]")
            )
        yield f"{path} longer", {**value, "another": 0.5}
    elif is_dataclass(value) and not isinstance(value, type):
        for name in [f.name for f in fields(value) if f.compare]:
            for where, other in variations(getattr(value, name), f"{path}.{name}"):
                yield where, with_field(value, name, other)
    elif isinstance(value, np.ndarray):
        yield f"{path} values", value + 1
        yield f"{path} shape", value.reshape(1, *value.shape)
    else:
        yield path, leaf(value)


def of_tuple(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield tuples, named ones among them, with one leaf changed.

    Plain ones also with one item more.
    """
    for k, item in enumerate(value):
        for where, other in variations(item, f"{path}[{k}]"):
            items = (*value[:k], other, *value[k + 1 :])
            yield where, type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if type(value) is tuple:
        yield f"{path} longer", (*value, 0.5)


def with_field(value: Any, name: str, other: Any) -> Any:
    """Return a frozen dataclass with another value of a field, unchecked."""
    result = object.__new__(type(value))
    for f in fields(value):
        object.__setattr__(result, f.name, other if f.name == name else getattr(value, f.name))
    return result


def leaf(value: Any) -> Any:
    """Return another value of the same kind."""
    if value is None:
        return "a value"
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return float(np.nextafter(value, np.inf)) if np.isfinite(value) else 1.0
    if isinstance(value, str):
        return f"{value}x"
    raise TypeError(f"no variation of {type(value)}: add one")
