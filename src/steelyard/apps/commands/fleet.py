"""`steelyard fleet ROBOT LOG...`: many robots of one type, and the outliers among them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...option_groups.identification import EstimatorOptions, FleetOptions, FoldingOptions
from ...option_groups.logs import LogReadingOptions
from ..group_options import TypedOptions, takes_options
from ..inputs import ConfigPath, ForceFolder, RobotName, out_option, require_files
from ..many_logs import Dask, Logs, Workers


@takes_options(lambda: (LogReadingOptions, EstimatorOptions, FleetOptions, FoldingOptions))
def fleet(
    robot: RobotName,
    logs: Logs,
    out: Annotated[
        Path | None,
        out_option("DIR", "Write fleet.html, fleet.json and the model of each robot here."),
    ] = None,
    workers: Workers = None,
    dask: Dask = None,
    config: ConfigPath = None,
    force: ForceFolder = False,
    *,
    options: TypedOptions,
) -> None:
    """Identify a robot type from many robots' logs.

    Logs are in folders that name the robot, as logs/robot=arm3/run.parquet. The exit code is 3 if
    there are outliers, 2 if robot or logs cannot be read or identified from, and 0 otherwise.
    """
    require_files(robot)

    import steelyard as sy

    from ...signals.log_files.find_logs import find_logs
    from ..config import OF_LOGS, chosen, columns_of, read_config
    from ..inputs import load_robot
    from ..many_logs import address, executor_of
    from ..output import output, shown_path
    from ..show.progress import progress_bar
    from ..show.robots_of_fleet import show_fleet, write_fleet
    from ..targets import check_out_folder, make_parents

    if out is not None:
        check_out_folder(out, force)
    file = read_config(config)
    selected = chosen(file, options)
    mapping, effort = columns_of(file, options)
    keywords = {key: value for key, value in selected.items() if key not in OF_LOGS}
    described = load_robot(robot)
    sources = find_logs([address(path) for path in logs], mapping=mapping, effort=effort)
    with executor_of(workers, dask) as executor, progress_bar("looking at the logs") as progress:
        result = sy.identify_fleet(
            described,
            sources,
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
    else:
        output().show("Nothing was saved: add -o DIR.")
    if result.outliers:
        raise typer.Exit(3)
