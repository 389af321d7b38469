"""The formats in which a motion can be written, one row each; the ending of the name chooses among them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ...arguments import real_number
from ...errors import CallError, ProblemError, suggest
from ...files import Content, check_file, check_folder, whole_folder, write_whole
from ..trajectories.motion_check import NOTHING
from .krl import krl
from .picture import svg
from .ros import bag_folder, mcap, ros1_bag, yaml
from .sampled_motion import SampledMotion
from .tables import csv, npz, points
from .urscript import urscript


class TrajectoryFormat(NamedTuple):
    """How a motion is written: `content(motion, name)`, the endings that mean it, the rate [Hz] that it is sampled at, None for its own.

    A format that is a folder has `fill(motion, folder)` instead. `program` marks what a robot obeys: it is refused for motions that were
    not checked.
    """

    name: str
    endings: tuple[str, ...]
    meaning: str
    content: Callable[[SampledMotion, str], Content] | None
    rate: float | None = None
    fill: Callable[[SampledMotion, Path], None] | None = None
    program: bool = False


FORMATS = {
    row.name: row
    for row in (
        TrajectoryFormat("csv", (".csv",), "t, q.JOINT, qd.JOINT, qdd.JOINT with all digits", csv),
        TrajectoryFormat("npz", (".npz",), "arrays t, q, qd, qdd and joint_names", npz),
        TrajectoryFormat("points", (".txt",), "one position a line, without times", points),
        TrajectoryFormat("yaml", (".yaml", ".yml"), "trajectory_msgs/JointTrajectory of ROS", yaml, program=True),
        TrajectoryFormat("mcap", (".mcap",), "the same message in an MCAP file of ROS 2", mcap, program=True),
        TrajectoryFormat("bag", (".bag",), "the same message in a bag of ROS 1", ros1_bag, program=True),
        TrajectoryFormat("rosbag2", (), "the same message in a folder of ROS 2", None, fill=bag_folder, program=True),
        TrajectoryFormat("urscript", (".script", ".urscript"), "servoj commands of Universal Robots", urscript, 125.0, program=True),
        TrajectoryFormat("krl", (".src",), "a timed PTP spline of KUKA", krl, 10.0, program=True),
        TrajectoryFormat("svg", (".svg",), "a picture of the positions", svg),
    )
}
"""The formats by name."""


def format_of(path: str | os.PathLike[str], name: str | None = None) -> TrajectoryFormat:
    """The format of that name, or else the one that the ending of the path means."""
    if name is not None:
        if name not in FORMATS:
            raise CallError(f"format = {name!r}; {suggest(str(name), FORMATS)}")
        return FORMATS[name]
    ending = Path(path).suffix.lower()
    for row in FORMATS.values():
        if ending in row.endings:
            return row
    known = ", ".join(f"{'/'.join(row.endings)} ({row.name})" for row in FORMATS.values() if row.endings)
    raise CallError(f"{os.fspath(path)}: no format of motions ends with {ending!r}; known are {known}, or give format='rosbag2'")


def check_target(path: str | os.PathLike[str], name: str | None = None, overwrite: bool = False) -> None:
    """Raise CallError if a motion could not be written there: an unknown ending, a missing folder, a file that exists."""
    (check_folder if format_of(path, name).fill else check_file)(path, overwrite)


def write_trajectory(
    motion: SampledMotion,
    path: str | os.PathLike[str],
    name: str | None = None,
    rate: float | None = None,
    overwrite: bool = False,
    unchecked: bool = False,
) -> Path:
    """Write a motion, whole or not at all, at a rate [Hz] or the format's own; see `Trajectory.write`."""
    chosen = format_of(path, name)
    check_target(path, name, overwrite)
    wanted = chosen.rate if rate is None else real_number("write: rate", rate, unit="Hz")
    sampled = motion if wanted is None else motion.sample(wanted)
    content = chosen.content(sampled, Path(path).stem) if chosen.content is not None else None
    if chosen.program and not unchecked:
        refuse_unchecked(sampled, path)
    if content is not None:
        return write_whole(path, content, overwrite)
    assert chosen.fill is not None
    with whole_folder(path, overwrite) as folder:
        chosen.fill(sampled, folder)
    return Path(path)


def refuse_unchecked(motion: SampledMotion, path: str | os.PathLike[str]) -> None:
    """Raise ProblemError for a motion that is not fully checked."""
    check = motion.safety
    if check.checked:
        return
    name = Path(path).name
    remedy = "design or check it with ground= and collision= for all of its surroundings"
    if check is NOTHING:
        remedy = f"check it: motion = motion.check(robot); motion.write({name!r})"
    raise ProblemError(
        f"{os.fspath(path)}: this motion is {check.line}, and a robot would obey the file; {remedy},"
        " or write it as it is, with unchecked=True"
    )
