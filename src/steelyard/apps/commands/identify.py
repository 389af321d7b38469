"""`steelyard identify ROBOT LOG...`: from logs to a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...files import check_folder
from ..inputs import Effort, ForceFolder, MappingPath, RobotName


def identify(
    robot: RobotName,
    logs: Annotated[list[Path], typer.Argument(metavar="LOG...", help="One or more logs: csv, parquet, npz, mat, mcap, rosbag2.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="Write report.html, the identified robot and fit.json here.")
    ] = None,
    validate: Annotated[Path | None, typer.Option(metavar="LOG", help="A log of another motion to validate the result on.")] = None,
    mapping: MappingPath = None,
    effort: Effort = None,
    estimator: Annotated[str | None, typer.Option(help="sdp (default), wls, ols, ...")] = None,
    prior: Annotated[str | None, typer.Option(metavar="cad", help="Let the description count for more where the log says little.")] = None,
    cutoff: Annotated[
        float | None, typer.Option(metavar="HZ", help="Smooth by a Butterworth filter of this cut-off, not by Kalman.")
    ] = None,
    report: Annotated[bool, typer.Option(help="Write report.html.")] = True,
    force: ForceFolder = False,
) -> None:
    """Find the dynamic parameters of a robot from logs of its motion, with their uncertainty, and write the result."""
    import steelyard as sy

    from ...reporting.results import require_report, write_results
    from ..inputs import load, read
    from ..show.terminal import console, outcome, progress_bar

    if out is not None:
        check_folder(out, force)
        if report:
            require_report()
    loaded = load(robot)
    read_logs = [read(path, loaded, mapping, effort) for path in logs]
    other = None if validate is None else read(validate, loaded, mapping, effort)
    smoothing = "auto" if cutoff is None else "butterworth"
    with progress_bar() as progress:
        fit = sy.identify(loaded, read_logs, estimator, prior=prior, smoothing=smoothing, cutoff=cutoff, progress=progress)
    validation = None if other is None else fit.validate(other)
    console().print(outcome(fit, validation))
    if out is not None:
        write_results(out, fit, validation, page=report, overwrite=force)
        console().print(f"wrote {', '.join(sorted(part.name for part in out.iterdir()))} to {out}")
