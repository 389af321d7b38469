"""Figures drawn by Matplotlib, at the width of a paper's column or page.

Imported when one is drawn.
"""

from __future__ import annotations

import colorsys
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import real_number
from ..errors import CallError, needs_extra
from . import figure as data
from .colours import BLUE, GREY, INK, ORANGE, PAPER, RULE
from .downsample import min_max_indices
from .visible import escape_control_chars

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTHS = {"column": 3.45, "page": 7.1}  # [in] of a paper in two columns, and of its page
NARROWEST, WIDEST = 1.5, 60.0  # [in]
NAMED = 60  # categories of a heatmap that are named one by one
STYLE = {
    "font.family": "serif",
    "font.serif": ["Charter", "Bitstream Charter", "Georgia", "Liberation Serif", "DejaVu Serif"],
    "mathtext.fontset": "dejavuserif", "font.size": 8.0, "axes.labelsize": 8.0,
    "axes.titlesize": 8.0, "xtick.labelsize": 7.0, "ytick.labelsize": 7.0, "legend.fontsize": 7.5,
    "legend.frameon": False, "axes.edgecolor": GREY, "axes.linewidth": 0.6, "axes.labelcolor": INK,
    "text.color": INK, "xtick.color": INK, "ytick.color": INK, "xtick.major.width": 0.6,
    "ytick.major.width": 0.6, "axes.spines.top": False, "axes.spines.right": False,
    "axes.grid": True, "grid.color": RULE, "grid.linewidth": 0.5, "axes.axisbelow": True,
    "figure.facecolor": "white", "savefig.facecolor": "white", "pdf.fonttype": 42,
    "ps.fonttype": 42, "svg.fonttype": "none", "axes.unicode_minus": True, "text.usetex": False,
    "text.parse_math": False,
}  # fmt: skip
"""Fonts of a paper, thin axes, text as text in PDF and SVG; names are never mathematics."""

MARKERS = {
    "dot": ".",
    "circle": "o",
    "circle-open": "o",
    "diamond": "D",
    "diamond-open": "D",
    "x": "x",
}
DASHES = {"solid": "-", "dash": "--", "dot": ":"}


def to_matplotlib(
    figure: data.Figure, width: str | float = "page", row_height: float | None = None
) -> Figure:
    """Draw a figure.

    Parameters
    ----------
    width : "column" or "page" of a paper, or inches
    row_height : height of a row with share 1 [in]

    Returns
    -------
    A Matplotlib figure with one legend on top.
    """
    inches = figure_width(width)
    pyplot = plotting_library()
    shares = [row[0].share for row in figure.rows]
    height = row_height or _row_height(figure, inches)
    tall = inches if figure.square else height * sum(shares) + 0.75
    columns = max(map(len, figure.rows))
    with pyplot.rc_context(STYLE):
        canvas, axes = pyplot.subplots(
            len(figure.rows),
            columns,
            figsize=(inches, tall),
            squeeze=False,
            sharex="col" if figure.linked else False,
            height_ratios=shares,
            layout="constrained",
        )
        for i, row in enumerate(figure.rows):
            for j, panel in enumerate(row):
                draw_panel(axes[i, j], panel, figure.linked and i < len(figure.rows) - 1)
            for empty in axes[i, len(row) :]:
                empty.set_axis_off()
        if figure.title:
            canvas.suptitle(
                escape_control_chars(figure.title), fontsize=9, fontweight="bold", x=0.01, ha="left"
            )
        add_legend(canvas, figure.panels)
    return canvas


def _row_height(figure: data.Figure, inches: float) -> float:
    """Return the height of a row [in]: by its categories, or a share of the width."""
    longest = max(len(panel.y.categories) for panel in figure.panels)
    return 0.6 + 0.22 * longest if longest else max(1.0, min(1.8, inches / 4))


def figure_width(width: str | float) -> float:
    """Return inches of a width by name or number."""
    if isinstance(width, str):
        if width not in WIDTHS:
            names = ", ".join(map(repr, WIDTHS))
            raise CallError(f"width must be {names} or inches, not {width!r}")
        return WIDTHS[width]
    label = f"width, {', '.join(map(repr, WIDTHS))} or inches,"
    return real_number(label, width, NARROWEST, WIDEST)


