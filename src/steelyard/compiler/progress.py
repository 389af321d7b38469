"""Progress reports of compilations that take longer than a second."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from time import monotonic

from ..errors import CallError

Progress = Callable[[str, float], None]
PATIENCE = 1.0  # s until the first report
# shares of the work, about, that are done once a program is traced, and once its text is written
TRACED, RENDERED = 0.4, 0.6

_report: ContextVar[Progress | None] = ContextVar("steelyard_compile_progress", default=None)
_work: ContextVar[_Work | None] = ContextVar("steelyard_compiling", default=None)


@dataclass
class _Work:
    """A compilation: what is compiled, the share that is done, and since when."""

    name: str
    share: float = 0.0
    started: float = field(default_factory=monotonic)
    reported: bool = False


@contextmanager
def compile_progress(report: Progress) -> Iterator[None]:
    """Call `report(sentence, share)` while a kernel compiles for longer than a second.

    Parameters
    ----------
    report : function of a sentence, such as "compiling regressor", and of the share of the work
        that is done, 0 to 1; 1 at the end.

    Returns
    -------
    A context, for `with`.

    Examples
    --------
    >>> with sy.compile_progress(lambda sentence, share: print(f"{sentence} … {share:.0%}")):
    ...     sy.load("planar_2r").gravity_torque([0.0, 0.0]).shape  # compiles at once: no report
    (2,)
    """
    if not callable(report):
        raise CallError(
            f"compile_progress takes a function (sentence, share), not {type(report).__name__}"
            f" {report!r:.40}"
        )
    token = _report.set(report)
    try:
        yield
    finally:
        _report.reset(token)


@contextmanager
def compiling(name: str) -> Iterator[None]:
    """Mark the block as the compilation of something of this name."""
    token = _work.set(_Work(name.replace("_", " ")))
    try:
        yield
        if (work := _work.get()) is not None and work.reported:
            report_progress(1.0)
    finally:
        _work.reset(token)


def report_progress(share: float | None = None) -> None:
    """Report the share of the work that is done, None for no change."""
    work, report = _work.get(), _report.get()
    if work is None or report is None:
        return
    work.share = work.share if share is None else share
    if monotonic() - work.started >= PATIENCE:
        work.reported = True
        report(f"compiling {work.name}", work.share)
