"""`steelyard excite ROBOT`: design a motion for identification."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...option_groups.excitation import INFORMATION, ExcitationOptions
from ...option_groups.logs import JointSelectionOptions
from ...options import values_of
from ..group_options import TypedOptions, takes_options
from ..inputs import ConfigPath, ForceFile, RobotName, Unchecked
from ..table_words import MOTION_ENDINGS

if TYPE_CHECKING:
    from ...motion import Trajectory
    from ...robot import Robot

Files = Annotated[
    list[Path] | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help=f"Write the motion: {MOTION_ENDINGS}. May be repeated.",
    ),
]


@takes_options(lambda: (JointSelectionOptions, ExcitationOptions))
def excite(
    robot: RobotName,
    out: Files = None,
    config: ConfigPath = None,
    out_rate: Annotated[
        float | None, typer.Option(metavar="HZ", help="Rate of the files; each format has its own.")
    ] = None,
    *,
    options: TypedOptions,
    log: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="LOG",
            help="A recording that exists: add what it lacks. May be repeated.",
            rich_help_panel=INFORMATION,
        ),
    ] = None,
    unchecked: Unchecked = False,
    force: ForceFile = False,
) -> None:
    """Design a motion that identifies the robot's parameters.

    It stays within all limits at all times and is at rest at both ends.
    """
    import steelyard as sy

    from ...motion.trajectory_files.formats import format_of
    from ..config import columns_of, read_config
    from ..inputs import load_robot, read_log_file
    from ..joint_selection import joint_options, select_joints
    from ..output import output, shown_path
    from ..show.progress import progress_bar
    from ..targets import check_out_file, make_parents

    for path in out or ():
        format_of(path)
        check_out_file(path, force)
    file = read_config(config)
    selected = select_joints(load_robot(robot), *joint_options(options), file)
    loaded = selected.robot
    chosen: dict[str, Any] = {
        **file.get("excite", {}),
        **values_of(ExcitationOptions, options),
    }
    if log:
        chosen["log"] = [read_log_file(path, loaded, *columns_of(file, {})) for path in log]
    with progress_bar() as progress:
        motion = sy.excite(loaded, **chosen, progress=progress).holding(selected.fixed_positions)
    show(loaded, motion)
    for path in out or ():
        make_parents(path)
        motion.write(path, rate=out_rate, overwrite=force, unchecked=unchecked)
        output().wrote(f"wrote {shown_path(path)}", path)


def show(robot: Robot, motion: Trajectory) -> None:
    """Print the motion, its use of the limits, and the expected accuracy of its recording."""
    from ..output import output, rows_of
    from ..show.robot import excitation_table

    design, screen = motion.excitation, output()
    assert design is not None
    assert design.accuracy is not None
    assert design.certificate is not None
    table, spare = excitation_table(robot, motion), design.certificate
    screen.first_line(design.safety.line, checked=design.checked, unchecked=design.unchecked)
    screen.show(table)
    if spare.narrowest:
        screen.show(
            f"Smallest distance at any instant: {spare.narrowest}, {1000 * spare.spare:.2g} mm more"
            " than required."
        )
    screen.show(design.remarks, design.accuracy.table(), design.accuracy.torque_table())
    screen.record(
        seconds=motion.duration, log_det=design.log_det, condition=design.condition,
        base_parameters=design.base_parameters,
        joints=rows_of(table), narrowest=spare.narrowest,
        spare_m=spare.spare if spare.narrowest else None,
        remarks_on_the_check=design.remarks,
        parameters=rows_of(design.accuracy.table()),
        torques=rows_of(design.accuracy.torque_table()), unit="rad|m, N m|N",
    )  # fmt: skip
