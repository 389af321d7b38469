"""`steelyard robots`, `info ROBOT` and `check ROBOT`: what is built in, what a robot is, and whether it obeys physics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ..inputs import RobotName

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ...checks.laws import SelfCheck

BROKEN = 1  # exit code


def robots() -> None:
    """List the built-in robots."""
    import steelyard as sy

    from ..inputs import load
    from ..show.robot import robots_table
    from ..show.terminal import console

    console().print(robots_table([(name, load(name, quiet=True)) for name in sy.robots()]))


def info(robot: RobotName) -> None:
    """Show what a robot is: joints, limits, friction, links and masses, and what loading remarked."""
    from ..inputs import load
    from ..show.robot import card
    from ..show.terminal import console

    console().print(card(load(robot, quiet=True)))


def check(
    robot: RobotName,
    samples: Annotated[int, typer.Option(min=1, help="How many random states to try.")] = 64,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random states.")] = 0,
) -> None:
    """Test the laws that every rigid robot obeys. The exit code is 1 if one fails."""
    from ...checks.laws import check as check_laws
    from ..inputs import load
    from ..show.terminal import console, progress_bar, remarks

    loaded = load(robot, quiet=True)
    with progress_bar("compiling") as progress:
        result = check_laws(loaded, samples, seed, progress)
    console().print(check_table(result))
    console().print(remarks(result.remarks))
    if not result.ok:
        raise typer.Exit(BROKEN)


def check_table(result: SelfCheck) -> RenderableType:
    """One row per law, and the verdict."""
    from rich.console import Group
    from rich.text import Text

    from ..show.terminal import judgement, table

    made = table("Laws", ["", "law", "statement", ">worst", ">allowed"], "worst: the largest violation, relative to the size of the terms")
    for law in result.laws:
        mark = Text("holds", style="green") if law.ok else Text("FAILS", style="bold red")
        made.add_row(mark, law.name, law.statement, f"{law.violation:.1e}", f"{law.bound:.0e}")
    return Group(made, judgement(result.verdict, result.ok))
