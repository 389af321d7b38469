"""Figures as the traces and the layout that Plotly draws. The library itself is not imported."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .colours import BLUE, FAMILY, GREY, INK, ORANGE, PAPER, RULE
from .figure import Axis, Band, Bars, Box, Curve, Figure, Heatmap, Intervals, Panel, Points, Rule
from .plotly_axes import (
    MARGIN,
    Part,
    axis_id,
    column_domain,
    plain_text,
    row_domains,
    x_axis,
    y_axis,
)

LIST = 500  # points that are written as plain numbers; more are written in base64
FONT = {"family": FAMILY, "size": 12, "color": INK}


def to_plotly(figure: Figure) -> Part:
    """Return {"data": traces, "layout": layout} of a figure."""
    layout = _layout(figure)
    traces: list[Part] = []
    named: set[str] = set()
    columns = max(map(len, figure.rows))
    heights = row_domains(figure)
    x_number = 0
    panels = [(r, c, panel) for r, row in enumerate(figure.rows) for c, panel in enumerate(row)]
    for k, (r, c, panel) in enumerate(panels):
        x_number += not panel.below
        ids = axis_id("x", x_number), axis_id("y", k + 1)
        across = column_domain(c, columns)
        lowest = k + 1 == len(panels) or not panels[k + 1][2].below
        layout[axis_id("yaxis", k + 1)] = y_axis(panel, heights[r], ids[0])
        if lowest:
            layout[axis_id("xaxis", x_number)] = x_axis(figure, panel, across, ids[1], x_number)
        traces += _traces(panel, ids, named)
        layout["shapes"] += _shapes(panel, ids)
        layout["annotations"] += _texts(panel, across, heights[r][1])
    layout["showlegend"] = bool(named)
    if any(panel.of(Bars) for panel in figure.panels):
        layout |= {"barmode": "stack", "bargap": 0.35}
    return {"data": traces, "layout": layout}


def to_base64(x: ArrayLike) -> dict[str, str]:
    """Return numbers as base64 of float32: a third of their size as text, with six digits."""
    data = np.ascontiguousarray(x, dtype="<f4").tobytes()
    return {"dtype": "f4", "bdata": base64.b64encode(data).decode()}


def _layout(figure: Figure) -> Part:
    legend = {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "xanchor": "left"}
    layout: Part = {
        "font": FONT,
        "paper_bgcolor": PAPER,
        "plot_bgcolor": PAPER,
        "margin": dict(MARGIN),
        "hoverlabel": {"font": {"family": FAMILY, "color": INK}, "bgcolor": PAPER},
        "legend": legend | {"bgcolor": "rgba(0,0,0,0)", "traceorder": "normal"},
        "annotations": [],
        "shapes": [],
        "height": figure.height,
    }
    return layout | ({"hovermode": "x unified", "hoversubplots": "axis"} if figure.linked else {})


def _traces(panel: Panel, ids: tuple[str, str], named: set[str]) -> list[Part]:
    traces: list[Part] = []
    for mark in panel.marks:
        for part in TRACES[type(mark)](panel, mark) if type(mark) in TRACES else []:
            name = part.get("name", "")
            listed = bool(name) and part.pop("listed", True) and name not in named
            named |= {name} if listed else set()
            traces.append(part | {"xaxis": ids[0], "yaxis": ids[1], "showlegend": listed})
    return traces


def _curve(panel: Panel, mark: Curve) -> list[Part]:
    name = plain_text(mark.name)
    unit = f" {plain_text(mark.unit)}" if mark.unit else ""
    hover = {"hovertemplate": "%{y:.4g}" + unit + f"<extra>{name}</extra>"}
    hover = hover if name else {"hoverinfo": "skip"}
    look: Part = {"color": mark.colour, "width": mark.width}
    look |= {} if mark.dash == "solid" else {"dash": mark.dash}
    part = {
        "x": to_base64(mark.x),
        "y": _along(panel.y, mark.y, binary=True),
        "mode": "lines",
        "name": name,
    }
    part |= {"legendgroup": name, "line": look} | hover
    part |= {"visible": "legendonly"} if mark.hidden else {}
    return [part | ({"opacity": mark.opacity} if mark.opacity < 1 else {})]


def _band(panel: Panel, mark: Band) -> list[Part]:
    name = plain_text(mark.name)
    part = {"x": to_base64(mark.x), "mode": "lines", "name": name, "legendgroup": name}
    part |= {"line": {"color": mark.colour, "width": 0}, "hoverinfo": "skip"}
    fill = {"fill": "tonexty", "fillcolor": mark.colour}
    low = part | {"y": to_base64(mark.low), "listed": False}
    return [low, part | {"y": to_base64(mark.high)} | fill]


def _points(panel: Panel, mark: Points) -> list[Part]:
    name = plain_text(mark.name)
    dot = mark.marker == "dot"
    colour = mark.colour if isinstance(mark.colour, str) else list(mark.colour)
    look: Part = {"color": colour, "size": 3.5 if dot else 8}
    look |= {"opacity": 0.75} if dot else {"symbol": mark.marker, "line": {"width": 1.6}}
    text = "%{text}" if mark.labels else "%{x:.3g}: %{y:.4g}"
    if panel.y.categories:
        text = "%{y}: " + ("%{text}" if mark.labels else f"%{{x:.4g}} {plain_text(mark.unit)}")
    coordinates = {"x": _along(panel.x, mark.x, dot), "y": _along(panel.y, mark.y, dot)}
    part: Part = coordinates | {"mode": "markers"}
    part |= {"name": name, "legendgroup": name, "marker": look}
    part |= {"hovertemplate": f"{text}<extra>{name}</extra>"}
    if mark.labels:
        part["text"] = [plain_text(label) for label in mark.labels]
    if mark.x_error is not None:
        bars = {"type": "data", "array": [float(x) for x in mark.x_error], "color": colour}
        part["error_x"] = bars | {"thickness": 1.6, "width": 4}
    return [part]


def _bars(panel: Panel, mark: Bars) -> list[Part]:
    name = plain_text(mark.name)
    part: Part = {"type": "bar", "orientation": "h", "name": name, "legendgroup": name}
    part |= {"x": [float(x) for x in mark.values]}
    part |= {"y": [plain_text(each) for each in panel.y.categories]}
    part |= {"marker": {"color": mark.colour, "line": {"width": 0}}}
    hover = f"%{{y}}: {name} %{{x:.0f}} %"
    if mark.labels:
        part["customdata"] = [plain_text(label) for label in mark.labels]
        hover += ", %{customdata}"
    return [part | {"hovertemplate": f"{hover}<extra></extra>"}]


def _heatmap(panel: Panel, mark: Heatmap) -> list[Part]:
    names = [plain_text(name) for name in panel.x.categories]
    k = len(names)
    look: Part = {"colorscale": [[0, ORANGE], [0.5, PAPER], [1, BLUE]], "zmin": -1, "zmax": 1}
    bar = {"thickness": 10, "len": 0.6, "outlinewidth": 0, "tickvals": [-1, 0, 1]}
    look |= {"colorbar": bar | {"tickcolor": GREY, "bordercolor": RULE}, "xgap": 0.5, "ygap": 0.5}
    square = to_base64(np.round(mark.values, 2)) | {"shape": f"{k},{k}"}
    part: Part = {"type": "heatmap", "x": names, "y": names, "z": square}
    return [part | look | {"hovertemplate": "%{y}<br>%{x}<br>%{z:.2f}<extra></extra>"}]


TRACES: dict[type, Callable[[Panel, Any], list[Part]]] = {
    Curve: _curve,
    Band: _band,
    Points: _points,
    Bars: _bars,
    Heatmap: _heatmap,
}


def _along(axis: Axis, values: ArrayLike, binary: bool = False) -> Any:
    """Return coordinates along an axis: names, few numbers as they are, many in base64."""
    x = np.asarray(values, float)
    if axis.categories:
        return [plain_text(axis.categories[int(k)]) for k in x]
    if binary or len(x) > LIST:
        return to_base64(x)
    return [float(v) if np.isfinite(v) else None for v in x]


def _shapes(panel: Panel, ids: tuple[str, str]) -> list[Part]:
    shapes: list[Part] = []
    for mark in panel.marks:
        if isinstance(mark, Intervals):
            look = {"type": "rect", "xref": ids[0], "yref": "paper", "y0": 0, "y1": 1}
            look |= {"fillcolor": mark.colour, "line": {"width": 0}, "layer": "below"}
            look |= {"opacity": mark.opacity} if mark.opacity < 1 else {}
            shapes += [look | {"x0": float(a), "x1": float(b)} for a, b in mark.spans]
        elif isinstance(mark, Rule):
            position = float(mark.position)
            x, y = (
                ((position, position), None) if mark.along == "x" else (None, (position, position))
            )
            shapes.append(_outline("line", x, y, ids, mark.colour, mark.dash))
        elif isinstance(mark, Box):
            shape = _outline("rect", mark.x, mark.y, ids, mark.colour, mark.dash)
            fill = {"fillcolor": mark.colour, "line": {"width": 0}}
            shapes.append(shape | (fill if mark.fill else {}))
    return shapes


def _outline(
    kind: str,
    x: tuple[float, float] | None,
    y: tuple[float, float] | None,
    ids: tuple[str, str],
    colour: str,
    dash: str,
) -> Part:
    shape: Part = {"type": kind, "line": {"color": colour, "width": 1, "dash": dash}}
    for axis, ends, reference in (("x", x, ids[0]), ("y", y, ids[1])):
        low, high = (0, 1) if ends is None else (float(ends[0]), float(ends[1]))
        shape |= {f"{axis}ref": f"{reference} domain" if ends is None else reference}
        shape |= {f"{axis}0": low, f"{axis}1": high}
    return shape | {"layer": "below"}


def _texts(panel: Panel, across: tuple[float, float], top: float) -> list[Part]:
    anchor = {"xref": "paper", "yref": "paper", "y": top, "yanchor": "bottom", "showarrow": False}
    anchor |= {"font": {"size": 12}}
    texts = []
    if panel.title:
        bold = f"<b>{plain_text(panel.title)}</b>"
        texts.append(anchor | {"text": bold, "x": across[0], "xanchor": "left"})
    if panel.note:
        corner = {"x": across[1], "xanchor": "right", "yanchor": "top", "font": {"size": 10}}
        texts.append(anchor | {"text": plain_text(panel.note)} | corner)
    return texts
