"""The figures of an identification: torques with their residuals, errors, masses, the uncertainty and correlation of parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .figure import BLUE, GREEN, GREY, ORANGE, SILVER, WINE, running_time
from .panels import STYLE, Curve, Panel, figure_width, panels, plotting_library
from .parameter_table import correlation
from .visible import visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
LOOKS = {"before": (ORANGE, "o"), "after": (BLUE, "o"), "validation": (GREEN, "D")}
MOST_NAMED = 60  # parameters of a correlation that are named one by one


def torque_figure(
    t: Array,
    joints: Sequence[str],
    units: Sequence[str],
    measured: Array,
    predicted: Array,
    keep: NDArray[np.bool_],
    spread: Array | None = None,
    width: str | float = "page",
) -> Figure:
    """Measured and predicted torque (N, n) over t (N,) [s], with what is left beside it; `spread` (n,) is half the height of a band."""
    time = running_time(t)
    rows = []
    for j, joint in enumerate(joints):
        kept = keep[:, j]
        y, fitted = np.where(kept, measured[:, j], np.nan), predicted[:, j]
        band = None if spread is None else (time, fitted - spread[j], fitted + spread[j])
        curves = Curve(time, y, "measured", SILVER, 2.0), Curve(time, fitted, "predicted", BLUE, 0.8)
        left = Curve(time, np.where(kept, y - fitted, np.nan), "left over", WINE, 0.6)
        title = ("torque", "left over") if not j else ("", "")
        across = () if spread is None else (-float(spread[j]), float(spread[j]))
        rows.append(
            [Panel(curves, f"{joint}\n[{units[j]}]", "time [s]", title[0], band), Panel((left,), "", "time [s]", title[1], None, across)]
        )
    return panels(rows, width)


def error_figure(joints: Sequence[str], series: Sequence[tuple[str, Array]], width: str | float = "column") -> Figure:
    """Relative error (n,), a fraction, of every joint for each of the series, such as 'before' and 'after'; in per cent."""
    curves = []
    for name, values in series:
        colour, marker = LOOKS.get(name, (GREY, "s"))
        y = 100.0 * np.where(np.isfinite(values) & (values > 0), values, np.nan)
        curves.append(Curve(np.arange(len(joints), dtype=float), y, name, colour, marker=marker, spread=np.zeros(len(joints))))
    return panels([[Panel(tuple(curves), "|e| / |τ| [%]", logarithmic="y", ticks=tuple(joints))]], width, 2.2)


def mass_figure(links: Sequence[str], mass: Array, std: Array, described: Array, width: str | float = "column") -> Figure:
    """Masses (L,) [kg] with two standard deviations, beside those of the description; those without a finite one are faint."""
    at, known = np.arange(len(links), dtype=float), np.isfinite(std)
    own = Curve(at[known], mass[known], "identified", BLUE, marker="o", spread=2 * std[known])
    open_ = Curve(at[~known], mass[~known], "not shown by the log", SILVER, marker="o", spread=np.zeros(int((~known).sum())))
    before = Curve(at + 0.18, described, "described", ORANGE, marker="D", spread=np.zeros(len(links)))
    curves = tuple(curve for curve in (own, open_, before) if len(curve.x))
    return panels([[Panel(curves, "mass [kg], ± 2σ", ticks=tuple(links))]], width, 2.2)


def uncertainty_figure(names: Sequence[str], relative: Array, width: str | float = "column") -> Figure:
    """Relative standard deviation (b,), a fraction, of parameters, the best seen first; in per cent."""
    order = np.argsort(relative, kind="stable")
    known = order[np.isfinite(relative[order])]
    y = 100.0 * np.maximum(relative[known], 1e-6)
    curve = Curve(np.arange(len(known), dtype=float), y, "", BLUE, marker="o", spread=np.zeros(len(known)))
    named = tuple(names[k] for k in known) if len(known) <= MOST_NAMED else ()
    return panels(
        [[Panel((curve,), "σ / |value| [%]", "" if named else "base parameters", across=(30.0,), logarithmic="y", ticks=named)]], width, 2.6
    )


def correlation_figure(names: Sequence[str], covariance: Array, width: str | float = "page") -> Figure:
    """Correlations of parameters from their covariance (b, b), as a square of colours from -1 to 1."""
    inches = figure_width(width)
    known, shown = correlation(covariance)
    pyplot = plotting_library()
    with pyplot.rc_context(STYLE | {"axes.grid": False}):
        made, axes = pyplot.subplots(figsize=(inches, inches), layout="constrained")
        image = axes.imshow(shown, cmap="RdBu_r", vmin=-1, vmax=1)
        if len(known) <= MOST_NAMED:
            labels = [visible(names[int(k)]) for k in known]
            letters = min(7.0, 72 * 0.75 * inches / max(len(known), 1))
            axes.set_xticks(range(len(known)), labels, rotation=90, fontsize=letters)
            axes.set_yticks(range(len(known)), labels, fontsize=letters)
        made.colorbar(image, ax=axes, shrink=0.6, label="correlation")
    return made
