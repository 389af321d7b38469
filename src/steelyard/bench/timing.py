"""Times that can be compared: calls take turns, and each keeps its best."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from time import perf_counter

Call = Callable[[], object]


def best_times(calls: Mapping[str, Call], rounds: int = 12, least: float = 2e-3) -> dict[str, float]:
    """Seconds per call, the best of many rounds in which the calls take turns.

    What else runs on the machine then hits all of them alike, and a ratio of two bests is steady where the times are not.
    A short call is repeated until one measurement lasts `least` seconds.
    """
    repeats = {name: _repeats(call, least) for name, call in calls.items()}
    best = dict.fromkeys(calls, float("inf"))
    collecting = gc.isenabled()
    gc.disable()
    try:
        for _ in range(rounds):
            for name, call in calls.items():
                best[name] = min(best[name], _seconds(call, repeats[name]))
    finally:
        if collecting:
            gc.enable()
    return best


def _repeats(call: Call, least: float) -> int:
    """How often to repeat a call so that it lasts; the first call, which may compile, is thrown away."""
    call()
    repeats = 1
    while (spent := _seconds(call, repeats) * repeats) < least:
        repeats = max(repeats + 1, min(10 * repeats, int(1.2 * repeats * least / max(spent, 1e-9))))
    return repeats


def _seconds(call: Call, repeats: int) -> float:
    turns = range(repeats)
    start = perf_counter()
    for _ in turns:
        call()
    return (perf_counter() - start) / repeats
