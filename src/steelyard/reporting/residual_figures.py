"""What a fit leaves unexplained: against position and speed, by frequency, and around the friction curves of its joints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..drawing.figure import BLUE, GREY, ORANGE, SILVER, WINE, Array, Figure, axis, hue, label, layout, line, log_axis, packed
from ..robot import Robot

MOST_POINTS = 1200  # of a joint
HEIGHT = 150  # [px] of a row
SEGMENT = 512  # samples of which a spectrum is averaged


def residual_clouds(left: Array, q: Array, qd: Array, joints: Sequence[str], units: Sequence[str]) -> Figure:
    """Residuals (N, n) against position q and speed qd (N, n), a row for each joint. A shape in a cloud is what the model lacks."""
    made, traces, n = layout(), list[dict[str, Any]](), len(joints)
    for j, joint in enumerate(joints):
        kept = _kept(np.isfinite(left[:, j]))
        for side, values in enumerate((q, qd)):
            names = _place(made, 2 * j + side, j, n, side, units[j] if not side else "", ("position [rad|m]", "speed [rad/s|m/s]")[side])
            traces.append(_cloud(values[kept, j], left[kept, j], WINE, **names))
        made["annotations"].append(label(joint, 0.0, 1 - (j + 0.1) / n))
    caption = (
        "What is left of every joint's torque against its position and its speed: noise has no shape; a shape is what the model lacks."
    )
    return Figure("clouds", tuple(traces), made, HEIGHT * n + 70, caption)


def friction_curves(robot: Robot, left: Array, qd: Array, joints: Sequence[str], units: Sequence[str]) -> Figure:
    """The friction torque of an identified robot over speed, with the samples behind it: friction(qd) + residual, (N, n)."""
    made, traces, n = layout(True), list[dict[str, Any]](), len(joints)
    samples = np.asarray(robot.friction_torque(qd)) + left
    most = np.nanmax(np.abs(qd), axis=0)
    speeds = np.linspace(-1, 1, 201)[:, None] * most
    curve = np.asarray(robot.friction_torque(speeds))
    for j, joint in enumerate(joints):
        kept, row, side = _kept(np.isfinite(samples[:, j])), j // 2, j % 2
        names = _place(made, j, row, (n + 1) // 2, side, units[j], "speed [rad/s|m/s]")
        traces.append(_cloud(qd[kept, j], samples[kept, j], SILVER, **names))
        traces.append(line(speeds[:, j], curve[:, j], "friction of the model", BLUE, 1.8, j == 0, **names))
        made["annotations"].append(label(joint, 0.56 * side, 1 - (row + 0.1) / ((n + 1) // 2)))
    caption = "Friction of every joint over its speed: the curve is the model's, each dot a sample with what the rest of the model leaves."
    return Figure("friction", tuple(traces), made, HEIGHT * ((n + 1) // 2) + 90, caption)


def residual_spectrum(left: Array, dt: float, joints: Sequence[str]) -> Figure:
    """Power spectral density of the residuals (N, n) of every joint over frequency; dt [s]. Welch 1967, segments of SEGMENT samples."""
    from scipy.signal import welch

    found, traces = [], list[dict[str, Any]]()
    for j, joint in enumerate(joints):
        x = np.nan_to_num(left[:, j])
        f, power = welch(x, 1 / dt, nperseg=min(SEGMENT, len(x)))
        found.append(power[1:])
        traces.append(line(f[1:], np.maximum(power[1:], 1e-300), joint, hue(j, len(joints)), 1.1, True))
    made = layout(True, xaxis=log_axis("frequency [Hz]", f[1:]), yaxis=log_axis("(N m)²/Hz | N²/Hz", np.array(found)))
    caption = (
        "Power of what is left, by frequency. A peak is a resonance or a ripple; a slope towards slow ones is friction or temperature."
    )
    return Figure("spectrum", tuple(traces), made, 320, caption)


def correlation(names: Sequence[str], covariance: Array) -> Figure:
    """Correlation of base parameters from their covariance (b, b): pairs near 1 or -1 are known only together."""
    size = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    known = np.flatnonzero(np.isfinite(size) & (size > 0))
    matrix = covariance[np.ix_(known, known)] / np.outer(size[known], size[known])
    labels = [names[int(k)] for k in known]
    colours = [[0, ORANGE], [0.5, "#ffffff"], [1, BLUE]]
    trace = {"type": "heatmap", "z": np.round(matrix, 3).tolist(), "x": labels, "y": labels, "zmin": -1, "zmax": 1, "colorscale": colours}
    trace |= {"hovertemplate": "%{x}, %{y}: %{z:.2f}<extra></extra>", "colorbar": {"thickness": 10, "title": {"text": ""}}}
    plain: dict[str, Any] = {"showgrid": False, "showline": False, "ticks": ""}
    made = layout(xaxis=axis(**plain, showticklabels=False), yaxis=axis(**plain, autorange="reversed", automargin=True))
    caption = "Correlation of the base parameters: pairs of strong colour are known only together."
    return Figure("correlation", (trace,), made, max(320, min(720, 16 * len(labels) + 90)), caption)


def masses(links: Sequence[str], mass: Array, std: Array, described: Array) -> Figure:
    """Mass (L,) [kg] of every link with two standard deviations, beside what the description says; faint where the log does not show it."""
    shown = np.isfinite(std)
    bars = {"type": "data", "array": np.where(shown, 2 * std, 0.0).tolist(), "color": GREY, "thickness": 1.5}
    marks = {"color": [BLUE if good else SILVER for good in shown], "size": 9}
    found = {"x": list(links), "y": mass.tolist(), "mode": "markers", "marker": marks, "error_y": bars, "name": "identified"}
    before = {"x": list(links), "y": described.tolist(), "mode": "markers", "name": "described"}
    before |= {"marker": {"color": ORANGE, "symbol": "diamond-open", "size": 9}}
    made = layout(True, xaxis=axis(type="category"), yaxis=axis("kg", rangemode="tozero"))
    caption = "Mass of every link with two standard deviations. Pale ones are those that the log does not show by themselves."
    return Figure("masses", (found, before), made, 280, caption)


def _kept(good: Any) -> Any:
    rows = np.flatnonzero(good)
    return rows[:: max(1, -(-len(rows) // MOST_POINTS))]


def _cloud(x: Array, y: Array, colour: str, **place: Any) -> dict[str, Any]:
    marker = {"color": colour, "size": 3, "opacity": 0.45}
    return {"x": packed(x), "y": packed(y), "mode": "markers", "marker": marker, "showlegend": False, "hoverinfo": "skip"} | place


def _place(made: dict[str, Any], number: int, row: int, rows: int, side: int, y: str, x: str) -> dict[str, str]:
    """Add the axes of a panel in a row, on the left (0) or the right (1), and return their names."""
    end = str(number + 1) if number else ""
    across, up = ([0, 0.44] if not side else [0.56, 1]), [1 - (row + 0.86) / rows, 1 - (row + 0.12) / rows]
    made[f"xaxis{end}"] = axis(x if row == rows - 1 else "", domain=across, anchor=f"y{end}", nticks=5)
    made[f"yaxis{end}"] = axis(y, domain=up, anchor=f"x{end}", nticks=4)
    return {"xaxis": f"x{end}", "yaxis": f"y{end}"}
