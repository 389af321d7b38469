"""`steelyard doctor ROBOT LOG` and `validate ROBOT LOG`: what is wrong with a log, and how well a robot predicts its torques."""

from __future__ import annotations

from typing import Annotated

import typer

from ..inputs import Effort, LogPath, MappingPath, RobotName

UNUSABLE = 1  # exit code


def doctor(robot: RobotName, log: LogPath, mapping: MappingPath = None, effort: Effort = None) -> None:
    """Say in sentences what is wrong with a log, and what it can show of the robot.

    The exit code is 0 if the log identifies the robot or a part of it, 1 if it does not, 2 if robot or log cannot be read.
    """
    import steelyard as sy

    from ..inputs import load, read
    from ..show.terminal import console, judgement

    loaded = load(robot)
    measured = read(log, loaded, mapping, effort, quiet=True)
    diagnosis = sy.doctor(loaded, measured)
    console().print(judgement(diagnosis.verdict, diagnosis.healthy, dict.fromkeys([*measured.remarks, *diagnosis.findings])))
    if not diagnosis.usable:
        raise typer.Exit(UNUSABLE)


def validate(
    robot: Annotated[
        str, typer.Argument(metavar="ROBOT", help="A built-in name, a file, or the fit.json (or folder) that identify wrote.")
    ],
    log: LogPath,
    against: Annotated[str | None, typer.Option(metavar="ROBOT", help="Another robot to compare with.")] = None,
    mapping: MappingPath = None,
    effort: Effort = None,
) -> None:
    """Compare a robot's torques with those of a log that it was not made from: RMS, relative error and R², joint by joint."""
    from ...identification import validate_robot
    from ...reporting.results import identified_robot
    from ...reporting.tables import compared_errors, torque_units
    from ..inputs import load, read
    from ..show.terminal import console, progress_bar, terminal_table

    robots = [identified_robot(name, load) for name in (robot, against) if name is not None]
    measured = read(log, robots[0], mapping, effort)
    results = []
    with progress_bar() as progress:
        for k, one in enumerate(robots):
            progress(f"predicting the torques of {one.name}", k / len(robots))
            results.append((("model", "other")[k] if against else "", validate_robot(one, measured)))
    console().print(terminal_table(compared_errors(robots[0].joint_names, results, torque_units(robots[0]))))
