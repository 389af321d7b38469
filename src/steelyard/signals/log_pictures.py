"""Figures and tables of a log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..drawing.numbers import percent, short
from ..drawing.signal_figures import SignalCurve
from ..drawing.table import Column, Table
from ..errors import CallError, suggest

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(log: Any, signals: tuple[str, ...], width: str | float) -> Figure:
    """Return a figure of signals over time, a row for each joint; `log` is a Log."""
    from ..drawing.matplotlib_renderer import to_matplotlib
    from ..drawing.signal_figures import joint_rows

    usual = tuple(name for name in ("q", "qd", "tau") if getattr(log, name) is not None)
    channels = []
    for name in signals or usual:
        if name not in log.signals or getattr(log, name).shape != log.q.shape:
            known = [each for each in log.signals if getattr(log, each).shape == log.q.shape]
            raise CallError(
                f"plot: the log has no signal {name!r} of its joints; {suggest(str(name), known)}"
            )
        channels.append(log_signal(log, name))
    return to_matplotlib(joint_rows(log.t, log.labels, channels, log.source), width)


def log_signal(log: Any, name: str) -> SignalCurve:
    """Return a signal of a Log with a column for every joint, and its command."""
    row = log.schema[name]
    command = log.reference if name == "q" else None
    units = [str(row.unit)] * log.n
    return SignalCurve(name=row.meaning, units=units, values=getattr(log, name), commanded=command)


def joint_signals(log: Any) -> list[SignalCurve]:
    """Return the signals of a Log that have a column for every joint; commands apart."""
    names = ("q", "qd", "qdd", "tau", "current")
    return [log_signal(log, name) for name in names if getattr(log, name) is not None]


def signal_table(log: Any) -> Table:
    """Return the signals of a Log with their units and ranges."""
    rows = [
        (
            name,
            log.schema[name].meaning,
            str(log.schema[name].unit),
            *signal_range(getattr(log, name)),
        )
        for name in log.signals
    ]
    columns = (
        *(Column(name, numeric=False) for name in ("signal", "is", "unit")),
        Column("least"),
        Column("greatest"),
        Column("NaN", "%"),
    )
    return Table("Signals", columns, tuple(rows))


def signal_range(x: NDArray[np.float64]) -> tuple[str, str, str]:
    """Return the least and the greatest value, and the share of NaN [%], as text."""
    known = x[np.isfinite(x)]
    ends = (float(known.min()), float(known.max())) if len(known) else (float("nan"), float("nan"))
    return short(ends[0], 4), short(ends[1], 4), percent(1.0 - len(known) / max(x.size, 1))
