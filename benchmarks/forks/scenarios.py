"""Scenarios with threads and children, whose results must equal the results of a plain process."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from benchmarks.forks.work import Array, computed, everything, identified, kept

MANY = 8  # processes or threads at once
PATIENCE = 120  # [s] for a child
FORKS = 3  # while another thread works, at moments that differ


def right(answer: Array, reference: Array) -> None:
    """Ask for the same bits."""
    assert np.array_equal(answer, reference), (
        f"another answer: off by {np.max(np.abs(answer - reference))}"
    )


def pooled(method: str) -> Callable[[int, Array], None]:
    """Children of a pool, after the parent has done the same work."""

    def scenario(number: int, reference: Array) -> None:
        right(everything(number), reference)
        with multiprocessing.get_context(method).Pool(2) as pool:
            for answer in pool.map_async(everything, [number] * 3, chunksize=1).get(
                timeout=PATIENCE
            ):
                right(answer, reference)

    return scenario


def forked_during(work: Callable[[int], Array]) -> Callable[[int, Array], None]:
    """Children forked by hand while another thread works on what is new to it each time."""

    def scenario(number: int, reference: Array) -> None:
        with working(work, 1000 * (number + 1)):
            for attempt in range(FORKS):
                time.sleep(0.017 * attempt)
                forked(number, reference)

    return scenario


@contextmanager
def working(work: Callable[[int], Array], first: int) -> Iterator[None]:
    """A thread that works until the end of the block."""
    begun, over = threading.Event(), threading.Event()

    def on() -> None:
        number = first
        while not over.is_set():
            work(number)
            begun.set()
            number += 1

    thread = threading.Thread(target=on)
    thread.start()
    begun.wait(PATIENCE)
    try:
        yield
    finally:
        over.set()
        thread.join()


def forked(number: int, reference: Array) -> None:
    """A child by fork alone, that ends at once when it has its answer, or when it hangs."""
    child = os.fork()
    if child == 0:
        signal.alarm(PATIENCE)
        try:
            right(everything(number), reference)
        except BaseException:  # noqa: BLE001 (a child must not run on as a second parent)
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    assert status == 0, "a child hangs" if status == signal.SIGALRM else f"a child fails: {status}"


def processes(number: int, reference: Array) -> None:
    """Many processes that have nothing in common but a kernel cache."""
    file = Path(os.environ["STEELYARD_CACHE"]) / "reference.npy"
    np.save(file, reference)
    command = [
        sys.executable,
        "-m",
        "benchmarks.forks",
        "--scenario",
        "alone",
        str(number),
        str(file),
    ]
    started = [subprocess.Popen(command) for _ in range(MANY)]
    assert not any(process.wait(PATIENCE) for process in started), "a process fails"


def alone(number: int, reference: Array) -> None:
    """The work, with nothing else about."""
    right(everything(number), reference)


def threads(number: int, reference: Array) -> None:
    """Many threads of one process."""
    with ThreadPoolExecutor(MANY) as pool:
        for answer in pool.map(everything, [number] * MANY):
            right(answer, reference)


SCENARIOS: dict[str, Callable[[int, Array], None]] = {
    "fork, after the parent identified": pooled("fork"),
    "spawn": pooled("spawn"),
    "forkserver": pooled("forkserver"),
    "fork while a thread compiles": forked_during(computed),
    "fork while a thread identifies": forked_during(identified),
    "fork while a thread reads and writes": forked_during(kept),
    f"{MANY} processes at once": processes,
    f"{MANY} threads at once": threads,
}
