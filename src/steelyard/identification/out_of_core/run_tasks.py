"""run_tasks: calls on the workers of an executor, repeated where a worker is lost."""

from __future__ import annotations

import multiprocessing
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from typing import Any

from ...arguments import short_repr
from ...errors import (
    CallError,
    ProblemError,
    SteelyardError,
    SteelyardWarning,
    require_package,
    words_of,
)
from ...parent_process import end_with_parent, parent_identity
from .out_of_core_thresholds import THRESHOLDS

Calls = Sequence[tuple[Any, ...]]
Answer = tuple[int, Any]


def run_tasks(function: Callable[..., Any], calls: Calls, executor: Any) -> Iterator[Answer]:
    """Yield (number, result) of function(*call) for each call, as they end.

    A SteelyardError is a result. executor: None for this process, any executor of
    concurrent.futures, a Client of dask.distributed, or `LocalWorkers`. Where a process was killed,
    its unfinished calls run elsewhere; a call that kills every process ends in a ProblemError.
    """
    if executor is None:
        yield from ((number, attempt(function, *call)) for number, call in enumerate(calls))
    elif is_client(executor):
        yield from by_dask(function, calls, executor)
    else:
        yield from by_futures(function, calls, executor)


def attempt(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return the result of a call, or the error of the family that it raised."""
    try:
        return function(*arguments)
    except SteelyardError as error:
        return error


class LocalWorkers:
    """Processes of this machine, replaced where one was killed; `count` of them."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.pool: ProcessPoolExecutor | None = None

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        """Return the future of a call."""
        if self.pool is None:
            self.pool = ProcessPoolExecutor(
                self.count, context(), end_with_parent, parent_identity()
            )
        with warnings.catch_warnings():
            # Python 3.12 warns of threads at a fork, which are allowed for here
            warnings.simplefilter("ignore", DeprecationWarning)
            return self.pool.submit(function, *arguments)

    def replace(self) -> None:
        """Leave the processes that there are; the next call starts others."""
        self.shutdown()
        self.pool = None

    def shutdown(self, wait: bool = False) -> None:
        """End the processes; calls that have not begun are not made.

        With `wait` it returns when they have ended.
        """
        if self.pool is not None:
            self.pool.shutdown(wait=wait, cancel_futures=True)


def context() -> Any:
    """Return how processes start: by fork where that is sound, so that scripts need no guard."""
    return multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")


@contextmanager
def workers_of(executor: Any) -> Iterator[Any]:
    """Yield the workers of `executor=`.

    A number stands for as many local processes, which end with the block.
    """
    if executor is None or is_client(executor) or isinstance(executor, Executor):
        yield executor
        return
    if isinstance(executor, bool) or not isinstance(executor, int) or executor < 1:
        known = (
            "a number of processes, an executor of concurrent.futures, or a Client of"
            " dask.distributed"
        )
        raise CallError(
            f"executor must be {known}, not {short_repr(executor)}", argument="executor"
        )
    workers = LocalWorkers(executor)
    try:
        yield workers
    except BaseException:
        workers.shutdown()
        raise
    workers.shutdown(wait=True)


def by_futures(function: Callable[..., Any], calls: Calls, executor: Any) -> Iterator[Answer]:
    """Yield the results of calls by futures; after a broken executor, local processes continue."""
    pending = dict(enumerate(calls))
    workers = executor
    for _ in range(THRESHOLDS.worker_replacements):
        for answer in until_broken(function, pending, workers):
            del pending[answer[0]]
            yield answer
        if not pending:
            return
        workers = renewed(workers)
    for number, call in pending.items():
        yield number, alone(function, call)


def until_broken(
    function: Callable[..., Any], pending: dict[int, tuple[Any, ...]], workers: Any
) -> Iterator[Answer]:
    """Yield the results of those calls that end before a worker is killed."""
    try:
        futures = {
            workers.submit(attempt, function, *call): number for number, call in pending.items()
        }
    except BrokenExecutor:
        return
    try:
        for future in as_completed(futures):
            error = future.exception()
            if error is None:
                yield futures[future], future.result()
            elif not isinstance(error, BrokenExecutor):
                raise CallError(
                    f"the executor could not run a task ({type(error).__name__}: {error})"
                ) from error
    finally:
        for future in futures:
            future.cancel()


def renewed(workers: Any) -> LocalWorkers:
    """Return new processes after one was killed."""
    count = getattr(workers, "count", None) or getattr(workers, "_max_workers", None) or 1
    if isinstance(workers, LocalWorkers):
        workers.replace()
        return workers
    message = (
        "a worker of the executor was killed; what it had not finished is done by other processes"
        " of this machine"
    )
    warnings.warn(message, SteelyardWarning, stacklevel=2)
    return LocalWorkers(int(count))


def alone(function: Callable[..., Any], call: tuple[Any, ...]) -> Any:
    """Return the result of one call in its own process, or a ProblemError if it is killed."""
    workers = LocalWorkers(1)
    try:
        return workers.submit(attempt, function, *call).result()
    except BrokenExecutor:
        return ProblemError(
            "the process that folded it was killed, alone as well as beside others; is there enough"
            " memory?"
        )
    finally:
        workers.shutdown()


def is_client(executor: Any) -> bool:
    """Return whether this is a Client of dask.distributed."""
    return type(executor).__module__.partition(".")[0] == "distributed"


def dask_client(address: str) -> Any:
    """Return a Client of the Dask cluster at an address such as tcp://host:8786."""
    require_package("distributed", "fleet", "Dask")
    from distributed import Client

    try:
        return Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise CallError(f"no Dask cluster answers at {address} ({error})") from None


def by_dask(function: Callable[..., Any], calls: Calls, client: Any) -> Iterator[Answer]:
    """Yield the results of calls on a Dask cluster, which retries calls of lost workers.

    ProblemError if the cluster is lost; CallError if a worker cannot run the call.
    """
    from distributed import KilledWorker, as_completed

    with cluster_errors(client):
        futures = {
            client.submit(
                attempt, function, *call, pure=False, retries=THRESHOLDS.dask_retries
            ): number
            for number, call in enumerate(calls)
        }
        completed = iter(as_completed(list(futures)))
    while futures:
        with cluster_errors(client):
            future = next(completed)
            number = futures.pop(future)
            try:
                result = future.result()
            except KilledWorker:
                result = ProblemError(
                    "the workers that folded it were killed one after the other; is there enough"
                    " memory?"
                )
        yield number, result


@contextmanager
def cluster_errors(client: Any) -> Iterator[None]:
    """Translate Dask errors of connections and of calls that a worker could not run."""
    try:
        yield
    except SteelyardError:
        raise
    except Exception as error:
        address = getattr(getattr(client, "scheduler", None), "address", "") or "its address"
        if is_lost(client, error):
            raise ProblemError(
                f"the Dask scheduler at {address} was lost before all logs were folded"
                f" ({words_of(error)}): start it again with 'dask scheduler' and its workers, and"
                " repeat the call with a new Client; logs whose factors were kept are not read"
                " again"
            ) from error
        raise CallError(
            f"the workers of the Dask scheduler at {address} could not run a task"
            f" ({words_of(error)}): install the same version of steelyard and its extras on every"
            " worker"
        ) from error


def is_lost(client: Any, error: Exception) -> bool:
    """Return whether the connection to a cluster was lost.

    Futures are then cancelled, and the client's state is no longer running.
    """
    cancelled = any(
        kind.__name__ in ("CancelledError", "FutureCancelledError", "FuturesCancelledError")
        for kind in type(error).__mro__
    )
    return (
        cancelled
        or isinstance(error, (OSError, StopIteration))
        or getattr(client, "status", "running") != "running"
    )
