"""The terminal: where results go, tables in rows and columns, sentences in a list, a bar for long work."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.segment import Segment
from rich.table import Table as TerminalTable
from rich.text import Text

from ...drawing.visible import visible
from ...reporting import base_table, error_table
from ...reporting.tables import region_table

if TYPE_CHECKING:
    from ...drawing.table import Table
    from ...identification import Fit, Validation, Verdict


PIPE_WIDTH = 160  # columns when the output goes to a file or another program, so that nothing is cut


class VisibleConsole(Console):
    """A console that writes its own colours, and makes visible what would act on a terminal in the texts that it is given."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield the segments of something to show."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)


def console(stderr: bool = False) -> Console:
    """Standard output: in colour on a terminal; in a pipe plain and wide enough to be searched. Names are never read as markup."""
    stream = sys.stderr if stderr else sys.stdout
    plain = getattr(stream, "plain", stream)
    return VisibleConsole(highlight=False, markup=False, emoji=False, file=plain, width=None if plain.isatty() else PIPE_WIDTH)


def table(title: str, columns: Iterable[str], caption: str = "") -> TerminalTable:
    """An empty table; a column whose name starts with '>' holds numbers: flush right and never broken."""
    made = TerminalTable(
        title=f"\n{title}", caption=caption or None, box=box.SIMPLE_HEAD, title_style="bold", padding=(0, 1, 0, 0), pad_edge=False
    )
    made.title_justify = made.caption_justify = "left"
    for name in columns:
        numeric = name.startswith(">")
        made.add_column(Text(visible(name.lstrip(">"))), justify="right" if numeric else "left", no_wrap=numeric, overflow="fold")
    return made


def terminal_table(made: Table, rows: Sequence[int] | None = None, skip: Sequence[str] = ()) -> TerminalTable:
    """A table of the report on the terminal; some of its rows, without the columns named in `skip`."""
    kept = [j for j, column in enumerate(made.columns) if column.name not in skip]
    shown = table(made.title, [(">" if made.columns[j].numeric else "") + made.columns[j].heading for j in kept], made.note)
    chosen = list(range(len(made.rows)) if rows is None else rows)
    for k, following in zip(chosen, [*chosen[1:], chosen[-1] if chosen else 0], strict=True):
        cells = [Text(visible(made.rows[k][j])) for j in kept]
        group_ends = any(b in made.breaks for b in range(k + 1, following + 1))
        shown.add_row(*cells, style="dim" if k in made.faint else "", end_section=group_ends)
    return shown


def judgement(sentence: str, good: bool, reasons: Iterable[str] = (), style: str = "") -> RenderableType:
    """A sentence in green or yellow, or in another style, and a list of reasons."""
    colour = style or ("bold green" if good else "bold yellow")
    return Group(Text(visible(sentence), style=colour), *(Text(visible(f"• {reason}")) for reason in reasons))


def remarks(sentences: Iterable[str]) -> RenderableType:
    """What loading found or changed."""
    lines = [Text(visible(f"• {sentence}"), style="yellow") for sentence in sentences]
    return Group(Text("\nRemarks", style="bold"), *lines) if lines else Text("\nNo remarks.", style="dim")


@contextmanager
def progress_bar(sentence: str = "", turning: bool = True) -> Iterator[Callable[[str, float], None]]:
    """A bar on stderr while the block runs, on a terminal only; gives progress(sentence, share of the work that is done).

    Without `turning` it is drawn only when it changes, so that it takes no time from what is measured.
    """
    out = console(stderr=True)
    columns = SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal, auto_refresh=turning) as bar:
        task = bar.add_task(sentence, total=1.0)

        def progress(sentence: str, share: float) -> None:
            bar.update(task, description=sentence, completed=share, refresh=not turning)

        yield progress


def outcome(fit: Fit, judged: Verdict, validation: Validation | None = None) -> RenderableType:
    """The verdict with its reasons and region; torque errors before, after and, if given, on another motion; links; base parameters.

    Last what the identification chose by itself: friction terms, the weight of the description, delays.
    """
    tables = region_table(fit.region), error_table(fit, validation), fit.links.table(), base_table(fit)
    return Group(verdict(judged), *map(terminal_table, tables), *(Text(f"• {note}") for note in fit.status))


STYLES = {"trusted": "bold green", "trusted within": "bold green", "doubtful": "bold yellow", "refused": "bold red"}


def verdict(judged: Verdict) -> RenderableType:
    """The verdict on a fit, and the reasons."""
    return judgement(str(judged), judged.trusted, judged.reasons, STYLES[judged.word])
