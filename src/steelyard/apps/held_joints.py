"""An arm that is part of a robot: the joints that a log or a motion has; the others are held where they are said to be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import CallError, suggest
from .inputs import number
from .output import output

if TYPE_CHECKING:
    from ..identification import Fit
    from ..robot import Robot

Positions = Mapping[str, float | None]


class Arm(NamedTuple):
    """A robot with joints held, the robot as it was, and where they are held [rad|m]."""

    robot: Robot
    whole: Robot
    held: Mapping[str, float]

    def back(self, identified: Robot) -> Robot:
        """Return the whole robot with what was found of the arm; the joints that were held are as they were."""
        return identified.thaw(self.whole) if self.held else identified

    def told(self, fit: Fit) -> Fit:
        """Return a fit that says which joints were held."""
        if not self.held:
            return fit
        estimate = replace(fit.estimate, notes=(*fit.estimate.notes, self.sentence))
        return replace(fit, estimate=estimate, provenance={**fit.provenance, "held": dict(self.held)})

    @property
    def sentence(self) -> str:
        """Where joints are held; '' for none."""
        at = ", ".join(f"{name} at {value:g}" for name, value in self.held.items())
        return f"Joints that were held [rad|m]: {at}." if at else ""


def arm_of(
    whole: Robot, joints: Any = None, freeze: Any = None, file: Mapping[str, Any] | None = None, known: Positions | None = None
) -> Arm:
    """Return a robot of which only `joints` move, or all but those of `freeze`; names, and patterns such as arm_*.

    What is typed comes before what a file says. A joint without a position is held at zero, or what is nearest to it within its limits.
    `known` are positions of joints that were held before; without all others they say which are held.
    """
    said = file or {}
    moving, held = _asked("", joints, freeze, whole)
    moving_there, held_there = _asked(" of the file", said.get("joints"), said.get("freeze"), whole)
    if moving is None and moving_there is not None:
        moving = {name: None for name in moving_there if name not in held}
    asked = {name: value for name, value in held_there.items() if name not in (moving or {})} | held
    if moving is not None:
        asked |= {name: (known or {}).get(name) for name in whole.joint_names if name not in {**moving, **asked}}
    elif not asked:
        asked = dict(known or {})
    if len(asked) == whole.n:
        raise CallError(f"all {whole.n} joints are held; name joints that move with --joints: {', '.join(whole.joint_names)}")
    at = {name: _within_limits(whole, name) if value is None else value for name, value in asked.items()}
    made = Arm(whole.freeze(at) if at else whole, whole, at)
    if at:
        output().say(made.sentence)
    return made


def _asked(where: str, joints: Any, freeze: Any, whole: Robot) -> tuple[dict[str, float | None] | None, dict[str, float | None]]:
    """Return the joints that are to move, None for any, and those that are to be held; CallError for one that is among both."""
    held = _expanded(f"--freeze{where}", positions(f"--freeze{where}", freeze) or {}, whole)
    if not joints:
        return None, held
    moving = _expanded(f"--joints{where}", dict.fromkeys(name_list(f"--joints{where}", joints)), whole)
    both = [name for name in moving if name in held]
    if both:
        raise CallError(f"joint {both[0]!r} is to move by --joints{where} and to be held by --freeze: leave it out of one of them")
    return moving, held


def positions(option: str, given: Any) -> dict[str, float | None] | None:
    """Return name -> position from texts such as 'finger=0.02,head_*' or from what a file says: a list of names, or a table."""
    if not given:
        return None
    if isinstance(given, Mapping):
        for name, value in given.items():
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise CallError(f"{option}, {name}: {value!r} is no position [rad|m]")
        return {name: float(value) for name, value in given.items()}
    made: dict[str, float | None] = {}
    for text in name_list(option, given):
        name, sign, value = text.partition("=")
        made[name.strip()] = number(f"{option}, {name.strip()}", value.strip()) if sign else None
    return made


def name_list(option: str, given: Any) -> list[str]:
    """Return names from one text or several, each with commas or not."""
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, (list, tuple)) or not all(isinstance(text, str) for text in texts):
        raise CallError(f"{option} must be names of joints, not {given!r:.200}")
    made = [name.strip() for text in texts for name in text.split(",") if name.strip()]
    if not made:
        raise CallError(f"{option} names no joint")
    return made


def _expanded(option: str, given: Positions, robot: Robot) -> dict[str, float | None]:
    """Return joint -> position for names and patterns; CallError for one that fits no joint."""
    made: dict[str, float | None] = {}
    for pattern, value in given.items():
        found = [pattern] if _is_joint(robot, pattern) else [name for name in robot.joint_names if fnmatchcase(name, pattern)]
        if not found:
            raise CallError(f"{option}: no joint is called {pattern!r}; {suggest(pattern, robot.joint_names)}")
        made |= dict.fromkeys(found, value)
    return made


def _is_joint(robot: Robot, name: str) -> bool:
    """Whether a joint of the description has this name: one that mimics another is told so when it is held."""
    return any(joint.name == name for joint in robot.mechanism.joints)


def _within_limits(robot: Robot, name: str) -> float:
    """Zero, or the position nearest to it that the joint can have [rad|m]."""
    limits = robot.mechanism.joint(name).limits
    return min(max(0.0, limits.lower), limits.upper)
