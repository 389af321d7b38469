"""`steelyard identify ROBOT LOG...`: from logs to a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...option_groups.identification import FoldingOptions, IdentifyOptions
from ..group_options import TypedOptions, takes_options
from ..inputs import (
    LOG_GROUPS,
    ConfigPath,
    ForceFolder,
    Full,
    RobotName,
    out_option,
    reading_words,
    require_files,
)
from ..many_logs import Dask, Logs, Workers

EXIT_CODES = {"trusted": 0, "trusted within": 0, "doubtful": 3, "refused": 4}


@takes_options(lambda: (*LOG_GROUPS, IdentifyOptions, FoldingOptions))
def identify(
    robot: RobotName,
    logs: Logs,
    out: Annotated[
        Path | None,
        out_option("DIR", "Write report.html, the identified robot and fit.json here."),
    ] = None,
    validate: Annotated[
        Path | None,
        typer.Option(metavar="LOG", help="A log of another motion to validate the result on."),
    ] = None,
    workers: Workers = None,
    dask: Dask = None,
    config: ConfigPath = None,
    report: Annotated[bool, typer.Option(help="Write report.html.")] = True,
    force: ForceFolder = False,
    full: Full = False,
    *,
    options: TypedOptions,
) -> None:
    """Estimate a robot's dynamic parameters from logs.

    The verdict comes first and is the exit code: 0 for "trusted" and "trusted within" the region of
    the log, 3 for "doubtful", 4 for "refused"; 2 if robot or log cannot be read or identified from.
    The result is written for every verdict; the robot of a refused fit is called refused.urdf
    and not identified.urdf. More than 256 MB of logs are folded one by one, by the workers; the
    next run folds only new logs.
    """
    require_files(robot, *logs, validate)

    import steelyard as sy

    from ..config import OF_LOGS, chosen, columns_of, read_config
    from ..inputs import load_robot, read_log_file
    from ..joint_selection import joint_options, select_joints
    from ..many_logs import executor_of, given_logs
    from ..output import output, shown_path
    from ..show.identification import show_fit, show_next
    from ..show.progress import progress_bar

    if out is not None:
        from ...reporting.results import require_report, write_results
        from ..targets import check_out_folder, make_parents

        check_out_folder(out, force)
        if report:
            require_report()
    file = read_config(config)
    selected = chosen(file, options)
    arm = select_joints(load_robot(robot), *joint_options(options), file)
    columns = columns_of(file, options)
    keywords = {key: value for key, value in selected.items() if key not in OF_LOGS}
    with executor_of(workers, dask) as executor, progress_bar("reading the logs") as progress:
        sources = given_logs(logs, arm.robot, *columns)
        other = None if validate is None else read_log_file(validate, arm.robot, *columns)
        estimated = sy.identify(
            arm.robot, sources, progress=progress, executor=executor, **keywords
        )
        fit = arm.with_note(estimated)
        progress("validating", 1.0)
        validation = None if other is None else fit.validate(other)
        verdict = fit.verdict if validation is None else fit.judged(validation)
    show_fit(fit, verdict, validation, full)
    if arm.fixed_positions and not full:  # with --full it is a note of the fit
        output().show(arm.sentence)
    if out is not None:
        with progress_bar("writing the results"):
            make_parents(out)
            write_results(
                out,
                fit,
                validation,
                page=report,
                overwrite=force,
                whole=arm.whole if arm.fixed_positions else None,
            )
        written = sorted(out.iterdir())
        output().wrote(
            f"wrote {', '.join(part.name for part in written)} to {shown_path(out)}", *written
        )
    else:
        output().show("Nothing was saved: add -o DIR.")
    show_next(verdict, reading_words(options, config), full)
    if EXIT_CODES[verdict.word]:
        raise typer.Exit(EXIT_CODES[verdict.word])
