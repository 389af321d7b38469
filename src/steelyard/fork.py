"""Locks and pools in forked children: the threads that held or served them do not exist there.

Every lock and every pool that lives as long as the process is made through `once_per_process` or `fork_waits_for`;
`tests/house/test_fork.py` finds those that are not.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

T = TypeVar("T")
_FORKS = hasattr(os, "register_at_fork")


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
