"""call_isolated: call a function in a child process that may crash or exhaust its limits.

The child is started at first use and stays; it is started again after it has ended. It is a plain
`subprocess`, so that scripts need no guard and daemonic workers have one too. A forked process
starts its own. Where no child can be started (a frozen application), the call is refused, unless
`reading_limits(in_process=True)` allows it in this process.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import select
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from threading import Lock
from typing import Any

import numpy as np

from ..errors import FAMILY, SteelyardError, SteelyardWarning, translate_errors, words_of
from ..fork import once_per_process, reset_after_fork
from ..parent_process import parent_identity
from ..resource_limits import VARIABLE, limits_in_force, too_much
from .wire_format import decode, encode
from .worker import READY, write_parts

START = (
    "import json, sys; sys.path[:], parent = json.loads(sys.argv[1]); from"
    " steelyard.isolation.worker import main; main(*parent)"
)
# each thread of BLAS would take memory, and no reader multiplies
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
# memory of a reader, in multiples of what it may return and of the file
SPARE, COPIES = 2.0, 3.0

_lock = once_per_process(Lock)
_running: dict[str, subprocess.Popen[bytes]] = {}


def call_isolated(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    failure: str,
    family: type[SteelyardError],
    packages: Sequence[str] = (),
    size: float = 0,
) -> Any:
    """Call a function of a module in the child and return its result.

    Arguments and result are plain data and arrays, no pickles.

    failure: begins the sentence of an error of the family if the child ends or the function raises
    something else than the family. packages: what the function imports, so that loading them does
    not count. size [bytes] of the file that it reads, for its time.
    """
    limits = limits_in_force()
    call = {
        "module": function.__module__,
        "function": function.__name__,
        "arguments": arguments,
        "packages": list(packages),
        "memory": SPARE * limits.memory + COPIES * size,
        "seconds": limits.seconds_for(size),
        "limits": asdict(limits),
        "here": _here(),
    }
    with _lock():
        child = _start_child()
        if isinstance(child, str):
            return _call_here(function, arguments, failure, family, child)
        answered = _exchange(child, call)
    if isinstance(answered, int):
        raise family(f"{failure} ({_why_ended(answered, limits.seconds_for(size))})")
    for message in answered["warnings"]:
        warnings.warn(message, SteelyardWarning, stacklevel=3)
    if "error" in answered:
        known = FAMILY.get(answered["error"])
        raise (
            family(f"{failure} ({answered['words']})")
            if known is None
            else known(answered["words"])
        )
    return answered["result"]


def _call_here(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    failure: str,
    family: type[SteelyardError],
    reason: str,
) -> Any:
    """Call a function in this process, if the user allows it, where no child can be started."""
    if not limits_in_force().in_process:
        raise family(
            f"{failure} (the separate process that reads such files cannot be started:"
            f" {reason}). If you trust the file, read it in this process: with"
            f" steelyard.reading_limits(in_process=True), or {VARIABLE}='in_process=1'"
        )
    with translate_errors(failure, family):
        return getattr(importlib.import_module(function.__module__), function.__name__)(*arguments)


def _here() -> str | None:
    """Return the working directory, which relative paths begin from; None if it was removed."""
    with suppress(OSError):
        return os.getcwd()
    return None


def _exchange(child: subprocess.Popen[bytes], call: dict[str, Any]) -> Any:
    """Return the child's answer to a call, or its exit code if it ended."""
    try:
        write_parts(child.stdin, encode(call))
    except OSError:
        return _stop(child)
    return _answer(child)


def _answer(child: subprocess.Popen[bytes]) -> Any:
    """Return the child's answer, or its exit code if it ended.

    An interruption of the wait ends the child.
    """
    try:
        return decode(lambda size: _read(child.stdout, size))
    except EOFError:
        return _stop(child)
    except BaseException:
        _stop(child, kill=True)
        raise


def _read(stream: Any, size: int) -> memoryview:
    data = np.empty(size, np.uint8).data
    filled = 0
    while filled < size:
        if os.name == "posix":
            # which an interrupt ends even where a library has signals restart what they interrupt
            select.select([stream], [], [])
        count = stream.readinto(data[filled:])
        if not count:
            raise EOFError
        filled += count
    return data


def _why_ended(code: int, seconds: float) -> str:
    """Return why a child ended, in words."""
    if code == 1 or code == -getattr(signal, "SIGXCPU", 0):
        return too_much(f"it takes more than {seconds:.3g} s", "seconds", 10 * seconds)
    name = (
        signal.Signals(-code).name
        if code < 0 and -code in set(signal.Signals)
        else f"exit code {code}"
    )
    return (
        f"the process that read it ended with {name}: the file is damaged, or needs more memory"
        " than a reader may use"
    )


def _start_child() -> subprocess.Popen[bytes] | str:
    """Return the child that runs, or a new one; where there can be none, the reason in words."""
    child = _running.get("child")
    if child is not None and child.poll() is None:
        return child
    if child is not None:
        _stop(child)
    if getattr(sys, "frozen", False) or not sys.executable:
        return "this application has no Python interpreter that could run it"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    paths = json.dumps(
        [[os.path.join(_here() or "", path) for path in sys.path], parent_identity()]
    )
    command = [sys.executable, "-I", "-c", START, paths]
    try:
        child = subprocess.Popen(
            command, bufsize=0, env=os.environ | ONE_THREAD, start_new_session=True, **pipes
        )  # type: ignore[call-overload]
    except OSError as error:
        return words_of(error)
    _running["child"] = child
    answer = _answer(child)
    if answer == READY:
        return child
    return (
        f"{sys.executable} ended with exit code {answer}"
        if isinstance(answer, int)
        else "it answered something else"
    )


def _stop(child: subprocess.Popen[bytes], kill: bool = False) -> int:
    """End the child and return its exit code."""
    if kill:
        child.kill()
    for pipe in (child.stdin, child.stdout):
        with suppress(OSError):
            pipe.close()  # type: ignore[union-attr]
    try:
        code = child.wait(timeout=5)
    except subprocess.TimeoutExpired:
        child.kill()
        code = child.wait()
    _running.pop("child", None)
    return code


def close() -> None:
    """End the child, if one runs."""
    child = _running.get("child")
    if child is not None:
        _stop(child)


def _forget() -> None:
    """Leave the parent's child alone: it is not a child of a forked process."""
    child = _running.pop("child", None)
    if child is not None:
        child.returncode = 0  # so that nothing waits for it
        for pipe in (child.stdin, child.stdout):
            pipe.close()  # type: ignore[union-attr]


atexit.register(close)
reset_after_fork(_forget)
