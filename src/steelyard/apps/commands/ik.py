"""`steelyard ik ROBOT`: inverse kinematics of a pose, or of the poses of a CSV file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...csv_text import csv_text
from ...errors import CallError, LogError, mention
from ...files import write_atomic
from ...option_groups.kinematics import InverseKinematicsOptions
from ...option_values import split_numbers
from ..group_options import TypedOptions, takes_options
from ..inputs import ForceFile, RobotName, out_option, parse_number, require_files

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ...motion.inverse_kinematics.solutions import Solutions

    Array = NDArray[np.float64]

UNSOLVED = 1
ROTATIONS = (("qx", "qy", "qz", "qw"), ("roll", "pitch", "yaw"))


@takes_options(lambda: (InverseKinematicsOptions,))
def ik(
    robot: RobotName,
    xyz: Annotated[
        str | None,
        typer.Option(
            metavar="X,Y,Z", help="Position of the frame in the base frame [m]: 0.4,0.1,0.5."
        ),
    ] = None,
    rpy: Annotated[
        str | None,
        typer.Option(
            metavar="R,P,Y", help="Roll, pitch, yaw about fixed axes [rad]: 180deg,0,90deg."
        ),
    ] = None,
    quaternion: Annotated[
        str | None, typer.Option(metavar="X,Y,Z,W", help="Or a quaternion x,y,z,w of any length.")
    ] = None,
    poses: Annotated[
        Path | None,
        typer.Option(
            metavar="CSV", help="Or a CSV file: x, y, z and qx, qy, qz, qw or roll, pitch, yaw."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        out_option("CSV", "Write all solutions of --poses to this file instead of the screen."),
    ] = None,
    force: ForceFile = False,
    *,
    options: TypedOptions,
) -> None:
    """Compute all joint positions of a pose.

    Exit code 1 if there are none.
    """
    import steelyard as sy

    from ..inputs import load_robot, per_joint_option
    from ..show.progress import progress_bar
    from ..targets import check_out_file

    if (xyz is None) == (poses is None):
        raise CallError(
            "ik needs one pose, --xyz with --rpy or --quaternion, or a file, --poses; and not both"
        )
    if out is not None and poses is None:
        raise CallError(
            f"{mention('out')} goes with --poses; the solutions of a single pose are shown on the"
            " screen"
        )
    require_files(robot, poses)
    if out is not None:
        check_out_file(out, force)
    pose = _pose(xyz or "", rpy, quaternion) if poses is None else read_poses(poses)
    loaded = load_robot(robot)
    selected = dict(options)
    if "q0" in selected:
        selected["q0"] = per_joint_option("--q0", selected["q0"], loaded)
    with progress_bar("compiling"):
        solutions = sy.inverse_kinematics(loaded, pose, **selected)
    if poses is None:
        _show(solutions)
    else:
        _write(solutions, out, force)
    raise typer.Exit(0 if solutions.solved.all() else UNSOLVED)


def _numbers(option: str, text: str, count: int) -> list[float]:
    cells = split_numbers(text)
    if len(cells) != count:
        raise CallError(f"{option} has {len(cells)} numbers where {count} were expected")
    return [parse_number(option, cell) for cell in cells]


def _pose(xyz: str, rpy: str | None, quaternion: str | None) -> Array:
    if rpy is not None and quaternion is not None:
        raise CallError("give --rpy or --quaternion, not both")
    kind, text = (
        (ROTATIONS[0], quaternion) if quaternion is not None else (ROTATIONS[1], rpy or "0,0,0")
    )
    option = "--quaternion" if quaternion is not None else "--rpy"
    return _matrix(option, _numbers("--xyz", xyz, 3), kind, _numbers(option, text, len(kind)))


def _matrix(what: str, xyz: list[float], kind: tuple[str, ...], rotation: list[float]) -> Array:
    import numpy as np

    from ...algebra.rotation import from_quaternion, from_rpy

    if len(kind) == 4 and not any(rotation):
        raise CallError(f"{what}: a quaternion of zeros is not a rotation")
    x, y, z, *w = rotation
    pose = np.eye(4)
    pose[:3, :3] = from_quaternion((w[0], x, y, z)) if w else from_rpy((x, y, z))
    pose[:3, 3] = xyz
    return pose


def read_poses(path: Path) -> Array:
    """Return the poses of a CSV file, (N, 4, 4)."""
    import numpy as np

    from ...resource_limits import exists
    from ...signals.read.log_formats import TEXT, table_of_format

    if not exists(path, LogError):
        raise LogError(f"there is no file {path}")
    table = table_of_format(TEXT, path, None, None)
    kind = next(
        (names for names in ROTATIONS if all(name in table.columns for name in names)), None
    )
    if kind is None or not all(name in table.columns for name in "xyz"):
        expected = "x, y, z and qx, qy, qz, qw or roll, pitch, yaw"
        raise LogError(
            f"{path} has the columns {', '.join(table.names)}; expected {expected}, in m and rad"
        )
    columns = np.column_stack([table.numbers(name) for name in ("x", "y", "z", *kind)])
    bad = np.flatnonzero(~np.isfinite(columns).all(axis=1))
    if len(bad):
        raise LogError(f"{path}, line {bad[0] + 2}: a cell is not a number")
    return np.stack(
        [
            _matrix(f"{path}, line {i + 2}", list(row[:3]), kind, list(row[3:]))
            for i, row in enumerate(columns)
        ]
    )


def _show(solutions: Solutions) -> None:
    import numpy as np

    from ...drawing.table import Table, named_columns
    from ..output import output, rows_of

    names = solutions.context.robot.joint_names
    output().judge(solutions.status, bool(solutions.solved))
    branches, q = (
        np.array(solutions.branches)[solutions.valid].tolist(),
        solutions.q[solutions.valid],
    )
    rows = [(branch, *(f"{x:.6f}" for x in row)) for branch, row in zip(branches, q, strict=True)]
    data = {"branch": branches, **{name: q[:, j] for j, name in enumerate(names)}}
    title = f"Positions of {solutions.context.robot.name} [rad|m]"
    table = Table(
        title, named_columns("branch", *(f">{name}" for name in names)), tuple(rows), data=data
    )
    output().record(unit="rad|m", solutions=rows_of(table))
    if solutions.solved:
        output().show(table)


def _write(solutions: Solutions, out: Path | None, force: bool) -> None:
    import numpy as np

    from ...motion.trajectories.motion_check import MotionCheck
    from ..output import output, shown_path
    from ..targets import make_parents

    names = solutions.context.robot.joint_names
    rows = [
        (int(pose), solutions.branches[branch], *solutions.q[pose, branch].tolist())
        for pose, branch in np.argwhere(solutions.valid)
    ]
    # positions within the limits, which links may touch at, and nothing is known between them
    check = MotionCheck(
        unchecked=("distances between links", "ground", "moves between the positions")
    )
    text = f"# {check.line}\n" + csv_text(
        ["pose", "branch", *(f"q.{name}" for name in names)], rows
    )
    output().remark(solutions.status)
    output().record(
        unit="rad|m",
        poses=len(solutions.valid),
        checked=check.checked,
        unchecked=check.unchecked,
        solutions=[dict(zip(("pose", "branch", *names), row, strict=True)) for row in rows],
    )
    if out is not None:
        make_parents(out)
        write_atomic(out, text, force)
        output().wrote(
            f"wrote {int(solutions.valid.sum())} solutions of {len(solutions.valid)} poses to"
            f" {shown_path(out)}",
            out,
        )
    elif not output().json:
        sys.stdout.write(text)
