"""`steelyard demo`: one robot from its card to its speed."""

from __future__ import annotations

from typing import Annotated

import typer

SAMPLES, SECONDS = 16384, 10.0


def demo(robot: Annotated[str, typer.Argument(metavar="[ROBOT]", help="A built-in name or a file.")] = "puma560") -> None:
    """Load a robot, show its card, compute a motion's torques, check the laws of physics, show the speed."""
    from ...bench import against_plain_python, this_machine
    from ...selfcheck import check
    from ...states import swing
    from ..loading import load
    from ..show.card import card
    from ..show.console import console
    from ..show.demo import motion_table, speed_lines
    from ..show.laws import check_table

    out = console()
    loaded = load(robot, quiet=True)
    out.print(card(loaded))
    states = swing(loaded, SAMPLES, SECONDS)
    out.print(motion_table(loaded, states, loaded.inverse_dynamics(*states), SECONDS))
    result = check(loaded)
    out.print(check_table(result))
    out.print(speed_lines(against_plain_python(loaded, states), this_machine()))
    if not result.ok:
        raise typer.Exit(1)
