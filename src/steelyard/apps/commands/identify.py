"""`steelyard identify ROBOT LOG...`: from logs to a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ...files import check_folder
from ..inputs import Effort, ForceFolder, MappingPath, RobotName

EXIT_CODES = {"trusted": 0, "trusted within": 0, "doubtful": 3, "refused": 4}


def identify(
    robot: RobotName,
    logs: Annotated[list[Path], typer.Argument(metavar="LOG...", help="One or more logs: csv, parquet, npz, mat, mcap, rosbag2.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="Write report.html, the identified robot and fit.json here.")
    ] = None,
    validate: Annotated[Path | None, typer.Option(metavar="LOG", help="A log of another motion to validate the result on.")] = None,
    mapping: MappingPath = None,
    effort: Effort = None,
    estimator: Annotated[str | None, typer.Option(help="auto (default), sdp, wls, didim, ...")] = None,
    prior: Annotated[str | None, typer.Option(metavar="cad", help="Let the description count for more where the log says little.")] = None,
    friction: Annotated[
        list[str] | None,
        typer.Option(metavar="TERM", help="auto (default): what the log shows; or a term of every joint: viscous, coulomb, offset, ..."),
    ] = None,
    gear_ratio: Annotated[float | None, typer.Option(metavar="N", help="Gear ratio of the drives, for torque ripple.")] = None,
    elastic: Annotated[bool, typer.Option("--elastic", help="Find the stiffness of joints with positions on both sides.")] = False,
    cutoff: Annotated[
        float | None, typer.Option(metavar="HZ", help="Smooth by a Butterworth filter of this cut-off, not by Kalman.")
    ] = None,
    report: Annotated[bool, typer.Option(help="Write report.html.")] = True,
    force: ForceFolder = False,
) -> None:
    """Find the dynamic parameters of a robot from logs of its motion, with their uncertainty, and write the result.

    The verdict comes first and is the exit code: 0 for "trusted" and "trusted within" the region of the log, 3 for "doubtful", 4 for
    "refused"; 2 if robot or log cannot be read or identified from. The result is written whatever the verdict is; the
    robot of a refused fit is called refused.urdf and not identified.urdf.
    """
    import steelyard as sy

    from ...reporting.results import require_report, write_results
    from ..inputs import load, read
    from ..output import output
    from ..show.identification import show_fit
    from ..show.progress import progress_bar

    if out is not None:
        check_folder(out, force)
        if report:
            require_report()
    loaded = load(robot)
    smoothing = "auto" if cutoff is None else "butterworth"
    with progress_bar("reading the logs") as progress:
        read_logs = [read(path, loaded, mapping, effort) for path in logs]
        other = None if validate is None else read(validate, loaded, mapping, effort)
        options: dict[str, Any] = {
            "prior": prior,
            "smoothing": smoothing,
            "cutoff": cutoff,
            "gear_ratio": gear_ratio,
            "friction": friction or "auto",
            "elastic": elastic,
        }
        fit = sy.identify(loaded, read_logs, estimator, progress=progress, **options)
        progress("validating", 1.0)
        validation = None if other is None else fit.validate(other)
        verdict = fit.verdict if validation is None else fit.judged(validation)
    show_fit(fit, verdict, validation)
    if out is not None:
        with progress_bar("writing the results"):
            write_results(out, fit, validation, page=report, overwrite=force)
        written = sorted(out.iterdir())
        output().wrote(f"wrote {', '.join(part.name for part in written)} to {out}", *written)
    if EXIT_CODES[verdict.word]:
        raise typer.Exit(EXIT_CODES[verdict.word])