def plotting_library() -> Any:
    """Return Matplotlib's pyplot."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise needs_extra("matplotlib", "plot", "A figure") from error
    return pyplot


def draw_panel(axes: Axes, panel: data.Panel, inner: bool = False) -> None:
    """Draw a panel; `inner` ones have others below them that carry the labels of the x axis."""
    start = 0.0
    for mark in panel.marks:
        if isinstance(mark, data.Bars):
            start = _draw_bars(axes, mark, start)
        else:
            DRAW[type(mark)](axes, panel, mark)
    axes.set_ylabel(escape_control_chars(panel.y.title))
    if panel.title:
        axes.set_title(escape_control_chars(panel.title), loc="left", fontweight="bold")
    if panel.note:
        legend: dict[str, Any] = {
            "transform": axes.transAxes,
            "ha": "right",
            "va": "top",
            "fontsize": 6,
        }
        axes.text(0.98, 0.98, escape_control_chars(panel.note), **legend)
    if not inner:
        axes.set_xlabel(escape_control_chars(panel.x.title))
    for axis, described in ((axes.xaxis, panel.x), (axes.yaxis, panel.y)):
        _set_axis(axes, axis, described)


def _set_axis(axes: Axes, axis: Any, described: data.Axis) -> None:
    """Apply scale, range and names of an axis."""
    horizontal = axis is axes.xaxis
    if described.logarithmic:
        (axes.set_xscale if horizontal else axes.set_yscale)("log")
        _plain_ticks(axis)
    if described.limits is not None:
        (axes.set_xlim if horizontal else axes.set_ylim)(*described.limits)
    if described.from_zero:
        axes.set_xlim(left=0) if horizontal else axes.set_ylim(bottom=0)
    if described.zero_line and not horizontal:
        axes.axhline(0.0, color=GREY, linewidth=0.6)
    if described.categories and len(described.categories) <= NAMED:
        names = [escape_control_chars(name) for name in described.categories]
        if horizontal:
            axes.set_xticks(range(len(names)), names, rotation=90)
        else:
            axes.set_yticks(range(len(names)), names)
    if described.categories and not horizontal:
        axes.set_ylim(len(described.categories) - 0.5, -0.5)
        axes.grid(False, axis="y")


def _plain_ticks(axis: Any) -> None:
    """Label 1, 2 and 5 of each decade as plain numbers; of many decades the powers of ten alone."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    low, high = axis.get_view_interval()
    few = high < 1e3 * max(low, 1e-300)
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if few else (1.0,)))
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_formatter(NullFormatter())


def _draw_curve(axes: Axes, panel: data.Panel, mark: data.Curve) -> None:
    if mark.hidden:
        return
    shown = min_max_indices((mark.y,)) if len(mark.y) else np.zeros(0, np.intp)
    look: dict[str, Any] = {"color": colour_of(mark.colour), "alpha": mark.opacity}
    look |= {"linestyle": DASHES[mark.dash], "linewidth": 0.75 * mark.width}
    axes.plot(mark.x[shown], mark.y[shown], **look)


def _draw_band(axes: Axes, panel: data.Panel, mark: data.Band) -> None:
    shown = min_max_indices((mark.low, mark.high))
    edges = mark.low[shown], mark.high[shown]
    axes.fill_between(mark.x[shown], *edges, color=colour_of(mark.colour), linewidth=0)


def _draw_points(axes: Axes, panel: data.Panel, mark: data.Points) -> None:
    colour = mark.colour if isinstance(mark.colour, str) else mark.colour[0]
    shape = MARKERS[mark.marker]
    hollow: dict[str, Any] = {"markerfacecolor": "none"} if mark.marker.endswith("open") else {}
    if mark.marker == "dot":
        look: dict[str, Any] = {
            "markersize": 1.5,
            "markeredgewidth": 0,
            "rasterized": len(mark.x) > 500,
        }
        axes.plot(mark.x, mark.y, "o", color=colour_of(colour), **look)
    elif mark.x_error is not None:
        look = {"markersize": 3, "linewidth": 0.8, "capsize": 1.5}
        axes.errorbar(
            mark.x, mark.y, xerr=mark.x_error, fmt=shape, color=colour_of(colour), **look, **hollow
        )
    elif isinstance(mark.colour, str):
        axes.plot(mark.x, mark.y, shape, color=colour_of(colour), markersize=4, **hollow)
    else:
        axes.scatter(mark.x, mark.y, c=[colour_of(c) for c in mark.colour], s=10, marker=shape)


