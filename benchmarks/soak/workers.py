"""Threads that make random calls and compare each result with the first of its kind."""

from __future__ import annotations

import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Lock, Thread
from typing import Any

import numpy as np

import steelyard as sy
from benchmarks.bits import digest
from steelyard.errors import SteelyardError

HOT, ALL = 8, 250  # half of the calls are drawn from the first few of a kind, the others from all
Call = Callable[[np.random.Generator, Path], Any]


@dataclass
class Tally:
    """What was answered so far.

    Bits of first answers by kind and number; counts of calls, repeated ones and sentences by kind.
    """

    first: dict[tuple[str, int], str] = field(default_factory=dict)
    calls: Counter[str] = field(default_factory=Counter)
    repeated: Counter[str] = field(default_factory=Counter)
    sentences: Counter[str] = field(default_factory=Counter)
    longest: dict[str, float] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)


def answer(call: Call, number: int, seed: int, kind: str) -> tuple[str, str]:
    """Return the bits of an answer, and its words if it is an error of the family.

    Any other exception passes.
    """
    with TemporaryDirectory(prefix="soak-") as folder:
        try:
            return (
                digest(call(np.random.default_rng([seed, number, *kind.encode()]), Path(folder))),
                "",
            )
        except SteelyardError as error:
            words = str(error).replace(folder, "")
            return digest([type(error).__name__, words]), words


class Workers:
    """Threads over a table of calls: kind -> (call, weight)."""

    def __init__(self, calls: Mapping[str, tuple[Call, int]], threads: int, seed: int) -> None:
        self.calls, self.seed, self.tally = dict(calls), seed, Tally()
        self.going, self.ended, self.lock = Event(), Event(), Lock()
        self.doing: list[tuple[str, int, float] | None] = [None] * threads
        self.threads = [
            Thread(target=self._run, args=(i,), daemon=True, name=f"soak{i}")
            for i in range(threads)
        ]
        for thread in self.threads:
            thread.start()

    def go(self) -> None:
        """Let the threads work."""
        self.going.set()

    def rest(self, patience: float) -> list[str]:
        """Let each thread end its call and wait.

        Return the calls that take longer than `patience` [s].
        """
        self.going.clear()
        end = time.monotonic() + patience
        while any(self.doing) and time.monotonic() < end:
            time.sleep(0.02)
        return [f"{doing[0]} {doing[1]}" for doing in self.doing if doing is not None]

    def end(self) -> None:
        """End the threads, which rest."""
        self.ended.set()
        self.going.set()
        for thread in self.threads:
            thread.join(timeout=10)

    def _run(self, worker: int) -> None:
        random = np.random.default_rng([self.seed, worker])
        kinds = list(self.calls)
        weights = np.array([weight for _, weight in self.calls.values()], float)
        with sy.threads(1):
            while not self.ended.is_set():
                kind = kinds[random.choice(len(kinds), p=weights / weights.sum())]
                number = int(random.integers(HOT if random.random() < 0.5 else ALL))
                self.doing[worker] = kind, number, time.monotonic()
                if self.going.is_set():
                    self._make(kind, number)
                self.doing[worker] = None
                self.going.wait()

    def _make(self, kind: str, number: int) -> None:
        tally, start = self.tally, time.monotonic()
        try:
            bits, words = answer(self.calls[kind][0], number, self.seed, kind)
        except BaseException as error:  # noqa: BLE001 - that is what is looked for
            tally.wrong.append(
                f"{kind} {number}: {''.join(traceback.format_exception(error, limit=-3))}"
            )
            return
        with self.lock:
            known = tally.first.setdefault((kind, number), bits)
            if known != bits:
                tally.wrong.append(f"{kind} {number}: other bits than at first {words}")
            tally.calls[kind] += 1
            tally.repeated[kind] += known is not bits
            tally.sentences[kind] += bool(words)
            tally.longest[kind] = max(tally.longest.get(kind, 0.0), time.monotonic() - start)
