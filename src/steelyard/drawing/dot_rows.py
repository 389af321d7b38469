"""Draw rows of dots as an SVG picture.

Each row shows the spread of one quantity over similar robots; outliers are named.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from .colours import BLUE, FAMILY, GREY, INK, ORANGE, RULE
from .visible import escape_control_chars

Array = NDArray[np.float64]
WIDTH, ROW, LEFT, RIGHT, TOP, BOTTOM = 760, 24, 190, 120, 14, 40  # px


def dot_rows(
    rows: Sequence[str], columns: Sequence[str], values: Array, marked: NDArray[np.bool_], unit: str
) -> str:
    """Return an SVG picture of values (columns, rows), one row of dots for each quantity.

    Dots that are `marked` have the name of their column. The axis ends at the largest value and has
    its unit.
    """
    most = max(float(np.max(np.abs(values), initial=0.0)) * 1.05, 3.0)
    height = TOP + len(rows) * ROW + BOTTOM
    middle, scale = LEFT + (WIDTH - LEFT - RIGHT) / 2, (WIDTH - LEFT - RIGHT) / 2 / most
    label = f"{len(columns)} robots by {len(rows)} quantities"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="100%"'
        ' role="img"'
        f' aria-label="{escape(escape_control_chars(label), quote=True)}"'
        f' font-family="{escape(FAMILY, quote=True)}" font-size="12">'
    ]
    for tick in ticks(most):
        x = middle + scale * tick
        parts.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{height - BOTTOM}"'
            f' stroke="{RULE if tick else GREY}"/>'
        )
        parts.append(text(x, height - BOTTOM + 16, f"{tick:+g}" if tick else "0", "middle"))
    parts.append(text(middle, height - 6, unit, "middle"))
    for number, name in enumerate(rows):
        y = TOP + (number + 0.5) * ROW
        parts.append(text(LEFT - 10, y + 4, name, "end", INK))
        row_values = values[:, number]
        parts += [
            dot_mark(middle + scale * float(x), y, BLUE, 0.45)
            for x, is_marked in zip(row_values, marked[:, number], strict=True)
            if not is_marked
        ]
        for column in np.flatnonzero(marked[:, number]).tolist():
            x = middle + scale * float(row_values[column])
            parts += [
                dot_mark(x, y, ORANGE, 1.0),
                text(x + 8, y + 4, columns[column], "start", INK),
            ]
    return "\n".join([*parts, "</svg>"])


def ticks(most: float) -> list[float]:
    """Return round numbers from -most to most, zero among them."""
    step = next(
        step
        for step in (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 1e3, 1e4, 1e300)
        if most / step <= 6
    )
    count = int(most / step)
    return [step * k for k in range(-count, count + 1)]


def dot_mark(x: float, y: float, colour: str, opacity: float) -> str:
    """Return a dot."""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}" fill-opacity="{opacity:g}"/>'


def text(x: float, y: float, words: str, anchor: str, colour: str = GREY) -> str:
    """Return words at a position."""
    paint = "currentColor" if colour == INK else colour
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
        f' fill="{paint}">{escape(escape_control_chars(words))}</text>'
    )
