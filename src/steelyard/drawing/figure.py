"""The parts that figures are made of, as plain data: lines, points, axes. Nothing here imports a plotting library."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .visible import visible

Array = NDArray[np.float64]
INK, GREY, RULE = "#1d2129", "#8a919c", "#e4e6ea"
BLUE, ORANGE, GREEN, WINE, SILVER = "#1f4e8c", "#d97b29", "#2c8a6b", "#7a2e3a", "#b9c1cc"
PAPER, SHADE, HAZE = "#ffffff", "#f6e7d8", "#dfe8f4"  # the ground, stretches that are marked, bands
DARK = {  # what each colour is on dark paper
    INK: "#e6e8ec", GREY: "#7d8592", RULE: "#2c313a", BLUE: "#7fb0f0", ORANGE: "#f0a050", GREEN: "#5cc7a0", WINE: "#e58793",
    SILVER: "#5d6674", PAPER: "#15181d", SHADE: "#3a2e22", HAZE: "#22344d",
}  # fmt: skip
FAMILY = "Charter, 'Bitstream Charter', 'Source Serif 4', Georgia, 'Liberation Serif', 'Times New Roman', serif"
FONT = {"family": FAMILY, "size": 12, "color": INK}


@dataclass(frozen=True)
class Figure:
    """Traces, layout, height [px] and the caption below it."""

    name: str
    traces: tuple[dict[str, Any], ...]
    layout: dict[str, Any]
    height: int
    caption: str


def packed(x: ArrayLike) -> dict[str, str]:
    """Numbers as base64 of float32: a third of their size as text, and still six digits."""
    return {"dtype": "f4", "bdata": base64.b64encode(np.ascontiguousarray(x, dtype="<f4").tobytes()).decode()}


def line(x: ArrayLike, y: ArrayLike, name: str, colour: str, width: float = 1.2, legend: bool = False, **more: Any) -> dict[str, Any]:
    """A line; lines of one name share their entry in the legend."""
    made = {"x": packed(x), "y": packed(y), "mode": "lines", "name": safe(name), "legendgroup": name, "showlegend": legend}
    return made | {"line": {"color": colour, "width": width}, "hovertemplate": "%{y:.4g}<extra>" + safe(name) + "</extra>"} | more


def points(x: Sequence[Any], y: Any, colours: Sequence[str] | str, hover: str, **more: Any) -> dict[str, Any]:
    """Points of one size; `hover` is the text that each shows."""
    marker = {"color": colours, "size": 6}
    return {"x": list(x), "y": y, "mode": "markers", "marker": marker, "hovertemplate": hover, "showlegend": False} | more


def layout(legend: bool = False, **axes: Any) -> dict[str, Any]:
    """White paper, the page's own letters, a legend on top."""
    made: dict[str, Any] = {"font": FONT, "paper_bgcolor": PAPER, "plot_bgcolor": PAPER, "showlegend": legend, "annotations": []}
    made |= {"margin": {"l": 58, "r": 12, "t": 30, "b": 44}, "hoverlabel": {"font": {"family": FAMILY, "color": INK}, "bgcolor": PAPER}}
    place = {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "xanchor": "left", "bgcolor": "rgba(0,0,0,0)"}
    return made | ({"legend": place} if legend else {}) | axes


def axis(title: str = "", **more: Any) -> dict[str, Any]:
    """An axis with a thin line, ticks outside and a pale grid."""
    plain = {"gridcolor": RULE, "linecolor": GREY, "showline": True, "zeroline": False, "ticks": "outside", "ticklen": 4, "tickcolor": GREY}
    return plain | {"automargin": True} | ({"title": {"text": title, "standoff": 6}} if title else {}) | more


def log_axis(title: str, values: ArrayLike, **more: Any) -> dict[str, Any]:
    """A logarithmic axis, with 2 and 5 marked where it spans few decades."""
    x = np.asarray(values, dtype=float)
    x = x[np.isfinite(x) & (x > 0)]
    decades = np.log10(x.max() / x.min()) if len(x) else 0.0
    return axis(title, type="log", exponentformat="power", dtick="D2" if decades < 2.5 else 1, **more)


def label(text: str, x: float, y: float) -> dict[str, Any]:
    """A bold word in the figure, its lower left corner at fractions x, y of the plot."""
    made = {"text": f"<b>{safe(text)}</b>", "x": x, "y": y, "xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom"}
    return made | {"showarrow": False, "font": {"size": 12}}


def hue(j: int, n: int, dark: bool = False) -> str:
    """The colour of the j-th of n joints, on white or on dark paper."""
    return f"hsl({(210 + 300 * j / max(n, 1)) % 360:.0f},{'55%,68%' if dark else '45%,45%'})"


def safe(text: str) -> str:
    """The plotting library reads a few HTML tags in its texts; a joint's name is not one, nor does it hide or turn other text."""
    return visible(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


MOST = 4000


def kept_points(signals: tuple[Array, ...], most: int = MOST) -> NDArray[np.intp]:
    """Indices, at most `most`, of the samples to draw: in each of equal stretches the least and the greatest of every signal (N,).

    Steinarsson 2013, "Downsampling time series for visual representation", section 4.1 (min-max), for several signals at once.
    """
    N = len(signals[0])
    if most >= N:
        return np.arange(N)
    stretches = max(1, (most - 2) // (2 * len(signals)))
    edges = np.linspace(0, N, stretches + 1).astype(int)
    found = [0, N - 1]
    for signal in signals:
        known = np.isfinite(signal)
        low, high = np.where(known, signal, np.inf), np.where(known, signal, -np.inf)
        for a, b in pairwise(edges.tolist()):
            found += [a + int(np.argmin(low[a:b])), a + int(np.argmax(high[a:b]))]
    return np.unique(found)


def running_time(t: Array) -> Array:
    """Times of several logs one after the other, (N,) [s]: where time steps back, the next log follows after one usual step."""
    if len(t) < 2:
        return t
    step = np.diff(t)
    usual = float(np.median(step[step > 0])) if np.any(step > 0) else 1.0
    return t[0] + np.concatenate([[0.0], np.cumsum(np.where(step > 0, step, usual))])
