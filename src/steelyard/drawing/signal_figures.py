"""Signals of all joints over time: a row for each joint, or all joints in one panel per signal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .colours import BLUE, ORANGE, hue
from .downsample import min_max_indices, running_time
from .figure import Axis, Curve, Figure, Intervals, Panel

Array = NDArray[np.float64]
MAX_RUNS = 20  # runs of a batch that are drawn
MAX_POINTS, MIN_POINTS = 6000, 300  # samples of all joints of a panel, and of one joint at least
MAX_INTERVALS = 300
HEIGHT = 150  # [px] of a panel
TIME = Axis(title="time [s]")


@dataclass(frozen=True, eq=False, kw_only=True)
class SignalCurve:
    """A signal: name, unit of each joint, values (N, n) or (runs, N, n), and its command."""

    name: str
    units: Sequence[str]
    values: Array
    commanded: Array | None = None

    @property
    def unit(self) -> str:
        """The units of all joints, such as rad|m."""
        return "|".join(dict.fromkeys(self.units))


def motion_signals(
    torque_units: Sequence[str],
    q: Array,
    qd: Array | None = None,
    tau: Array | None = None,
    commanded: Array | None = None,
) -> list[SignalCurve]:
    """Return position, velocity and torque of joints whose torque has these units, N m or N."""
    length = ["m" if unit == "N" else "rad" for unit in torque_units]
    signals = [SignalCurve(name="position", units=length, values=q, commanded=commanded)]
    if qd is not None:
        signals.append(SignalCurve(name="velocity", units=[f"{u}/s" for u in length], values=qd))
    if tau is not None:
        signals.append(SignalCurve(name="torque", units=torque_units, values=tau))
    return signals


@dataclass(frozen=True, eq=False, kw_only=True)
class MarkedSamples:
    """Samples (N,) that are marked, in a colour."""

    samples: NDArray[np.bool_]
    colour: str


def joint_rows(
    t: Array, joints: Sequence[str], signals: Sequence[SignalCurve], title: str = ""
) -> Figure:
    """Return the figure of signals over t (N,) [s] with a row for each joint.

    Commands are dashed.
    """
    time = running_time(t)
    rows = tuple(
        tuple(_joint_panel(time, joint, j, signal, c == 0) for c, signal in enumerate(signals))
        for j, joint in enumerate(joints)
    )
    return Figure(name="signals", rows=rows, title=title, linked=True, height=HEIGHT * len(rows))


def _joint_panel(t: Array, joint: str, j: int, signal: SignalCurve, first: bool) -> Panel:
    runs = signal.values.reshape(-1, *signal.values.shape[-2:])[:MAX_RUNS]
    opacity = 1.0 if len(runs) == 1 else 0.4
    name = "" if signal.commanded is None else "measured"
    curves = []
    if signal.commanded is not None:
        curves.append(
            Curve(x=t, y=signal.commanded[:, j], name="commanded", colour=ORANGE, dash="dash")
        )
    curves += [Curve(x=t, y=run[:, j], name=name, colour=BLUE, opacity=opacity) for run in runs]
    unit = f"[{signal.units[j]}]"
    label = f"{joint}\n{unit}" if first else unit
    heading = signal.name if j == 0 else ""
    return Panel(marks=tuple(curves), x=TIME, y=Axis(title=label), title=heading)


def overlaid_joints(
    t: Array,
    joints: Sequence[str],
    signals: Sequence[SignalCurve],
    marked: Sequence[MarkedSamples] = (),
    name: str = "channels",
) -> Figure:
    """Return the figure of signals over t (N,) [s] with one panel for each signal.

    Joints differ by colour, commands are dotted, and marked samples are shaded.
    """
    time = running_time(t)
    shades = [
        Intervals(spans=marked_intervals(time, each.samples), colour=each.colour, opacity=0.35)
        for each in marked
    ]
    limit = max(MIN_POINTS, MAX_POINTS // max(len(joints), 1))
    panels = []
    for k, signal in enumerate(signals):
        marks: list[Curve | Intervals] = list(shades if k == 0 else ())
        for j, joint in enumerate(joints):
            y, colour = signal.values[:, j], hue(j, len(joints))
            shown = min_max_indices((y,), limit)
            marks.append(Curve(x=time[shown], y=y[shown], name=joint, colour=colour))
            if signal.commanded is not None:
                command = signal.commanded[shown, j]
                marks.append(Curve(x=time[shown], y=command, name=joint, colour=colour, dash="dot"))
        panels.append(
            (Panel(marks=tuple(marks), x=TIME, y=Axis(title=signal.unit), title=signal.name),)
        )
    height = HEIGHT * len(signals) + 80
    return Figure(name=name, rows=tuple(panels), linked=True, height=height)


def marked_intervals(time: Array, marked: NDArray[np.bool_]) -> Array:
    """Return the intervals (k, 2) of time (N,) [s] that are marked, at most about MAX_INTERVALS.

    Intervals that are close to each other are one.
    """
    indices = np.flatnonzero(marked)
    if not len(indices) or len(time) < 2:
        return np.zeros((0, 2))
    step, span = float(np.median(np.diff(time))), float(time[-1] - time[0])
    ends = np.flatnonzero(np.diff(time[indices]) > max(1.5 * step, span / MAX_INTERVALS))
    first, last = indices[np.r_[0, ends + 1]], indices[np.r_[ends, len(indices) - 1]]
    return np.stack([time[first] - step / 2, time[last] + step / 2], axis=1)
