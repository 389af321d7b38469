"""A cached property without a lock.

Before Python 3.12, the one of functools holds a lock for all objects of a class while it computes.
A process that forks meanwhile leaves it locked in the child for ever. Here two threads may compute
the same value; both get an equal one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class cached_property(Generic[T]):
    """A method whose value is computed once for each object and kept in its `__dict__`."""

    def __init__(self, function: Callable[[Any], T]) -> None:
        self.function = function
        self.__doc__ = function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> cached_property[T]: ...

    @overload
    def __get__(self, instance: object, owner: type | None = None) -> T: ...

    def __get__(self, instance: object | None, owner: type | None = None) -> cached_property[T] | T:
        if instance is None:
            return self
        value = instance.__dict__[self.name] = self.function(instance)
        return value
