"""Locks and pools in forked children: the threads that held or served them do not exist there.

Every lock and every pool that lives as long as the process is made through `once_per_process` or `fork_waits_for`;
`tests/house/test_fork_registry.py` finds those that are not. Packages with threads of their own are asked for by `threads_lost`.
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
"""Packages that compute in threads of their own, which nothing starts again in a forked child: a call there would wait for ever."""


def reset_after_fork(reset: Callable[[], Any]) -> None:
    """Call `reset` in every child that this process forks, before anything else runs there."""
    if _FORKS:
        os.register_at_fork(after_in_child=reset)


def once_per_process(make: Callable[[], T]) -> Callable[[], T]:
    """Return a function that returns what `make` returns, called at first use; a forked child calls `make` again.

    Threads that call it at the same time get the same value.
    """
    made: dict[str, T] = {}

    @wraps(make)
    def value() -> T:
        return made["value"] if "value" in made else made.setdefault("value", make())

    reset_after_fork(made.clear)
    return value


def fork_waits_for(lock: Any) -> Any:
    """Return the lock, for which every fork waits: a child finds what it protects as no thread was changing it.

    For a foreign library with locks of its own, which nothing resets in a child.
    """
    if _FORKS:
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock


_lost: set[str] = set()  # of THREADED, those whose threads were left behind


def threads_lost(package: str) -> bool:
    """Whether this process was forked from one that had imported a package of THREADED: here it must not be used."""
    return package in _lost


reset_after_fork(lambda: _lost.update(name for name in THREADED if name in sys.modules))
