"""`steelyard fleet ROBOT LOG...`: many robots of one type, and the outliers among them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..inputs import ConfigPath, Effort, ForceFolder, MappingPath, RobotName
from ..many_logs import Dask, Keep, Logs, SkipDamaged, Workers
from ..table_words import ESTIMATOR_NAMES


def fleet(
    robot: RobotName,
    logs: Logs,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="Write fleet.html, fleet.json and the model of each robot here.",
        ),
    ] = None,
    by: Annotated[
        str,
        typer.Option(
            metavar="KEY", help="Of the folders KEY=NAME that say which robot a log is of."
        ),
    ] = "robot",
    mapping: MappingPath = None,
    effort: Effort = None,
    estimator: Annotated[
        str | None, typer.Option(help=f"Of the type, one of {ESTIMATOR_NAMES}; auto if not given.")
    ] = None,
    workers: Workers = None,
    dask: Dask = None,
    skip_damaged: SkipDamaged = False,
    keep: Keep = True,
    config: ConfigPath = None,
    force: ForceFolder = False,
) -> None:
    """Identify the model of a robot type from the logs of many robots, and find outliers.

    Logs are in folders that name the robot, as logs/robot=arm3/run.parquet. The exit code is 3 if
    there are outliers, 2 if robot or logs cannot be read or identified from, and 0 otherwise.
    """
    import steelyard as sy

    from ...signals.log_files.find_logs import find_logs
    from ..config import OF_LOGS, chosen, columns_of, read_config
    from ..inputs import load
    from ..many_logs import address, executor_of
    from ..output import output, shown_path
    from ..show.progress import progress_bar
    from ..show.robots_of_fleet import show_fleet, write_fleet
    from ..targets import check_out_folder, make_parents

    if out is not None:
        check_out_folder(out, force)
    file = read_config(config)
    options = chosen(file, {"estimator": estimator})
    columns = dict(zip(("mapping", "effort"), columns_of(file, mapping, effort), strict=True))
    keywords: dict[str, Any] = {
        key: value for key, value in options.items() if key not in (*OF_LOGS, "estimator")
    }
    keywords |= {"damaged": "leave out" if skip_damaged else "refuse", "keep": keep, "by": by}
    described = load(robot)
    sources = find_logs([address(path) for path in logs], **columns)
    with executor_of(workers, dask) as executor, progress_bar("looking at the logs") as progress:
        result = sy.identify_fleet(
            described,
            sources,
            options.get("estimator"),
            progress=progress,
            executor=executor,
            **keywords,
        )
    show_fleet(result)
    if out is not None:
        make_parents(out)
        with progress_bar("writing the results"):
            write_fleet(out, result, force)
        output().wrote(
            f"wrote fleet.html, fleet.json and {len(result.names)} robots to {shown_path(out)}",
            *sorted(out.iterdir()),
        )
    if result.outliers:
        raise typer.Exit(3)
