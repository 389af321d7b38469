"""Measured and predicted torque over time, and the relative error of every joint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...drawing.colours import BLUE, GREEN, HAZE, ORANGE, RULE, SILVER, WINE
from ...drawing.downsample import MAX_POINTS, min_max_indices, running_time
from ...drawing.figure import Axis, Band, Box, Curve, Figure, Intervals, Mark, Marker, Panel, Points
from ...drawing.numbers import percent
from ...drawing.signal_figures import TIME, marked_intervals

Array = NDArray[np.float64]
Validation = Any  # identification.result.validation.Validation, whose `plot` imports this module
STRIP = 0.5  # height of the strip of residuals relative to the panel of torques
LOOKS: dict[str, tuple[str, Marker]] = {
    "before": (ORANGE, "circle-open"),
    "after": (BLUE, "circle"),
    "validation": (GREEN, "diamond"),
}
OTHER_LOOKS: tuple[tuple[str, Marker], ...] = ((ORANGE, "circle-open"), (BLUE, "x"))


def torque_figure(
    validation: Validation,
    units: Sequence[str],
    name: str = "torques",
    half_band: Array | None = None,
    limit: int = MAX_POINTS,
) -> Figure:
    """Return measured and predicted torque of every joint, with a strip of residuals below each.

    Parameters
    ----------
    units : unit of each joint's torque
    half_band : (n,) half the height of the 95 % band around the prediction [N m|N]
    limit : largest number of samples drawn per joint
    """
    time = running_time(validation.t)
    residual = np.where(validation.keep, validation.measured - validation.predicted, np.nan)
    rows: list[tuple[Panel, ...]] = []
    for j, (joint, unit) in enumerate(zip(validation.joint_names, units, strict=True)):
        half = None if half_band is None else float(half_band[j])
        shown = min_max_indices((validation.measured[:, j], residual[:, j]), limit)
        x = time[shown]
        marks = _torque_marks(validation, j, x, shown, half, unit)
        if j == 0 and validation.inside is not None:
            marks = (Intervals(spans=marked_intervals(time, ~validation.inside)), *marks)
        strip: tuple[Mark, ...] = (
            () if half is None else (Box(x=None, y=(-half, half), colour=HAZE, fill=True),)
        )
        strip = (
            *strip,
            Curve(x=x, y=residual[shown, j], name="residual", colour=WINE, width=0.8, unit=unit),
        )
        last = j == len(units) - 1
        axis = TIME if last else Axis()
        rows.append((Panel(marks=marks, x=axis, y=Axis(title=unit), title=joint),))
        rows.append((Panel(marks=strip, x=axis, y=Axis(zero_line=True), share=STRIP, below=True),))
    caption = _torque_caption(validation, half_band, residual)
    height = 230 * len(units) + 60
    return Figure(name=name, rows=tuple(rows), caption=caption, height=height, linked=True)


def _torque_marks(
    validation: Validation, j: int, x: Array, shown: NDArray[np.intp], half: float | None, unit: str
) -> tuple[Mark, ...]:
    """Return band, measured, predicted and, on request, described torque of a joint."""
    predicted = validation.predicted[shown, j]
    measured = np.where(validation.keep[shown, j], validation.measured[shown, j], np.nan)
    marks: list[Mark] = []
    if half is not None:
        marks.append(Band(x=x, low=predicted - half, high=predicted + half, name="95 % band"))
    marks.append(Curve(x=x, y=measured, name="measured", colour=SILVER, width=3.2, unit=unit))
    marks.append(Curve(x=x, y=predicted, name="predicted", colour=BLUE, width=1.1, unit=unit))
    if validation.before is not None:
        y = validation.before.predicted[shown, j]
        marks.append(
            Curve(x=x, y=y, name="before", colour=ORANGE, width=1.0, unit=unit, hidden=True)
        )
    return tuple(marks)


def _torque_caption(validation: Validation, half_band: Array | None, residual: Array) -> str:
    caption = (
        "Measured and predicted torque of every joint and, in the strip below each, the residual."
        " Drag over an interval to zoom into all joints at once, double-click to return,"
        " click a name in the legend to hide or show it."
    )
    used = validation.keep
    if half_band is not None and used.any():
        half = np.broadcast_to(half_band, residual.shape)[used]
        share = float(np.mean(np.abs(residual[used]) <= half))
        caption += (
            " The band is meant to contain 95 % of the measurements; it contains"
            f" {percent(share, 0)} % of these."
        )
    outside = validation.inside is not None and not validation.inside.all()
    return caption + (" Shaded: states outside the region." if outside else "")


def error_figure(joints: Sequence[str], series: Sequence[tuple[str, Array]]) -> Figure:
    """Return the relative error [%] of every joint, for series such as before and after.

    Parameters
    ----------
    series : names and relative errors (n,), fractions
    """
    table = 100 * np.array([values for _, values in series], dtype=float)
    table[~(np.isfinite(table) & (table > 0))] = np.nan
    positions = np.arange(len(joints), dtype=float)
    marks: list[Mark] = []
    for j in range(len(joints)) if len(series) > 1 else ():
        if np.isfinite(table[:, j]).any():
            ends = np.array([np.nanmin(table[:, j]), np.nanmax(table[:, j])])
            marks.append(Curve(x=ends, y=np.full(2, float(j)), colour=RULE, width=5))
    for number, ((name, _), row) in enumerate(zip(series, table, strict=True)):
        colour, marker = LOOKS.get(name, OTHER_LOOKS[number % 2])
        marks.append(Points(x=row, y=positions, name=name, colour=colour, marker=marker, unit="%"))
    panel = Panel(
        marks=tuple(marks),
        x=Axis(title="relative error ‖τ − τ̂‖ / ‖τ‖ [%]", logarithmic=True),
        y=Axis(categories=tuple(joints)),
    )
    caption = "Relative error of the predicted torque, joint by joint, on a logarithmic scale."
    height = 110 + 34 * len(joints)
    return Figure(name="errors", rows=((panel,),), caption=caption, height=height)
