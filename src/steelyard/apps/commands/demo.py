"""`steelyard demo`: a whole identification of a simulated robot."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...files import check_folder
from ..inputs import ForceFolder

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ...experiments.rehearsal import Rehearsal
    from ...robot import Robot

SAMPLES, SECONDS = 16384, 10.0  # of the motion on which the kernel is timed
WELL, ROWS = 0.05, 24  # relative standard deviation and number of the parameters shown on the screen; the report has all


def demo(
    robot: Annotated[str, typer.Argument(metavar="[ROBOT]", help="A built-in name or a file.")] = "elbow_6r",
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="DIR", help="Where to write; ./steelyard-demo if not given.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the simulated robot, its motions and its noise.")] = 1,
    force: ForceFolder = False,
) -> None:
    """Show what steelyard does: simulate a robot whose parameters differ from its description, move, record, identify and validate it."""
    from ...checks.laws import check
    from ...experiments.rehearsal import rehearse
    from ...reporting.results import require_report, write_results
    from ..inputs import load
    from ..show.robot import head
    from ..show.terminal import console, judgement, progress_bar

    require_report()
    folder = out or next_free(Path("steelyard-demo"))
    check_folder(folder, force)
    screen, loaded = console(), load(robot, quiet=True)
    with progress_bar("compiling") as progress:
        laws = check(loaded, progress=progress)
    with progress_bar("timing", turning=False):
        speed = speed_lines(loaded)
    screen.print(head(loaded), judgement(laws.verdict, laws.ok), speed, sep="\n")
    with progress_bar() as progress:
        done = rehearse(loaded, seed, progress)
    screen.print(experiment_lines(done))
    with progress_bar("writing the results"):
        write_results(folder, done.fit, done.validation, done.true_robot, overwrite=force, more=done.write)
    screen.print(ending(robot, folder))
    if not laws.ok:
        raise typer.Exit(1)


def next_free(path: Path) -> Path:
    """The path, or the first of path-2, path-3, ... that does not exist."""
    number, candidate = 1, path
    while candidate.exists():
        number += 1
        candidate = path.with_name(f"{path.name}-{number}")
    return candidate


def speed_lines(robot: Robot) -> RenderableType:
    """The compiled kernel against plain Python and plain NumPy, and the machine."""
    from rich.console import Group
    from rich.text import Text

    from ...checks.states import swing
    from ...checks.timing import against_python, machine
    from ..show.terminal import table

    timings, difference = against_python(robot, swing(robot, SAMPLES, SECONDS))
    made = table("Speed of inverse dynamics, one thread", ["", ">ns a sample", ">times slower"])
    made.add_row("compiled kernel", f"{timings[0].ours:,.1f}", "")
    for row in timings:
        made.add_row(row.how, f"{row.other:,.1f}", f"{row.ratio:,.0f}")
    return Group(made, Text(f"All three give the same torques to {difference:.0e}."), Text(machine(), style="dim"))


def experiment_lines(done: Rehearsal) -> RenderableType:
    """The verdict, the motion, the errors, the best known parameters beside the true ones."""
    import numpy as np
    from rich.console import Group
    from rich.text import Text

    from ...reporting import accuracy_table, error_table
    from ..show.robot import motion_table
    from ..show.terminal import terminal_table, verdict

    condition = done.motion.excitation.condition if done.motion.excitation else float("nan")
    title = f"A robot with unknown parameters, moved for {done.log.duration:g} s: {done.log.N} samples, condition {condition:.3g}"
    relative = done.fit.base_relative_std
    rows = sorted(int(k) for k in np.argsort(relative)[:ROWS] if relative[k] < WELL)
    return Group(
        Text(""),
        verdict(done.fit.judged(done.validation)),
        motion_table(title, done.robot, done.motion, np.asarray(done.log.tau)),
        terminal_table(error_table(done.fit, done.validation)),
        terminal_table(accuracy_table(done.fit, done.true_robot), rows),
    )


def ending(robot: str, folder: Path) -> RenderableType:
    """What was written, and how to do the same with a robot of one's own."""
    from rich.text import Text

    lines = Text(f"\nwrote {', '.join(sorted(part.name for part in folder.iterdir()))} to {folder}\n")
    lines.append(f"Open {folder / 'report.html'} in a browser. The same from the files, as you would with a robot of yours:\n")
    lines.append(f"  steelyard identify {robot} {folder / 'log.csv'} --validate {folder / 'validation.csv'} -o results", style="bold")
    return lines
