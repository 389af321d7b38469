"""Threads: number of cores for kernels, and gufuncs over large batches on several threads.

Results are bit for bit the results of one thread.
"""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from time import perf_counter
from typing import Any, TypeVar

import numpy as np

from ...errors import CallError
from ...fork import once_per_process
from ..ir.program import Operand

T = TypeVar("T")
U = TypeVar("U")
# s: a block that takes less or more time is followed by one of twice or half the size
SHORT, LONG = 0.010, 0.025

_count: ContextVar[int | None] = ContextVar("steelyard_threads", default=None)


def cores() -> int:
    """Return the number of cores on which this process may run."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def thread_count() -> int:
    """Return the number of threads that kernels use when called from this thread."""
    count = _count.get()
    return _default() if count is None else count


@once_per_process
def _default() -> int:
    return cores()


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Limit the kernels called from this thread to `count` cores within the block.

    Parameters
    ----------
    count : number of cores, at least 1.

    Returns
    -------
    A context, for `with`.

    Examples
    --------
    >>> with sy.threads(1):
    ...     sy.load("planar_2r").gravity_torque(np.zeros((1000, 2))).shape
    (1000, 2)
    """
    token = _count.set(_checked_count(count))
    try:
        yield
    finally:
        _count.reset(token)


def _checked_count(count: Any) -> int:
    if not isinstance(count, int | np.integer) or isinstance(count, bool) or count < 1:
        raise CallError(
            f"threads({count!r}): the number of threads must be a whole number of at least 1"
        )
    return int(count)


@once_per_process
def _pool() -> ThreadPoolExecutor:
    """Return the worker threads, started at first use."""
    return ThreadPoolExecutor(max_workers=max(cores(), 2), thread_name_prefix="steelyard")


def in_parallel(
    ufunc: np.ufunc,
    inputs: Sequence[Operand],
    outputs: Sequence[Operand],
    count: int,
    block: int,
    args: tuple[Any, ...],
    out: Any,
) -> Any:
    """Call ufunc(*args, out=out) on `count` threads if the batch can be divided.

    NumPy releases the GIL while it computes. Each thread processes its part in blocks of at first
    `block` samples, then of as many as take between SHORT and LONG: between blocks Python checks
    for interrupts, which end all threads.
    """
    arrays = [np.asarray(a) for a in args]
    batch = _batch(arrays, inputs)
    targets = out if out is None or isinstance(out, tuple) else (out,)
    if (
        batch is None
        or max(batch) < 2 * count
        or 0 in batch
        or (targets is not None and not _fits(targets, arrays, batch, outputs))
    ):
        return ufunc(*args) if out is None else ufunc(*args, out=out)
    results = tuple(np.empty(batch + o.shape) for o in outputs) if targets is None else targets
    shapes = [batch + o.shape for o in inputs]
    spread = [
        a if a.shape == shape else np.broadcast_to(a, shape)
        for a, shape in zip(arrays, shapes, strict=True)
    ]
    axis = int(np.argmax(batch))
    edges = [batch[axis] * i // count for i in range(count + 1)]

    across = math.prod(batch) // batch[axis]  # samples at each index along the axis
    stopped: list[bool] = []

    def run(i: int) -> None:
        begin, end, size = edges[i], edges[i + 1], max(block // across, 1)
        while begin < end and not stopped:
            part = (slice(None),) * axis + (slice(begin, min(begin + size, end)),)
            start = perf_counter()
            ufunc(*(a[part] for a in spread), out=tuple(o[part] for o in results))
            spent = perf_counter() - start
            begin, size = (
                begin + size,
                (2 * size if spent < SHORT else max(size // 2, 1) if spent > LONG else size),
            )

    run_in_pool(run, count, stopped)
    return results[0] if len(results) == 1 else results


def _batch(arrays: Sequence[np.ndarray], inputs: Sequence[Operand]) -> tuple[int, ...] | None:
    """Return the batch shape, or None if there is none or the arguments do not fit.

    NumPy then raises the error.
    """
    if len(arrays) != len(inputs):
        return None
    for a, o in zip(arrays, inputs, strict=True):
        if a.shape[max(a.ndim - len(o.shape), 0) :] != o.shape or not np.can_cast(
            a.dtype, np.float64, "same_kind"
        ):
            return None
    try:
        batch = np.broadcast_shapes(
            *(a.shape[: a.ndim - len(o.shape)] for a, o in zip(arrays, inputs, strict=True))
        )
    except ValueError:
        return None
    return batch or None


def _fits(
    out: tuple[Any, ...],
    arrays: Sequence[np.ndarray],
    batch: tuple[int, ...],
    outputs: Sequence[Operand],
) -> bool:
    """Return whether the arrays of `out` have the shapes of the results and share no memory."""
    if len(out) != len(outputs) or not all(isinstance(x, np.ndarray) for x in out):
        return False
    if any(x.shape != batch + o.shape for x, o in zip(out, outputs, strict=True)):
        return False
    others = [(x, y) for i, x in enumerate(out) for y in (*arrays, *out[i + 1 :])]
    return not any(np.may_share_memory(x, y) for x, y in others)


def run_in_pool(run: Callable[[int], None], count: int, stopped: list[bool]) -> None:
    """Call run(0) here and run(1), ... in the pool, under this thread's error state.

    After all have ended, raise the first error. An exception raised here, such as an interrupt,
    sets `stopped`, which ends the other threads.
    """
    jobs: list[Future[None]] = []
    try:
        jobs.extend(_pool().submit(copy_context().run, run, i) for i in range(1, count))
    except RuntimeError:  # the interpreter shuts down and takes no more jobs
        for i in range(len(jobs) + 1, count):
            run(i)
    try:
        run(0)
        errors = [job.exception() for job in jobs]
    except BaseException:
        stopped.append(True)
        for job in jobs:
            job.exception()
        raise
    for error in errors:
        if error is not None:
            raise error


def mapped(function: Callable[[T], U], items: Iterable[T]) -> Iterator[U]:
    """Yield function(item) in the order of the items, computing several at once on worker threads.

    Kernels called by the function use one thread. At most one result per thread, and one more, is
    kept waiting.
    """
    count, every = thread_count(), list(items)
    if count == 1 or len(every) < 2:
        yield from map(function, every)
        return

    def with_one_thread(item: T) -> U:
        with threads(1):
            return function(item)

    waiting: deque[Future[U]] = deque()
    try:
        for item in every:
            try:
                waiting.append(_pool().submit(copy_context().run, with_one_thread, item))
            except RuntimeError:  # the interpreter shuts down and takes no more jobs
                yield from (waiting.popleft().result() for _ in range(len(waiting)))
                yield with_one_thread(item)
            if len(waiting) > count:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for job in waiting:
            job.cancel()
