"""NumPy error state of public functions, independent of the caller's np.seterr.

Underflow to zero is part of many formulas (exp of a large negative number). Under
np.seterr(all="raise") it would end them. Public functions therefore run under NumPy's defaults.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from .cached import cached_property

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C", bound=type)


DEFAULTS: dict[str, Any] = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}


def numpy_defaults() -> np.errstate:
    """Return a context in which no floating-point error raises: NumPy's defaults where one would.

    What the caller ignores stays ignored.
    """
    return np.errstate(
        **{kind: DEFAULTS[kind] for kind, mode in np.geterr().items() if mode == "raise"}
    )


def default_errstate(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function to run under NumPy's default error state instead of the caller's."""

    @wraps(function)
    def under_defaults(*args: P.args, **kwargs: P.kwargs) -> R:
        with numpy_defaults():
            return function(*args, **kwargs)

    return under_defaults


def default_errstate_methods(cls: C) -> C:
    """Decorate the public methods and properties of a class with `default_errstate`."""
    for name, member in list(vars(cls).items()):
        if name.startswith("_"):
            continue
        if isinstance(member, property):
            setattr(
                cls,
                name,
                property(
                    default_errstate(_getter(member)), member.fset, member.fdel, member.__doc__
                ),
            )
        elif isinstance(member, cached_property):
            member.function = default_errstate(member.function)
        elif callable(member) and hasattr(member, "__code__"):
            setattr(cls, name, default_errstate(member))
    return cls


def _getter(member: property) -> Callable[[Any], Any]:
    assert member.fget is not None
    return member.fget
