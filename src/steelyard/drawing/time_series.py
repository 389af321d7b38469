"""Signals of all joints over time as a figure: a row for each joint, a column for each kind of signal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .figure import BLUE, ORANGE, running_time
from .panels import Curve, Panel, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
MOST_RUNS = 20  # of a batch that are drawn


@dataclass(frozen=True, eq=False)
class Channel:
    """A kind of signal: its name, its unit at each joint, values (N, n) or of a batch (k, N, n), and those that were asked for, (N, n)."""

    name: str
    units: Sequence[str]
    values: Array
    wanted: Array | None = None


def time_series(t: Array, joints: Sequence[str], channels: Sequence[Channel], width: str | float = "page", title: str = "") -> Figure:
    """Return the figure of channels over t (N,) [s]; what was asked for is dashed."""
    time = running_time(t)
    rows = [[panel(time, joint, j, channel, not j, not c) for c, channel in enumerate(channels)] for j, joint in enumerate(joints)]
    return panels(rows, width, title=title)


def panel(t: Array, joint: str, j: int, channel: Channel, first: bool, left: bool) -> Panel:
    """Return the panel of a joint and a channel."""
    runs = channel.values.reshape(-1, *channel.values.shape[-2:])[:MOST_RUNS]
    curves = [Curve(t, run[:, j], colour=BLUE, opacity=1.0 if len(runs) == 1 else 0.4) for run in runs]
    if channel.wanted is not None:
        curves += [Curve(t, channel.wanted[:, j], "commanded", ORANGE, 0.8, "--"), Curve(t[:0], t[:0], "is", BLUE)]
    label = f"{joint}\n[{channel.units[j]}]" if left else f"[{channel.units[j]}]"
    return Panel(tuple(curves), label, "time [s]", channel.name if first else "")
