"""`steelyard robots`, `info ROBOT` and `check ROBOT`.

Lists known robots, describes a robot, and checks that it obeys physics.
"""

from __future__ import annotations

from typing import Annotated

import typer

from ...names import shell_word
from ...option_groups.checks import CheckOptions
from ...option_groups.logs import JointSelectionOptions
from ...options import values_of
from ..group_options import TypedOptions, takes_options
from ..inputs import ConfigPath, RobotName, require_files

BROKEN = 1  # exit code


def robots(
    installed: Annotated[
        bool, typer.Option("--installed", help="List robots of installed packages, too.")
    ] = False,
) -> None:
    """List the robots that are known by name."""
    import steelyard as sy

    from ..inputs import load_robot
    from ..output import output, rows_of
    from ..show.robot import robots_table, without_installed

    sources = sy.robots().sources
    built_in = [(name, load_robot(name, quiet=True)) for name in sy.robots(installed=False)]
    others = {name: package for name, package in sources.items() if package != "built-in"}
    table = robots_table(built_in, others)
    output().show(table if installed or not others else without_installed(table, others))
    output().record(robots=rows_of(table))
    output().next("Look at one of them: steelyard info puma560")


def info(robot: RobotName) -> None:
    """Show joints, limits, masses and remarks of a robot."""
    require_files(robot)
    from ..inputs import load_robot
    from ..output import output, rows_of
    from ..show.robot import card_tables, robot_summary

    loaded = load_robot(robot, quiet=True)
    output().show(robot_summary(loaded))
    names = {"Joints": "joints", "Moving bodies": "bodies", "Loops": "loops", "Ratings": "ratings"}
    output().record(
        name=loaded.name, fingerprint=loaded.fingerprint, gravity=loaded.mechanism.gravity,
        source=loaded.mechanism.data_sheet.source, estimated=loaded.mechanism.data_sheet.estimated,
        remarks=list(loaded.remarks),
        units={
            "position": "rad|m", "effort": "N m|N", "mass": "kg", "com": "m", "inertia": "kg m2",
            "gravity": "m/s2",
        },
        **{names[table.title]: rows_of(table) for table in card_tables(loaded)},
    )  # fmt: skip
    line = f"steelyard excite {shell_word(robot)} -o motion.csv"
    output().next(f"Design a motion that identifies it: {line}")


@takes_options(lambda: (JointSelectionOptions, CheckOptions))
def check(
    robot: RobotName,
    config: ConfigPath = None,
    *,
    options: TypedOptions,
) -> None:
    """Test a robot against the laws of mechanics.

    The exit code is 1 if one fails.
    """
    require_files(robot)
    from ...checks.laws import check as check_laws
    from ..config import read_config
    from ..inputs import load_robot
    from ..joint_selection import joint_options, select_joints
    from ..output import output, rows_of
    from ..show.progress import progress_bar
    from ..show.terminal import remarks

    loaded = select_joints(
        load_robot(robot, quiet=True), *joint_options(options), read_config(config)
    ).robot
    with progress_bar("compiling") as progress:
        result = check_laws(loaded, **values_of(CheckOptions, options), progress=progress)
    output().judge(result.verdict, result.ok)
    output().show(result.table())
    output().show(remarks(result.remarks))
    output().record(laws=rows_of(result.table()), remarks=list(result.remarks))
    if result.ok:
        line = f"steelyard excite {shell_word(robot)} -o motion.csv"
        output().next(f"Design a motion that identifies it: {line}")
    if not result.ok:
        raise typer.Exit(BROKEN)
