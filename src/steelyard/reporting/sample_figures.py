"""Figures of samples: where a motion has been, friction over speed, what is left over against speed, position and frequency."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..drawing.figure import BLUE, GREY, ORANGE, SILVER, WINE, Array, Figure, axis, hue, label, layout, line, log_axis, packed, safe
from ..drawing.numbers import percent
from ..signals.segments import split

FEW = 300  # samples of a joint that are drawn as points
BINS = 14  # pieces of speed or position over which the residual is averaged
WINDOW = 256  # samples of one piece of a spectrum
HEIGHT = 240


def few(keep: NDArray[np.bool_], most: int = FEW) -> NDArray[np.intp]:
    """Indices, at most `most`, of the rows (N,) that are in use, evenly spread."""
    used = np.flatnonzero(keep)
    return used[np.unique(np.linspace(0, len(used) - 1, min(most, len(used))).astype(int))] if len(used) else used


def coverage(
    joint: str, unit: str, q: Array, qd: Array, limits: tuple[float, float, float], region: tuple[float, float, float], number: int = 0
) -> Figure:
    """Positions (N,) [rad|m] and speeds (N,) that a joint has visited, with its limits and the region: from, to, largest speed."""
    made = _small(joint, axis(f"position [{unit}]"), axis(f"speed [{unit}/s]", nticks=5))
    at = few(np.isfinite(q) & np.isfinite(qd))
    dots = _dots(q[at], qd[at], BLUE, "q %{x:.3g}, qd %{y:.3g}")
    low, high, fast = region
    made["shapes"] = [_box(low, high, fast, GREY, "dot")] + _limits(limits, q, qd)
    used = [f"{percent(share, 0)} % of its {what}" for share, what in covered(q, qd, limits) if np.isfinite(share)]
    if used:
        made["annotations"].append(label(" · ".join(used), 1.0, 1.0) | {"xanchor": "right", "text": safe(" · ".join(used))})
    return Figure(f"coverage-{number}", (dots,), made, HEIGHT, "")


def covered(q: Array, qd: Array, limits: tuple[float, float, float]) -> tuple[tuple[float, str], ...]:
    """The shares of a joint's range and of its largest speed that samples (N,) have used, NaN where there is no limit."""
    low, high, fast = limits
    wide = float(np.nanmax(q) - np.nanmin(q)) / (high - low) if np.isfinite(high - low) and high > low else np.nan
    quick = float(np.nanmax(np.abs(qd))) / fast if np.isfinite(fast) and fast > 0 else np.nan
    return (wide, "range"), (quick, "speed")


def _limits(limits: tuple[float, float, float], q: Array, qd: Array) -> list[dict[str, Any]]:
    """Lines at the limits that there are; a box where there are all."""
    low, high, fast = limits
    if np.isfinite([low, high, fast]).all():
        return [_box(low, high, fast, ORANGE, "solid")]
    look = {"type": "line", "line": {"color": ORANGE, "width": 1}, "layer": "below"}
    lines = [look | {"yref": "paper", "y0": 0, "y1": 1, "x0": x, "x1": x} for x in (low, high) if np.isfinite(x)]
    return lines + [look | {"xref": "paper", "x0": 0, "x1": 1, "y0": y, "y1": y} for y in (-fast, fast) if np.isfinite(y)]


def _box(low: float, high: float, fast: float, colour: str, dash: str) -> dict[str, Any]:
    sides = {"x0": float(low), "x1": float(high), "y0": -float(fast), "y1": float(fast)}
    return {"type": "rect", "line": {"color": colour, "width": 1, "dash": dash}, "layer": "below"} | sides


def friction(joint: str, units: tuple[str, str], qd: Array, rubbed: Array, curve: tuple[Array, Array], number: int = 0) -> Figure:
    """Torque less the rigid-body part (N,) against speed (N,), and the fitted friction as speeds and torques (k,).

    Units are those of speed and torque.
    """
    made = _small(joint, axis(f"speed [{units[0]}]"), axis(f"friction [{units[1]}]", nticks=5))
    at = few(np.isfinite(rubbed) & np.isfinite(qd))
    dots = _dots(qd[at], rubbed[at], SILVER, "%{x:.3g}: %{y:.4g}")
    return Figure(f"friction-{number}", (dots, line(*curve, "fitted", ORANGE, 2.0)), made, HEIGHT, "")


