"""`steelyard identify ROBOT LOG...`: from logs to a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from ...option_values import PER_JOINT, by_joint, joint_pairs, names_or_values
from ...options import option
from ..group_options import TypedOptions, takes_options
from ..inputs import ConfigPath, Effort, ForceFolder, Freeze, Joints, MappingPath, RobotName
from ..many_logs import Dask, Keep, Logs, SkipDamaged, Workers
from ..table_words import ESTIMATOR_NAMES, FRICTION_WORDS

PREPARATION, MODEL = "Samples", "Model and estimator"
EXIT_CODES = {"trusted": 0, "trusted within": 0, "doubtful": 3, "refused": 4}


@dataclass(frozen=True, kw_only=True)
class IdentifyCommandOptions:
    """Options of the command: the estimator, and fields of `Preparation` and `ModelOptions`."""

    estimator: str | None = option(
        None, help=f"One of {ESTIMATOR_NAMES}; auto if not given.", panel=MODEL
    )
    prior: str | None = option(
        None,
        help="Give the description more weight where the log says little.",
        metavar="cad",
        panel=MODEL,
    )
    friction: Sequence[str] | None = option(
        None,
        help=(
            f"Terms of every joint, of {FRICTION_WORDS}; auto, the terms that the log shows, if not"
            " given. May be repeated."
        ),
        metavar="TERM",
        repeated=True,
        panel=MODEL,
    )
    hold: Sequence[str] | Mapping[str, float | None] | None = option(
        None,
        help="Fix parameters, links or joints at their current value, or at VALUE.",
        metavar="NAME[=VALUE],...",
        parse=names_or_values,
        repeated=True,
        panel=MODEL,
    )
    known_mass: float | Mapping[str, float] | None = option(
        None,
        help="Mass of all moving links together, or LINK=KG,... of each with its fixed links.",
        unit="kg",
        metavar="KG",
        parse=by_joint,
        panel=MODEL,
    )
    coupling: Sequence[tuple[str, str]] | None = option(
        None,
        help="Two joints that share a motor. May be repeated.",
        metavar="JOINT,JOINT",
        parse=joint_pairs,
        repeated=True,
        panel=MODEL,
    )
    gear_ratio: float | Sequence[float] | Mapping[str, float] | None = option(
        None,
        help=f"Gear ratios of the drives, for torque ripple: {PER_JOINT}",
        metavar="N",
        parse=by_joint,
        panel=MODEL,
    )
    elastic: bool | None = option(
        None, help="Estimate the stiffness of joints with positions on both sides.", panel=MODEL
    )
    mask: float | Sequence[float] | Mapping[str, float] | None = option(
        None,
        help=f"Leave slower samples out [rad/s|m/s]: {PER_JOINT}",
        unit="rad/s|m/s",
        metavar="SPEED",
        parse=by_joint,
        panel=PREPARATION,
    )
    decimate: int | None = option(
        None,
        help="Keep one sample in N, low-passed; chosen by the log if not given.",
        metavar="N",
        least=1,
        panel=PREPARATION,
    )
    cutoff: float | None = option(
        None,
        help="Smooth by a Butterworth filter of this cut-off frequency, not by Kalman.",
        unit="Hz",
        metavar="HZ",
        panel=PREPARATION,
    )


@takes_options(lambda: (IdentifyCommandOptions,))
def identify(
    robot: RobotName,
    logs: Logs,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="Write report.html, the identified robot and fit.json here.",
        ),
    ] = None,
    validate: Annotated[
        Path | None,
        typer.Option(metavar="LOG", help="A log of another motion to validate the result on."),
    ] = None,
    joints: Joints = None,
    freeze: Freeze = None,
    mapping: MappingPath = None,
    effort: Effort = None,
    workers: Workers = None,
    dask: Dask = None,
    skip_damaged: SkipDamaged = False,
    keep: Keep = True,
    config: ConfigPath = None,
    report: Annotated[bool, typer.Option(help="Write report.html.")] = True,
    force: ForceFolder = False,
    *,
    options: TypedOptions,
) -> None:
    """Estimate the dynamic parameters of a robot from logs of its motion, with their uncertainty.

    The verdict comes first and is the exit code: 0 for "trusted" and "trusted within" the region of
    the log, 3 for "doubtful", 4 for "refused"; 2 if robot or log cannot be read or identified from.
    The result is written whatever the verdict is; the robot of a refused fit is called refused.urdf
    and not identified.urdf. More than 256 MB of logs are folded one by one, by the workers; the
    next run folds only new logs.
    """
    import steelyard as sy

    from ..config import OF_LOGS, chosen, columns_of, read_config
    from ..inputs import load, read
    from ..joint_selection import select_joints
    from ..many_logs import executor_of, given_logs
    from ..output import output, shown_path
    from ..show.identification import show_fit
    from ..show.progress import progress_bar

    if out is not None:
        from ...reporting.results import require_report, write_results
        from ..targets import check_out_folder, make_parents

        check_out_folder(out, force)
        if report:
            require_report()
    file = read_config(config)
    selected = chosen(file, options)
    arm = select_joints(load(robot), joints, freeze, file)
    columns = columns_of(file, mapping, effort)
    keywords = {key: value for key, value in selected.items() if key not in (*OF_LOGS, "estimator")}
    folding: dict[str, Any] = {"damaged": "leave out" if skip_damaged else "refuse", "keep": keep}
    with executor_of(workers, dask) as executor, progress_bar("reading the logs") as progress:
        sources = given_logs(logs, arm.robot, *columns)
        other = None if validate is None else read(validate, arm.robot, *columns)
        estimated = sy.identify(
            arm.robot,
            sources,
            selected.get("estimator"),
            progress=progress,
            executor=executor,
            **folding,
            **keywords,
        )
        fit = arm.with_note(estimated)
        progress("validating", 1.0)
        validation = None if other is None else fit.validate(other)
        verdict = fit.verdict if validation is None else fit.judged(validation)
    show_fit(fit, verdict, validation)
    if out is not None:
        with progress_bar("writing the results"):
            make_parents(out)
            write_results(
                out,
                fit,
                validation,
                page=report,
                overwrite=force,
                whole=arm.whole if arm.fixed_positions else None,
            )
        written = sorted(out.iterdir())
        output().wrote(
            f"wrote {', '.join(part.name for part in written)} to {shown_path(out)}", *written
        )
    if EXIT_CODES[verdict.word]:
        raise typer.Exit(EXIT_CODES[verdict.word])
