"""Locks and pools in forked children, where the parent's threads do not exist.

Every lock and pool that lives as long as the process is created through `once_per_process` or
`fork_waits_for`; `tests/house/processes/test_fork_registry.py` finds exceptions.
`threads_lost` reports packages whose threads a fork has lost.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

T = TypeVar("T")
_FORKS = hasattr(os, "register_at_fork")
THREADED = ("polars",)
"""Packages with thread pools that do not survive a fork: a call in the child would never return."""


def reset_after_fork(reset: Callable[[], Any]) -> None:
    """Call `reset` in every child that this process forks, before anything else runs there."""
    if _FORKS:
        os.register_at_fork(after_in_child=reset)


def once_per_process(make: Callable[[], T]) -> Callable[[], T]:
    """Return a function that calls `make` once per process and returns its value.

    A forked child calls `make` again. Threads that call it at the same time get the same value.
    """
    values: dict[str, T] = {}

    @wraps(make)
    def value() -> T:
        return values["value"] if "value" in values else values.setdefault("value", make())

    reset_after_fork(values.clear)
    return value


def fork_waits_for(lock: Any) -> Any:
    """Return the lock, for which every fork waits.

    A child then finds the protected state consistent. For libraries with their own locks, which
    nothing resets in a child.
    """
    if _FORKS:
        os.register_at_fork(
            before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release
        )
    return lock


_lost: set[str] = set()  # of THREADED, those whose threads were left behind


def threads_lost(package: str) -> bool:
    """Return whether this is a fork of a process that had imported a package of THREADED.

    The package must not be used here.
    """
    return package in _lost


reset_after_fork(lambda: _lost.update(name for name in THREADED if name in sys.modules))
