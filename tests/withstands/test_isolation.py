"""The process of its own.

What ends, exhausts or delays it does nothing to the caller, and the next call works.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import polars
import pytest
from scipy.io import savemat

import steelyard as sy
from steelyard.errors import LogError, SteelyardWarning
from steelyard.isolation import child
from steelyard.isolation.child import call_isolated, close
from steelyard.resource_limits import limits_in_force
from tests.interrupting import interrupted_after

resource = pytest.importorskip("resource")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits of a process are Linux's")

# functions that the child finds by name


def give(value: Any) -> Any:
    return value


def its_process() -> int:
    return os.getpid()


def end_by(number: int) -> None:
    os.kill(os.getpid(), number)


def its_limit() -> float:
    return limits_in_force().memory


def fill_memory(size: int) -> int:
    return len(bytearray(size))


def never_end() -> None:
    while True:
        pass


def warn_and_fail(kind: str) -> None:
    import warnings

    warnings.warn("look here", SteelyardWarning, stacklevel=1)
    raise {"log": LogError("mine"), "other": ZeroDivisionError("foreign")}[kind]


def call(function: Any, *arguments: Any) -> Any:
    return call_isolated(function, arguments, "run.mat: not read", LogError)


# the promises

VALUES = [
    None, True, 3, 2.5, float("inf"), "é\u202e", [1, [2, "a"]], {"a": {"b": None}}, b"\0\xff",
    np.arange(6.0).reshape(2, 3).T, np.array(["a", "bc"]), np.array(["x", None, 1.5], dtype=object),
    np.zeros((0, 3)), np.array(7), np.array([True]), {"array": 1, "list": [np.arange(3)]},
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=[str(i) for i in range(len(VALUES))])
def test_what_is_sent_comes_back(value: Any) -> None:
    assert repr(call(give, value)) == repr(value)


def test_one_process_serves_all_calls() -> None:
    first = call(its_process)
    assert first != os.getpid()
    assert call(its_process) == first


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL])
def test_a_crash_is_a_sentence_and_the_next_call_works(number: int) -> None:
    with pytest.raises(
        LogError,
        match=(
            r"run\.mat: not read \(the process that read it ended with"
            rf" {signal.Signals(number).name}"
        ),
    ):
        call(end_by, number)
    assert call(give, 1) == 1


def test_memory_is_limited() -> None:
    with pytest.raises(LogError, match=r"run\.mat: not read \(.*memory"):
        call(fill_memory, 4 << 30)
    assert call(fill_memory, 1 << 20) == 1 << 20
    with sy.reading_limits(memory=4 << 20), pytest.raises(LogError, match="memory"):
        call(fill_memory, 256 << 20)


def test_the_limits_in_force_are_those_of_the_caller() -> None:
    with sy.reading_limits(memory=3e9):
        assert call(its_limit) == 3e9
    assert call(its_limit) == limits_in_force().memory


def test_time_is_limited() -> None:
    with (
        sy.reading_limits(seconds=0.5),
        pytest.raises(
            LogError,
            match=r"it takes more than 0.5 s; .* allow more: steelyard.reading_limits\(seconds=5\)",
        ),
    ):
        call(never_end)
    assert call(give, 1) == 1


def test_errors_and_warnings_come_back() -> None:
    with (
        pytest.warns(SteelyardWarning, match="look here"),
        pytest.raises(LogError, match=r"^mine$"),
    ):
        call(warn_and_fail, "log")
    with (
        pytest.warns(SteelyardWarning),
        pytest.raises(LogError, match=r"run\.mat: not read \(ZeroDivisionError: foreign\)"),
    ):
        call(warn_and_fail, "other")


def test_threads_take_turns() -> None:
    results: list[Any] = []
    threads = [
        threading.Thread(target=lambda i=i: results.append(call(give, np.full(1000, i))[0]))
        for i in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == list(range(8))


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_starts_its_own_and_leaves_ours_alone() -> None:
    ours = call(its_process)
    with multiprocessing.get_context("fork").Pool(1) as pool:  # a daemonic worker
        theirs = pool.apply_async(call, (its_process,)).get(timeout=60)
    assert theirs != ours
    assert call(its_process) == ours


def test_an_interrupt_ends_the_call_at_once() -> None:
    call(give, 0)
    with sy.reading_limits(seconds=60), pytest.raises(KeyboardInterrupt), interrupted_after(0.5):
        call(never_end)
    assert call(give, 1) == 1


START_FAILURES = {
    "no interpreter at its path": lambda patch: patch.setattr(sys, "executable", "/absent/python"),
    "no interpreter": lambda patch: patch.setattr(sys, "executable", ""),
    "a frozen application": lambda patch: patch.setattr(sys, "frozen", True, raising=False),
    "one that ends at once": lambda patch: patch.setattr(sys, "executable", "/bin/false"),
    "one that is not ours": lambda patch: patch.setattr(
        child, "START", "import os; os.write(1, b'no')"
    ),
    "no more processes": lambda patch: patch.setattr(child.subprocess, "Popen", no_more_processes),
}


def no_more_processes(*args: Any, **options: Any) -> None:
    raise BlockingIOError(11, "Resource temporarily unavailable")


@pytest.mark.parametrize("failure", START_FAILURES)
def test_where_no_process_can_be_started_the_call_is_refused(
    failure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    close()
    with monkeypatch.context() as patch:
        START_FAILURES[failure](patch)
        with pytest.raises(
            LogError,
            match=r"run.mat: not read .*cannot be started.*reading_limits\(in_process=True\)",
        ):
            call(its_process)
        with sy.reading_limits(in_process=True):
            assert call(its_process) == os.getpid()
        patch.setenv("STEELYARD_READING_LIMITS", "in_process=1")
        assert call(its_process) == os.getpid()
        patch.setenv("STEELYARD_READING_LIMITS", "in_process=0")
        with pytest.raises(LogError, match="cannot be started"):
            call(its_process)
        patch.setenv("STEELYARD_READING_LIMITS", "in_process=maybe")
        with pytest.raises(sy.CallError, match="in_process must be True or False"):
            call(its_process)
    assert call(its_process) != os.getpid()


def test_a_process_that_can_be_started_is_used_even_where_none_is_needed() -> None:
    with sy.reading_limits(in_process=True):
        assert call(its_process) != os.getpid()


SCRIPT = """
import os, sys
import steelyard as sy
from scipy.io import savemat
path = sys.argv[1] + "/a.mat"
savemat(path, {"t": [0.0, 1.0, 2.0], "q": [0.0, 1.0, 0.5]})
assert sy.read_log(path).N == 3
from steelyard.isolation import child
print(child._running["child"].pid, flush=True)
if sys.argv[2] == "kill":
    os.kill(os.getpid(), 9)
