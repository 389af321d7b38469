"""Every renderer draws the marks of a figure.

The same numbers in Plotly's traces and in Matplotlib.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, get_args

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot

from steelyard.drawing import figure as data
from steelyard.drawing.figure import (
    Axis,
    Band,
    Bars,
    Box,
    Curve,
    Figure,
    Heatmap,
    Intervals,
    Panel,
    Points,
    Rule,
    grid_of,
)
from steelyard.drawing.matplotlib_renderer import DRAW, to_matplotlib
from steelyard.drawing.plotly_axes import row_domains
from steelyard.drawing.plotly_renderer import to_plotly
from tests.packed_figures import series

mpl.use("Agg")
X, Y = np.linspace(0.0, 1.0, 7), np.array([0.2, 0.5, np.nan, 1.0, 0.7, 0.1, 0.3])
NAMES = ("a", "b", "c")
MARKS: dict[type, tuple[Any, Panel]] = {
    Curve: (m := Curve(x=X, y=Y, name="c", unit="N m"), Panel(marks=(m,))),
    Band: (m := Band(x=X, low=X - 1, high=X + 1, name="b"), Panel(marks=(m,))),
    Points: (m := Points(x=X, y=Y, name="p", x_error=0.1 * X), Panel(marks=(m,))),
    Bars: (
        m := Bars(values=np.array([1.0, 2.0, 3.0]), name="s", colour="#000000"),
        Panel(marks=(m,), y=Axis(categories=NAMES)),
    ),
    Heatmap: (
        m := Heatmap(values=np.eye(3), label="r"),
        Panel(marks=(m,), x=Axis(categories=NAMES), y=Axis(categories=NAMES)),
    ),
    Intervals: (m := Intervals(spans=np.array([[0.1, 0.2], [0.5, 0.9]])), Panel(marks=(m,))),
    Rule: (m := Rule(position=0.4), Panel(marks=(m,))),
    Box: (m := Box(x=(0.1, 0.9), y=(-1.0, 1.0)), Panel(marks=(m,))),
}


def drawn(figure: Figure) -> dict[str, Any]:
    return dict(series(to_plotly(figure), np.zeros(0)))


def test_every_kind_of_mark_has_a_case_and_is_drawn() -> None:
    kinds = set(get_args(data.Mark))
    assert set(MARKS) == kinds
    assert set(DRAW) | {Bars} == kinds


@pytest.mark.parametrize("kind", MARKS, ids=lambda kind: kind.__name__)
def test_both_renderers_draw_something_of_every_mark(kind: type) -> None:
    _, panel = MARKS[kind]
    parts = drawn(Figure(name="f", rows=((panel,),)))
    assert parts["data"] or parts["layout"]["shapes"]
    canvas = to_matplotlib(Figure(name="f", rows=((panel,),)))
    axes = canvas.axes[0]
    assert axes.lines or axes.collections or axes.patches or axes.images or axes.containers
    pyplot.close(canvas)


def test_curves_have_the_same_numbers_in_both() -> None:
    figure = Figure(name="f", rows=((MARKS[Curve][1],),))
    (trace,) = drawn(figure)["data"]
    canvas = to_matplotlib(figure)
    line = canvas.axes[0].lines[0]
    np.testing.assert_allclose(np.array(trace["y"], float), line.get_ydata(), rtol=1e-6)
    np.testing.assert_allclose(trace["x"], line.get_xdata(), rtol=1e-6, atol=1e-7)
    assert trace["hovertemplate"] == "%{y:.4g} N m<extra>c</extra>"
    assert [text.get_text() for text in canvas.legends[0].get_texts()] == ["c"]
    pyplot.close(canvas)


def test_bars_are_stacked_in_both() -> None:
    bars = tuple(
        Bars(values=np.array([1.0, 2.0, 3.0]), name=name, colour="#000000") for name in "xy"
    )
    figure = Figure(name="f", rows=((Panel(marks=bars, y=Axis(categories=NAMES)),),))
    parts = drawn(figure)
    assert parts["layout"]["barmode"] == "stack"
    assert [trace["x"] for trace in parts["data"]] == [[1.0, 2.0, 3.0]] * 2
    assert parts["data"][0]["y"] == list(NAMES)
    canvas = to_matplotlib(figure)
    ends = [patch.get_x() + patch.get_width() for patch in canvas.axes[0].patches]
    assert ends == [1.0, 2.0, 3.0, 2.0, 4.0, 6.0]
    pyplot.close(canvas)


def test_rows_do_not_overlap_and_a_strip_shares_the_axis_above_it() -> None:
    upper = Panel(marks=(MARKS[Curve][0],), title="joint")
    strip = Panel(marks=(MARKS[Curve][0],), share=0.5, below=True)
    figure = Figure(name="f", rows=((upper,), (strip,)) * 3, height=700, linked=True)
    domains = row_domains(figure)
    flat = [edge for low, high in domains for edge in (high, low)]
    assert flat == sorted(flat, reverse=True)
    assert 0.0 <= flat[-1] < flat[0] <= 1.0
    sizes = [high - low for low, high in domains]
    np.testing.assert_allclose(np.array(sizes[1::2]) / sizes[0], 0.5)
    parts = drawn(figure)
    assert [trace["xaxis"] for trace in parts["data"]] == ["x", "x", "x2", "x2", "x3", "x3"]
    assert [trace["yaxis"] for trace in parts["data"]] == ["y", "y2", "y3", "y4", "y5", "y6"]
    assert parts["layout"]["xaxis2"]["matches"] == "x"


def test_a_name_is_in_the_legend_once_and_a_hidden_curve_waits() -> None:
    curves = [
        Curve(x=X, y=Y, name="same"),
        Curve(x=X, y=Y, name="same"),
        Curve(x=X, y=Y, name="late", hidden=True),
    ]
    parts = drawn(Figure(name="f", rows=((Panel(marks=tuple(curves)),),)))
    assert [trace["showlegend"] for trace in parts["data"]] == [True, False, True]
    assert [trace.get("visible") for trace in parts["data"]] == [None, None, "legendonly"]
    canvas = to_matplotlib(Figure(name="f", rows=((Panel(marks=tuple(curves)),),)))
    assert len(canvas.axes[0].lines) == 2
    pyplot.close(canvas)


def test_panels_of_joints_are_put_in_rows() -> None:
    panels = tuple(Panel(marks=(MARKS[Curve][0],), title=str(k)) for k in range(7))
    figure = grid_of("g", panels, "")
    assert [len(row) for row in figure.rows] == [3, 3, 1]
    assert figure.panels == panels
    domains = [drawn(figure)["layout"][key]["domain"] for key in ("xaxis", "xaxis2", "xaxis3")]
    assert all(b[0] > a[1] for a, b in pairwise(domains))
