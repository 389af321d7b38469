"""Public names with their help.

Names of `steelyard.__all__`, and public methods and properties of its classes.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import steelyard as sy


@dataclass(frozen=True)
class Public:
    """A public name such as Robot.mass_matrix, its kind and its object."""

    name: str
    kind: str
    thing: Any

    @property
    def help(self) -> str:
        return inspect.cleandoc(self.thing.__doc__ or "")

    @property
    def arguments(self) -> list[str]:
        """Arguments that must be documented: of functions, and of classes that users construct."""
        function = getattr(self.thing, "__wrapped__", self.thing)
        if self.kind == "class":
            return (
                list(inspect.signature(self.thing).parameters)
                if self.name in CONSTRUCTED_BY_USERS
                else []
            )
        if self.kind != "function":
            return []
        names = inspect.signature(function, follow_wrapped=True).parameters
        return [name for name in names if name not in ("self", "cls")]


CONSTRUCTED_BY_USERS = (
    "CollisionObserver",
    "Coupling",
    "Log",
    "OnlineIdentifier",
    "Sensors",
    "Trajectory",
)


def public_names() -> Iterator[Public]:
    for name in sy.__all__:
        thing = getattr(sy, name)
        if inspect.ismodule(thing):
            yield from (
                Public(f"{name}.{each}", "function", getattr(thing, each)) for each in thing.__all__
            )
        elif inspect.isclass(thing):
            yield Public(name, "error" if issubclass(thing, Exception) else "class", thing)
            if not issubclass(thing, Exception):
                yield from members(name, thing)
        elif callable(thing):
            yield Public(name, "function", thing)


def members(owner: str, cls: type) -> Iterator[Public]:
    """The public methods and properties of a class, inherited ones included."""
    for name in dir(cls):
        thing = inspect.getattr_static(cls, name)
        if (
            name.startswith("_")
            or inspect.ismemberdescriptor(thing)
            or name in getattr(cls, "__dataclass_fields__", {})
        ):
            continue
        function = getattr(thing, "__func__", thing)
        if inspect.isfunction(function):
            yield Public(f"{owner}.{name}", "function", function)
        elif isinstance(thing, property) or hasattr(thing, "__get__"):
            yield Public(f"{owner}.{name}", "property", thing)
