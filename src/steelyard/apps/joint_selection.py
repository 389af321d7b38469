"""Select the joints of a robot that a log or a motion has.

The other joints are locked at given positions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import CallError, suggest
from .inputs import parse_number
from .output import output

if TYPE_CHECKING:
    from ..identification import Fit
    from ..robot import Robot

Positions = Mapping[str, float | None]


class SelectedJoints(NamedTuple):
    """A robot with locked joints, the whole robot, and the positions of locked joints [rad|m]."""

    robot: Robot
    whole: Robot
    fixed_positions: Mapping[str, float]

    def restore(self, identified: Robot) -> Robot:
        """Return the whole robot with the identified parameters of the selected joints.

        Locked joints are unchanged.
        """
        return identified.thaw(self.whole) if self.fixed_positions else identified

    def with_note(self, fit: Fit) -> Fit:
        """Return a fit with a note on which joints were locked."""
        if not self.fixed_positions:
            return fit
        estimate = replace(fit.estimate, notes=(*fit.estimate.notes, self.sentence))
        return replace(
            fit,
            estimate=estimate,
            provenance={**fit.provenance, "held": dict(self.fixed_positions)},
        )

    @property
    def sentence(self) -> str:
        """Where joints are held; '' for none."""
        places = ", ".join(f"{name} at {value:g}" for name, value in self.fixed_positions.items())
        return f"Joints that were held [rad|m]: {places}." if places else ""


def joint_options(typed: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the options `joints` and `freeze` among those that were typed."""
    return typed.get("joints"), typed.get("freeze")


def select_joints(
    whole: Robot,
    joints: Any = None,
    freeze: Any = None,
    file: Mapping[str, Any] | None = None,
    known: Positions | None = None,
) -> SelectedJoints:
    """Return a robot of which only `joints` move, or all joints except `freeze`.

    Names, and patterns such as arm_*.

    Typed options take precedence over a file. A joint without a position is locked at zero, or at
    the nearest position within its limits. `known` are positions of joints that were locked before;
    without other options they say which joints are locked.
    """
    options = file or {}
    moving, fixed = _asked("", joints, freeze, whole)
    moving_there, held_there = _asked(
        " of the file", options.get("joints"), options.get("freeze"), whole
    )
    if moving is None and moving_there is not None:
        moving = {name: None for name in moving_there if name not in fixed}
    asked = {
        name: value for name, value in held_there.items() if name not in (moving or {})
    } | fixed
    if moving is not None:
        asked |= {
            name: (known or {}).get(name)
            for name in whole.joint_names
            if name not in {**moving, **asked}
        }
    elif not asked:
        asked = dict(known or {})
    if len(asked) == whole.n:
        raise CallError(
            f"all {whole.n} joints are held; name joints that move with --joints:"
            f" {', '.join(whole.joint_names)}"
        )
    positions_of = {
        name: _within_limits(whole, name) if value is None else value
        for name, value in asked.items()
    }
    selected = SelectedJoints(
        whole.freeze(positions_of) if positions_of else whole, whole, positions_of
    )
    if positions_of:
        output().say(selected.sentence)
    return selected


def _asked(
    where: str, joints: Any, freeze: Any, whole: Robot
) -> tuple[dict[str, float | None] | None, dict[str, float | None]]:
    """Return the joints that are to move, None for any, and those that are to be held.

    CallError for one that is among both.
    """
    fixed = _expanded(f"--freeze{where}", positions(f"--freeze{where}", freeze) or {}, whole)
    if not joints:
        return None, fixed
    moving = _expanded(
        f"--joints{where}", dict.fromkeys(name_list(f"--joints{where}", joints)), whole
    )
    both = [name for name in moving if name in fixed]
    if both:
        raise CallError(
            f"joint {both[0]!r} is to move by --joints{where} and to be held by --freeze: leave it"
            " out of one of them"
        )
    return moving, fixed


def positions(option: str, values: Any) -> dict[str, float | None] | None:
    """Return name -> position from texts such as 'finger=0.02,head_*' or from what a file says.

    A list of names, or a table.
    """
    if not values:
        return None
    if isinstance(values, Mapping):
        for name, value in values.items():
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise CallError(f"{option}, {name}: {value!r} is not a position [rad|m]")
        return {name: float(value) for name, value in values.items()}
    by_name: dict[str, float | None] = {}
    for text in name_list(option, values):
        name, sign, value = text.partition("=")
        by_name[name.strip()] = (
            parse_number(f"{option}, {name.strip()}", value.strip()) if sign else None
        )
    return by_name


def name_list(option: str, value: Any) -> list[str]:
    """Return names from one text or several, each with commas or not."""
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, (list, tuple)) or not all(isinstance(text, str) for text in texts):
        raise CallError(f"{option} must be names of joints, not {value!r:.200}")
    names = [name.strip() for text in texts for name in text.split(",") if name.strip()]
    if not names:
        raise CallError(f"{option} names no joint")
    return names


def _expanded(option: str, patterns: Positions, robot: Robot) -> dict[str, float | None]:
    """Return joint -> position for names and patterns; CallError for one that fits no joint."""
    by_joint: dict[str, float | None] = {}
    for pattern, value in patterns.items():
        matching = (
            [pattern]
            if _is_joint(robot, pattern)
            else [name for name in robot.joint_names if fnmatchcase(name, pattern)]
        )
        if not matching:
            raise CallError(
                f"{option}: no joint is called {pattern!r}; {suggest(pattern, robot.joint_names)}"
            )
        by_joint |= dict.fromkeys(matching, value)
    return by_joint


def _is_joint(robot: Robot, name: str) -> bool:
    """Whether a joint of the description has this name.

    Mimic joints count too; locking one raises an error that names the joint it mimics.
    """
    return any(joint.name == name for joint in robot.mechanism.joints)


def _within_limits(robot: Robot, name: str) -> float:
    """Return zero, or the position nearest to it within the limits of the joint [rad|m]."""
    limits = robot.mechanism.joint(name).limits
    return min(max(0.0, limits.lower), limits.upper)
