"""Figures of curves as an SVG picture without any library: one strip for each panel."""

from __future__ import annotations

from html import escape

import numpy as np
from numpy.typing import NDArray

from .colours import BLUE, FAMILY, GREY, INK, RULE
from .downsample import min_max_indices
from .figure import Curve, Figure
from .numbers import short
from .visible import escape_control_chars

Array = NDArray[np.float64]
WIDTH, STRIP, LEFT, RIGHT, TOP, GAP = 760, 64, 150, 90, 34, 14  # px


def to_svg(figure: Figure) -> str:
    """Return the first curve of every panel as a strip with its least and greatest value.

    Panels are below each other and share the time of the first.
    """
    curves = [(panel, panel.of(Curve)[0]) for panel in figure.panels]
    t = np.asarray(getattr(curves[0][1], "x", np.zeros(1)))
    height = TOP + len(curves) * (STRIP + GAP) + 30
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}"'
            f' width="{WIDTH}" height="{height}" font-family="{escape(FAMILY, quote=True)}"'
            f' font-size="12" fill="{INK}">'
        ),
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
        (
            '<text x="8" y="20"'
            f' font-weight="bold">{escape(escape_control_chars(figure.title))}</text>'
        ),
    ]
    for number, (panel, curve) in enumerate(curves):
        assert isinstance(curve, Curve)
        parts += _strip(TOP + number * (STRIP + GAP), panel.title, t, curve.y, panel.y.title)
    end = height - 10
    parts += [
        _text(LEFT, end, f"{short(float(t[0]))} s", "middle"),
        _text(WIDTH - RIGHT, end, f"{short(float(t[-1]))} s", "middle"),
    ]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _strip(top: float, name: str, t: Array, x: Array, unit: str) -> list[str]:
    shown = min_max_indices((x,), 1500)
    low, span = float(x.min()), float(np.ptp(x)) or 1.0
    across = LEFT + (WIDTH - LEFT - RIGHT) * (t[shown] - t[0]) / (float(t[-1] - t[0]) or 1.0)
    down = top + STRIP * (1 - (x[shown] - low) / span)
    curve = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across, down, strict=True))
    return [
        (
            f'<rect x="{LEFT}" y="{top}" width="{WIDTH - LEFT - RIGHT}" height="{STRIP}"'
            f' fill="none" stroke="{RULE}"/>'
        ),
        f'<polyline points="{curve}" fill="none" stroke="{BLUE}" stroke-width="1.3"/>',
        _text(LEFT - 8, top + STRIP / 2 + 4, name, "end"),
        _text(WIDTH - RIGHT + 6, top + 10, f"{short(float(x.max()))} {unit}", "start", GREY),
        _text(WIDTH - RIGHT + 6, top + STRIP, f"{short(float(x.min()))} {unit}", "start", GREY),
    ]


def _text(x: float, y: float, text: str, anchor: str, colour: str = INK) -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"'
        f' fill="{colour}">{escape(escape_control_chars(text))}</text>'
    )