def _draw_bars(axes: Axes, mark: data.Bars, start: Any) -> Any:
    places = np.arange(len(mark.values))
    axes.barh(places, mark.values, left=start, height=0.65, color=mark.colour, linewidth=0)
    return start + np.asarray(mark.values)


def _draw_heatmap(axes: Axes, panel: data.Panel, mark: data.Heatmap) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    scale = LinearSegmentedColormap.from_list("correlation", [ORANGE, PAPER, BLUE])
    image = axes.imshow(mark.values, cmap=scale, vmin=-1, vmax=1)
    axes.grid(False)
    axes.tick_params(labelsize=min(7.0, 380.0 / max(len(mark.values), 1)))
    figure = axes.get_figure()
    assert figure is not None
    figure.colorbar(image, ax=axes, shrink=0.6, label=mark.label)


def _draw_intervals(axes: Axes, panel: data.Panel, mark: data.Intervals) -> None:
    for low, high in mark.spans:
        axes.axvspan(low, high, color=mark.colour, alpha=mark.opacity, linewidth=0)


def _draw_rule(axes: Axes, panel: data.Panel, mark: data.Rule) -> None:
    line = axes.axvline if mark.along == "x" else axes.axhline
    line(mark.position, color=mark.colour, linewidth=0.6, linestyle=DASHES[mark.dash])


def _draw_box(axes: Axes, panel: data.Panel, mark: data.Box) -> None:
    if mark.fill and mark.x is None and mark.y is not None:
        axes.axhspan(*mark.y, color=mark.colour, linewidth=0)
        return
    assert mark.x is not None
    assert mark.y is not None
    (a, b), (c, d) = mark.x, mark.y
    look: dict[str, Any] = {"color": mark.colour, "linewidth": 0.8, "linestyle": DASHES[mark.dash]}
    axes.plot([a, b, b, a, a], [c, c, d, d, c], **look)


DRAW: dict[type, Callable[[Any, data.Panel, Any], None]] = {
    data.Curve: _draw_curve,
    data.Band: _draw_band,
    data.Points: _draw_points,
    data.Heatmap: _draw_heatmap,
    data.Intervals: _draw_intervals,
    data.Rule: _draw_rule,
    data.Box: _draw_box,
}


def colour_of(text: str) -> Any:
    """Return a colour that Matplotlib knows; hsl() is turned into red, green and blue."""
    match = re.fullmatch(r"hsl\((\d+),(\d+)%,(\d+)%\)", text)
    if match is None:
        return text
    h, s, lightness = (float(x) for x in match.groups())
    return colorsys.hls_to_rgb(h / 360, lightness / 100, s / 100)


def add_legend(canvas: Figure, panels: Sequence[data.Panel]) -> None:
    """Add one entry for each name among the marks, on top of the figure."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: dict[str, Any] = {}
    for mark in (mark for panel in panels for mark in panel.marks):
        name = escape_control_chars(getattr(mark, "name", ""))
        if not name or name in handles:
            continue
        if isinstance(mark, data.Curve) and not mark.hidden:
            look: dict[str, Any] = {
                "linestyle": DASHES[mark.dash],
                "linewidth": max(mark.width, 1.0),
            }
            handles[name] = Line2D([], [], color=colour_of(mark.colour), **look)
        elif isinstance(mark, data.Points):
            colour = mark.colour if isinstance(mark.colour, str) else mark.colour[0]
            shape = MARKERS[mark.marker]
            handles[name] = Line2D(
                [], [], color=colour_of(colour), linestyle="", marker=shape, markersize=4
            )
        elif isinstance(mark, data.Bars | data.Band):
            handles[name] = Patch(color=colour_of(mark.colour))
    if handles:
        canvas.legend(
            list(handles.values()),
            list(handles),
            loc="outside upper right",
            ncols=min(len(handles), 6),
        )
