"""Figures of what was found: masses of the links, where each joint's error comes from, correlations of base parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..drawing.figure import BLUE, GREY, ORANGE, PAPER, RULE, SILVER, WINE, Array, Figure, axis, layout, packed, points, safe
from ..drawing.numbers import percent, short
from ..drawing.parameter_table import correlation

MOST_NAMED = 60  # parameters of a correlation that are named one by one
CAUSE_COLOURS = (SILVER, ORANGE, BLUE, WINE)


def masses(links: Sequence[str], mass: Array, std: Array, described: Array) -> Figure:
    """Mass (L,) [kg] of every link with two standard deviations, beside that of the description.

    `std` is infinite for what the samples do not show; these are open circles.
    """
    names = [safe(name) for name in links]
    known = np.isfinite(std)
    made = layout(True, xaxis=axis("mass [kg]", rangemode="tozero"), margin={"l": 70, "r": 12, "t": 30, "b": 44})
    made["yaxis"] = axis(type="category", autorange="reversed", showgrid=False, categoryarray=names, categoryorder="array")
    old = {"color": ORANGE, "symbol": "diamond-open", "size": 9, "line": {"width": 1.5}}
    hover = "%{y}: %{x:.4g} kg<extra>described</extra>"
    traces = [points(described.tolist(), names, ORANGE, hover, name="described", marker=old, showlegend=True)]
    for shown, label, symbol in ((known, "identified, ± 2σ", "circle"), (~known, "not shown by the log", "circle-open")):
        if shown.any():
            at = np.flatnonzero(shown)
            spread = [float(2 * std[k]) if known[k] else 0.0 for k in at]
            text = [f"{short(float(mass[k]), 4)} kg" + (f" ± {short(2 * float(std[k]), 2)}" if known[k] else "") for k in at]
            own: dict[str, Any] = {"marker": {"color": BLUE, "symbol": symbol, "size": 8}, "text": text, "name": label, "showlegend": True}
            bars = {"type": "data", "array": spread, "color": BLUE, "thickness": 1.6, "width": 4}
            where = [float(mass[k]) for k in at], [names[k] for k in at]
            traces.append(points(*where, BLUE, "%{y}: %{text}<extra></extra>", error_x=bars, **own))
    caption = "Mass of every link with all that is fixed to it, beside that of the description."
    return Figure("masses", tuple(traces), made, 110 + 30 * len(links), caption)


def budget(joints: Sequence[str], units: Sequence[str], causes: Sequence[str], shares: Array, rms: Array, relative: Array) -> Figure:
    """Where the error of each joint comes from: `shares` (n, c) of its squared residual, with its rms (n,) and relative error (n,)."""
    names = [safe(name) for name in joints]
    made = layout(True, barmode="stack", bargap=0.35, margin={"l": 70, "r": 12, "t": 30, "b": 44})
    made["xaxis"] = axis("share of the squared residual [%]", range=[0, 100])
    made["legend"]["traceorder"] = "normal"
    made["yaxis"] = axis(type="category", autorange="reversed", showgrid=False)
    traces = []
    for k, cause in enumerate(causes):
        size = [f"{short(float(np.sqrt(share) * value))} {unit}" for share, value, unit in zip(shares[:, k], rms, units, strict=True)]
        text = [safe(each) for each in size]
        hover = f"%{{y}}: {safe(cause)} %{{x:.0f}} %, %{{customdata}} RMS<extra></extra>"
        bar = {"type": "bar", "orientation": "h", "x": [100 * float(x) for x in shares[:, k]], "y": names, "name": safe(cause)}
        traces.append(bar | {"customdata": text, "hovertemplate": hover, "marker": {"color": CAUSE_COLOURS[k % 4], "line": {"width": 0}}})
    worst = int(np.argmax(np.nan_to_num(relative)))
    caption = (
        "What the error that is left goes back to, joint by joint. Hover for its size in N m or N. "
        f"The largest relative error is that of {joints[worst]}: {percent(float(relative[worst]))} % of its torque."
    )
    return Figure("budget", tuple(traces), made, 110 + 30 * len(joints), caption)


def correlations(names: Sequence[str], covariance: Array) -> Figure:
    """Correlations of base parameters from their covariance (b, b), as a square of colours; those without a variance are left out."""
    known, shown = correlation(covariance)
    labels = [safe(names[int(k)]) for k in known]
    ticks: dict[str, Any] = {"showgrid": False, "showline": False, "ticks": "", "tickfont": {"size": 9}, "type": "category"}
    ticks |= {"tickmode": "linear"} if len(known) <= MOST_NAMED else {"showticklabels": False}
    made = layout(margin={"l": 60, "r": 12, "t": 12, "b": 60})
    made["xaxis"] = axis(tickangle=90, **ticks)
    made["yaxis"] = axis(autorange="reversed", scaleanchor="x", constrain="domain", **ticks)
    look = {"colorscale": [[0, ORANGE], [0.5, PAPER], [1, BLUE]], "zmin": -1, "zmax": 1, "xgap": 0.5, "ygap": 0.5}
    look |= {"colorbar": {"thickness": 10, "len": 0.6, "outlinewidth": 0, "tickvals": [-1, 0, 1], "tickcolor": GREY, "bordercolor": RULE}}
    square = {"type": "heatmap", "x": labels, "y": labels, "z": packed(np.round(shown, 2)) | {"shape": f"{len(known)},{len(known)}"}}
    caption = (
        "Correlation of the errors of the base parameters. Dark fields off the diagonal are pairs that this motion tells apart badly:"
        f" the value of one can make up for that of the other. {told_apart(labels, shown)}"
    )
    hover = "%{y}<br>%{x}<br>%{z:.2f}<extra></extra>"
    return Figure("correlations", (square | look | {"hovertemplate": hover},), made, 640, caption)


def told_apart(labels: Sequence[str], shown: Array) -> str:
    """The pair with the strongest correlation, in a sentence."""
    if len(labels) < 2:
        return ""
    off = np.abs(np.triu(shown, 1))
    i, j = divmod(int(np.argmax(off)), len(labels))
    return f"The strongest is that of {labels[i]} with {labels[j]}, {shown[i, j]:.2f}.".replace("-", "−")
