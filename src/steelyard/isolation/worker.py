"""The child process: calls functions by name within memory and time limits until input ends."""

from __future__ import annotations

import faulthandler
import importlib
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO

from ..errors import SteelyardError, SteelyardWarning, words_of
from ..parent_process import end_with_parent
from ..resource_limits import reading_limits
from .wire_format import decode, encode

READY = "ready"
WAITING = 1.8  # times the seconds of computing may pass on the clock: other processes run too


def main(parent: int, by_main_thread: bool) -> None:
    """Answer calls from standard input on standard output until the parent ends.

    What libraries print is dropped. The process ends with its parent, also during a call.
    """
    end_with_parent(parent, by_main_thread)
    # Both streams stay open as long as the process lives.
    calls = open(os.dup(0), "rb")  # noqa: SIM115
    answers = open(os.dup(1), "wb", buffering=0)  # noqa: SIM115
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    write_parts(answers, encode(READY))
    with suppress(EOFError, BrokenPipeError):
        while True:
            write_parts(answers, encode(answer(decode(lambda size: _read(calls, size)))))


def answer(call: dict[str, Any]) -> dict[str, Any]:
    """Call a function; return its result or error, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", SteelyardWarning)
        try:
            result = {"result": _call_function(call)}
        except SteelyardError as error:
            result = {"error": type(error).__name__, "words": error.message}
        except BaseException as error:  # noqa: BLE001 - also a panic of a library written in Rust
            result = {"error": "", "words": words_of(error)}
    return result | {"warnings": [str(warning.message) for warning in caught]}


def _call_function(call: dict[str, Any]) -> Any:
    function = getattr(importlib.import_module(call["module"]), call["function"])
    for package in call["packages"]:
        with suppress(ImportError):
            importlib.import_module(package)
    with suppress(OSError, TypeError):
        os.chdir(call["here"])
    with _limits(call["memory"], call["seconds"]), reading_limits(**call["limits"]):
        return function(*call["arguments"])


@contextmanager
def _limits(memory: float, seconds: float) -> Iterator[None]:
    """Limit address space beyond the current use, and CPU time, within the block.

    A process that takes too long is ended, even within a library. Where the system cannot count its
    computing, the clock decides.
    """
    with open(os.devnull, "w") as nowhere:
        faulthandler.dump_traceback_later(WAITING * seconds, exit=True, file=nowhere)
        _set_limits(memory, seconds)
        try:
            yield
        finally:
            _set_limits(None, None)
            faulthandler.cancel_dump_traceback_later()


def _set_limits(memory: float | None, seconds: float | None) -> None:
    """Limit memory and time beyond what is used now; None: as much as the system gives."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        usage = resource.getrusage(resource.RUSAGE_SELF)
        _limit(
            resource,
            resource.RLIMIT_CPU,
            None if seconds is None else int(usage.ru_utime + usage.ru_stime + seconds) + 1,
        )
        # elsewhere than on Linux the limit would not hold
        with open("/proc/self/statm", encoding="ascii") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        _limit(resource, resource.RLIMIT_AS, None if memory is None else used + int(memory))


def _limit(resource: Any, kind: int, value: int | None) -> None:
    most = resource.getrlimit(kind)[1]
    unbound = most == resource.RLIM_INFINITY
    resource.setrlimit(
        kind, (most if value is None else value if unbound else min(value, most), most)
    )


def _read(stream: BinaryIO, size: int) -> memoryview:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return memoryview(data)


def write_parts(stream: Any, parts: list[Any]) -> None:
    """Write bytes to an unbuffered stream, all of them."""
    for part in parts:
        view = memoryview(part)
        while len(view):
            view = view[stream.write(view) :]
