"""`steelyard check ROBOT`: does the robot obey physics."""

from __future__ import annotations

from typing import Annotated

import typer

BROKEN = 1


def check(
    robot: Annotated[str, typer.Argument(metavar="ROBOT", help="A built-in name or a file.")],
    samples: Annotated[int, typer.Option(min=1, help="How many random states to try.")] = 64,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random states.")] = 0,
) -> None:
    """Test the laws that every rigid robot obeys. The exit code is 1 where one fails."""
    from ...checks.laws import check as run
    from ..inputs import load
    from ..show.console import console, remarks
    from ..show.laws import check_table

    result = run(load(robot, quiet=True), samples, seed)
    console().print(check_table(result))
    console().print(remarks(result.remarks))
    if not result.ok:
        raise typer.Exit(BROKEN)
