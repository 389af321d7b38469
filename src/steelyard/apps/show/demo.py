"""What only the demo shows: what compiling buys, and an experiment from its motion to the true parameters."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Group, RenderableType
from rich.text import Text

from .card import head
from .console import table
from .motion import motion_table
from .result import drawn, errors, verdict

if TYPE_CHECKING:
    from ...checks.timing import Timing
    from ...experiments.rehearsal import Rehearsal
    from ...robot import Robot

SAMPLES, SECONDS = 16384, 10.0
WELL, ROWS = 0.05, 24  # relative standard deviation and number of the parameters shown on the screen; the report has all


def first_part(robot: Robot) -> tuple[bool, RenderableType]:
    """Whether the robot obeys physics; what it is, that sentence, and how fast its kernel is."""
    from ...checks.laws import check
    from ...checks.states import swing
    from ...checks.timing import against_python, machine

    laws = check(robot)
    speed = speed_lines(*against_python(robot, swing(robot, SAMPLES, SECONDS)), machine())
    return laws.ok, Group(head(robot), Text(laws.verdict, style="green" if laws.ok else "bold red"), speed)


def speed_lines(timings: Sequence[Timing], difference: float, machine: str) -> RenderableType:
    """The compiled kernel against plain Python and plain NumPy, and the machine."""
    made = table("Speed of inverse dynamics, one thread", ["", ">ns a sample", ">times slower"])
    made.add_row("compiled kernel", f"{timings[0].ours:,.1f}", "")
    for row in timings:
        made.add_row(row.how, f"{row.other:,.1f}", f"{row.ratio:,.0f}")
    return Group(made, Text(f"All three give the same torques to {difference:.0e}."), Text(machine, style="dim"))


def _motion_title(done: Rehearsal) -> str:
    condition = done.motion.excitation.condition if done.motion.excitation else float("nan")
    return f"A robot with unknown parameters, moved for {done.log.duration:g} s: {done.log.N} samples, condition {condition:.3g}"


def truth_lines(done: Rehearsal) -> RenderableType:
    """The best seen parameters beside the true ones, and how many of all are where the fit says."""
    from ...reporting import truth_table

    fit = done.fit
    order = np.argsort(fit.base_relative_std)
    rows = sorted(int(k) for k in order[:ROWS] if fit.base_relative_std[k] < WELL)
    return drawn(truth_table(fit, done.true_robot), rows)


def experiment_lines(done: Rehearsal) -> RenderableType:
    """The motion, the errors, the parameters, the verdict."""
    return Group(
        Text(""),
        motion_table(_motion_title(done), done.robot, done.motion, np.asarray(done.log.tau)),
        errors(done.fit, done.validation),
        truth_lines(done),
        verdict(done.fit),
    )


def ending(robot: str, folder: Path) -> RenderableType:
    """What was written, and how to do the same with a robot of one's own."""
    lines = Text(f"\nwrote {', '.join(sorted(part.name for part in folder.iterdir()))} to {folder}\n")
    lines.append(f"Open {folder / 'report.html'} in a browser. The same from the files, as you would with a robot of yours:\n")
    lines.append(f"  steelyard identify {robot} {folder / 'log.csv'} --validate {folder / 'validation.csv'} -o results", style="bold")
    return lines
