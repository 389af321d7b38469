"""A fit on a terminal: verdict, errors, parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from rich.console import Console, Group, RenderableType
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as Drawn
from rich.text import Text

from .console import table

if TYPE_CHECKING:
    from ...drawing.table import Table
    from ...identification.result.fit import Fit
    from ...identification.result.validation import Validation


class Tell(Protocol):
    """What long work calls: a sentence on what it does, and the share that is done."""

    def __call__(self, sentence: str, share: float) -> None: ...


def drawn(made: Table, rows: Sequence[int] | None = None, skip: Sequence[str] = ()) -> Drawn:
    """A table of the report on the terminal; some of its rows, without the columns named in `skip`."""
    kept = [j for j, column in enumerate(made.columns) if column.name not in skip]
    shown = table(made.title, [(">" if made.columns[j].numeric else "") + made.columns[j].heading for j in kept], made.note)
    chosen = list(range(len(made.rows)) if rows is None else rows)
    for k, following in zip(chosen, [*chosen[1:], chosen[-1] if chosen else 0], strict=True):
        cells = [Text(made.rows[k][j]) for j in kept]
        group_ends = any(b in made.breaks for b in range(k + 1, following + 1))
        shown.add_row(*cells, style="dim" if k in made.faint else "", end_section=group_ends)
    return shown


def outcome(fit: Fit, validation: Validation | None = None) -> RenderableType:
    """Errors, parameters and verdict."""
    from ...reporting import base_table

    return Group(errors(fit, validation), drawn(base_table(fit), skip=("combination",)), verdict(fit))


def errors(fit: Fit, validation: Validation | None = None) -> Drawn:
    """Torque errors before, after and, where there is one, on another motion."""
    from ...reporting import error_table

    return drawn(error_table(fit, validation))


def verdict(fit: Fit) -> RenderableType:
    """What the fit says of itself: the verdict, then the reasons."""
    first, *reasons = fit.check()
    good = first.startswith("This fit can be trusted")
    return Group(Text(first, style="bold green" if good else "bold yellow"), *(Text(f"• {reason}") for reason in reasons))


@contextmanager
def progress() -> Iterator[Tell]:
    """A bar on stderr while the block runs, on a terminal only."""
    out = Console(stderr=True)
    with Progress(
        TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), console=out, transient=True, disable=not out.is_terminal
    ) as bar:
        task = bar.add_task("", total=1.0)

        def tell(sentence: str, share: float) -> None:
            bar.update(task, description=sentence, completed=share)

        yield tell
