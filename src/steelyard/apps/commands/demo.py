"""`steelyard demo`: a whole identification of a simulated robot."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..inputs import ForceFolder, Full, out_option, require_files

if TYPE_CHECKING:
    from ...checks.timing import Timing
    from ...experiments.rehearsal import Rehearsal

SAMPLES, SECONDS = 16384, 10.0  # of the motion on which the kernel is timed
# relative standard deviation and number of the parameters shown on the screen; the report has all
WELL, ROWS = 0.05, 24


def demo(
    robot: Annotated[
        str, typer.Argument(metavar="[ROBOT]", help="A built-in name or a file.")
    ] = "elbow_6r",
    out: Annotated[
        Path | None,
        out_option("DIR", "Where to write; ./steelyard-demo if not given."),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="Seed of the simulated robot, its motions and its noise."
        ),
    ] = 1,
    force: ForceFolder = False,
    full: Full = False,
) -> None:
    """Show what steelyard does.

    Simulate a robot whose parameters differ from its description, move, record, identify and
    validate it.
    """
    require_files(robot)

    from ...checks.laws import check
    from ...checks.states import swing
    from ...checks.timing import against_python
    from ...errors import MissingExtra
    from ...experiments.rehearsal import rehearse
    from ...reporting.results import require_report, write_results
    from ..inputs import load_robot
    from ..output import output
    from ..show.progress import progress_bar
    from ..show.robot import head
    from ..targets import check_out_folder, make_parents

    screen, page = output(), True
    try:
        require_report()
    except MissingExtra as missing:
        page = False
        screen.remark(f"no report.html is written: {missing}")
    folder = out or next_free(Path("steelyard-demo"))
    check_out_folder(folder, force)
    loaded = load_robot(robot, quiet=True)
    with progress_bar("compiling") as progress:
        laws = check(loaded, progress=progress)
    with progress_bar("timing", turning=False):
        speed = against_python(loaded, swing(loaded, SAMPLES, SECONDS))
    with progress_bar() as progress:
        done = rehearse(loaded, seed, progress)
    show_experiment(done, full)
    if full:
        screen.show(head(loaded), laws.table())
    show_speed(speed, full)
    screen.show(laws.verdict)
    screen.record(laws={"sentence": laws.verdict, "good": laws.ok, "reasons": []})
    with progress_bar("writing the results"):
        make_parents(folder)
        write_results(
            folder,
            done.fit,
            done.validation,
            done.true_robot,
            page=page,
            overwrite=force,
            more=done.write,
        )
    screen.wrote(*ending(robot, folder, page))
    if not laws.ok:
        raise typer.Exit(1)


def next_free(path: Path) -> Path:
    """Return the path, or the first of path-2, path-3, ... that does not exist."""
    number, candidate = 1, path
    while candidate.exists():
        number += 1
        candidate = path.with_name(f"{path.name}-{number}")
    return candidate


def show_speed(measured: tuple[Sequence[Timing], float], full: bool) -> None:
    """Show the compiled kernel against plain Python and plain NumPy, and the machine."""
    from ...checks.timing import machine_summary
    from ...drawing.table import Table, named_columns
    from ..output import output, rows_of

    timings, difference = measured
    data = {
        "how": ["compiled kernel", *(row.how for row in timings)],
        "ns": [timings[0].ours, *(row.other for row in timings)],
        "times_slower": [None, *(row.ratio for row in timings)],
    }
    rows = [
        (how, f"{ns:,.1f}", "" if times is None else f"{times:,.0f}")
        for how, ns, times in zip(*data.values(), strict=True)
    ]
    table = Table(
        "Speed of inverse dynamics, one thread",
        named_columns("how", ">ns a sample", ">times slower"),
        tuple(rows),
        data=data,
    )
    slower = ", ".join(f"{row[2]} for {row[0]}" for row in rows[1:])
    sentence = f"Inverse dynamics takes {rows[0][1]} ns a sample on one thread; times as long:"
    if full:
        output().show(table, f"All three give the same torques to {difference:.0e}.")
        output().show(machine_summary())
    else:
        output().show(f"{sentence} {slower}.")
    output().record(speed=rows_of(table), machine=machine_summary())


def show_experiment(done: Rehearsal, full: bool) -> None:
    """Show the verdict, the errors, and the identified parameters beside the true ones.

    With `full` also the motion and the best known parameters.
    """
    import numpy as np

    from ...reporting import accuracy_table, error_table
    from ...reporting.tables import aligned, coverage
    from ..output import output, rows_of
    from ..show.identification import show_verdict, total_errors, worst_errors
    from ..show.robot import motion_table

    fit, screen = done.fit, output()
    condition = done.motion.excitation.condition if done.motion.excitation else float("nan")
    title = (
        f"A robot with unknown parameters, moved for {done.log.duration:g} s: {done.log.N} samples,"
        f" condition {condition:.3g}"
    )
    relative = fit.base_relative_std
    rows = sorted(int(k) for k in np.argsort(relative)[:ROWS] if relative[k] < WELL)
    motion = motion_table(title, done.robot, done.motion, np.asarray(done.log.tau))
    show_verdict(fit.judged(done.validation), worst_errors(fit, done.validation), full)
    if full:
        screen.show(motion, error_table(fit, done.validation))
        screen.show(accuracy_table(fit, done.true_robot).picked(rows))
    else:
        true = fit.base.values(aligned(done.true_robot, fit.parameter_names))
        screen.show(
            total_errors(fit, done.validation),
            "Against the true parameters of the simulated robot: "
            + coverage(fit.base_values, fit.base_standard_deviation, true),
        )
    screen.record(motion=rows_of(motion), fit=fit.to_dict(done.validation))


def ending(robot: str, folder: Path, page: bool) -> tuple[str, Path]:
    """Return the closing lines of the demonstration, and the path of the folder."""
    from ...names import shell_word
    from ..output import shown_path

    names = ", ".join(sorted(part.name for part in folder.iterdir()))
    lines = [f"wrote {names} to {shown_path(folder)}"]
    look = f"Open {shown_path(folder / 'report.html')} in a browser. " if page else ""
    log, other = (shell_word(str(folder / name)) for name in ("log.csv", "validation.csv"))
    lines.append(f"Next: {look}The same from the files, as for your own robot:")
    lines.append(f"  steelyard identify {shell_word(robot)} {log} --validate {other} -o results")
    return "\n".join(lines), folder
