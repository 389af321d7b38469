"""`steelyard new`: a project folder for a robot and its log."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import CallError, suggest
from ...option_groups.logs import ColumnOptions, JointSelectionOptions, TransmissionOptions
from ...options import values_of
from ..group_options import TypedOptions, takes_options
from ..inputs import ForceFolder

if TYPE_CHECKING:
    from ...robot import Robot
    from ...signals.proposed_mapping import ProposedMapping


@takes_options(lambda: (JointSelectionOptions, ColumnOptions, TransmissionOptions))
def new(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FOLDER]", help="The folder to make; the robot's name if not given."
        ),
    ] = None,
    robot: Annotated[
        str | None,
        typer.Option(metavar="ROBOT", help="A built-in name or a file; asked for if not given."),
    ] = None,
    log: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="LOG", help="A log, or several files of one, each with --log; none is fine."
        ),
    ] = None,
    position: Annotated[
        str | None,
        typer.Option(
            metavar="joint|motor", help="Where positions were measured; joint if not given."
        ),
    ] = None,
    force: ForceFolder = False,
    *,
    options: TypedOptions,
) -> None:
    """Create a project folder for a robot and its log.

    It has the mapping of the log, options and command lines. Columns of the log are matched to the
    robot's joints; joints that it lacks are fixed. On a terminal the command asks for options that
    the files do not determine; elsewhere their absence is an error that names the option.
    """
    from ...drawing.visible import visible_line
    from ...files import write_into
    from ..inputs import load_robot
    from ..joint_selection import joint_options, select_joints
    from ..output import output, shown_path
    from ..project import Project
    from ..targets import check_out_folder, make_parents

    name = robot or ask("--robot", "Robot, a built-in name or a file", None)
    loaded = load_robot(name)
    target = folder or Path(ask("FOLDER", "Folder of the project", Path(name).stem, quietly=True))
    check_out_folder(target, force)
    paths = (
        tuple(log)
        if log
        else tuple(
            Path(each)
            for each in ask("--log", "Log, or several files of one (empty: none)", "", True).split()
        )
    )
    joints, freeze = joint_options(options)
    stated = values_of(ColumnOptions, options)
    proposal = matched(paths, loaded, joints, freeze, stated) if paths else None
    moving = (
        proposal.joints if proposal else select_joints(loaded, joints, freeze).robot.joint_names
    )
    selection = selection_of(loaded, moving, joints, freeze)
    gears = {name: options.get(name) for name in ("ratio", "torque_constant")}
    mapping = (
        None
        if proposal is None
        else {**proposal.fields, **transmission_of(proposal, moving, gears, position)}
    )
    project = Project(
        folder=target,
        robot=name,
        logs=paths,
        mapping=mapping,
        options=selection,
        sentences=sentences_of(proposal, mapping),
    )
    make_parents(target)
    write_into(target, project.files(), force)
    screen = output()
    screen.show(*(f"• {visible_line(sentence)}" for sentence in project.sentences))
    screen.record(
        robot=name,
        joints=list(moving),
        mapping=mapping,
        options=selection,
        lines=project.lines(Path()),
    )
    written = [target / file for file in project.files()]
    lines = "\n".join(f"  {visible_line(line)}" for line in project.lines(Path()))
    screen.wrote(
        f"wrote {shown_path(', '.join(project.files()))} to {shown_path(target)}."
        f" The next lines:\n{lines}",
        *written,
    )


def ask(option: str, question: str, usual: str | None, quietly: bool = False) -> str:
    """Return the answer to a question on the terminal.

    Without one the usual answer if `quietly`, else CallError that names the option.
    """
    if not sys.stdin.isatty():
        if quietly and usual is not None:
            return usual
        raise CallError(f"{question}? There is no terminal to ask on: give {option}")
    return str(typer.prompt(question, default=usual, err=True, show_default=bool(usual))).strip()


def matched(
    paths: Sequence[Path], robot: Robot, joints: Any, freeze: Any, stated: dict[str, Any]
) -> ProposedMapping:
    """Return the mapping of a log, after asking for information that its files lack."""
    from ...signals.proposed_mapping import propose_mapping
    from ..joint_selection import select_joints

    candidates = select_joints(robot, joints, freeze).robot.joint_names
    proposal = propose_mapping(paths, candidates, **stated)
    if "rate" in proposal.unknown:
        stated["rate"] = positive(
            "--rate", ask("--rate HZ", "The log has no time. Samples a second [Hz]", None)
        )
    if "effort" in proposal.unknown:
        stated["effort"] = known_word(
            "--effort",
            ask("--effort torque|current", "Is effort torque or current", None),
            ("torque", "current"),
        )
    return propose_mapping(paths, candidates, **stated) if proposal.unknown else proposal


def positive(option: str, text: str) -> float:
    """Return a positive number."""
    from ..inputs import parse_number

    value = parse_number(option, text)
    if value <= 0:
        raise CallError(f"{option} must be a positive number, not {text}")
    return value


def known_word(option: str, text: str, known: Sequence[str]) -> str:
    """Return a word that is known."""
    if text not in known:
        raise CallError(f"{option}: {text!r}; {suggest(text, known)}")
    return text


def selection_of(robot: Robot, moving: Sequence[str], joints: Any, freeze: Any) -> dict[str, Any]:
    """Return what the file of options says of joints.

    Those that move, and where the others are held.
    """
    from ..joint_selection import select_joints

    if set(moving) == set(robot.joint_names):
        return {}
    typed = {name for name in select_joints(robot, joints, freeze).fixed_positions if freeze}
    fixed = select_joints(
        robot,
        list(moving),
        None,
        None,
        select_joints(robot, None, freeze).fixed_positions if typed else None,
    ).fixed_positions
    return {"joints": list(moving), "freeze": dict(fixed)}


def transmission_of(
    proposal: ProposedMapping, joints: Sequence[str], gears: dict[str, Any], position: str | None
) -> dict[str, Any]:
    """Return the transmission of a mapping.

    Gear ratios and torque constants as typed, or as they are asked for where torque is needed.
    """
    from ..inputs import by_joint_option
    from ..project import numbers_by_joint

    side = known_word("--position", position or "joint", ("joint", "motor"))
    if "torque_constant" in proposal.unknown and gears["torque_constant"] is None:
        text = ask(
            "--torque-constant",
            "Torque constants of the motors [N m/A], one number or one per joint (empty: not"
            " known)",
            "",
            True,
        )
        gears["torque_constant"] = by_joint_option("--torque-constant", text) if text else None
        if text and gears["ratio"] is None:
            gears["ratio"] = by_joint_option(
                "--ratio", ask("--ratio", "Gear ratios, one number or one per joint", "1", True)
            )
    table = {
        key: numbers_by_joint(value, joints) for key, value in gears.items() if value is not None
    }
    return {"transmission": {**table, "position": side}} if table else {}


def sentences_of(
    proposal: ProposedMapping | None, mapping: dict[str, Any] | None
) -> tuple[str, ...]:
    """Return what was found in a log, and which options are still missing."""
    if proposal is None or mapping is None:
        return ("There is no log yet: replace LOG by its path.",)
    log = proposal.log
    size = (
        () if log is None else (f"{log.N} samples at {log.rate:.4g} Hz: {', '.join(log.signals)}.",)
    )
    lacking = "torque_constant" in proposal.unknown and "torque_constant" not in mapping.get(
        "transmission", {}
    )
    current = (
        "The log has currents and no torques: add torque_constant [N m/A], and ratio, to a table"
        " [transmission] of the mapping."
    )
    return (
        *proposal.sentences,
        *size,
        *(log.remarks if log else ()),
        *((current,) if lacking else ()),
    )
