"""Panels of curves as a Matplotlib figure, from arrays and text alone. The library is imported when one is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..arguments import real_number
from ..errors import CallError, needs_extra
from .figure import BLUE, GREY, INK, RULE, kept_points
from .visible import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
WIDTHS = {"column": 3.45, "page": 7.1}  # [in] of a paper in two columns, and of its page
LEAST, MOST = 1.5, 60.0  # [in]
STYLE = {
    "font.family": "serif", "font.serif": ["Charter", "Bitstream Charter", "Georgia", "Liberation Serif", "DejaVu Serif"],
    "mathtext.fontset": "dejavuserif", "font.size": 8.0, "axes.labelsize": 8.0, "axes.titlesize": 8.0, "xtick.labelsize": 7.0,
    "ytick.labelsize": 7.0, "legend.fontsize": 7.5, "legend.frameon": False, "axes.edgecolor": GREY, "axes.linewidth": 0.6,
    "axes.labelcolor": INK, "text.color": INK, "xtick.color": INK, "ytick.color": INK, "xtick.major.width": 0.6, "ytick.major.width": 0.6,
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": RULE, "grid.linewidth": 0.5,
    "axes.axisbelow": True, "figure.facecolor": "white", "savefig.facecolor": "white",
    "pdf.fonttype": 42, "ps.fonttype": 42, "svg.fonttype": "none",
    "axes.unicode_minus": True, "text.usetex": False, "text.parse_math": False,
}  # fmt: skip
"""Letters of a paper, thin axes, text that stays text in PDF and SVG; names are never read as mathematics."""


@dataclass(frozen=True, eq=False)
class Curve:
    """A line, or points where `marker` is given: x and y (N,), its name in the legend, if any, and its look."""

    x: Array
    y: Array
    name: str = ""
    colour: str = BLUE
    width: float = 0.9
    style: Literal["-", "--", ":"] = "-"
    marker: str = ""
    opacity: float = 1.0
    spread: Array | None = None  # (N,) half the height of the bars through points


@dataclass(frozen=True, eq=False)
class Panel:
    """Curves over one axis, with labels; `band` is x, lower and upper (N,) of a pale band behind them, `across` heights of thin lines."""

    curves: tuple[Curve, ...]
    y_label: str = ""
    x_label: str = ""
    title: str = ""
    band: tuple[Array, Array, Array] | None = None
    across: tuple[float, ...] = ()
    logarithmic: str = ""  # "x", "y", "xy"
    ticks: tuple[str, ...] = ()  # names of the places 0, 1, ... of the x axis


def panels(
    rows: Sequence[Sequence[Panel]], width: str | float = "page", height: float | None = None, title: str = "", share_x: bool = True
) -> Figure:
    """Return a figure of panels in rows and columns, one legend on top; those of a column share their x axis unless told.

    width is "column" or "page" of a paper, or inches; height [in] of one row.
    """
    inches = figure_width(width)
    pyplot = plotting_library()
    with pyplot.rc_context(STYLE):
        tall = (height or max(1.0, min(1.5, inches / 4))) * len(rows) + 0.75
        made, axes = pyplot.subplots(
            len(rows), max(map(len, rows)), figsize=(inches, tall), squeeze=False, sharex="col" if share_x else False, layout="constrained"
        )
        for i, row in enumerate(rows):
            for j, panel in enumerate(row):
                draw(axes[i, j], panel, share_x and i < len(rows) - 1)
            for empty in axes[i, len(row) :]:
                empty.set_axis_off()
        if title:
            made.suptitle(visible(title), fontsize=9, fontweight="bold", x=0.01, ha="left")
        legend(made, [curve for row in rows for panel in row for curve in panel.curves])
    return made


def figure_width(width: str | float) -> float:
    """Return inches of a width by name or number."""
    if isinstance(width, str):
        if width not in WIDTHS:
            raise CallError(f"width must be {', '.join(map(repr, WIDTHS))} or inches, not {width!r}")
        return WIDTHS[width]
    return real_number(f"width, {', '.join(map(repr, WIDTHS))} or inches,", width, LEAST, MOST)


def plotting_library() -> Any:
    """Return Matplotlib's pyplot."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise needs_extra("matplotlib", "plot", "A figure") from error
    return pyplot


def draw(axes: Axes, panel: Panel, inner: bool = False) -> None:
    """Draw a panel; `inner` ones have others below them that carry the labels of the x axis."""
    if panel.band is not None:
        x, low, high = panel.band
        kept = kept_points((low, high))
        axes.fill_between(x[kept], low[kept], high[kept], color=BLUE, alpha=0.16, linewidth=0)
    for height in panel.across:
        axes.axhline(height, color=GREY, linewidth=0.6, linestyle=(0, (4, 3)))
    for curve in panel.curves:
        draw_curve(axes, curve)
    axes.set_ylabel(visible(panel.y_label))
    if panel.title:
        axes.set_title(visible(panel.title), loc="left", fontweight="bold")
    if not inner:
        axes.set_xlabel(visible(panel.x_label))
    for name in panel.logarithmic:
        (axes.set_xscale if name == "x" else axes.set_yscale)("log")
        _plain_ticks(axes.xaxis if name == "x" else axes.yaxis)
    if panel.ticks:
        axes.set_xticks(range(len(panel.ticks)), [visible(name) for name in panel.ticks], rotation=90 if len(panel.ticks) > 6 else 0)


def _plain_ticks(axis: Any) -> None:
    """Label 1, 2 and 5 of each decade as plain numbers; of many decades the powers of ten alone."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    low, high = axis.get_view_interval()
    few = high < 1e3 * max(low, 1e-300)
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if few else (1.0,)))
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_formatter(NullFormatter())


def draw_curve(axes: Axes, curve: Curve) -> None:
    """Draw a line by the samples that can be seen, or points with their bars."""
    look: dict[str, Any] = {"color": curve.colour, "alpha": curve.opacity}
    if curve.spread is not None:
        axes.errorbar(curve.x, curve.y, curve.spread, fmt=curve.marker or "o", markersize=3, linewidth=0.8, capsize=1.5, **look)
    elif curve.marker:
        kept = slice(None, None, max(1, len(curve.x) // 4000))
        axes.plot(curve.x[kept], curve.y[kept], curve.marker, markersize=1.5, markeredgewidth=0, rasterized=len(curve.x) > 500, **look)
    else:
        seen = kept_points((curve.y,)) if len(curve.y) else np.zeros(0, np.intp)
        axes.plot(curve.x[seen], curve.y[seen], linestyle=curve.style, linewidth=curve.width, **look)


def legend(made: Figure, curves: Sequence[Curve]) -> None:
    """Add one entry for each name among the curves, on top of the figure."""
    from matplotlib.lines import Line2D

    named = {curve.name: curve for curve in reversed(curves) if curve.name}
    names = [name for name in dict.fromkeys(curve.name for curve in curves) if name]
    handles = [
        Line2D(
            [], [], color=c.colour, linewidth=max(c.width, 1.0), linestyle="" if c.marker else c.style, marker=c.marker or "", markersize=4
        )
        for c in (named[name] for name in names)
    ]
    if handles:
        made.legend(handles, [visible(name) for name in names], loc="outside upper right", ncols=len(handles))
