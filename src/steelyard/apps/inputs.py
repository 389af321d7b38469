"""Inputs of commands: shared arguments, robots and logs by name, numbers per joint."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import option_values
from ..errors import CallError, LogError, ModelError, SteelyardError, SteelyardWarning
from ..names import shell_word
from ..option_groups.logs import JointSelectionOptions, LogReadingOptions
from ..options import options_of, parse_text
from .help_text import OUTPUT_PANEL
from .table_words import LOG_ENDINGS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..robot import Robot
    from ..signals.log import Log

ADDRESS = re.compile(r"^([a-z][a-z0-9+.-]+):/(?=[^/])")  # a path has lost one of the two
RobotName = Annotated[str, typer.Argument(metavar="ROBOT", help="A built-in name or a file.")]
LogPath = Annotated[
    Path, typer.Argument(metavar="LOG", help=f"A log: {LOG_ENDINGS}, or a rosbag2 folder.")
]
LOG_GROUPS = (JointSelectionOptions, LogReadingOptions)
"""Groups of options that commands with a log have."""
ConfigPath = Annotated[
    Path | None,
    typer.Option(metavar="TOML", help="Options in a file; typed options replace them."),
]
ForceFile = Annotated[
    bool,
    typer.Option("--force", help="Replace a file that exists.", rich_help_panel=OUTPUT_PANEL),
]
Unchecked = Annotated[
    bool, typer.Option("--unchecked", help="Write programs of a motion that is not fully checked.")
]
Full = Annotated[
    bool,
    typer.Option(
        "--full",
        help="Print every table and reason, not one screen.",
        rich_help_panel=OUTPUT_PANEL,
    ),
]
ForceFolder = Annotated[
    bool,
    typer.Option(
        "--force", help="Write into DIR although it is not empty.", rich_help_panel=OUTPUT_PANEL
    ),
]


def out_option(metavar: str, text: str) -> Any:
    """Declare where a command writes, `-o`, `--out` or `--output`."""
    return typer.Option(
        "--out", "-o", "--output", metavar=metavar, help=text, rich_help_panel=OUTPUT_PANEL
    )


def is_one_log(path: Path) -> bool:
    """Return whether a path names one file or bag: no folder of logs, pattern or address."""
    if path.exists():
        return not path.is_dir() or (path / "metadata.yaml").is_file()
    return not (ADDRESS.match(str(path)) or any(letter in str(path) for letter in "*?["))


def require_files(robot: str | None, *logs: Path | None) -> None:
    """Raise at once if the file of a robot or a log is absent, before slow imports.

    The text of a description and the fit.json of a result are left to their readers.
    """
    from ..resource_limits import exists

    robot = robot or ""
    is_file = "<" not in robot and Path(robot).suffix not in ("", ".json")
    if is_file and not exists(Path(robot), ModelError):
        from ..mechanism.load import load

        load(robot)
    for path in logs:
        if path is not None and is_one_log(path) and not exists(path, LogError):
            raise LogError(f"there is no file {path}")


def reading_words(options: Mapping[str, Any], config: Path | None) -> str:
    """Return the typed options of reading a log, to end a command line with; '' for none."""
    words = [] if config is None else ["--config", shell_word(str(config))]
    for each in (option for group in LOG_GROUPS for option in options_of(group)):
        value = options.get(each.name)
        if value not in (None, [], {}):
            words += [each.flag, shell_word(_typed_text(value))]
    return "".join(f" {word}" for word in words)


def _typed_text(value: Any) -> str:
    """Return the value of an option as it is typed: names or NAME=VALUE with commas."""
    if isinstance(value, Mapping):
        parts = [name if x is None else f"{name}={x:g}" for name, x in value.items()]
        return ",".join(parts)
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def load_robot(name: str, quiet: bool = False) -> Robot:
    """Load a robot.

    Its warnings go to stderr, unless `quiet`, for commands that show the remarks themselves.
    """
    import steelyard as sy

    from .output import output

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        robot = sy.load(name)
    for warning in caught:
        if issubclass(warning.category, SteelyardWarning) and not quiet:
            output().remark(f"warning: {warning.message}")
    output().say(f"{name}: {robot.n} joints, {', '.join(robot.joint_names)}")
    return robot


def read_log_file(
    path: Path,
    robot: Robot,
    mapping: Path | None = None,
    effort: str | None = None,
    quiet: bool = False,
    clean: bool = True,
) -> Log:
    """Read a log, its columns matched to the robot's joints.

    Its remarks go to stderr unless `quiet`. `clean` as in `read_log`.
    """
    from ..resource_limits import exists
    from ..signals import read_log
    from .output import output

    if not exists(path, LogError):
        raise LogError(f"there is no file {path}")
    try:
        log = read_log(path, robot, mapping, effort, clean=clean)
    except LogError as error:
        hint = _only_some(path, robot, mapping, effort)
        raise LogError(f"{error.message}{hint}", argument=error.argument) from None
    for remark in log.remarks if not quiet else ():
        output().remark(f"{path}: {remark}")
    output().say(
        f"{path}: {log.N} samples at {log.rate:.4g} Hz, {', '.join(log.signals)} of"
        f" {', '.join(log.joint_names or ())}"
    )
    return log


def _only_some(path: Path, robot: Robot, mapping: Path | None, effort: str | None) -> str:
    """Return what to type where a log has some of the robot's joints, to end an error with.

    '' for any other log.
    """
    from ..signals import read_log

    try:
        names = read_log(path, None, mapping, effort, clean=False).joint_names or ()
    except SteelyardError:
        return ""
    shared = [name for name in robot.joint_names if name in names]
    if not 0 < len(shared) < robot.n:
        return ""
    return (
        f" The log has {len(shared)} of the robot's {robot.n} joints: --joints {','.join(shared)}"
        " fixes the others"
    )


def per_joint_option(option: str, text: str, robot: Robot) -> NDArray[np.float64]:
    """Read one number per joint, (n,), from a text such as '0.1, 30deg, -2'."""
    import numpy as np

    joints = robot.joint_names
    slides = [robot.mechanism.joint(joint).kind == "prismatic" for joint in joints]
    cells = option_values.split_numbers(text)
    if len(cells) != len(joints):
        raise CallError(
            f"{option} has {len(cells)} numbers where {len(joints)} were expected, for"
            f" {', '.join(joints)}"
        )
    return np.array([_number(option, *cell) for cell in zip(cells, joints, slides, strict=True)])


def _number(option: str, cell: str, joint: str, slides: bool) -> float:
    """Read a number of a joint; its unit, if it has one, must be one of the joint's."""
    value = parse_number(f"{option}, joint {joint}", cell)
    unit = option_values.split_unit(cell)[1]
    if unit and option_values.UNITS[unit][0].startswith("m" if not slides else "rad"):
        kind, expected = ("slides", "metres") if slides else ("turns", "radians or degrees")
        what = "an angle" if slides else "a length"
        raise CallError(
            f"{option}, joint {joint}: {cell!r} is {what}, but this joint {kind}; give {expected}"
        )
    return value


def parse_number(option: str, cell: str) -> float:
    """Read a number, with or without its unit; an error names the option."""
    return float(parse_text(option_values.number, cell, option))


def by_joint_option(option: str, text: str | None) -> float | list[float] | dict[str, float] | None:
    """Read one number, one per joint or 'joint2=1,...'; None where the option is not typed."""
    values: float | list[float] | dict[str, float] | None
    values = None if text is None else parse_text(option_values.by_joint, text, option)
    return values
