"""`steelyard identify ROBOT LOG...`: from logs to a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..inputs import ConfigPath, Effort, ForceFolder, Freeze, Joints, MappingPath, RobotName
from ..many_logs import Dask, Keep, Logs, SkipDamaged, Workers

EXIT_CODES = {"trusted": 0, "trusted within": 0, "doubtful": 3, "refused": 4}


def identify(
    robot: RobotName,
    logs: Logs,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="Write report.html, the identified robot and fit.json here.")
    ] = None,
    validate: Annotated[Path | None, typer.Option(metavar="LOG", help="A log of another motion to validate the result on.")] = None,
    joints: Joints = None,
    freeze: Freeze = None,
    mapping: MappingPath = None,
    effort: Effort = None,
    estimator: Annotated[str | None, typer.Option(help="auto (default), sdp, wls, didim, ...")] = None,
    prior: Annotated[str | None, typer.Option(metavar="cad", help="Let the description count for more where the log says little.")] = None,
    friction: Annotated[
        list[str] | None,
        typer.Option(metavar="TERM", help="auto (default): what the log shows; or a term of every joint: viscous, coulomb, offset, ..."),
    ] = None,
    hold: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME[=VALUE],...", help="Parameters, links or joints that keep their values, or have this one."),
    ] = None,
    known_mass: Annotated[
        str | None, typer.Option(metavar="KG", help="Of all moving links together, or LINK=KG,... of each with what is fixed to it.")
    ] = None,
    coupling: Annotated[
        list[str] | None, typer.Option(metavar="JOINT,JOINT", help="Two joints that share a motor. May be repeated.")
    ] = None,
    mask: Annotated[
        str | None,
        typer.Option(metavar="SPEED", help="Leave slower samples out [rad/s|m/s]: a number, one per joint, or JOINT=NUMBER,..."),
    ] = None,
    decimate: Annotated[int | None, typer.Option(min=1, metavar="N", help="Keep one sample in N, low-passed; found if not given.")] = None,
    gear_ratio: Annotated[
        str | None, typer.Option(metavar="N", help="Of the drives, for torque ripple: one number, one per joint, or JOINT=NUMBER,...")
    ] = None,
    elastic: Annotated[bool | None, typer.Option("--elastic", help="Find the stiffness of joints with positions on both sides.")] = None,
    cutoff: Annotated[
        float | None, typer.Option(metavar="HZ", help="Smooth by a Butterworth filter of this cut-off, not by Kalman.")
    ] = None,
    workers: Workers = None,
    dask: Dask = None,
    skip_damaged: SkipDamaged = False,
    keep: Keep = True,
    config: ConfigPath = None,
    report: Annotated[bool, typer.Option(help="Write report.html.")] = True,
    force: ForceFolder = False,
) -> None:
    """Find the dynamic parameters of a robot from logs of its motion, with their uncertainty, and write the result.

    The verdict comes first and is the exit code: 0 for "trusted" and "trusted within" the region of the log, 3 for "doubtful", 4 for
    "refused"; 2 if robot or log cannot be read or identified from. The result is written whatever the verdict is; the
    robot of a refused fit is called refused.urdf and not identified.urdf. Of more than 256 MB of logs each is folded by itself, by the
    workers that are given; a next run folds what is new.
    """
    import steelyard as sy

    from ...reporting.results import require_report, write_results
    from .. import option_values as values
    from ..config import OF_LOGS, chosen, columns_of, read_config
    from ..held_joints import arm_of
    from ..inputs import load, read
    from ..many_logs import executor_of, given_logs
    from ..output import output
    from ..show.identification import show_fit
    from ..show.progress import progress_bar
    from ..targets import check_out_folder, make_parents

    if out is not None:
        check_out_folder(out, force)
        if report:
            require_report()
    file = read_config(config)
    typed: dict[str, Any] = {
        "estimator": estimator, "prior": prior,
        "friction": friction, "hold": values.kept("--hold", hold), "known_mass": values.by_joint("--known-mass", known_mass),
        "coupling": values.pairs("--coupling", coupling), "mask": values.by_joint("--mask", mask), "decimate": decimate,
        "gear_ratio": values.by_joint("--gear-ratio", gear_ratio), "elastic": elastic, "cutoff": cutoff,
    }  # fmt: skip
    options = chosen(file, typed)
    arm = arm_of(load(robot), joints, freeze, file)
    columns = columns_of(file, mapping, effort)
    wanted = {key: value for key, value in options.items() if key not in (*OF_LOGS, "estimator")}
    gathered: dict[str, Any] = {"damaged": "leave out" if skip_damaged else "refuse", "keep": keep}
    with executor_of(workers, dask) as executor, progress_bar("reading the logs") as progress:
        given = given_logs(logs, arm.robot, *columns)
        other = None if validate is None else read(validate, arm.robot, *columns)
        found = sy.identify(arm.robot, given, options.get("estimator"), progress=progress, executor=executor, **gathered, **wanted)
        fit = arm.told(found)
        progress("validating", 1.0)
        validation = None if other is None else fit.validate(other)
        verdict = fit.verdict if validation is None else fit.judged(validation)
    show_fit(fit, verdict, validation)
    if out is not None:
        with progress_bar("writing the results"):
            make_parents(out)
            write_results(out, fit, validation, page=report, overwrite=force, whole=arm.whole if arm.held else None)
        written = sorted(out.iterdir())
        output().wrote(f"wrote {', '.join(part.name for part in written)} to {out}", *written)
    if EXIT_CODES[verdict.word]:
        raise typer.Exit(EXIT_CODES[verdict.word])
