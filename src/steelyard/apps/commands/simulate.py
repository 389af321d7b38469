"""`steelyard simulate ROBOT`: the motion of a robot under a controller."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import CallError, suggest
from ...option_groups.simulation import SimulationFields, StartOptions, StepOptions
from ..controllers import CONTROLLERS
from ..group_options import TypedOptions, takes_options
from ..inputs import ForceFile, RobotName, out_option, require_files

if TYPE_CHECKING:
    from ...robot import Robot

NO_CONTROLLER = "none"
DIVERGED = 1


@takes_options(lambda: (StartOptions, StepOptions, SimulationFields))
def simulate(
    robot: RobotName,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="Q1,Q2,...",
            help="Positions to go to [rad|m], along a quintic in the time of --seconds.",
        ),
    ] = None,
    motion: Annotated[
        Path | None,
        typer.Option(
            metavar="CSV",
            help="Or a CSV file with t and q.JOINT to follow, through cubic splines.",
        ),
    ] = None,
    torques: Annotated[
        Path | None,
        typer.Option(
            metavar="LOG", help="Or a log whose torques are played instead of a controller."
        ),
    ] = None,
    controller: Annotated[
        str,
        typer.Option(
            metavar="|".join((NO_CONTROLLER, *CONTROLLERS)), help="Controller of the joints."
        ),
    ] = NO_CONTROLLER,
    kp: Annotated[
        float,
        typer.Option(
            help="Gain of the position error [N m/rad|N/m], or of computed-torque [1/s2]."
        ),
    ] = 0.0,
    kd: Annotated[
        float,
        typer.Option(
            help="Gain of the velocity error [N m s/rad|N s/m], or of computed-torque [1/s]."
        ),
    ] = 0.0,
    out: Annotated[
        Path | None,
        out_option("CSV", "Write t, q, qd, tau of every joint here."),
    ] = None,
    log: Annotated[
        Path | None,
        typer.Option(metavar="CSV", help="Write what the robot's sensors would have logged here."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Seed of the sensors' noise.")] = 0,
    force: ForceFile = False,
    *,
    options: TypedOptions,
) -> None:
    """Simulate a robot under a controller or torques.

    M(q) qdd = tau - C(q, qd) qd - g(q) - friction(qd). Exit code 1 if the motion diverges.
    """
    require_files(robot)

    import steelyard as sy

    from ...signals.write import to_csv
    from ..inputs import load_robot, per_joint_option
    from ..motion_csv import run_text
    from ..output import output, rows_of, shown_path
    from ..show.progress import progress_bar
    from ..show.robot import run_table
    from ..targets import check_out_file, make_parents

    for path in (out, log):
        if path is not None:
            check_out_file(path, force)
    loaded = load_robot(robot)
    state = {
        name: per_joint_option(f"--{name}", options[name], loaded)
        for name in ("q0", "qd0")
        if name in options
    }
    start = state.get("q0")
    goal = None if to is None else per_joint_option("--to", to, loaded)
    if torques is not None and (
        controller != NO_CONTROLLER or goal is not None or motion is not None
    ):
        raise CallError(
            "--torques says what drives the robot; leave --controller, --to and --motion out"
        )
    seconds = float(options.get("seconds", StepOptions().seconds))
    law = _controller(loaded, controller, _reference(loaded, start, goal, motion, seconds), kp, kd)
    if torques is not None:
        law = sy.read_log(torques, loaded)
        state.setdefault("q0", law.q[0])
    if motion is not None:
        state.setdefault("q0", law.reference.q[0])
    with progress_bar("compiling") as progress:
        run = sy.simulate(
            loaded,
            law,
            **{**options, **state},
            progress=lambda part: progress("simulating", part),
        )
    table = run_table(run)
    output().show(table)
    output().record(
        status=run.status,
        samples=len(run.t),
        seconds=seconds,
        drift=run.drift,
        joints=rows_of(table),
    )
    if out is not None:
        from ...files import write_atomic

        make_parents(out)
        write_atomic(out, run_text(run), force)
        output().wrote(f"wrote {len(run.t)} samples to {shown_path(out)}", out)
    if log is not None:
        make_parents(log)
        to_csv(run.log(seed=seed), log, overwrite=force)
        output().wrote(f"wrote what sensors would have logged to {shown_path(log)}", log)
    if out is None and log is None:
        output().show("Nothing was saved: add -o run.csv.")
    if not run.finite:
        raise typer.Exit(DIVERGED)


def _reference(robot: Robot, start: Any, goal: Any, motion: Path | None, seconds: float) -> Any:
    """Return the motion to follow: from a file, to a position, or none."""
    import numpy as np

    from ...motion import point_to_point, spline
    from ..motion_csv import read_motion

    if goal is not None and motion is not None:
        raise CallError("--to and --motion both say where to go; give one of them")
    if motion is not None:
        read = read_motion(motion, robot.joint_names)
        if read.t is None:
            raise CallError(f"{motion} has no column t: a motion to follow needs times [s]")
        return spline(read.t, read.q, joint_names=robot.joint_names)
    if goal is not None:
        return point_to_point(
            np.zeros(robot.n) if start is None else start,
            goal,
            seconds,
            joint_names=robot.joint_names,
        )
    return start


def _controller(robot: Robot, name: str, reference: Any, kp: float, kd: float) -> Any:
    """Return the controller of a name with its gains; None for none."""
    if name == NO_CONTROLLER:
        if hasattr(reference, "motion"):
            raise CallError(
                f"--to and --motion need a controller that follows them: --controller"
                f" {', '.join(CONTROLLERS)}"
            )
        return None
    if name not in CONTROLLERS:
        known = (NO_CONTROLLER, *CONTROLLERS)
        raise CallError(f"--controller: no controller is called {name!r}; {suggest(name, known)}")
    row = CONTROLLERS[name]
    if row.needs_gains and not (kp or kd):
        raise CallError(
            f"--controller {name} gives no torque without gains: give --kp and --kd, such as --kp"
            " 100 --kd 20"
        )
    return row.make(reference, kp, kd)
