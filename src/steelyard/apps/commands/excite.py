"""`steelyard excite ROBOT`: design a motion for identification."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...names import shell_word
from ...option_groups.excitation import INFORMATION, ExcitationOptions
from ...option_groups.logs import JointSelectionOptions
from ...options import values_of
from ..group_options import TypedOptions, takes_options
from ..inputs import (
    ConfigPath,
    ForceFile,
    Full,
    RobotName,
    Unchecked,
    out_option,
    reading_words,
    require_files,
)
from ..table_words import MOTION_ENDINGS

if TYPE_CHECKING:
    from ...motion import Trajectory
    from ...motion.trajectories.accuracy import PredictedAccuracy
    from ...robot import Robot

KNOWN = 0.1  # relative standard deviation of a well determined parameter
Files = Annotated[
    list[Path] | None,
    out_option("FILE", f"Write the motion: {MOTION_ENDINGS}. May be repeated."),
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
    full: Full = False,
) -> None:
    """Design a motion that identifies a robot.

    It stays within all limits at all times and is at rest at both ends.
    """
    require_files(robot, *(log or ()))

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
    show(loaded, motion, chosen, full)
    for path in out or ():
        make_parents(path)
        motion.write(path, rate=out_rate, overwrite=force, unchecked=unchecked)
        output().wrote(f"wrote {shown_path(path)}", path)
    if not out:
        output().show("Nothing was saved: add -o motion.csv.")
    words = " ".join(["steelyard identify", shell_word(robot), "LOG.csv -o results"])
    words += reading_words(options, config)
    output().next(f"Record the motion on the robot, and identify it: {words}")


def show(robot: Robot, motion: Trajectory, chosen: Mapping[str, Any], full: bool) -> None:
    """Print the motion, its use of the limits, and the expected accuracy of its recording.

    With `full` also the expected accuracy of every base parameter.
    """
    from ..output import output, rows_of
    from ..show.robot import excitation_table

    design, screen = motion.excitation, output()
    assert design is not None
    assert design.accuracy is not None
    assert design.certificate is not None
    table, spare = excitation_table(robot, motion, full), design.certificate
    screen.first_line(design.safety.line, checked=design.checked, unchecked=design.unchecked)
    screen.show(table, limits_sentence(chosen))
    if spare.narrowest and full:
        screen.show(
            f"Smallest distance at any instant: {spare.narrowest}, {1000 * spare.spare:.2g} mm more"
            " than required."
        )
    screen.show(design.remarks)
    screen.show(design.accuracy.table() if full else accuracy_sentence(design.accuracy))
    screen.show(design.accuracy.torque_table())
    screen.record(
        seconds=motion.duration, log_det=design.log_det, condition=design.condition,
        base_parameters=design.base_parameters,
        joints=rows_of(table), narrowest=spare.narrowest,
        spare_m=spare.spare if spare.narrowest else None,
        remarks_on_the_check=design.remarks,
        parameters=rows_of(design.accuracy.table()),
        torques=rows_of(design.accuracy.torque_table()), unit="rad|m, N m|N",
    )  # fmt: skip


def limits_sentence(chosen: Mapping[str, Any]) -> str:
    """Return which share of the limits the motion may use, and the options that change it."""
    options = ExcitationOptions(**values_of(ExcitationOptions, chosen))
    speed = min(options.margin, options.speed)
    return (
        f"Limits: {options.margin:.3g} of every limit (--margin), {speed:.3g} of the velocity"
        " limits (--speed)."
    )


def accuracy_sentence(accuracy: PredictedAccuracy) -> str:
    """Return how many base parameters a recording of the motion determines."""
    known = int((accuracy.relative_std <= KNOWN).sum())
    return (
        f"Expected: {known} of {len(accuracy.names)} base parameters with a standard deviation of"
        f" at most {KNOWN:.0%} (--full lists them)."
    )
