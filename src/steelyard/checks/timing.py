"""Times that can be compared: calls take turns, and each keeps its best."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from time import thread_time

Call = Callable[[], object]
Clock = Callable[[], float]


def best_times(calls: Mapping[str, Call], rounds: int = 12, least: float = 2e-3, clock: Clock = thread_time) -> dict[str, float]:
    """Seconds per call, the best of many rounds in which the calls take turns.

    What else runs on the machine then hits all of them alike, and a ratio of two bests is steady where the times are not.
    A short call is repeated until one measurement lasts `least` seconds. The clock is the calling thread's own processor time: on a busy
    machine a wall clock would punish the longer call, which is interrupted more often. What runs on several threads needs `perf_counter`.
    """
    repeats = {name: _repeats(call, least, clock) for name, call in calls.items()}
    best = dict.fromkeys(calls, float("inf"))
    collecting = gc.isenabled()
    gc.disable()
    try:
        for _ in range(rounds):
            for name, call in calls.items():
                best[name] = min(best[name], _seconds(call, repeats[name], clock))
    finally:
        if collecting:
            gc.enable()
    return best


def _repeats(call: Call, least: float, clock: Clock) -> int:
    """How often to repeat a call so that it lasts; the first call, which may compile, is thrown away."""
    call()
    repeats = 1
    while (spent := _seconds(call, repeats, clock) * repeats) < least:
        repeats = max(repeats + 1, min(10 * repeats, int(1.2 * repeats * least / max(spent, 1e-9))))
    return repeats


def _seconds(call: Call, repeats: int, clock: Clock) -> float:
    turns = range(repeats)
    start = clock()
    for _ in turns:
        call()
    return (clock() - start) / repeats
