"""A table of words and numbers, and the forms it can be written in: plain text, Markdown, LaTeX."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

LATEX_SIGNS = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}", "±": r"$\pm$",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "σ": r"$\sigma$", "τ": r"$\tau$", "‖": r"$\Vert$", "·": r"$\cdot$", "−": "$-$",
    "\u0302": "", "–": "--", "…": r"\dots{}", "⁻": "$^{-}$", **{raised: f"$^{k}$" for k, raised in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
}  # fmt: skip


@dataclass(frozen=True)
class Column:
    """A heading, its unit (may be empty), whether its cells are numbers, flush right, and the group that it stands under."""

    name: str
    unit: str = ""
    numeric: bool = True
    group: str = ""

    @property
    def heading(self) -> str:
        name = f"{self.group} {self.name}" if self.group else self.name
        return f"{name} [{self.unit}]" if self.unit else name


@dataclass(frozen=True)
class Table:
    """Cells as text, row by row; `faint` are the indices of rows that are there for completeness, `breaks` of those that begin a group."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    faint: frozenset[int] = frozenset()
    breaks: frozenset[int] = frozenset()

    @property
    def groups(self) -> tuple[tuple[str, int], ...]:
        """Groups of neighbouring columns and how many columns each spans; empty where there are none."""
        runs = [(group, len(list(members))) for group, members in groupby(self.columns, key=lambda column: column.group)]
        return tuple(runs) if any(group for group, _ in runs) else ()

    def to_text(self) -> str:
        """Plain text, columns aligned, one rule below the head."""
        cells = [tuple(column.heading for column in self.columns), *self.rows]
        widths = [max(len(row[j]) for row in cells) for j in range(len(self.columns))]
        lines = ["  ".join(_aligned(cell, widths[j], self.columns[j].numeric) for j, cell in enumerate(row)).rstrip() for row in cells]
        rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
        return "\n".join([self.title, lines[0], rule, *lines[1:], *([self.note] if self.note else [])])

    def to_markdown(self) -> str:
        """A Markdown table with alignment."""
        head = _row(column.heading.replace("|", r"\|") for column in self.columns)
        rule = _row("---:" if column.numeric else ":---" for column in self.columns)
        body = [_row(cell.replace("|", r"\|") for cell in row) for row in self.rows]
        return "\n".join([f"**{self.title}**", "", head, rule, *body, *(["", self.note] if self.note else [])])

    def to_latex(self) -> str:
        """A LaTeX table in the style of the booktabs package."""
        spec = "".join("r" if column.numeric else "l" for column in self.columns)
        body = [" & ".join(map(_latex, row)) + r" \\" for row in self.rows]
        head = " & ".join(_latex(column.heading) for column in self.columns) + r" \\"
        caption = _latex(f"{self.title}. {self.note}" if self.note else self.title)
        inner = [rf"\begin{{tabular}}{{{spec}}}", r"\toprule", head, r"\midrule", *body, r"\bottomrule", r"\end{tabular}"]
        return "\n".join([r"\begin{table}", r"\centering", rf"\caption{{{caption}}}", *inner, r"\end{table}"])


def _aligned(cell: str, width: int, numeric: bool) -> str:
    return cell.rjust(width) if numeric else cell.ljust(width)


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _latex(cell: str) -> str:
    return "".join(LATEX_SIGNS.get(sign, sign) for sign in cell)
