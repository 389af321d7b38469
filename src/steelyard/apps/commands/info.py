"""`steelyard info ROBOT`: the robot's card."""

from __future__ import annotations

from typing import Annotated

import typer


def info(robot: Annotated[str, typer.Argument(metavar="ROBOT", help="A built-in name or a file.")]) -> None:
    """Show what a robot is: joints, limits, friction, links and masses, and what loading remarked."""
    from ..inputs import load
    from ..show.card import card
    from ..show.console import console

    console().print(card(load(robot, quiet=True)))
