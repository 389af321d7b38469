"""A table of words and numbers, and the forms it can be written in.

Plain text, Markdown, LaTeX, data frames.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from itertools import groupby
from typing import Any

import numpy as np

from ..errors import needs_extra
from .visible import escape_control_chars

LATEX_SIGNS = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "±": r"$\pm$", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "σ": r"$\sigma$", "τ": r"$\tau$", "‖": r"$\Vert$", "·": r"$\cdot$", "−": "$-$", "\u0302": "",
    "–": "--", "…": r"\dots{}", "⁻": "$^{-}$",
    **{raised: f"$^{k}$" for k, raised in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
}  # fmt: skip


CELL = "padding:.1em .7em;border:0;background:none"
RULE = "1px solid rgba(128,128,128,.45)"
MOST_ROWS = 60  # of a table on a page


@dataclass(frozen=True)
class Column:
    """A column: heading, unit (may be empty), whether its cells are numbers, and its group."""

    name: str
    unit: str = ""
    numeric: bool = True
    group: str = ""

    @property
    def heading(self) -> str:
        name = f"{self.group} {self.name}" if self.group else self.name
        return f"{name} [{self.unit}]" if self.unit else name


def named_columns(*names: str) -> tuple[Column, ...]:
    """Return columns from their names; one that begins with '>' holds numbers."""
    return tuple(Column(name.removeprefix(">"), numeric=name.startswith(">")) for name in names)


@dataclass(frozen=True)
class Table:
    """Cells as text, row by row.

    `faint` are the indices of rows that are there for completeness, `breaks` of those that begin a
    group.

    `data` are its columns with all digits, by name, for data frames; the cells where there are
    none.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    faint: frozenset[int] = frozenset()
    breaks: frozenset[int] = frozenset()
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def groups(self) -> tuple[tuple[str, int], ...]:
        """Groups of neighbouring columns and how many columns each spans.

        Empty where there are none.
        """
        runs = [
            (group, len(list(members)))
            for group, members in groupby(self.columns, key=lambda column: column.group)
        ]
        return tuple(runs) if any(group for group, _ in runs) else ()

    def to_text(self) -> str:
        """Return plain text, columns aligned, one rule below the head."""
        cells = [tuple(column.heading for column in self.columns), *self.rows]
        widths = [max(len(row[j]) for row in cells) for j in range(len(self.columns))]
        lines = [
            "  ".join(
                _aligned(cell, widths[j], self.columns[j].numeric) for j, cell in enumerate(row)
            ).rstrip()
            for row in cells
        ]
        rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
        return "\n".join(
            [self.title, lines[0], rule, *lines[1:], *([self.note] if self.note else [])]
        )

    def to_markdown(self) -> str:
        """Return a Markdown table with alignment."""
        head = _row(column.heading.replace("|", r"\|") for column in self.columns)
        rule = _row("---:" if column.numeric else ":---" for column in self.columns)
        body = [_row(cell.replace("|", r"\|") for cell in row) for row in self.rows]
        return "\n".join(
            [f"**{self.title}**", "", head, rule, *body, *(["", self.note] if self.note else [])]
        )

    def to_latex(self) -> str:
        """Return a LaTeX table in the style of the booktabs package."""
        spec = "".join("r" if column.numeric else "l" for column in self.columns)
        body = [" & ".join(map(_latex, row)) + r" \\" for row in self.rows]
        head = " & ".join(_latex(column.heading) for column in self.columns) + r" \\"
        caption = _latex(f"{self.title}. {self.note}" if self.note else self.title)
        inner = [
            rf"\begin{{tabular}}{{{spec}}}",
            r"\toprule",
            head,
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
        ]
        return "\n".join(
            [r"\begin{table}", r"\centering", rf"\caption{{{caption}}}", *inner, r"\end{table}"]
        )

    def picked(self, rows: Sequence[int]) -> Table:
        """Return the same table with some of its rows."""
        new_index = {old: new for new, old in enumerate(rows)}
        columns = (
            {name: [values[k] for k in rows] for name, values in self.whole_columns().items()}
            if self.data
            else {}
        )
        faint = frozenset(new_index[k] for k in self.faint if k in new_index)
        breaks = frozenset(
            new_index[k]
            for k in rows[1:]
            if any(b in self.breaks for b in range(rows[new_index[k] - 1] + 1, k + 1))
        )
        return replace(
            self, rows=tuple(self.rows[k] for k in rows), faint=faint, breaks=breaks, data=columns
        )

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame of the numbers with all digits. Needs the package pandas."""
        try:
            import pandas  # type: ignore[import-untyped]
        except ImportError as error:
            raise needs_extra("pandas", "pandas", "to_pandas()") from error
        return pandas.DataFrame(self.whole_columns())

    def to_polars(self) -> Any:
        """Return a polars DataFrame of the numbers with all digits. Needs the package polars."""
        try:
            import polars
        except ImportError as error:
            raise needs_extra("polars", "tables", "to_polars()") from error
        return polars.DataFrame(self.whole_columns())

    def whole_columns(self) -> dict[str, list[Any]]:
        """Return the columns by name: numbers where the table has them, else the cells."""
        if self.data:
            return {
                name: values.tolist() if isinstance(values, np.ndarray) else list(values)
                for name, values in self.data.items()
            }
        return {
            column.heading: [row[j] for row in self.rows] for j, column in enumerate(self.columns)
        }

    def to_html(self) -> str:
        """Return a table for a page or a notebook, in its own colours.

        Of a long one the first rows, and how many there are.
        """
        head = "".join(
            _cell(column.heading, column, "th", f"border-bottom:{RULE}") for column in self.columns
        )
        shown = self.rows[:MOST_ROWS]
        body = "".join(
            f"<tr{_row_look(self, k)}>{_cells(self, row)}</tr>" for k, row in enumerate(shown)
        )
        hidden = len(self.rows) - len(shown)
        note = " ".join(filter(None, (f"{hidden} more rows." if hidden else "", self.note)))
        below = f'<div style="opacity:.7;font-size:.9em">{_text(note)}</div>' if note else ""
        caption = (
            '<caption style="text-align:left;font-weight:bold;caption-side:top;padding:.4em 0'
            f' .1em">{_text(self.title)}</caption>'
        )
        return (
            '<div style="overflow-x:auto"><table'
            ' style="border-collapse:collapse;border:0;font-variant-numeric:tabular-nums">'
            f"{caption}<thead><tr"
            f' style="background:none">{head}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>{below}"
        )

    def _repr_html_(self) -> str:
        return self.to_html()


def _aligned(cell: str, width: int, numeric: bool) -> str:
    return cell.rjust(width) if numeric else cell.ljust(width)


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _latex(cell: str) -> str:
    return "".join(LATEX_SIGNS.get(sign, sign) for sign in cell)


def _cells(table: Table, row: Sequence[str]) -> str:
    return "".join(
        _cell(text, column, "td") for text, column in zip(row, table.columns, strict=True)
    )


def _row_look(table: Table, k: int) -> str:
    faint = "opacity:.55;" if k in table.faint else ""
    rule = f"border-top:{RULE};" if k in table.breaks else ""
    return f' style="background:none;{faint}{rule}"'


def _cell(text: str, column: Column, tag: str, more: str = "") -> str:
    side = "right" if column.numeric else "left"
    scope = ' scope="col"' if tag == "th" else ""
    return f'<{tag}{scope} style="{CELL};text-align:{side};{more}">{_text(text)}</{tag}>'


def _text(text: str) -> str:
    return escape(escape_control_chars(text))
