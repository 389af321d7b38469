"""`steelyard bench`: how fast the kernels are on this machine, against Pinocchio if it is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from ...checks.timing import Timing


def bench(
    robots: Annotated[
        list[str] | None, typer.Argument(metavar="[ROBOT]...", help="Built-in names or files; two built-in ones if none.")
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="How many rounds to take the best of.")] = 12,
) -> None:
    """Time every kernel on one thread in plain arrays, taking turns with Pinocchio. The ratios hold from run to run."""
    from ...checks.timing import against_pinocchio, machine
    from ..inputs import load
    from ..show.terminal import console, progress_bar

    out = console()
    out.print(machine())
    for name in robots or ["puma560", "elbow_6r"]:
        with progress_bar(f"timing {name}", turning=False):
            timings, absent = against_pinocchio(load(name), rounds)
        out.print(speed_table(name, timings))
        if absent:
            out.print(f"Absolute times only: {absent}.")
    out.print("Best of many rounds in which both take turns, one thread, friction left out.")


def speed_table(robot: str, timings: Sequence[Timing], targets: Mapping[str, float] | None = None) -> Table:
    """Nanoseconds per sample and ratios, quantity by quantity; with targets (quantity -> ratio), whether they are met."""
    from rich.text import Text

    from ..show.terminal import table

    made = table(f"Speed of {robot}", ["kernel", ">samples", ">ns each", ">other", ">faster", *([">target"] if targets else []), "than"])
    for row in timings:
        ratio, target = row.ratio or 0.0, (targets or {}).get(row.quantity)
        met = Text("") if target is None else Text(f"{target:g}× {'met' if ratio >= target else 'MISSED'}")
        faster = f"{ratio:.1f}×" if ratio else ""
        made.add_row(row.quantity, str(row.samples), _short(row.ours), _short(row.other), faster, *([met] if targets else []), row.how)
    return made


def _short(nanoseconds: float | None) -> str:
    return "" if nanoseconds is None else f"{nanoseconds:.1f}" if nanoseconds < 1000 else f"{nanoseconds:.0f}"
