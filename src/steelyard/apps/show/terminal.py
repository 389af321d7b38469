"""The terminal: where results go, tables in rows and columns, sentences in a list."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.segment import Segment
from rich.text import Text

from ...drawing.table import Table
from ...drawing.table_layout import lay_out, wrapped
from ...drawing.visible import escape_control_chars

BULLET = "• "
PIPE_WIDTH = 160  # columns when the output goes to a file or another program
# of a table -> style
PARTS = {
    "title": "bold",
    "head": "bold",
    "rule": "dim",
    "row": "",
    "faint": "dim",
    "note": "dim italic",
}
STYLES = {
    "trusted": "bold green",
    "trusted within": "bold green",
    "doubtful": "bold yellow",
    "refused": "bold red",
}


class VisibleConsole(Console):
    """A console that writes its own colours and escapes control characters in texts."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield the segments of something to show."""
        for segment in super().render(renderable, options):
            yield (
                segment
                if segment.control
                else Segment(escape_control_chars(segment.text), segment.style)
            )

    def print(self, *objects: Any, **options: Any) -> None:
        """Print, and cut nothing off.

        A name that is wider than the terminal goes on in its next line.
        """
        super().print(*map(shown, objects), **{"crop": False, **options})


class TableView:
    """A table as a terminal shows it: for the width that there is, below an empty line or not."""

    def __init__(self, table: Table, gap: bool = True) -> None:
        self.table, self.gap = table, gap

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterable[RenderableType]:
        if self.gap:
            yield Text("")
        for line in lay_out(self.table, options.max_width):
            yield Text(line.text, PARTS[line.part], no_wrap=True, overflow="ignore")


class SentenceView:
    """A text as a terminal shows it: wrapped at spaces, items of a list indented.

    A line that begins with a space, a command, is kept.
    """

    def __init__(self, text: str, style: str = "") -> None:
        self.text, self.style = escape_control_chars(text), style

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterable[RenderableType]:
        for paragraph in self.text.split("\n"):
            indent = "  " if paragraph.startswith(BULLET) else ""
            lines = (
                [paragraph]
                if paragraph.startswith(" ")
                else wrapped(paragraph, options.max_width - len(indent))
            )
            for k, line in enumerate(lines):
                yield Text(
                    indent + line if k else line, self.style, no_wrap=True, overflow="ignore"
                )


def console(stderr: bool = False) -> Console:
    """Return standard output: in colour on a terminal, plain and wide in a pipe.

    `COLUMNS` sets the width of both. Names are never read as markup, and nothing is cut.
    """
    stream = sys.stderr if stderr else sys.stdout
    plain = getattr(stream, "plain", stream)
    return VisibleConsole(
        highlight=False,
        markup=False,
        emoji=False,
        file=plain,
        width=None if plain.isatty() else pipe_width(),
    )


def pipe_width() -> int:
    """Return the columns of a file or pipe: `COLUMNS` where it is set to a number."""
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdecimal() and int(columns) else PIPE_WIDTH


def shown(part: Any, gap: bool = True) -> RenderableType:
    """Return a table or a text as something that a console shows.

    What it can show already as it is. `gap` is whether an empty line stands above a table.
    """
    if isinstance(part, Table):
        return TableView(part, gap)
    return sentence(part) if isinstance(part, str) else part


def sentence(text: str, style: str = "") -> RenderableType:
    """Return a text that wraps at spaces alone."""
    return SentenceView(text, style)


def stack(*parts: Any) -> Group:
    """Return tables, texts and other parts of a console output, one below the other."""
    return Group(*map(shown, parts))


def judgement(
    text: str, good: bool, reasons: Iterable[str] = (), style: str = ""
) -> RenderableType:
    """Return a sentence in green or yellow, or in another style, and a list of reasons."""
    colour = style or ("bold green" if good else "bold yellow")
    return Group(sentence(text, colour), *(sentence(f"{BULLET}{reason}") for reason in reasons))


def remarks(sentences: Iterable[str]) -> RenderableType:
    """Return the remarks and corrections of loading."""
    lines = [sentence(f"{BULLET}{each}", "yellow") for each in sentences]
    return (
        Group(Text("\nRemarks", style="bold"), *lines)
        if lines
        else Text("\nNo remarks.", style="dim")
    )
