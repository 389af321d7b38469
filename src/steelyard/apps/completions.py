"""Completion of command lines in a shell.

Robots, joints and links of the named robot, and values of options.

A function that returns nothing leaves the word to the shell, which completes names of files.
"""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from ..errors import SteelyardError
from .table_words import estimator_names

if TYPE_CHECKING:
    from ..mechanism import Mechanism

Complete = Callable[[typer.Context, str], list[str]]
# a .xacro is a program, which is not run for the sake of a name
DESCRIPTIONS = (".urdf", ".xml", ".toml")


def robots(incomplete: str) -> list[str]:
    """Return built-in robots that begin so, with the descriptions and folders that do.

    Nothing where no built-in one does.
    """
    from ..mechanism.known_robots import built_in_names

    matching = [name for name in built_in_names() if name.startswith(incomplete)]
    if not matching:
        return []
    beside = (
        [
            path
            for path in Path().glob(f"{incomplete}*")
            if path.suffix.lower() in DESCRIPTIONS or path.is_dir()
        ]
        if incomplete
        else []
    )
    return [*matching, *sorted(f"{path}/" if path.is_dir() else str(path) for path in beside)]


def words(*known: str) -> Complete:
    """Return a completion by words."""

    def complete(context: typer.Context, incomplete: str) -> list[str]:
        return [word for word in known if word.startswith(incomplete)]

    return complete


def joints(context: typer.Context, incomplete: str) -> list[str]:
    """Return the joints of the robot on the line; after a comma the next one."""
    return _listed(incomplete, _joints(_robot(context)))


def links(context: typer.Context, incomplete: str) -> list[str]:
    """Return the links of the robot on the line; after a comma the next one."""
    robot = _robot(context)
    return _listed(incomplete, () if robot is None else [link.name for link in robot.links])


def parameters(context: typer.Context, incomplete: str) -> list[str]:
    """Return links and joints of the robot on the line, and after a dot the parameters of one."""
    from ..mechanism import reduce
    from ..mechanism.parameter_vector import parameter_names

    robot = _robot(context)
    if robot is None:
        return []
    if "." in incomplete.rpartition(",")[2]:
        return _listed(incomplete, parameter_names(reduce(robot)))
    return _listed(incomplete, [*(link.name for link in robot.links), *_joints(robot)])


def estimators(incomplete: str) -> list[str]:
    """Return the names of estimators."""
    return [name for name in estimator_names() if name.startswith(incomplete)]


def friction_terms(incomplete: str) -> list[str]:
    """Return the words of friction."""
    from ..identification.model.joint_terms import TERMS

    return [name for name in ("auto", *TERMS) if name.startswith(incomplete)]


COMPLETIONS: dict[str, Callable[..., list[str]]] = {
    **dict.fromkeys(("robot", "robots", "against"), robots),
    **dict.fromkeys(
        (
            "joints",
            "freeze",
            "coupling",
            "mask",
            "gear_ratio",
            "ratio",
            "torque_constant",
            "region",
            "noise",
        ),
        joints,
    ),
    **dict.fromkeys(("velocity", "acceleration", "jerk", "effort"), joints),
    **dict.fromkeys(("link", "frame", "flange", "box", "wrench", "known_mass"), links),
    "hold": parameters,
    "accuracy": parameters,
    "estimator": estimators,
    "friction": friction_terms,
}
"""Parameter of a command -> what completes it."""


def completed(parameter: inspect.Parameter) -> inspect.Parameter:
    """Return a parameter of a command with its completion.

    The words of its metavar, such as 'torque|current', or by the table.
    """
    kind, info = get_args(parameter.annotation)[:2]
    listed = str(info.metavar or "").split("|")
    complete = (
        words(*listed)
        if len(listed) > 1 and all(map(str.islower, listed))
        else COMPLETIONS.get(parameter.name)
    )
    if complete is None or Path in (kind, *get_args(kind)):  # files are completed by the shell
        return parameter
    completing = copy.copy(info)
    completing.autocompletion = complete
    return parameter.replace(annotation=Annotated[kind, completing])


def _listed(incomplete: str, names: Iterable[str]) -> list[str]:
    """Return names that continue a list with commas; those that are in it already are left out."""
    before, comma, last = incomplete.rpartition(",")
    used = before.split(",")
    return [
        f"{before}{comma}{name}" for name in names if name.startswith(last) and name not in used
    ]


def _joints(robot: Mechanism | None) -> Sequence[str]:
    """Return the joints that move on their own."""
    return (
        ()
        if robot is None
        else [joint.name for joint in robot.joints if joint.kind != "fixed" and joint.mimic is None]
    )


def _robot(context: typer.Context) -> Mechanism | None:
    """Return the description of the robot that stands on the line.

    None where there is none yet, or none that can be read.
    """
    from ..mechanism.load import load

    # what was left when an option without its value ended the parsing
    rest: list[str] = context.args
    name = context.params.get("robot") or next(iter(rest), None)
    if not isinstance(name, str) or name.lower().endswith(".xacro"):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return load(_described(name))
        except (SteelyardError, OSError):
            return None


def _described(name: str) -> str:
    """Return the file of the robot that a name means.

    Of a result of identify the identified one.
    """
    if not (Path(name).is_dir() or name.endswith(".json")):
        return name
    from ..reporting.results import ROBOTS, fit_file

    fit = fit_file(name)
    robot = (
        None
        if fit is None
        else next((fit.parent / file for file in ROBOTS if (fit.parent / file).exists()), None)
    )
    return name if robot is None else str(robot)
