"""The soak benchmark notices what it looks for.

Other bits, exceptions, calls without end, and what grows.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("resource")  # /proc is that of Linux

from benchmarks.bits import digest
from benchmarks.soak.__main__ import Minute, failures, page
from benchmarks.soak.calls import CALLS, robot_of
from benchmarks.soak.resources import Resources, resources
from benchmarks.soak.workers import Tally, Workers, answer
from steelyard import CallError

HELD = Resources(400.0, 100.0, 10, 12, 1)


def worked(call: Any, seconds: float = 0.2, patience: float = 30.0) -> tuple[Tally, list[str]]:
    workers = Workers({"call": (call, 1)}, 2, 0)
    workers.go()
    time.sleep(seconds)
    stuck = workers.rest(patience)
    if not stuck:
        workers.end()
    return workers.tally, stuck


def test_equal_answers_are_counted() -> None:
    tally, stuck = worked(lambda random, folder: [random.random(), "text", None])
    assert not stuck
    assert not tally.wrong
    assert 0 < tally.repeated["call"] < tally.calls["call"]


def test_a_sentence_is_an_answer_whatever_folder_it_names() -> None:
    def refused(random: np.random.Generator, folder: Path) -> None:
        raise CallError(f"{folder}: no such thing")

    tally, _ = worked(refused)
    assert not tally.wrong
    assert tally.sentences["call"] == tally.calls["call"] > 0


def test_other_bits_and_other_exceptions_are_wrong() -> None:
    count = iter(range(10**6))
    assert "other bits" in worked(lambda random, folder: float(next(count)))[0].wrong[0]
    assert "ZeroDivisionError" in worked(lambda random, folder: 1 / 0)[0].wrong[0]


def test_a_call_without_end_is_named() -> None:
    forever = threading.Event()
    assert worked(lambda random, folder: forever.wait(60), patience=0.2)[1][0].startswith("call ")
    forever.set()


def test_the_same_number_is_the_same_call() -> None:
    kinematics = CALLS["kinematics"][0]
    assert (
        answer(kinematics, 5, 0, "a")
        == answer(kinematics, 5, 0, "a")
        != answer(kinematics, 6, 0, "a")
    )
    names = {robot_of(np.random.default_rng(i)).name for i in range(60)}
    assert len(names) > 8


def test_bits_tell_results_apart() -> None:
    results: list[Any] = [
        0.0,
        -0.0,
        0,
        "0",
        b"00",
        [0.0],
        [[0.0]],
        None,
        np.zeros(2),
        np.zeros((1, 2)),
        np.zeros(2, np.float32),
        {"a": 1},
    ]
    assert len({digest(each) for each in results}) == len(results)
    assert digest(np.arange(6.0).reshape(2, 3).T) == digest(np.arange(6.0).reshape(2, 3).T.copy())
    with pytest.raises(TypeError, match="object has no digest"):
        digest([object()])
    with pytest.raises(TypeError, match="addresses"):
        digest(np.array([object()]))


GROWN = {
    "memory grows": Resources(441.0, 100.0, 10, 12, 1),
    "memory of the readers": Resources(400.0, 111.0, 10, 12, 1),
    "handles": Resources(400.0, 100.0, 11, 12, 1),
    "threads": Resources(400.0, 100.0, 10, 13, 1),
    "children": Resources(400.0, 100.0, 10, 12, 2),
}


@pytest.mark.parametrize("what", GROWN)
def test_what_grows_is_named(what: str) -> None:
    early = [Minute(float(k + 1), 1, HELD) for k in range(5)]
    assert failures(Tally(), [*early, Minute(60.0, 2, HELD)]) == []
    result = failures(Tally(), [*early, Minute(60.0, 2, GROWN[what])])
    assert len(result) == 1
    assert result[0].startswith(what)


def test_wrong_answers_miss_the_target_and_the_page_says_so() -> None:
    tally = Tally(wrong=["identify 3: other bits than at first"])
    minutes = [Minute(1.0, 1, HELD)]
    assert failures(tally, minutes) == ["1 calls have a wrong answer or none"]
    options: Any = type("Options", (), {"minutes": 1.0, "seed": 3, "threads": 2})
    assert "1 calls have a wrong answer or none" in page(tally, minutes, options)


def test_what_a_process_holds_is_seen(tmp_path: Path) -> None:
    before = resources()
    ended = threading.Event()
    thread = threading.Thread(target=ended.wait)
    thread.start()
    with (tmp_path / "file").open("w"):
        ballast = np.ones(40_000_000)
        after = resources()
    ended.set()
    thread.join()
    assert (after.handles, after.threads) == (before.handles + 1, before.threads + 1)
    assert 200 < after.memory - before.memory < 400, ballast.sum()
