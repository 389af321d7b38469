"""A bar for long work, and with --verbose the times of its steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from ...compiler.progress import compile_progress
from ...drawing.visible import visible_line
from ..output import output
from .terminal import console


@contextmanager
def progress_bar(
    sentence: str = "", turning: bool = True
) -> Iterator[Callable[[str, float], None]]:
    """Show a bar on stderr while the block runs, on a terminal only.

    Gives progress(sentence, share of the work that is done).

    Without `turning` it is drawn only when it changes, so that it takes no time from what is
    measured.
    """
    out, asked = console(stderr=True), output()
    columns = SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    hidden = not out.is_terminal or asked.quiet or asked.verbose
    asked.step(sentence)
    asked.clear()
    with Progress(
        *columns, console=out, transient=True, disable=hidden, auto_refresh=turning
    ) as bar:
        task = bar.add_task(visible_line(sentence), total=1.0)

        def progress(sentence: str, share: float) -> None:
            asked.step(sentence)
            bar.update(
                task, description=visible_line(sentence), completed=share, refresh=not turning
            )

        def compiling(sentence: str, share: float) -> None:
            bar.update(task, description=f"{sentence} … {share:.0%}", refresh=not turning)

        with compile_progress(compiling):
            yield progress
    asked.step()
