"""The table of trajectory file formats, and the function that writes a motion in any of them."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...arguments import real_number
from ...csv_text import csv_text
from ...drawing.figure import Axis, Curve, Figure, Panel
from ...drawing.svg_renderer import to_svg
from ...errors import CallError, ProblemError, mention, suggest
from ...files import Content, check_file, check_folder, whole_folder, write_atomic
from ...names import escape_name, program_comment
from ..trajectories.motion_check import NOTHING
from .krl import krl
from .ros import bag_folder, mcap, ros1_bag, yaml
from .sampled_motion import SampledMotion
from .urscript import urscript


@dataclass(frozen=True)
class TrajectoryFormat:
    """A trajectory file format.

    Attributes
    ----------
    name : name of the format, as in `Trajectory.write(path, format=...)`.
    endings : endings of file names, lower case, with the dot.
    description : one line on what the file holds.
    content : returns the content of the file, `content(motion, name)`; None for a folder.
    fill : writes the files of a folder, `fill(motion, folder)`; None for a file.
    rate : default rate of its samples [Hz]; None keeps the samples of the motion.
    program : whether a robot executes it; refused for motions that were not checked.
    """

    name: str
    endings: tuple[str, ...]
    description: str
    content: Callable[[SampledMotion, str], Content] | None
    rate: float | None = None
    fill: Callable[[SampledMotion, Path], None] | None = None
    program: bool = False


def csv(motion: SampledMotion, name: str) -> Content:
    """Return columns t, q.JOINT, qd.JOINT, qdd.JOINT with all digits, below the check comment."""
    columns = [f"{quantity}.{label}" for quantity in ("q", "qd", "qdd") for label in motion.labels]
    rows = np.column_stack([motion.t, motion.q, motion.qd, motion.qdd]).tolist()
    return f"# {program_comment(motion.safety.line)}\n" + csv_text(["t", *columns], rows)


def npz(motion: SampledMotion, name: str) -> Content:
    """Return arrays t (N,), q, qd, qdd (N, n), joint_names (n,) and the text `check`."""
    file = io.BytesIO()
    np.savez_compressed(
        file,
        t=motion.t,
        q=motion.q,
        qd=motion.qd,
        qdd=motion.qdd,
        joint_names=np.array(motion.labels),
        check=np.array(motion.safety.line),
    )
    return file.getvalue()


def points(motion: SampledMotion, name: str) -> Content:
    """Return one position per line [rad|m], joints separated by spaces.

    A comment above states the period and the joints.
    """
    steps = np.diff(motion.t)
    names = " ".join(escape_name(label) for label in motion.labels)
    head = (
        f"# {program_comment(motion.safety.line)}\n# {names} [rad|m]; one line every"
        f" {float(steps.mean()):.9g} s\n"
    )
    return head + "".join(" ".join(f"{x:.9f}" for x in row) + "\n" for row in motion.q.tolist())


def svg(motion: SampledMotion, name: str) -> Content:
    """Draw the positions of all joints over time [s], one panel each [rad|m]."""
    unit = Axis(title="rad or m" if motion.sliding else "rad")
    panels = [
        (Panel(marks=(Curve(x=motion.t, y=motion.q[:, i]),), y=unit, title=label),)
        for i, label in enumerate(motion.labels)
    ]
    title = f"{name}: {motion.n} joints, {motion.duration:g} s"
    return to_svg(Figure(name="motion", rows=tuple(panels), title=title))


_ROWS = (
    TrajectoryFormat("csv", (".csv",), "t, q.JOINT, qd.JOINT, qdd.JOINT with all digits", csv),
    TrajectoryFormat("npz", (".npz",), "arrays t, q, qd, qdd and joint_names", npz),
    TrajectoryFormat("points", (".txt",), "one position per line, without times", points),
    TrajectoryFormat(
        "yaml", (".yaml", ".yml"), "trajectory_msgs/JointTrajectory of ROS", yaml, program=True
    ),
    TrajectoryFormat(
        "mcap", (".mcap",), "the same message in an MCAP file of ROS 2", mcap, program=True
    ),
    TrajectoryFormat(
        "bag", (".bag",), "the same message in a bag of ROS 1", ros1_bag, program=True
    ),
    TrajectoryFormat(
        "rosbag2", (), "the same message in a folder of ROS 2", None, fill=bag_folder, program=True
    ),
    TrajectoryFormat(
        "urscript",
        (".script", ".urscript"),
        "servoj commands of Universal Robots",
        urscript,
        rate=125.0,
        program=True,
    ),
    TrajectoryFormat("krl", (".src",), "a timed PTP spline of KUKA", krl, rate=10.0, program=True),
    TrajectoryFormat("svg", (".svg",), "a picture of the positions", svg),
)
FORMATS: dict[str, TrajectoryFormat] = {row.name: row for row in _ROWS}
"""The formats by name."""


def format_of(path: str | os.PathLike[str], name: str | None = None) -> TrajectoryFormat:
    """Return the format of that name or, without a name, of the path's ending."""
    if name is not None:
        if name not in FORMATS:
            raise CallError(f"format = {name!r}; {suggest(str(name), FORMATS)}")
        return FORMATS[name]
    ending = Path(path).suffix.lower()
    for row in FORMATS.values():
        if ending in row.endings:
            return row
    known = ", ".join(
        f"{'/'.join(row.endings)} ({row.name})" for row in FORMATS.values() if row.endings
    )
    raise CallError(
        f"{os.fspath(path)}: no trajectory format has the ending {ending!r}; known: {known}, or a"
        " folder with format='rosbag2'"
    )


def check_target(
    path: str | os.PathLike[str], name: str | None = None, overwrite: bool = False
) -> None:
    """Raise CallError for an unknown ending, a missing folder, or a file that exists."""
    (check_folder if format_of(path, name).fill else check_file)(path, overwrite)


def write_trajectory(
    motion: SampledMotion,
    path: str | os.PathLike[str],
    name: str | None = None,
    rate: float | None = None,
    overwrite: bool = False,
    unchecked: bool = False,
) -> Path:
    """Write a motion atomically at a rate [Hz], or at the format's default; `Trajectory.write`."""
    chosen = format_of(path, name)
    check_target(path, name, overwrite)
    if rate is not None:
        rate = real_number("write: rate", rate, unit="Hz")
    elif chosen.rate is not None:
        rate = chosen.rate
    sampled = motion if rate is None else motion.sample(rate)
    content = chosen.content(sampled, Path(path).stem) if chosen.content is not None else None
    if chosen.program and not unchecked:
        refuse_unchecked(sampled, path)
    if content is not None:
        return write_atomic(path, content, overwrite)
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
    remedy = (
        f"design or check it with {mention('ground')} and {mention('collision')} for everything"
        " around the robot"
    )
    if check is NOTHING:
        remedy = f"check it: motion = motion.check(robot); motion.write({name!r})"
    raise ProblemError(
        f"{os.fspath(path)}: this motion is {check.line}, and a robot executes such a file;"
        f" {remedy}, or write it as it is, with {mention('unchecked', True)}"
    )
