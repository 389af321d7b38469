"""`steelyard identify ROBOT LOG...`: from logs to a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...files import check_folder, whole_folder


def identify(
    robot: Annotated[str, typer.Argument(metavar="ROBOT", help="A built-in name or a file.")],
    logs: Annotated[list[Path], typer.Argument(metavar="LOG...", help="One or more logs: csv, parquet, npz, mat, mcap, rosbag2.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="Write report.html, the identified robot and fit.json here.")
    ] = None,
    validate: Annotated[Path | None, typer.Option(metavar="LOG", help="A log of another motion to hold the result against.")] = None,
    mapping: Annotated[Path | None, typer.Option(metavar="TOML", help="What the columns mean, where their names do not say it.")] = None,
    effort: Annotated[str | None, typer.Option(metavar="torque|current", help="What an `effort` column holds.")] = None,
    estimator: Annotated[str | None, typer.Option(help="sdp (default), wls, ols, ...")] = None,
    prior: Annotated[str | None, typer.Option(metavar="cad", help="Let the description count for more where the log says little.")] = None,
    cutoff: Annotated[
        float | None, typer.Option(metavar="HZ", help="Smooth by a Butterworth filter of this cut-off, not by Kalman.")
    ] = None,
    report: Annotated[bool, typer.Option(help="Write report.html.")] = True,
    force: Annotated[bool, typer.Option("--force", help="Write into DIR although it is not empty.")] = False,
) -> None:
    """Find the dynamic parameters of a robot from logs of its motion, with their uncertainty, and write what was found."""
    from ...identification.identify import identify as run
    from ..inputs import load, read
    from ..outputs import can_report, write_results
    from ..show.console import console
    from ..show.result import outcome, progress

    if out is not None:
        check_folder(out, force)
        if report:
            can_report()
    loaded = load(robot)
    read_logs = [read(path, loaded, mapping, effort) for path in logs]
    other = None if validate is None else read(validate, loaded, mapping, effort)
    with progress() as tell:
        smoothing = "auto" if cutoff is None else "butterworth"
        fit = run(loaded, read_logs, estimator, prior=prior, smoothing=smoothing, cutoff=cutoff, progress=tell)
    validation = None if other is None else fit.validate(other)
    console().print(outcome(fit, validation))
    if out is not None:
        with whole_folder(out, force) as folder:
            write_results(folder, fit, validation, page=report)
        console().print(f"wrote {', '.join(sorted(part.name for part in out.iterdir()))} to {out}", markup=False)
