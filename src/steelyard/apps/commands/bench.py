"""`steelyard bench`: how fast the kernels are here, against Pinocchio where it is installed."""

from __future__ import annotations

from typing import Annotated

import typer


def bench(
    robots: Annotated[
        list[str] | None, typer.Argument(metavar="[ROBOT]...", help="Built-in names or files; two built-in ones if none.")
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="How many rounds to take the best of.")] = 12,
    startup: Annotated[
        bool, typer.Option("--startup", help="Also measure import, compilation and the disk cache in fresh processes.")
    ] = False,
) -> None:
    """Time every kernel on one thread in plain arrays, taking turns with Pinocchio; ratios are what holds from run to run."""
    from ...bench import measure, measure_startup, this_machine
    from ..inputs import load
    from ..show.console import console
    from ..show.speed import speed_table, startup_table

    names = robots or ["puma560", "elbow_6r"]
    out = console()
    machine = this_machine()
    out.print(str(machine), machine.busy)
    for name in names:
        rows, missing = measure(load(name), rounds)
        out.print(speed_table(name, rows))
        if missing:
            out.print(f"Absolute times only, because {missing}.")
    out.print("Best of many rounds in which both take turns, one thread, friction left out.")
    if startup:
        out.print(startup_table([measure_startup(name) for name in names]))
