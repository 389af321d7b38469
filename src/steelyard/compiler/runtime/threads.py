"""How many cores the kernels use."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from ...errors import CallError
from .fork import once_per_process

_count: ContextVar[int | None] = ContextVar("steelyard_threads", default=None)


def cores() -> int:
    """The cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def thread_count() -> int:
    """The number of threads in force here."""
    count = _count.get()
    return _default() if count is None else count


@once_per_process
def _default() -> int:
    return cores()


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Within the block, kernels called from this thread use at most `count` cores."""
    token = _count.set(_whole(count))
    try:
        yield
    finally:
        _count.reset(token)


def _whole(count: Any) -> int:
    if not isinstance(count, int | np.integer) or isinstance(count, bool) or count < 1:
        raise CallError(f"threads({count!r}): the number of threads must be a whole number of at least 1")
    return int(count)


@once_per_process
def pool() -> ThreadPoolExecutor:
    """The workers, started when first needed."""
    return ThreadPoolExecutor(max_workers=max(cores(), 2), thread_name_prefix="steelyard")
