"""A table laid out as lines of text for a given width.

Numbers and names are never broken, sentences wrap at spaces.

A table that is too wide as it is turns on its side: headings down the side, rows across, in as many
blocks as are needed.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .table import Table
from .visible import escape_control_chars

GAP = 2  # spaces between columns
# signs from which a text with spaces is a sentence, which may wrap; a shorter one is a name
LONG = 32
NARROW = 24  # signs that a wrapped sentence keeps at least


class Line(NamedTuple):
    """A line of text and what it is: 'title', 'head', 'rule', 'row', 'faint' or 'note'."""

    text: str
    part: str


def lay_out(table: Table, width: int) -> list[Line]:
    """Return the lines of a table for a terminal that is `width` columns wide.

    A line is wider than that only where a single name or number is.
    """
    body = _upright(table, width)
    if body is None:
        body = _turned(table, width)
    title = (
        [Line(text, "title") for text in wrapped(escape_control_chars(table.title), width)]
        if table.title
        else []
    )
    note = (
        [Line(text, "note") for text in wrapped(escape_control_chars(table.note), width)]
        if table.note
        else []
    )
    return [*title, *body, *note]


def wrapped(text: str, width: int) -> list[str]:
    """Return a text in lines of at most `width` columns, broken only at spaces.

    A longer word stays whole.
    """
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if lines[-1] and display_width(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def display_width(text: str) -> int:
    """Return how many columns of a terminal a text takes.

    None for combining signs, two for wide ones.
    """
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(sign) else 2 if unicodedata.east_asian_width(sign) in "WF" else 1
        for sign in text
    )


def _upright(table: Table, width: int) -> list[Line] | None:
    """Return the table with its columns side by side; None where they do not fit."""
    head = [escape_control_chars(column.heading) for column in table.columns]
    rows = [tuple(map(escape_control_chars, row)) for row in table.rows]
    columns = [[row[j] for row in rows] for j in range(len(head))]
    least = [
        max([_longest_word(title), *map(_least, cells)])
        for title, cells in zip(head, columns, strict=True)
    ]
    natural = [
        max([display_width(title), *map(display_width, cells)])
        for title, cells in zip(head, columns, strict=True)
    ]
    widths = _shrunk(natural, least, width - GAP * (len(head) - 1))
    if widths is None:
        return None
    right = [column.numeric for column in table.columns]
    lines = [Line(text, "head") for text in _stacked(head, widths, right)]
    lines.append(Line("─" * (sum(widths) + GAP * (len(widths) - 1)), "rule"))
    for k, row in enumerate(rows):
        if k in table.breaks:
            lines.append(Line("", "rule"))
        lines += [
            Line(text, "faint" if k in table.faint else "row")
            for text in _stacked(row, widths, right)
        ]
    return lines


def _turned(table: Table, width: int) -> list[Line]:
    """Return the table on its side.

    The first column's cells are the heads of blocks, the other headings stand at the left.
    """
    heads = [escape_control_chars(column.heading) for column in table.columns]
    rows = [tuple(map(escape_control_chars, row)) for row in table.rows]
    side = max(map(display_width, heads), default=0)
    if side > width // 3:
        side = max(*map(_longest_word, heads), width // 3)
    lines: list[Line] = []
    for block in _blocks([max(map(_least, row)) for row in rows], width - side):
        if lines:
            lines.append(Line("", "rule"))
        lines += _block(heads, [rows[k] for k in block], side, width)
    return lines


def _block(
    heads: Sequence[str], rows: Sequence[Sequence[str]], side: int, width: int
) -> list[Line]:
    """Return some rows of a table as columns beside its headings."""
    natural = [max(map(display_width, row)) for row in rows]
    least = [max(map(_least, row)) for row in rows]
    widths = _shrunk(natural, least, width - side - GAP * len(rows)) or least
    right = [False, *(len(rows) > 1 for _ in rows)]
    lines: list[Line] = []
    for j, head in enumerate(heads):
        cells = [head, *(row[j] for row in rows)]
        lines += [
            Line(text, "row" if j else "head") for text in _stacked(cells, [side, *widths], right)
        ]
        if j == 0:
            lines.append(Line("─" * min(width, side + sum(widths) + GAP * len(rows)), "rule"))
    return lines


def _blocks(widths: Sequence[int], width: int) -> Iterator[list[int]]:
    """Yield the indices of as many columns in turn as fit beside each other; at least one."""
    block: list[int] = []
    for k, each in enumerate(widths):
        if block and sum(widths[i] + GAP for i in block) + each + GAP > width:
            yield block
            block = []
        block.append(k)
    if block:
        yield block


def _shrunk(natural: Sequence[int], least: Sequence[int], width: int) -> list[int] | None:
    """Return widths of columns that fit.

    Natural where they do, the widest ones narrower where not; None if the least are too many.
    """
    if sum(least) > width:
        return None
    widths = list(natural)
    while sum(widths) > width:
        widest = max(
            (k for k in range(len(widths)) if widths[k] > least[k]), key=lambda k: widths[k]
        )
        widths[widest] -= 1
    return widths


def _least(cell: str) -> int:
    """Return the columns that a cell needs.

    All for a number or a name; the width of the longest word for a sentence, but not too few.
    """
    whole = display_width(cell)
    return (
        whole if whole <= LONG or " " not in cell else max(_longest_word(cell), min(whole, NARROW))
    )


def _longest_word(text: str) -> int:
    return max(map(display_width, text.split()), default=0)


def _stacked(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> list[str]:
    """Return one row as lines, each cell wrapped within its column."""
    parts = [
        wrapped(cell, width) if display_width(cell) > width else [cell]
        for cell, width in zip(cells, widths, strict=True)
    ]
    tall = max(map(len, parts))
    padded = [[*part, *[""] * (tall - len(part))] for part in parts]
    return [
        (" " * GAP)
        .join(
            _padded(part[i], width, flush)
            for part, width, flush in zip(padded, widths, right, strict=True)
        )
        .rstrip()
        for i in range(tall)
    ]


def _padded(text: str, width: int, right: bool) -> str:
    space = " " * max(width - display_width(text), 0)
    return space + text if right else text + space
