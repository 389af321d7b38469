"""The axes of a figure as Plotly takes them: extents, scales, ticks and names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .colours import GREY, RULE
from .figure import Axis, Curve, Figure, Heatmap, Panel, Points
from .visible import escape_control_chars

Part = dict[str, Any]
MARGIN = {"l": 58, "r": 12, "t": 30, "b": 44}  # [px]
# [px] above a panel, below an x axis, between a panel and its strip
TITLE, TICKS, STRIP = 24, 40, 8
COLUMN_GAP = 0.1  # of the width
SPIKES = {"showspikes": True, "spikethickness": 1, "spikecolor": GREY, "spikemode": "across"}


def plain_text(text: str) -> str:
    """Return text without markup: Plotly reads HTML tags in names, which names must not be."""
    return (
        escape_control_chars(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    )


def row_domains(figure: Figure) -> list[tuple[float, float]]:
    """Return the vertical extent of every row as fractions of the plot, from the bottom."""
    total = float(figure.height - MARGIN["t"] - MARGIN["b"])
    rows = [row[0] for row in figure.rows]
    gaps = [_gap(panel, k, figure) for k, panel in enumerate(rows)]
    room = max(total - sum(gaps), 0.5 * total)
    scale = (total - room) / max(sum(gaps), 1e-9)
    shares = np.array([panel.share for panel in rows])
    sizes = room * shares / shares.sum()
    top, domains = total, []
    for gap, size in zip(gaps, sizes, strict=True):
        top -= gap * scale
        domains.append((max(top - float(size), 0.0) / total, top / total))
        top -= float(size)
    return domains


def _gap(panel: Panel, row: int, figure: Figure) -> float:
    """Return the space above a row [px]: for its title and for the ticks of the row before."""
    if panel.below:
        return STRIP
    return (TITLE if panel.title else 0) + (TICKS if row and not _hides_ticks(figure) else 0)


def _hides_ticks(figure: Figure) -> bool:
    """Whether only the last row shows the ticks of the x axis that all share."""
    return figure.linked and not any(panel.below for panel in figure.panels)


def axis_id(axis: str, number: int) -> str:
    """Return the name of the number-th x or y axis in Plotly: x, x2, x3, ..."""
    return f"{axis}{number if number > 1 else ''}"


def column_domain(c: int, columns: int) -> tuple[float, float]:
    """Return the horizontal extent of a column as fractions of the plot."""
    width = (1.0 - COLUMN_GAP * (columns - 1)) / columns
    return c * (width + COLUMN_GAP), c * (width + COLUMN_GAP) + width


def _axis(axis: Axis, values: Callable[[], ArrayLike]) -> Part:
    part: Part = {"gridcolor": RULE, "linecolor": GREY, "showline": True, "ticks": "outside"}
    part |= {"zeroline": axis.zero_line, "zerolinecolor": GREY, "zerolinewidth": 1}
    part |= {"ticklen": 4, "tickcolor": GREY, "automargin": True}
    if axis.title:
        part["title"] = {"text": plain_text(axis.title), "standoff": 6}
    if axis.limits is not None:
        low, high = np.log10(axis.limits) if axis.logarithmic else axis.limits
        part["range"] = [float(low), float(high)]
    if axis.from_zero:
        part["rangemode"] = "tozero"
    if axis.logarithmic:
        x = np.asarray(values(), float)
        x = x[np.isfinite(x) & (x > 0)]
        decades = np.log10(x.max() / x.min()) if len(x) else 0.0
        part |= {"type": "log", "exponentformat": "power", "dtick": "D2" if decades < 2.5 else 1}
    if axis.categories:
        part |= {"type": "category", "showgrid": False}
    return part


def y_axis(panel: Panel, domain: tuple[float, float], anchor: str) -> Part:
    """Return the y axis of a panel."""
    part = _axis(panel.y, lambda: _values(panel, "y")) | {"domain": list(domain), "anchor": anchor}
    if not panel.y.categories:
        return part | {"nticks": 4 if panel.share < 1 else 5}
    names = [plain_text(name) for name in panel.y.categories]
    part |= {"autorange": "reversed", "categoryarray": names, "categoryorder": "array"}
    return part | (_square_axis(names) | {"scaleanchor": anchor} if panel.of(Heatmap) else {})


def x_axis(
    figure: Figure, panel: Panel, domain: tuple[float, float], anchor: str, number: int
) -> Part:
    """Return the x axis of a panel and of those above it that share it."""
    part = _axis(panel.x, lambda: _values(panel, "x")) | {"domain": list(domain), "anchor": anchor}
    if panel.of(Heatmap):
        names = [plain_text(name) for name in panel.x.categories]
        return part | _square_axis(names) | {"tickangle": 90}
    if not figure.linked:
        return part
    part |= SPIKES | {"spikedash": "dot", "unifiedhovertitle": {"text": "%{x:.4~f} s"}}
    last = panel is figure.panels[-1]
    part |= {"showticklabels": last} if _hides_ticks(figure) else {}
    return part | ({"matches": "x"} if number > 1 else {})


def _square_axis(names: Sequence[str]) -> Part:
    part = {"showgrid": False, "showline": False, "ticks": "", "tickfont": {"size": 9}}
    part |= {"constrain": "domain"}
    return part | ({"tickmode": "linear"} if len(names) <= 60 else {"showticklabels": False})


def _values(panel: Panel, axis: str) -> ArrayLike:
    parts = [getattr(mark, axis) for mark in panel.marks if isinstance(mark, Curve | Points)]
    return np.concatenate([np.asarray(x, float) for x in parts]) if parts else []
