"""The terminal, and what all tables share."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

PIPE_WIDTH = 160  # columns when the output goes to a file or another program, so that nothing is cut


def console() -> Console:
    """Where results go. Colours only on a terminal; a pipe gets plain text, wide enough to be searched. Names are never markup."""
    return Console(highlight=False, markup=False, emoji=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)


def table(title: str, columns: Iterable[str], caption: str = "") -> Table:
    """An empty table; a column whose name starts with '>' holds numbers: flush right and never broken."""
    made = Table(title=f"\n{title}", caption=caption or None, box=box.SIMPLE_HEAD, title_style="bold", padding=(0, 1, 0, 0), pad_edge=False)
    made.title_justify = made.caption_justify = "left"
    for name in columns:
        numeric = name.startswith(">")
        made.add_column(Text(name.lstrip(">")), justify="right" if numeric else "left", no_wrap=numeric, overflow="fold")
    return made


def fixed(x: float, decimals: int = 4) -> str:
    """A number with so many decimals, and no minus before a zero."""
    return f"{round(x, decimals) + 0.0:.{decimals}f}"


def number(x: float | None, digits: int = 4) -> str:
    """A short number: nothing for None, a dash for unlimited."""
    if x is None:
        return ""
    return f"{x:.{digits}g}" if math.isfinite(x) else "–"


def remarks(sentences: Iterable[str]) -> RenderableType:
    """What loading found or changed."""
    lines = [Text(f"• {sentence}", style="yellow") for sentence in sentences]
    return Group(Text("\nRemarks", style="bold"), *lines) if lines else Text("\nNo remarks.", style="dim")
