"""`steelyard torque ROBOT`: the torques of one state, or of a motion from CSV to CSV."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...errors import CallError, mention
from ...files import write_atomic
from ..inputs import ForceFile, RobotName, out_option, require_files

if TYPE_CHECKING:
    from ...robot import Robot

NUMBERS = "one number per joint, with commas between; '30deg' is read as degrees"


def torque(
    robot: RobotName,
    q: Annotated[
        str | None, typer.Option(metavar="Q1,Q2,...", help=f"Positions [rad|m]: {NUMBERS}.")
    ] = None,
    qd: Annotated[
        str | None,
        typer.Option(metavar="QD1,QD2,...", help="Velocities [rad/s|m/s]; zero if not given."),
    ] = None,
    qdd: Annotated[
        str | None,
        typer.Option(metavar="QDD1,...", help="Accelerations [rad/s2|m/s2]; zero if not given."),
    ] = None,
    motion: Annotated[
        Path | None,
        typer.Option(
            metavar="CSV",
            help="A CSV file with columns q.JOINT, qd.JOINT, qdd.JOINT and, if you like, t.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        out_option("CSV", "Write the torques of --motion to this file instead of the screen."),
    ] = None,
    force: ForceFile = False,
) -> None:
    """Compute the joint torques that produce a motion.

    tau = M(q) qdd + C(q, qd) qd + g(q) + friction.
    """
    from ..inputs import load_robot
    from ..targets import check_out_file

    if (q is None) == (motion is None):
        raise CallError(
            "torque needs one state, --q (with --qd and --qdd), or one file, --motion; and not both"
        )
    if motion is not None and (qd or qdd):
        raise CallError(
            "--qd and --qdd go with --q; with --motion the file has the velocities and"
            " accelerations"
        )
    require_files(robot, motion)
    if out is not None:
        check_out_file(out, force)
    loaded = load_robot(robot)
    if motion is not None:
        _from_file(loaded, motion, out, force)
    elif out is not None:
        raise CallError(
            f"{mention('out')} goes with --motion; the torques of a single state are shown on the"
            " screen"
        )
    else:
        _one_state(loaded, q or "", qd, qdd)


def _one_state(robot: Robot, q: str, qd: str | None, qdd: str | None) -> None:
    from ..inputs import per_joint_option
    from ..output import output, rows_of
    from ..show.progress import progress_bar
    from ..show.robot import torque_table

    zeros = ",".join("0" * robot.n)
    state = [
        per_joint_option(option, text or zeros, robot)
        for option, text in (("--q", q), ("--qd", qd), ("--qdd", qdd))
    ]
    with progress_bar("compiling"):
        tau = robot.inverse_dynamics(*state)
    table = torque_table(robot, state, tau)
    output().show(table)
    output().record(torques=rows_of(table))


def _from_file(robot: Robot, motion: Path, out: Path | None, force: bool) -> None:
    from ..motion_csv import read_motion, torque_text
    from ..output import output, shown_path
    from ..show.progress import progress_bar
    from ..targets import make_parents

    with progress_bar(f"reading {motion}") as progress:
        read = read_motion(motion, robot.joint_names)
        progress("computing the torques", 0.5)
        tau = robot.inverse_dynamics(read.q, read.qd, read.qdd)
    for note in read.notes:
        output().remark(note)
    units = dict(zip(robot.joint_names, robot.torque_units, strict=True))
    output().record(
        t=read.t, tau={name: tau[:, j] for j, name in enumerate(robot.joint_names)}, units=units
    )
    if out is not None:
        make_parents(out)
        write_atomic(out, torque_text(read.t, tau, robot.joint_names), force)
        output().wrote(f"wrote {len(read.q)} samples to {shown_path(out)}", out)
    elif not output().json:
        sys.stdout.write(torque_text(read.t, tau, robot.joint_names))
