"""`steelyard doctor ROBOT LOG`: what is wrong with a log."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def doctor(
    robot: Annotated[str, typer.Argument(metavar="ROBOT", help="A built-in name or a file.")],
    log: Annotated[Path, typer.Argument(metavar="LOG", help="A log: csv, parquet, npz, mat, mcap, rosbag2.")],
    mapping: Annotated[Path | None, typer.Option(metavar="TOML", help="What the columns mean, where their names do not say it.")] = None,
    effort: Annotated[str | None, typer.Option(metavar="torque|current", help="What an `effort` column holds.")] = None,
) -> None:
    """Say in sentences what is wrong with a log, and what it can show of the robot."""
    from rich.text import Text

    import steelyard as sy

    from ..inputs import load, read
    from ..show.console import console

    loaded = load(robot)
    measured = read(log, loaded, mapping, effort, quiet=True)
    told = sy.doctor(loaded, measured)
    console().print(Text(told.verdict, style="bold green" if told.healthy else "bold yellow"))
    for sentence in dict.fromkeys([*measured.remarks, *told.findings]):
        console().print(Text(f"• {sentence}"))
