"""Figures of the report and of motions on the page: the same data, drawn by the same library."""

from __future__ import annotations

from typing import Any

from nicegui import ui
from nicegui.element import Element

from ....drawing.figure import Figure
from ....drawing.plotly_renderer import to_plotly
from ....drawing.visible import visible_parts
from .controls import part

BUTTONS = ["select2d", "lasso2d", "autoScale2d", "zoomIn2d", "zoomOut2d"]


def plot(figure: Figure, words: str, timed: bool = False) -> Element:
    """Show a figure; `words` describe it to screen readers, `timed` adds the playback cursor."""
    with part(
        "figure", classes="plot timed" if timed else "plot", role="group", aria_label=words
    ) as element:
        ui.plotly(plain_figure(figure)).style(f"height: {figure.height}px; width: 100%")
        if figure.caption:
            part("figcaption", figure.caption)
    return element


def plain_figure(figure: Figure) -> dict[str, Any]:
    """Return the figure as the plotting library takes it; it has the colours of the page."""
    parts = visible_parts(to_plotly(figure))
    parts["layout"] |= {
        "autosize": True,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
    }
    config = {
        "displaylogo": False,
        "modeBarButtonsToRemove": BUTTONS,
        "displayModeBar": False,
        "responsive": False,
    }  # page.js fits what is visible
    return {"data": parts["data"], "layout": parts["layout"], "config": config}
