"""Loading a robot for a command: what loading warns about becomes a sentence on stderr, not a line of Python."""

from __future__ import annotations

import math
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..errors import CallError, LogError, SteelyardWarning

if TYPE_CHECKING:
    from ..robot import Robot
    from ..signals.log import Log
if TYPE_CHECKING:
    from ..robot import Robot


def load(name: str, quiet: bool = False) -> Robot:
    """The robot; its warnings on stderr unless `quiet`, for commands that show the remarks themselves."""
    import steelyard as sy

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        robot = sy.load(name)
    for warning in caught:
        if quiet or not issubclass(warning.category, SteelyardWarning):
            continue  # what other packages warn their developers of is not for users
        print(f"steelyard: warning: {warning.message}", file=sys.stderr)
    return robot


def read(path: Path, robot: Robot, mapping: Path | None = None, effort: str | None = None, quiet: bool = False) -> Log:
    """The log of a file, its columns matched to the robot's joints; its remarks on stderr unless `quiet`."""
    from ..signals.read.read_log import read_log

    if not path.exists():
        raise LogError(f"there is no file {path}")
    log = read_log(path, robot, mapping, effort)
    for remark in log.remarks if not quiet else ():
        print(f"steelyard: {path}: {remark}", file=sys.stderr)
    return log


def per_joint(option: str, text: str, robot: Robot) -> NDArray[np.float64]:
    """One number per joint from '0.1, 30deg, -2': in SI units, or in degrees where it says so."""
    joints = robot.joint_names
    slides = [robot.mechanism.joint(joint).kind == "prismatic" for joint in joints]
    cells = [cell.strip() for cell in text.split(",")]
    if len(cells) != len(joints):
        raise CallError(f"{option} has {len(cells)} numbers where {len(joints)} were expected, for {', '.join(joints)}")
    return np.array([_number(option, *cell) for cell in zip(cells, joints, slides, strict=True)])


def _number(option: str, cell: str, joint: str, slides: bool) -> float:
    digits, degrees = (cell[:-3], True) if cell.lower().endswith("deg") else (cell, False)
    try:
        value = float(digits)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise CallError(f"{option}, joint {joint}: {cell!r} is not a number; write for example 0.5 or 30deg")
    if degrees and slides:
        raise CallError(f"{option}, joint {joint}: {cell!r} is an angle, but this joint slides; give metres")
    return math.radians(value) if degrees else value
