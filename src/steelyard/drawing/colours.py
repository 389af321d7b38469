"""Colours and letters that all figures share, on white and on dark paper."""

from __future__ import annotations

INK, GREY, RULE = "#1d2129", "#8a919c", "#e4e6ea"
BLUE, ORANGE, GREEN, WINE, SILVER = "#1f4e8c", "#d97b29", "#2c8a6b", "#7a2e3a", "#b9c1cc"
PAPER, SHADE, HAZE = "#ffffff", "#f6e7d8", "#dfe8f4"  # background, marked intervals, bands
DARK = {  # each colour on dark paper
    INK: "#e6e8ec", GREY: "#7d8592", RULE: "#2c313a", BLUE: "#7fb0f0", ORANGE: "#f0a050",
    GREEN: "#5cc7a0", WINE: "#e58793", SILVER: "#5d6674", PAPER: "#15181d", SHADE: "#3a2e22",
    HAZE: "#22344d",
}  # fmt: skip
FAMILY = (
    "Charter, 'Bitstream Charter', 'Source Serif 4', Georgia, 'Liberation Serif', 'Times New"
    " Roman', serif"
)


def hue(j: int, n: int, dark: bool = False) -> str:
    """Return the colour of the j-th of n joints, on white or on dark paper."""
    return f"hsl({(210 + 300 * j / max(n, 1)) % 360:.0f},{'55%,68%' if dark else '45%,45%'})"
