"""The figures of an identification: torques, residuals, errors, singular values, uncertainty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..drawing.figure import (
    BLUE,
    GREEN,
    GREY,
    HAZE,
    MOST,
    ORANGE,
    RULE,
    SHADE,
    SILVER,
    WINE,
    Array,
    Figure,
    axis,
    hue,
    kept_points,
    label,
    layout,
    line,
    log_axis,
    packed,
    points,
    running_time,
    safe,
)
from ..drawing.numbers import percent
from ..identification import Validation
from ..signals.autocorrelation import autocorrelation

MOST_BANDS = 300
WEAK = 30.0  # percent of relative standard deviation above which a value says little


def torques(result: Validation, units: Sequence[str], name: str = "torques", spread: Array | None = None, most: int = MOST) -> Figure:
    """Measured and predicted torque of every joint, the residual in a strip below; the time axes move together.

    `spread` (n,) [N m|N] is half the height of a band around the prediction, `most` the samples that are drawn of each joint. Stretches
    where the fit's region does not cover the state are shaded.
    """
    names, time = result.joint_names, running_time(result.t)
    n, left = len(names), np.where(result.keep, result.measured - result.predicted, np.nan)
    made = layout(True, hovermode="x unified", hoversubplots="axis", margin={"l": 58, "r": 12, "t": 30, "b": 40})
    made["shapes"] = [] if result.inside is None else shaded(time, ~result.inside)
    traces: list[dict[str, Any]] = []
    for j, joint in enumerate(names):
        made |= _axes(j, n, units[j])
        made["annotations"].append(label(joint, 0.0, 1 - (j + 0.09) / n))
        half = None if spread is None else float(spread[j])
        if half is not None:
            made["shapes"].append(_strip_of(j, half))
        before = None if result.before is None else result.before.predicted[:, j]
        signals = result.measured[:, j], result.predicted[:, j], left[:, j], before
        traces += _joint(time, signals, j, half, units[j], most)
    return Figure(name, tuple(traces), made, 230 * n + 60, _told(result, spread, left))


def _axes(j: int, n: int, unit: str) -> dict[str, Any]:
    """The axes of one joint: torque, what is left over in a strip below, and time below both."""
    top, split, bottom = 1 - (j + 0.09) / n, 1 - (j + 0.58) / n, 1 - (j + 0.83) / n
    own, upper, lower = str(j + 1 if j else ""), str(2 * j + 1 if j else ""), str(2 * j + 2)
    spikes = {"showspikes": True, "spikethickness": 1, "spikecolor": GREY, "spikemode": "across", "spikedash": "dot"}
    shared: dict[str, Any] = {"matches": "x"} if j else {}
    shared |= {"unifiedhovertitle": {"text": "%{x:.4~f} s"}}
    return {
        f"xaxis{own}": axis("time [s]" if j == n - 1 else "", anchor=f"y{lower}", **spikes, **shared),
        f"yaxis{upper}": axis(unit, domain=[split, top], anchor=f"x{own}", nticks=5),
        f"yaxis{lower}": axis(
            domain=[bottom, split - 0.025 / n], anchor=f"x{own}", nticks=4, zeroline=True, zerolinecolor=GREY, zerolinewidth=1
        ),
    }


def _strip_of(j: int, half: float) -> dict[str, Any]:
    """The band around zero in the strip of what is left over."""
    look = {"type": "rect", "xref": "paper", "x0": 0, "x1": 1, "fillcolor": HAZE, "line": {"width": 0}, "layer": "below"}
    return look | {"yref": f"y{2 * j + 2}", "y0": -half, "y1": half}


def _told(result: Validation, spread: Array | None, left: Array) -> str:
    """The caption of torques."""
    caption = (
        "Measured and predicted torque of every joint and, in the strip below each, what the model leaves unexplained."
        " Drag over a stretch to zoom into all joints at once, double-click to return, click a name in the legend to hide or show it."
    )
    if spread is not None and result.keep.any():
        held = float(np.mean(np.abs(left[result.keep]) <= np.broadcast_to(spread, left.shape)[result.keep]))
        caption += f" The band is to hold 95 % of the measurements; it holds {percent(held, 0)} % of these."
    return caption + (" Shaded: states outside the region." if result.inside is not None and not result.inside.all() else "")


def shaded(time: Array, outside: NDArray[np.bool_]) -> list[dict[str, Any]]:
    """Pale bands over the stretches of time (N,) that are marked, at most about MOST_BANDS: those that are close are drawn as one."""
    marked = np.flatnonzero(outside)
    if not len(marked) or len(time) < 2:
        return []
    step, span = float(np.median(np.diff(time))), float(time[-1] - time[0])
    ends = np.flatnonzero(np.diff(time[marked]) > max(1.5 * step, span / MOST_BANDS))
    bounds = zip(marked[np.r_[0, ends + 1]], marked[np.r_[ends, len(marked) - 1]], strict=True)
    look = {"type": "rect", "xref": "x", "yref": "paper", "y0": 0, "y1": 1, "fillcolor": SHADE, "line": {"width": 0}, "layer": "below"}
    return [look | {"x0": float(time[a]) - step / 2, "x1": float(time[b]) + step / 2} for a, b in bounds]


def _joint(
    time: Array, signals: tuple[Array, Array, Array, Array | None], j: int, half: float | None, unit: str, most: int
) -> list[dict[str, Any]]:
    measured, predicted, left, before = signals
    kept = kept_points((measured, left), most)
    x, first, made = time[kept], j == 0, list[dict[str, Any]]()
    on: dict[str, Any] = {"xaxis": f"x{j + 1 if j else ''}", "yaxis": f"y{2 * j + 1 if j else ''}"}
    if half is not None:
        silent = on | {"hoverinfo": "skip", "hovertemplate": None}
        made.append(line(x, predicted[kept] - half, "95 % band", HAZE, 0, **silent))
        made.append(line(x, predicted[kept] + half, "95 % band", HAZE, 0, first, fill="tonexty", fillcolor=HAZE, **silent))
    made += [
        _named(x, measured[kept], "measured", SILVER, 3.2, first, unit, **on),
        _named(x, predicted[kept], "predicted", BLUE, 1.1, first, unit, **on),
    ]
    if before is not None:
        made.append(_named(x, before[kept], "before", ORANGE, 1.0, first, unit, visible="legendonly", **on))
    return [*made, _named(x, left[kept], "left over", WINE, 0.8, first, unit, **(on | {"yaxis": f"y{2 * j + 2}"}))]


def _named(x: Array, y: Array, name: str, colour: str, width: float, legend: bool, unit: str, **more: Any) -> dict[str, Any]:
    """A line that shows its value with the unit."""
    hover = "%{y:.4g} " + safe(unit) + "<extra>" + name + "</extra>"
    return line(x, y, name, colour, width, legend, hovertemplate=hover, **more)


def residuals(left: Array, names: Sequence[str], dt: float) -> Figure:
    """Histogram (against the normal law) and autocorrelation of the residuals, per joint."""
    made = layout(
        True,
        xaxis=axis("residual / its standard deviation", domain=[0, 0.46], range=[-4.2, 4.2]),
        yaxis=axis("density", rangemode="tozero", nticks=5),
        xaxis2=axis("lag [s]", domain=[0.56, 1], anchor="y2"),
        yaxis2=axis("autocorrelation", anchor="x2", range=[-0.4, 1.02], zeroline=True, zerolinecolor=GREY),
    )
    edges = np.linspace(-4.2, 4.2, 43)
    centres = (edges[1:] + edges[:-1]) / 2
    normal = np.exp(-(centres**2) / 2) / np.sqrt(2 * np.pi)
    traces = [line(centres, normal, "normal law", GREY, legend=True) | {"line": {"color": GREY, "width": 1.5, "dash": "dot"}}]
    for j, name in enumerate(names):
        x = left[np.isfinite(left[:, j]), j]
        size = float(x.std()) if len(x) else 0.0
        density = np.histogram((x - x.mean()) / size, edges)[0] / (len(x) * (edges[1] - edges[0])) if size else np.zeros(len(centres))
        traces.append(line(centres, density, name, hue(j, len(names)), legend=True))
        traces.append(line(*correlogram(x, dt), name, hue(j, len(names)), xaxis="x2", yaxis="y2"))
    caption = (
        "Left: spread of the residuals of every joint, next to the normal law. Right: their autocorrelation. Residuals that are correlated"
        " over time show what the model does not have (friction at low speed, elasticity, ripple); the uncertainties allow for it."
    )
    return Figure("residuals", tuple(traces), made, 330, caption)


def correlogram(x: Array, dt: float, seconds: float = 1.0) -> tuple[Array, Array]:
    """Return lags [s] and the autocorrelation of a series without its mean, at about 400 lags at most."""
    if len(x) < 8 or not np.ptp(x):
        return np.zeros(1), np.ones(1)
    r = autocorrelation(x, max(1, min(len(x) // 4 - 1, int(seconds / dt))), center=True)
    every = max(1, len(r) // 400)
    return np.arange(0.0, len(r), every) * dt, r[::every]


def errors(names: Sequence[str], series: Sequence[tuple[str, Array]]) -> Figure:
    """Relative error of every joint before, after and on another motion."""
    looks = {"before": (ORANGE, "circle-open"), "after": (BLUE, "circle"), "validation": (GREEN, "diamond")}
    others = ((ORANGE, "circle-open"), (BLUE, "x"))
    table = 100 * np.array([values for _, values in series], dtype=float)
    table[~np.isfinite(table)] = np.nan
    made = layout(True, xaxis=log_axis("relative error ‖τ − τ̂‖ / ‖τ‖ [%]", table), margin={"l": 90, "r": 8, "t": 30, "b": 44})
    made["yaxis"] = axis(type="category", autorange="reversed", automargin=True, showgrid=False)
    traces: list[dict[str, Any]] = []
    for j, name in enumerate(names if len(series) > 1 else ()):
        ends = [float(np.nanmin(table[:, j])), float(np.nanmax(table[:, j]))] if np.isfinite(table[:, j]).any() else [1.0, 1.0]
        traces.append(
            points(ends, [safe(name)] * 2, RULE, "") | {"mode": "lines", "line": {"color": RULE, "width": 5}, "hoverinfo": "skip"}
        )
    for number, ((name_of, _), row) in enumerate(zip(series, table, strict=True)):
        colour, symbol = looks.get(name_of, others[number % 2])
        marker = {"color": colour, "symbol": symbol, "size": 9, "line": {"width": 1.6, "color": colour}}
        x = [None if np.isnan(v) else float(v) for v in row]
        hover = "%{y}: %{x:.2f} %<extra>" + name_of + "</extra>"
        traces.append(points(x, [safe(name) for name in names], colour, hover, name=name_of, marker=marker, showlegend=True))
    caption = "Relative error of the predicted torque, joint by joint, on a logarithmic scale."
    return Figure("errors", tuple(traces), made, 110 + 34 * len(names), caption)


def singular_values(values: Array, rank: int) -> Figure:
    """The singular values of the scaled regressor, in decreasing order; those beyond the rank were not excited."""
    drawn = np.maximum(values, 1e-18 * max(float(np.max(values, initial=0.0)), 1e-300))
    made = layout(xaxis=axis("number", range=[0, len(drawn) + 1]), yaxis=log_axis("singular value", drawn))
    colours = [BLUE if k < rank else ORANGE for k in range(len(drawn))]
    trace = points(range(1, len(drawn) + 1), packed(drawn), colours, "%{x}: %{y:.3g}<extra></extra>")
    caption = "Singular values of the regressor along the recorded motion. A long tail means combinations that the motion hardly showed."
    return Figure("singular", (trace,), made, 300, caption)


def uncertainty(relative: Array, names: Sequence[str], combinations: Sequence[str]) -> Figure:
    """Relative standard deviation of every base parameter, sorted; the combination behind each is shown on hovering."""
    order = np.argsort(relative)
    value = 100 * np.clip(relative[order], 1e-6, 1e2)
    made = layout(xaxis=axis("base parameters, best seen first", range=[0, len(value) + 1]), yaxis=log_axis("relative std [%]", value))
    dotted = {"color": ORANGE, "width": 1, "dash": "dot"}
    made["shapes"] = [{"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": WEAK, "y1": WEAK, "line": dotted}]
    colours = [BLUE if v < WEAK else ORANGE for v in value]
    hover = "%{text}: %{y:.3g} %<extra></extra>"
    trace = points(range(1, len(value) + 1), packed(value), colours, hover, text=[safe(f"{names[k]} = {combinations[k]}") for k in order])
    caption = "Relative standard deviation of the base parameters. Above the dotted line, 30 %, a value says little about its parameter."
    return Figure("uncertainty", (trace,), made, 300, caption)