"""  # without a guard, as scripts are


@pytest.mark.parametrize("end", ["exit", "kill"])
def test_the_process_ends_with_the_script_that_uses_it(
    end: str, tmp_path: Path, root: Path
) -> None:
    environment = {**os.environ, "PYTHONPATH": str(root / "src")}
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path), end],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stderr == ""
    deadline = time.monotonic() + 20
    while _lives(int(run.stdout)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _lives(int(run.stdout))


def _lives(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"  # one that nobody in this container waits for


def test_no_zombies_and_no_open_pipes_are_left() -> None:
    call(give, 1)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        with pytest.raises(LogError):
            call(end_by, signal.SIGKILL)
        call(give, 1)
    assert len(os.listdir("/proc/self/fd")) == before
    close()
    assert not child._running
    # the limits are the child's, not ours
    assert resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY


APART = """
import sys
import steelyard as sy
for path, package in zip(sys.argv[1::2], sys.argv[2::2]):
    assert sy.read_log(path).N == 20
    assert package not in sys.modules, package
"""


def test_readers_that_can_crash_are_not_even_imported_here(tmp_path: Path, root: Path) -> None:
    t = np.arange(20.0)
    savemat(tmp_path / "a.mat", {"t": t, "q": t})
    polars.DataFrame({"t": t, "q1": t}).write_parquet(tmp_path / "a.parquet")
    with h5py.File(tmp_path / "b.mat", "w", userblock_size=512) as file:
        file["t"], file["q"] = t, t
    files = [
        tmp_path / "a.mat",
        "scipy.io",
        tmp_path / "a.parquet",
        "polars",
        tmp_path / "b.mat",
        "h5py",
    ]
    environment = {**os.environ, "PYTHONPATH": str(root / "src")}
    subprocess.run([sys.executable, "-c", APART, *map(str, files)], env=environment, check=True)
