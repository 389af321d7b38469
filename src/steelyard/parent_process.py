"""end_with_parent: let a child process end with the process that started it.

On Linux the kernel kills a child when the thread that started it ends (prctl(2), PR_SET_PDEATHSIG).
That is asked for only where this is the main thread of the parent: others may end while the child
is in use. Everywhere a thread of the child looks whether its parent lives.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from contextlib import suppress

INTERVAL = 0.5  # [s] between two looks at the parent
_PR_SET_PDEATHSIG = 1
KILLED = 137  # exit code of a process that a shell reports as killed


def parent_identity() -> tuple[int, bool]:
    """Return the arguments of `end_with_parent`; call it in the thread that starts the child."""
    return os.getpid(), threading.current_thread() is threading.main_thread()


def end_with_parent(parent: int, by_main_thread: bool) -> None:
    """Let this process end when its parent does.

    Parameters
    ----------
    parent : process id of the parent
    by_main_thread : whether the main thread of the parent started this process

    Both are returned by `parent_identity`. A process that a fork server started has the fork server
        as its parent, which ends with the
    process that uses it.
    """
    if by_main_thread and sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.name == "posix" and os.getppid() != parent:
        os._exit(KILLED)  # the parent ended before the kernel was asked
    threading.Thread(target=_watch, args=(parent,), name="steelyard-parent", daemon=True).start()


def _watch(parent: int) -> None:
    """End this process once its parent has ended.

    Windows keeps the number of a parent that ended: there its pipe shows whether it runs.
    """
    sentinel = _sentinel()
    while os.name != "posix" or os.getppid() == parent:
        if sentinel is None:
            time.sleep(INTERVAL)
        elif _is_closed(sentinel):
            break
    os._exit(KILLED)


def _sentinel() -> int | None:
    """Return the pipe of the parent that `multiprocessing` opened.

    None in a process that it did not start; it is not imported there.
    """
    if "multiprocessing" not in sys.modules:
        return None
    from multiprocessing import parent_process

    process = parent_process()
    return None if process is None else process.sentinel


def _is_closed(sentinel: int) -> bool:
    """Return whether the parent's pipe is closed, after INTERVAL seconds at most."""
    from multiprocessing.connection import wait

    return bool(wait([sentinel], INTERVAL))
