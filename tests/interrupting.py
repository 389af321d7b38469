"""An interrupt as Ctrl-C sends it, into a block of a test and never after it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interrupted_after(seconds: float) -> Iterator[None]:
    """Send SIGINT to the main thread after some time; one that comes after the block is dropped.

    System calls that it interrupts are restarted, as after `import polars`.
    """
    inside = [True]

    def handle(*_: object) -> None:
        if inside:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, handle)
    signal.siginterrupt(signal.SIGINT, False)
    timer = threading.Timer(
        seconds, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT)
    )
    timer.start()
    try:
        yield
    finally:
        inside.clear()
        timer.join()
        signal.signal(signal.SIGINT, before)
