"""`steelyard doctor ROBOT LOG` and `validate ROBOT LOG`.

What is wrong with a log, and how well a robot predicts its torques.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...names import shell_word
from ..group_options import TypedOptions, takes_options
from ..inputs import (
    LOG_GROUPS,
    ConfigPath,
    ForceFile,
    Full,
    LogPath,
    RobotName,
    reading_words,
    require_files,
)
from .identify import EXIT_CODES

if TYPE_CHECKING:
    from ...identification.doctor import Diagnosis, Finding
    from ...robot import Robot

FOUND = 1  # exit code

Fix = Annotated[
    bool,
    typer.Option("--fix", help="Write a mapping beside LOG that puts right what a mapping can."),
]


@takes_options(lambda: LOG_GROUPS)
def doctor(
    robot: RobotName,
    log: LogPath,
    config: ConfigPath = None,
    fix: Fix = False,
    force: ForceFile = False,
    *,
    options: TypedOptions,
) -> None:
    """Find faults in a log, and how to fix them.

    Each fault has its evidence, its probability and the line that fixes it. The exit code is 0 if
    the log has no fault, 1 if it has a fault or does not identify the robot, 2 if robot or log
    cannot be read. --fix writes LOG.mapping.toml, for --mapping of all commands; the log itself is
    never changed.
    """
    require_files(robot, log)

    import steelyard as sy

    from ..config import columns_of, read_config
    from ..inputs import load_robot, read_log_file
    from ..joint_selection import joint_options, select_joints
    from ..output import output, rows_of, shown_path
    from ..show.progress import progress_bar

    file = read_config(config)
    mapping, effort = columns_of(file, options)
    loaded = select_joints(load_robot(robot), *joint_options(options), file).robot
    with progress_bar("reading the log") as progress:
        measured = read_log_file(log, loaded, mapping, effort, clean=False)
        progress("examining the log", 0.1)
        diagnosis = sy.doctor(loaded, measured)
    output().judge(
        diagnosis.verdict,
        diagnosis.healthy,
        map(_finding_text, diagnosis.findings),
        usable=diagnosis.usable,
    )
    output().record(findings=rows_of(diagnosis.table()))
    target = _mapping_file(log)
    if fix and diagnosis.correction is None:
        output().show("There is nothing that a mapping can correct: no file was written.")
    elif diagnosis.correction is not None and not fix:
        output().show(
            f"--fix writes the correction to {shown_path(target)}; give that file to all commands"
            f" with --mapping {shown_path(target)}."
        )
        output().record(fix={"option": "--fix", "file": str(target)})
    elif fix:
        path = _write_mapping(loaded, log, mapping, diagnosis, force)
        with progress_bar("examining the log again"):
            after = sy.doctor(
                loaded, read_log_file(log, loaded, path, effort, quiet=True, clean=False)
            )
        output().wrote(
            f"wrote {shown_path(path)}; with --mapping {shown_path(path)} the diagnosis is:"
            f" {after}",
            path,
        )
    if diagnosis.usable and not diagnosis.faults:
        words = " ".join((shell_word(robot), shell_word(str(log)), "-o results"))
        more = reading_words(options, config)
        output().next(f"Identify the robot: steelyard identify {words}{more}")
    if diagnosis.faults or not diagnosis.usable:
        raise typer.Exit(FOUND)


def _finding_text(finding: Finding) -> str:
    """Return a finding with its probability and its remedy."""
    return (
        f"{finding.fault} ({finding.probability:.0%}). {finding.sentence} {finding.remedy}".rstrip()
    )


def _write_mapping(
    robot: Robot, log: Path, mapping: Path | None, diagnosis: Diagnosis, force: bool
) -> Path:
    """Write the mapping of the log with the correction of the doctor added."""
    from ...files import write_atomic
    from ...signals import corrected_mapping

    assert diagnosis.correction is not None
    base = mapping or (log if log.suffix.lower() == ".toml" else None)
    reasons = (str(each) for each in diagnosis.findings if not each.hypotheses)
    text = corrected_mapping(diagnosis.correction, robot.joint_names, base, reasons)
    return write_atomic(_mapping_file(log), text.encode(), force)


def _mapping_file(log: Path) -> Path:
    """Return the path of the correction of a log."""
    return log.with_name(f"{log.stem}.mapping.toml")


@takes_options(lambda: LOG_GROUPS)
def validate(
    robot: Annotated[
        str,
        typer.Argument(
            metavar="ROBOT",
            help="A built-in name, a file, or the fit.json (or folder) that identify wrote.",
        ),
    ],
    log: LogPath,
    against: Annotated[
        str | None, typer.Option(metavar="ROBOT", help="Another robot to compare with.")
    ] = None,
    config: ConfigPath = None,
    full: Full = False,
    *,
    options: TypedOptions,
) -> None:
    """Compare predicted torques with another log.

    RMS, relative error and R² of every joint. With the result of an identification the verdict is
    decided again, by the rules of `identify`, with this log taken into account. The exit code is 0
    for "trusted" and "trusted within", 3 for "doubtful", 4 for "refused".
    """
    require_files(robot, log)
    require_files(against)

    from ...identification import validate_robots
    from ...identification.result.saved.plain_data import validation_data
    from ...reporting.results import fit_file, held_joints, identified_robot, saved_decision
    from ...reporting.tables import compared_errors
    from ..config import columns_of, read_config
    from ..inputs import load_robot, read_log_file
    from ..joint_selection import joint_options, select_joints
    from ..output import output
    from ..show.identification import show_next, show_verdict
    from ..show.progress import progress_bar

    file = read_config(config)
    mapping, effort = columns_of(file, options)
    loaded = [identified_robot(name, load_robot) for name in (robot, against) if name is not None]
    known = held_joints(robot) or held_joints(against or "")
    robots = [select_joints(each, *joint_options(options), file, known).robot for each in loaded]
    with progress_bar("reading the log") as progress:
        measured = read_log_file(log, robots[0], mapping, effort)
        saved = saved_decision(robot, robots[0])
        same: dict[str, Any] = (
            {}
            if saved is None
            else {
                "preparation": saved.preparation,
                "gains": saved.gains,
                "region": saved.inputs.region,
            }
        )
        scored = validate_robots(robots, measured, progress=progress, **same)
    results = list(zip(("model", "other") if against else ("",), scored, strict=True))
    units = robots[0].torque_units
    verdict = None if saved is None else saved.verdict(scored[0])
    if verdict is not None:
        show_verdict(verdict, full=full)
    elif fit_file(robot) is not None:
        output().remark(
            f"{robot} does not hold the inputs of a verdict on these joints; run `steelyard"
            " identify` again to get one"
        )
    output().show(compared_errors(robots[0].joint_names, results, units))
    output().record(**{label or "model": validation_data(each, units) for label, each in results})
    if verdict is not None:
        show_next(verdict, reading_words(options, config), full)
    if verdict is not None and EXIT_CODES[verdict.word]:
        raise typer.Exit(EXIT_CODES[verdict.word])
