"""`steelyard bench`: time the kernels on this machine, and Pinocchio if it is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ...checks.timing import Timing
    from ...drawing.table import Table


def bench(
    robots: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ROBOT]...", help="Built-in names or files; two built-in ones if none."
        ),
    ] = None,
    rounds: Annotated[
        int, typer.Option(min=1, metavar="N", help="How many rounds to take the best of.")
    ] = 12,
) -> None:
    """Time every kernel, also against Pinocchio.

    One thread, plain arrays, taking turns. The ratios hold from run to run.
    """
    from ...checks.timing import against_pinocchio, machine_summary
    from ..inputs import load_robot
    from ..output import output, rows_of
    from ..show.progress import progress_bar

    out, tables = output(), {}
    out.show(machine_summary())
    for name in robots or ["puma560", "elbow_6r"]:
        with progress_bar(f"timing {name}", turning=False):
            timings, absent = against_pinocchio(load_robot(name), rounds)
        table = speed_table(name, timings)
        tables[name] = rows_of(table)
        out.show(table, *([f"Absolute times only: {absent}."] if absent else []))
    out.show("Best of many rounds in which both take turns, one thread, friction left out.")
    out.record(machine=machine_summary(), unit="ns", robots=tables)


def speed_table(
    robot: str, timings: Sequence[Timing], targets: Mapping[str, float] | None = None
) -> Table:
    """Return nanoseconds per sample and ratios, quantity by quantity.

    With targets (quantity -> ratio), whether they are met.
    """
    from ...drawing.table import Table, named_columns

    rows = []
    for row in timings:
        ratio, target = row.ratio or 0.0, (targets or {}).get(row.quantity)
        met = "" if target is None else f"{target:g}× {'met' if ratio >= target else 'MISSED'}"
        faster = f"{ratio:.1f}×" if ratio else ""
        rows.append(
            (
                row.quantity,
                str(row.samples),
                _short(row.ours),
                _short(row.other),
                faster,
                *([met] if targets else []),
                row.how,
            )
        )
    columns = named_columns(
        "kernel",
        ">samples",
        ">ns each",
        ">other",
        ">faster",
        *([">target"] if targets else []),
        "than",
    )
    data = {
        name: [getattr(row, name) for row in timings]
        for name in ("quantity", "samples", "ours", "other", "ratio", "how")
    }
    return Table(f"Speed of {robot}", columns, tuple(rows), data=data)


def _short(nanoseconds: float | None) -> str:
    return (
        ""
        if nanoseconds is None
        else f"{nanoseconds:.1f}"
        if nanoseconds < 1000
        else f"{nanoseconds:.0f}"
    )
