"""`steelyard excite ROBOT`: a motion worth recording."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...files import check_file
from ..inputs import ForceFile, RobotName


def excite(
    robot: RobotName,
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="CSV", help="Write t, q.JOINT, qd.JOINT, qdd.JOINT here.")] = None,
    seconds: Annotated[float, typer.Option(help="How long: whole periods of the base frequency.")] = 20.0,
    harmonics: Annotated[int | None, typer.Option(help="Harmonics of the base frequency; by default up to 0.5 Hz.")] = None,
    base_frequency: Annotated[
        float | None, typer.Option(metavar="HZ", help="Whole periods fill the time; about 20 s each if not given.")
    ] = None,
    rate: Annotated[float, typer.Option(metavar="HZ", help="Rate of the file.")] = 100.0,
    margin: Annotated[float, typer.Option(help="The fraction of every limit that may be used.")] = 0.9,
    acceleration: Annotated[float | None, typer.Option(help="Limit of every joint [rad/s2|m/s2].")] = None,
    jerk: Annotated[float | None, typer.Option(help="Limit of every joint [rad/s3|m/s3].")] = None,
    criterion: Annotated[str, typer.Option(help="D: volume of the uncertainty, A: mean variance, E: worst direction.")] = "D",
    starts: Annotated[int | None, typer.Option(min=1, help="Random motions that are optimised; 20 if not given.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same motion.")] = 0,
    force: ForceFile = False,
) -> None:
    """Design a motion that shows the robot's parameters: within its limits at all times, at rest at both ends."""
    import steelyard as sy

    from ..inputs import load
    from ..show.robot import motion_table
    from ..show.terminal import console, progress_bar

    if out is not None:
        check_file(out, force)
    loaded = load(robot)
    with progress_bar() as progress:
        motion = sy.excite(
            loaded, seconds, harmonics, base_frequency, seed, rate=rate, margin=margin, acceleration=acceleration, jerk=jerk,
            criterion=criterion, starts=starts, progress=progress,
        )  # fmt: skip
    tau = loaded.inverse_dynamics(motion.q, motion.qd, motion.qdd)
    condition = motion.excitation.condition if motion.excitation else float("nan")
    console().print(motion_table(f"A motion of {seconds:g} s, condition {condition:.3g}; torques as described", loaded, motion, tau))
    if out is not None:
        motion.to_csv(out, overwrite=force)
        console().print(f"wrote {len(motion.t)} samples to {out}")
