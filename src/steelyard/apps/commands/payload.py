"""`steelyard payload ROBOT LOG`: mass, centre and inertia of what a robot carries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import CallError
from ..inputs import ConfigPath, Effort, ForceFile, Freeze, Ground, Joints, MappingPath, Unchecked
from .identify import EXIT_CODES

if TYPE_CHECKING:
    from ...robot import Robot


def payload(
    robot: Annotated[
        str, typer.Argument(metavar="ROBOT", help="A built-in name, a file, or the fit.json (or folder) that identify wrote.")
    ],
    loaded: Annotated[
        Path | None, typer.Argument(metavar="LOG", help="A log with the load: csv, parquet, npz, mat, mcap, rosbag2.")
    ] = None,
    empty: Annotated[Path | None, typer.Option(metavar="LOG", help="A log without it, best of the same motion.")] = None,
    link: Annotated[str | None, typer.Option(help="The link that carries the load; the end-effector by default.")] = None,
    frame: Annotated[str | None, typer.Option(help="The frame on it whose axes the numbers are in; that of the link by default.")] = None,
    static: Annotated[bool | None, typer.Option("--static/--moving", help="Use the rests of the logs alone, or their motion.")] = None,
    controller: Annotated[str | None, typer.Option(metavar="franka|ur|kuka", help="Print what this controller asks for.")] = None,
    flange: Annotated[str | None, typer.Option(help="The frame that is the controller's flange; --frame by default.")] = None,
    poses: Annotated[int | None, typer.Option(metavar="N", help="Without LOG: choose N poses to weigh a load in.")] = None,
    ground: Ground = None,
    unchecked: Unchecked = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Write the robot with its load (.urdf or .toml), or the poses (.csv)."),
    ] = None,
    joints: Joints = None,
    freeze: Freeze = None,
    mapping: MappingPath = None,
    effort: Effort = None,
    config: ConfigPath = None,
    force: ForceFile = False,
) -> None:
    """Find mass, centre and inertia of what a robot carries, with their uncertainty, from logs with and without it or of static poses.

    Without --empty the robot must be an identified one. The exit code is that of `identify`: 0 for a load that is trusted, 3 for one that
    is doubtful, 4 for one that is refused; 2 if robot or log cannot be read.
    """
    import steelyard as sy

    from ...reporting.results import held_joints, identified_robot
    from .. import option_values as values
    from ..config import columns_of, read_config
    from ..held_joints import arm_of
    from ..inputs import load, read
    from ..output import output
    from ..show.load import show_load
    from ..show.progress import progress_bar
    from ..targets import check_out_file, make_parents

    if out is not None:
        check_out_file(out, force, (".csv",) if loaded is None else (".urdf", ".toml"))
    file = read_config(config)
    arm = arm_of(identified_robot(robot, load), joints, freeze, file, held_joints(robot))
    if loaded is None:
        options = values.ground("--ground", ground)
        _choose(arm.robot, poses, {"link": link, "frame": frame, **options}, out, {"overwrite": force, "unchecked": unchecked})
        return
    if poses is not None:
        raise CallError("--poses chooses poses before there is a log: leave LOG out, or --poses")
    if flange is not None and controller is None:
        raise CallError("--flange is the frame of a controller: give --controller with it")
    with progress_bar("reading the logs") as progress:
        logs = [None if path is None else read(path, arm.robot, *columns_of(file, mapping, effort)) for path in (loaded, empty)]
        assert logs[0] is not None
        found = sy.payload(arm.robot, logs[0], logs[1], link=link, frame=frame, static=static, progress=progress)
    show_load(found, None if controller is None else found.controller(controller, flange))
    if out is not None:
        make_parents(out)
        carrying = arm.back(found.robot)
        (carrying.to_toml if out.suffix.lower() == ".toml" else carrying.to_urdf)(out, overwrite=force)
        output().wrote(f"wrote the robot with its load to {out}", out)
    if EXIT_CODES[found.verdict.word]:
        raise typer.Exit(EXIT_CODES[found.verdict.word])


def _choose(arm: Robot, count: int | None, options: dict[str, Any], out: Path | None, writing: dict[str, bool]) -> None:
    """Print poses to weigh a load in, and write where to come from and where to rest."""
    import steelyard as sy

    from ..output import output, rows_of
    from ..show.load import pose_table
    from ..targets import make_parents

    if count is None:
        raise CallError("expected a log with the load, or --poses N to choose poses to weigh it in")
    chosen = sy.static_poses(arm, count, **options)
    made = pose_table(chosen)
    output().first_line(chosen.safety.line, checked=chosen.checked, unchecked=chosen.unchecked)
    output().show(str(chosen), made, chosen.safety.remarks)
    output().record(poses=rows_of(made), unit="rad|m", std={"mass_kg": chosen.std[0], "first_moment_kg_m": chosen.std[1:]})
    if out is not None:
        make_parents(out)
        chosen.write(out, **writing)
        output().wrote(f"wrote {len(chosen.waypoints)} visits to {out}", out)
