"""`steelyard demo`: a whole identification, from a robot that nobody knows to a report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...files import check_folder, whole_folder
from ..outputs import next_free


def demo(
    robot: Annotated[str, typer.Argument(metavar="[ROBOT]", help="A built-in name or a file.")] = "elbow_6r",
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="DIR", help="Where to write; ./steelyard-demo if not given.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the simulated robot, its motions and its noise.")] = 1,
    force: Annotated[bool, typer.Option("--force", help="Write into DIR although it is not empty.")] = False,
) -> None:
    """Show what steelyard does: simulate a robot whose parameters differ from its description, move, record, identify and validate it."""
    from ...experiments.rehearsal import rehearse
    from ..inputs import load
    from ..outputs import can_report, write_results
    from ..show.console import console
    from ..show.demo import ending, experiment_lines, first_part
    from ..show.result import progress

    can_report()
    folder = next_free(Path("steelyard-demo")) if out is None else check_folder(out, force)
    screen, loaded = console(), load(robot, quiet=True)
    laws, told = first_part(loaded)
    screen.print(told)
    with progress() as tell:
        done = rehearse(loaded, seed, tell)
    screen.print(experiment_lines(done))
    with whole_folder(folder, force) as place:
        done.write(place)
        write_results(place, done.fit, done.validation, done.true_robot)
    screen.print(ending(robot, folder))
    if not laws:
        raise typer.Exit(1)