def residual_against(joint: str, what: str, units: tuple[str, str], x: Array, left: Array, number: int = 0) -> Figure:
    """What is left over (N,) against a coordinate x (N,), `what`: speed or position; its mean over pieces of equally many samples.

    Units are those of x and of the torque.
    """
    made = _small(joint, axis(f"{what} [{units[0]}]"), axis(f"left over [{units[1]}]", nticks=5, zeroline=True, zerolinecolor=GREY))
    used = np.isfinite(left) & np.isfinite(x)
    at = few(used)
    traces = [_dots(x[at], left[at], SILVER, "%{x:.3g}: %{y:.3g}"), line(*piecewise_mean(x[used], left[used]), "mean", WINE, 2.0)]
    return Figure(f"against-{what}-{number}", tuple(traces), made, HEIGHT, "")


def piecewise_mean(x: Array, y: Array, bins: int = BINS) -> tuple[Array, Array]:
    """Means of x and of y (N,) over pieces of equally many samples in the order of x."""
    order = np.argsort(x, kind="stable")
    parts = [part for part in np.array_split(order, bins) if len(part)]
    return np.array([x[part].mean() for part in parts]), np.array([y[part].mean() for part in parts])


def spectra(joints: Sequence[str], units: Sequence[str], t: Array, left: Array) -> Figure:
    """Amplitude spectral density of the residuals (N, n) [N m|N] over t (N,) [s], joint by joint."""
    frequency, density = residual_spectra(t, left)
    shared = units[0] if len(set(units)) == 1 else "N m|N"
    root = np.sqrt(density)
    made = layout(True, xaxis=log_axis("frequency [Hz]", frequency), yaxis=log_axis(f"√density [{shared}/√Hz]", root))
    traces = []
    for j, joint in enumerate(joints):
        hover = "%{x:.3g} Hz: %{y:.3g}<extra>" + safe(joint) + "</extra>"
        traces.append(
            line(frequency, np.where(root[:, j] > 0, root[:, j], np.nan), joint, hue(j, len(joints)), 1.4, True, hovertemplate=hover)
        )
    caption = (
        "Spectrum of what is left over. A flat line is noise of the sensors; a rise at low frequency is friction or mass that the model has"
        " not, a peak is an elastic joint or the ripple of a gear."
    )
    return Figure("spectra", tuple(traces), made, 340, caption)


def residual_spectra(t: Array, left: Array) -> tuple[Array, Array]:
    """Frequencies (F,) [Hz] above zero and one-sided power density (F, n) of residuals (N, n), NaN taken as zero.

    Welch, IEEE Trans. Audio and Electroacoustics 15 (1967), p. 70; no piece reaches across a gap.
    """
    from scipy.signal import welch

    parts = [part for part in split(t) if part.stop - part.start >= 8]
    if not parts:
        return np.ones(1), np.zeros((1, left.shape[1]))
    length = min(WINDOW, max(part.stop - part.start for part in parts))
    total, weight, rate = 0.0, 0.0, 1.0 / float(np.median(np.diff(t)))
    for part in (part for part in parts if part.stop - part.start >= length // 2):
        several = np.nan_to_num(left[part])
        frequency, density = welch(several, rate, nperseg=min(length, len(several)), nfft=length, axis=0, detrend="constant")
        total, weight = total + len(several) * density, weight + len(several)
    return frequency[1:], np.asarray(total / weight)[1:]


def _small(joint: str, xaxis: dict[str, Any], yaxis: dict[str, Any]) -> dict[str, Any]:
    """The layout of one of many small figures: the joint's name above it."""
    made = layout(xaxis=xaxis, yaxis=yaxis, margin={"l": 54, "r": 10, "t": 24, "b": 42})
    made["annotations"].append(label(joint, 0.0, 1.0))
    return made


def _dots(x: Array, y: Array, colour: str, hover: str) -> dict[str, Any]:
    marker = {"color": colour, "size": 3.5, "opacity": 0.75}
    made = {"x": packed(x), "y": packed(y), "mode": "markers", "marker": marker, "showlegend": False}
    return made | {"hovertemplate": hover + "<extra></extra>"}
