"""Figures as data: panels of curves, bands, points, bars and images with their axes.

Nothing here imports a plotting library. `plotly_renderer` and `matplotlib_renderer` draw a Figure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .colours import BLUE, GREY, HAZE, SHADE

Array = NDArray[np.float64]
Dash = Literal["solid", "dash", "dot"]
Marker = Literal["dot", "circle", "circle-open", "diamond", "diamond-open", "x"]


@dataclass(frozen=True, kw_only=True)
class Axis:
    """An axis: title with unit, scale, range, and names in place of the numbers 0, 1, ..."""

    title: str = ""
    logarithmic: bool = False
    limits: tuple[float, float] | None = None
    from_zero: bool = False
    zero_line: bool = False
    categories: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Curve:
    """A line through x and y (N,). Curves of one name share an entry of the legend."""

    x: Array
    y: Array
    name: str = ""
    colour: str = BLUE
    width: float = 1.1  # [px]
    dash: Dash = "solid"
    opacity: float = 1.0
    unit: str = ""
    hidden: bool = False  # listed in the legend, drawn on request


@dataclass(frozen=True, eq=False, kw_only=True)
class Band:
    """The area between `low` and `high` (N,) over x (N,)."""

    x: Array
    low: Array
    high: Array
    name: str = ""
    colour: str = HAZE


@dataclass(frozen=True, eq=False, kw_only=True)
class Points:
    """Markers at x and y (N,), with error bars along x (N,) and a text for each where given."""

    x: Array
    y: Array
    name: str = ""
    colour: str | tuple[str, ...] = BLUE
    marker: Marker = "circle"
    x_error: Array | None = None
    labels: tuple[str, ...] = ()
    unit: str = ""


@dataclass(frozen=True, eq=False, kw_only=True)
class Bars:
    """Horizontal bars of length `values` (n,) at the categories of the y axis.

    Series are stacked.
    """

    values: Array
    name: str
    colour: str
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Heatmap:
    """A square of values (k, k) between -1 and 1 at the categories of both axes."""

    values: Array
    label: str = ""


@dataclass(frozen=True, eq=False, kw_only=True)
class Intervals:
    """Marked intervals (k, 2) of the x axis, over the whole height of all panels that share it."""

    spans: Array
    colour: str = SHADE
    opacity: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A straight line across the panel at a value of the x or of the y axis."""

    position: float
    along: Literal["x", "y"] = "y"
    colour: str = GREY
    dash: Dash = "dash"


@dataclass(frozen=True, kw_only=True)
class Box:
    """The outline of a rectangle; a side that is None reaches to the edge. `fill` replaces it."""

    x: tuple[float, float] | None
    y: tuple[float, float] | None
    colour: str = GREY
    dash: Dash = "solid"
    fill: bool = False


Mark = Curve | Band | Points | Bars | Heatmap | Intervals | Rule | Box


@dataclass(frozen=True, eq=False, kw_only=True)
class Panel:
    """Marks over one pair of axes. `share` is the height relative to the other rows.

    `below` panels share the x axis of the panel above them, as a strip of residuals does.
    """

    marks: tuple[Mark, ...]
    x: Axis = Axis()
    y: Axis = Axis()
    title: str = ""
    note: str = ""  # small text in the upper right corner
    share: float = 1.0
    below: bool = False

    def of(self, kind: type[Mark]) -> list[Mark]:
        """Return the marks of one kind."""
        return [mark for mark in self.marks if isinstance(mark, kind)]


@dataclass(frozen=True, eq=False, kw_only=True)
class Figure:
    """Panels in rows, with a caption that says what to see and the height on a page [px].

    `linked` panels share one x axis: zoom and cursor move in all of them together.
    """

    name: str
    rows: tuple[tuple[Panel, ...], ...]
    caption: str = ""
    title: str = ""
    height: int = 300
    linked: bool = False
    square: bool = False

    @property
    def panels(self) -> tuple[Panel, ...]:
        """All panels in reading order."""
        return tuple(panel for row in self.rows for panel in row)


def grid_of(name: str, panels: tuple[Panel, ...], caption: str, columns: int = 3) -> Figure:
    """Return a figure of panels in rows of `columns`."""
    rows = tuple(panels[k : k + columns] for k in range(0, len(panels), columns))
    return Figure(name=name, rows=rows, caption=caption, height=240 * len(rows))
