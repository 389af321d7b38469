"""`steelyard payload ROBOT LOG`: mass, centre of mass and inertia of a robot's load."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import CallError
from ...option_groups.payload import PayloadOptions, StaticPoseOptions
from ...options import values_of
from ..group_options import TypedOptions, takes_options
from ..inputs import LOG_GROUPS, ConfigPath, ForceFile, Unchecked, out_option, require_files
from ..table_words import LOG_ENDINGS
from .identify import EXIT_CODES

if TYPE_CHECKING:
    from ..joint_selection import SelectedJoints


@takes_options(lambda: (*LOG_GROUPS, PayloadOptions, StaticPoseOptions))
def payload(
    robot: Annotated[
        str,
        typer.Argument(
            metavar="ROBOT",
            help="A built-in name, a file, or the fit.json (or folder) that identify wrote.",
        ),
    ],
    loaded: Annotated[
        Path | None,
        typer.Argument(
            metavar="LOG", help=f"A log with the load: {LOG_ENDINGS}, or a rosbag2 folder."
        ),
    ] = None,
    empty: Annotated[
        Path | None,
        typer.Option(metavar="LOG", help="A log without the load, preferably of the same motion."),
    ] = None,
    controller: Annotated[
        str | None,
        typer.Option(
            metavar="franka|ur|kuka", help="Print the load in the form of this controller."
        ),
    ] = None,
    flange: Annotated[
        str | None,
        typer.Option(
            metavar="FRAME",
            help="The frame that is the controller's flange; --frame by default.",
        ),
    ] = None,
    poses: Annotated[
        int | None,
        typer.Option(metavar="N", help="Without LOG: choose N static poses that identify a load."),
    ] = None,
    unchecked: Unchecked = False,
    out: Annotated[
        Path | None,
        out_option("FILE", "Write the robot with its load (.urdf or .toml), or the poses (.csv)."),
    ] = None,
    config: ConfigPath = None,
    force: ForceFile = False,
    *,
    options: TypedOptions,
) -> None:
    """Estimate mass, centre of mass and inertia of a load.

    The logs are of motion or of static poses, with and without the load. Without --empty the robot
    must be an identified one. The exit code is 0 for a trusted load, 3 for a doubtful one, 4 for a
    refused one, and 2 if robot or log cannot be read.
    """
    require_files(robot, loaded, empty)

    import steelyard as sy

    from ...reporting.results import held_joints, identified_robot
    from ..config import columns_of, read_config
    from ..inputs import load_robot, read_log_file
    from ..joint_selection import joint_options, select_joints
    from ..output import output, shown_path
    from ..show.load import show_load
    from ..show.progress import progress_bar
    from ..targets import check_out_file, make_parents

    if out is not None:
        check_out_file(out, force, (".csv",) if loaded is None else (".urdf", ".toml"))
    file = read_config(config)
    selected = {**file.get("payload", {}), **options}
    arm = select_joints(
        identified_robot(robot, load_robot), *joint_options(options), file, held_joints(robot)
    )
    if loaded is None:
        _choose(
            arm,
            poses,
            values_of(StaticPoseOptions, selected),
            out,
            {"overwrite": force, "unchecked": unchecked},
        )
        return
    if poses is not None:
        raise CallError("--poses chooses poses before there is a log: leave LOG out, or --poses")
    if flange is not None and controller is None:
        raise CallError("--flange is the frame of a controller: give --controller with it")
    with progress_bar("reading the logs") as progress:
        logs = [
            read_log_file(path, arm.robot, *columns_of(file, options))
            for path in (loaded, empty)
            if path is not None
        ]
        estimate = sy.payload(
            arm.robot, *logs, **values_of(PayloadOptions, selected), progress=progress
        )
    show_load(estimate, None if controller is None else estimate.controller(controller, flange))
    if out is not None:
        make_parents(out)
        carrying = arm.restore(estimate.robot)
        (carrying.to_toml if out.suffix.lower() == ".toml" else carrying.to_urdf)(
            out, overwrite=force
        )
        output().wrote(f"wrote the robot with its load to {shown_path(out)}", out)
    else:
        output().show("Nothing was saved: add -o loaded.urdf.")
    if EXIT_CODES[estimate.verdict.word]:
        raise typer.Exit(EXIT_CODES[estimate.verdict.word])


def _choose(
    arm: SelectedJoints,
    count: int | None,
    options: dict[str, Any],
    out: Path | None,
    writing: dict[str, bool],
) -> None:
    """Print static poses that identify a load, and write the positions before and at each."""
    import steelyard as sy

    from ..output import output, rows_of, shown_path
    from ..show.load import pose_table
    from ..targets import make_parents

    if count is None:
        raise CallError("expected a log with the load, or --poses N to choose static poses for one")
    chosen = sy.static_poses(arm.robot, count, **options)
    chosen = replace(chosen, safety=chosen.safety.holding(arm.fixed_positions))
    table = pose_table(chosen)
    output().first_line(chosen.safety.line, checked=chosen.checked, unchecked=chosen.unchecked)
    output().show(str(chosen), table, chosen.safety.remarks)
    output().record(
        poses=rows_of(table),
        unit="rad|m",
        std={"mass_kg": chosen.std[0], "first_moment_kg_m": chosen.std[1:]},
    )
    if out is not None:
        make_parents(out)
        chosen.write(out, **writing)
        output().wrote(f"wrote {len(chosen.waypoints)} visits to {shown_path(out)}", out)
