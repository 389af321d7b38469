"""Python lines and commands that repeat the actions of the page."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .window import NamedFit, PageWindow

Array = NDArray[np.float64]
YOURS = "your-file"  # a placeholder: the path of an upload is not known
YOURS_LOG = f"{YOURS}.csv"


def python_lines(window: PageWindow, *lines: str, log: bool = False) -> str:
    """Return lines after those that load the window's robot and, if asked, its log."""
    first = ["import steelyard as sy", "", f"robot = sy.load({robot_file(window)!r})"]
    if log:
        first.append(f"log = sy.read_log({log_file(window)!r}, robot)")
    return "\n".join([*first, *lines])


def command_line(name: str, *words: str, **options: Any) -> str:
    """Return a command line; options that are None or False are omitted."""
    parts = ["steelyard", name, *words]
    for key, value in options.items():
        spelled = "--" + key.replace("_", "-") if len(key) > 1 else f"-{key}"
        if value is None or value is False:
            continue
        parts += [spelled] if value is True else [spelled, str(value)]
    return shlex.join(parts)


def robot_file(window: PageWindow) -> str:
    """Return the name of the robot on a command line."""
    return window.robot_name or f"{YOURS}.urdf"


def log_file(window: PageWindow) -> str:
    """Return the name of the log on a command line."""
    return window.log_name or YOURS_LOG


def fit_lines(named: NamedFit) -> tuple[str, str]:
    """Return the Python lines and the command that repeat a fit, and its validation if any."""
    if named.validation is None:
        return named.python, named.command
    line = (
        f"validation = fit.validate(sy.read_log({named.validated_on!r},"
        " robot))\nprint(validation.verdict)\nprint(validation)"
    )
    return (
        f"{named.python}\n{line}",
        f"{named.command} --validate {shlex.quote(named.validated_on)}",
    )


def array_source(values: Any) -> str:
    """Return an array as it is written in Python, with six digits."""
    return "[" + ", ".join(f"{float(x):.6g}" for x in np.asarray(values).ravel()) + "]"


def keywords(options: Mapping[str, Any]) -> str:
    """Return the keyword arguments of a call, each after a comma; None is omitted."""
    return "".join(f", {name}={value!r}" for name, value in options.items() if value is not None)


def state_lines(window: PageWindow, qd: Array, qdd: Array) -> str:
    """Return the lines that compute the quantities in the view of the robot."""
    frame = f", {window.frame!r}" if window.frame else ""
    lines = [
        f"q = {array_source(window.q)}  # rad or m",
        f"qd, qdd = {array_source(qd)}, {array_source(qdd)}",
        "print(robot.gravity_torque(q))",
        "print(robot.inverse_dynamics(q, qd, qdd))",
        "print(robot.mass_matrix(q))",
    ]
    if frame:
        lines += [
            f"print(robot.forward_kinematics(q{frame}))",
            f"print(robot.manipulability(q{frame}))",
        ]
    return python_lines(window, *lines)


def torque_command(window: PageWindow, qd: Array, qdd: Array) -> str:
    """Return the command that prints the torques of a state."""
    texts = {
        name: ",".join(f"{float(x):.6g}" for x in values)  # type: ignore[union-attr]
        for name, values in (("q", window.q), ("qd", qd), ("qdd", qdd))
    }
    return (
        "steelyard torque "
        + shlex.quote(robot_file(window))
        + "".join(f" --{name}={value}" for name, value in texts.items())
    )
