"""Signals of all joints over one time axis: of a log, of a motion that was designed, of a simulated one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..drawing.figure import GREY, Array, Figure, axis, hue, kept_points, label, layout, line, running_time
from ..signals.log import Log

SIGNALS = {"q": "position", "qd": "velocity", "qdd": "acceleration", "tau": "torque", "current": "motor current", "reference": "commanded"}
HEIGHT = 150  # [px] of a panel
MOST_POINTS = 6000  # of all joints of a panel


@dataclass(frozen=True, eq=False)
class Band:
    """Samples (N,) that are marked, in a colour."""

    samples: NDArray[np.bool_]
    colour: str


@dataclass(frozen=True, eq=False)
class Signals:
    """A kind of signal: its name, unit, values (N, n), and those that were asked for (N, n), if any."""

    name: str
    unit: str
    values: Array
    wanted: Array | None = None


def log_channels(log: Log) -> list[Signals]:
    """Return the signals of a log that have a column for every joint."""
    units = {"q": "rad|m", "qd": "rad/s|m/s", "qdd": "rad/s²|m/s²", "tau": "N m|N", "current": "A"}
    wanted = log.reference
    return [Signals(SIGNALS[name], unit, values, wanted if name == "q" else None)
            for name, unit in units.items() if (values := getattr(log, name)) is not None]  # fmt: skip


def channels(t: Array, joints: Sequence[str], signals: Sequence[Signals], bands: Sequence[Band] = (), name: str = "channels") -> Figure:
    """Signals of all joints over t (N,) [s], a panel for each kind, one time axis; marked samples are shaded; what was asked is dashed."""
    from .figures import shaded

    time, count = running_time(t), len(signals)
    made = layout(True, xaxis=axis("time [s]", anchor=f"y{count if count > 1 else ''}", showspikes=True, spikethickness=1, spikecolor=GREY))
    made["shapes"] = [shape | {"fillcolor": band.colour, "opacity": 0.35} for band in bands for shape in shaded(time, band.samples)]
    traces = []
    for k, signal in enumerate(signals):
        top, bottom = 1 - (k + 0.12) / count, 1 - (k + 0.94) / count
        made[f"yaxis{k + 1 if k else ''}"] = axis(signal.unit, domain=[bottom, top], nticks=5)
        made["annotations"].append(label(signal.name, 0.0, top))
        for j, joint in enumerate(joints):
            place = f"y{k + 1 if k else ''}"
            y = signal.values[:, j]
            kept = kept_points((y,), max(300, MOST_POINTS // len(joints)))
            colour = hue(j, len(joints))
            traces.append(line(time[kept], y[kept], joint, colour, 1.1, k == 0, yaxis=place))
            if signal.wanted is not None:
                dashed = {"color": colour, "width": 1.0, "dash": "dot"}
                traces.append(line(time[kept], signal.wanted[kept, j], joint, colour, 1.0, yaxis=place) | {"line": dashed})
    return Figure(name, tuple(traces), made, HEIGHT * count + 80, "")
