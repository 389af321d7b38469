"""`steelyard excite ROBOT`: a motion worth recording."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..inputs import ConfigPath, ForceFile, Freeze, Ground, Joints, RobotName, Unchecked

if TYPE_CHECKING:
    from ...motion import Trajectory
    from ...robot import Robot

PerJoint = "one number, one per joint, or JOINT=NUMBER,..."
Files = Annotated[
    list[Path] | None,
    typer.Option("--out", "-o", metavar="FILE", help="Write it: .csv .npz .txt .yaml .mcap .bag .script .src .svg; may be repeated."),
]


def excite(
    robot: RobotName,
    out: Files = None,
    joints: Joints = None,
    freeze: Freeze = None,
    config: ConfigPath = None,
    out_rate: Annotated[float | None, typer.Option(metavar="HZ", help="Rate of the files; each format has its own.")] = None,
    seconds: Annotated[float | None, typer.Option(help="How long, or with an accuracy how long at most; 20 or 600 if not given.")] = None,
    basis: Annotated[
        str | None, typer.Option(metavar="fourier|bspline", help="Functions of the motion; a Fourier series if not given.")
    ] = None,
    harmonics: Annotated[int | None, typer.Option(help="Harmonics of the base frequency; up to 0.5 Hz if not given.")] = None,
    base_frequency: Annotated[
        float | None, typer.Option(metavar="HZ", help="Whole periods fill the time; about 20 s each if not given.")
    ] = None,
    rate: Annotated[float | None, typer.Option(metavar="HZ", help="Rate of the recording; 100 if not given.")] = None,
    margin: Annotated[float | None, typer.Option(help="The fraction of every limit that may be used; 0.9 if not given.")] = None,
    speed: Annotated[
        float | None, typer.Option(metavar="SHARE", help="The share of the velocity limits that is used; 0.5 if not given.")
    ] = None,
    velocity: Annotated[str | None, typer.Option(metavar="LIMITS", help=f"Speeds [rad/s|m/s]: {PerJoint}")] = None,
    acceleration: Annotated[str | None, typer.Option(metavar="LIMITS", help="Accelerations [rad/s2|m/s2]; speed within 0.5 s.")] = None,
    jerk: Annotated[str | None, typer.Option(metavar="LIMITS", help="Jerks [rad/s3|m/s3].")] = None,
    effort: Annotated[str | None, typer.Option(metavar="LIMITS", help="Torques [N m|N].")] = None,
    criterion: Annotated[
        str | None, typer.Option(metavar="D|A|E", help="D: volume of the uncertainty, A: mean variance, E: worst direction.")
    ] = None,
    noise: Annotated[str | None, typer.Option(metavar="NOISE", help=f"Of the torque, standard deviation [N m|N]: {PerJoint}")] = None,
    prior: Annotated[float | None, typer.Option(help="Relative tolerance of the description, such as 0.2.")] = None,
    log: Annotated[
        list[Path] | None, typer.Option(metavar="LOG", help="A recording that is there: add what it lacks. May be repeated.")
    ] = None,
    accuracy: Annotated[
        list[str] | None, typer.Option(metavar="NAME=SHARE", help="Shortest motion that reaches it: link3.mcx=0.02. May be repeated.")
    ] = None,
    torque_accuracy: Annotated[float | None, typer.Option(metavar="SHARE", help="The same for every joint's torque, such as 0.02.")] = None,
    region: Annotated[list[str] | None, typer.Option(metavar="JOINT=LOW,HIGH", help="Where the torque counts [rad|m].")] = None,
    collision: Annotated[str | None, typer.Option(metavar="auto|shapes|capsules|none", help="How links are kept apart.")] = None,
    clearance: Annotated[float | None, typer.Option(metavar="M", help="Least distance between links, and to the ground.")] = None,
    ground: Ground = None,
    box: Annotated[
        list[str] | None, typer.Option(metavar="FRAME=X0,Y0,Z0,X1,Y1,Z1", help="A box that a frame or link, or * all links, stays in [m].")
    ] = None,
    half_space: Annotated[list[str] | None, typer.Option(metavar="NX,NY,NZ,D", help="Links stay where n.x <= d [m].")] = None,
    payload: Annotated[
        str | None, typer.Option(metavar="KG[,X,Y,Z]", help="What the robot will carry, its centre in the end-effector's frame [m].")
    ] = None,
    gravity: Annotated[str | None, typer.Option(metavar="X,Y,Z", help="Gravity in the base frame [m/s2], as it will be mounted.")] = None,
    starts: Annotated[int | None, typer.Option(min=1, help="Random motions that are optimised; 8 if not given.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="The same seed gives the same motion.")] = None,
    unchecked: Unchecked = False,
    force: ForceFile = False,
) -> None:
    """Design a motion that shows the robot's parameters: within its limits at all times, at rest at both ends."""
    import steelyard as sy

    from ...motion.trajectory_files.formats import format_of
    from .. import option_values as values
    from ..config import columns_of, read_config
    from ..held_joints import arm_of
    from ..inputs import load, read
    from ..output import output
    from ..show.progress import progress_bar
    from ..targets import check_out_file, make_parents

    for path in out or ():
        format_of(path)
        check_out_file(path, force)
    file = read_config(config)
    loaded = arm_of(load(robot), joints, freeze, file).robot
    asked: dict[str, Any] = {
        "seconds": seconds, "harmonics": harmonics, "base_frequency": base_frequency, "seed": seed, "basis": basis, "rate": rate,
        "starts": starts, "margin": margin, "speed": speed, "criterion": criterion, "prior": prior,
        "torque_accuracy": torque_accuracy, "collision": collision, "clearance": clearance,
        **{name: values.by_joint(f"--{name}", text) for name, text in
           (("velocity", velocity), ("acceleration", acceleration), ("jerk", jerk), ("effort", effort), ("noise", noise))},
        "log": [read(path, loaded, *columns_of(file, None, None)) for path in log] if log else None,
        "accuracy": values.named("--accuracy", accuracy) if accuracy else None,
        "region": values.ranges("--region", region) if region else None,
        "workspace": values.boxes("--box", box) if box else None,
        "half_spaces": [(row[:3], row[3]) for row in (values.numbers("--half-space", text, (4,)) for text in half_space or ())] or None,
        "payload": None if payload is None else values.numbers("--payload", payload, (1, 4)),
        "gravity": None if gravity is None else values.numbers("--gravity", gravity, (3,)),
    }  # fmt: skip
    chosen = {name: value for name, value in asked.items() if value is not None} | values.ground("--ground", ground)
    with progress_bar() as progress:
        motion = sy.excite(loaded, **chosen, progress=progress)
    show(loaded, motion)
    for path in out or ():
        make_parents(path)
        motion.write(path, rate=out_rate, overwrite=force, unchecked=unchecked)
        output().wrote(f"wrote {path}", path)


def show(robot: Robot, motion: Trajectory) -> None:
    """Print the motion, what it uses of its limits, and what to expect of its recording."""
    from ..output import output, rows_of
    from ..show.robot import excitation_table

    found, screen = motion.excitation, output()
    assert found is not None
    assert found.accuracy is not None
    assert found.certificate is not None
    made, spare = excitation_table(robot, motion), found.certificate
    screen.first_line(found.safety.line, checked=found.checked, unchecked=found.unchecked)
    screen.show(made)
    if spare.narrowest:
        screen.show(f"At any instant the narrowest distance, {spare.narrowest}, is kept with {1000 * spare.spare:.2g} mm to spare.")
    screen.show(found.remarks, found.accuracy.table(), found.accuracy.torque_table())
    screen.record(
        seconds=motion.duration, log_det=found.log_det, condition=found.condition, base_parameters=found.base_parameters,
        joints=rows_of(made), narrowest=spare.narrowest, spare_m=spare.spare if spare.narrowest else None,
        remarks_on_the_check=found.remarks,
        parameters=rows_of(found.accuracy.table()), torques=rows_of(found.accuracy.torque_table()), unit="rad|m, N m|N",
    )  # fmt: skip
