"""Joint terms that are to be found: the robot with a column for each, and with the shapes of its friction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...arguments import instance, whole_number
from ...errors import CallError, suggest
from ...mechanism.joint_terms import COUPLING_TERMS, FRICTION
from ...mechanism.model import Coupling, Mechanism
from ...mechanism.parameter_vector import with_joint_values
from ...robot import Robot

USUAL = ("viscous", "coulomb", "offset")
TERMS = {**{row.key: row.key for row in FRICTION if row.linear}, "stribeck": "stiction"}  # words of `friction`: key of the table
START = {"stribeck": 0.1}
"""Values of the shapes from which a search starts where the robot has none [rad/s|m/s]."""


def complete(robot: Robot, keys: Sequence[str], rotor: bool = True) -> Robot:
    """Return the robot with these friction terms and, if asked, a rotor inertia at every joint; its torques stay what they are.

    A joint without the term gets zero; stiction and backward friction get the value of its Coulomb friction. A joint with backward
    friction gets no offset: forward friction, backward friction and an offset cannot be told apart but at rest.
    """
    both = "negative" in keys
    robot = robot.with_joint_terms([*(["armature"] if rotor else []), *(key for key in keys if key in USUAL and key != "offset")])
    for key in keys:
        lacking = {
            name: terms.get("coulomb", 0.0)
            for name, terms in zip(robot.joint_names, robot.tree.terms, strict=True)
            if key not in terms and not (key == "offset" and (both or "negative" in terms))
        }
        if key == "offset":
            lacking = dict.fromkeys(lacking, 0.0)
        shape = {"stribeck": dict.fromkeys(lacking, START["stribeck"])} if key == "stiction" else {}
        robot = robot.with_friction(**{key: lacking}, **shape) if lacking else robot
    return robot


def coupled(robot: Robot, coupling: Coupling) -> Robot:
    """Return the robot with every linear term of a coupling, zero where it has none; joints are given by name or by number from 0."""
    a, b = (place(joint, robot.joint_names) for joint in (coupling.joint_a, coupling.joint_b))
    if a == b:
        raise CallError(f"a coupling needs two joints, not {coupling.joint_a!r} twice")
    own: Mapping[str, float] = next((each.terms for each in robot.tree.couplings if each.coordinates == (a, b)), {})
    given = {row.key: coupling.terms.get(row.key, own.get(row.key, 0.0)) for row in COUPLING_TERMS if row.linear}
    return robot.with_coupling(robot.joint_names[a], robot.joint_names[b], **given)


def place(joint: str | int, joint_names: Sequence[str]) -> int:
    """Return the index of a joint given by name or by number from 0."""
    if isinstance(joint, str):
        if joint not in joint_names:
            raise CallError(f"coupling: no joint is called {joint!r}; {suggest(joint, joint_names)}")
        return list(joint_names).index(joint)
    return whole_number("coupling: a joint that is not given by name", joint, 0, len(joint_names) - 1)


def with_shape(robot: Robot, key: str, values: Sequence[float]) -> Robot:
    """Return the robot with a shape of friction at every coordinate, 0 for none; a coupling has the larger width of its two joints."""
    bare = replace(robot.mechanism, joints=tuple(replace(j, terms=j.terms.changed({key: None})) for j in robot.mechanism.joints))
    made: Mechanism = with_joint_values(bare, {name: {key: float(v)} for name, v in zip(robot.joint_names, values, strict=True) if v > 0})
    if key == "width" and made.couplings:
        width = dict(zip(robot.joint_names, values, strict=True))
        couplings = (
            replace(each, terms=each.terms.changed({key: max(width[each.joint_a], width[each.joint_b]) or None})) for each in made.couplings
        )
        made = replace(made, couplings=tuple(couplings))
    return type(robot)(made)


def structural(robot: Robot) -> Robot:
    """Return the robot with a Stribeck velocity of 1 where it has one, and steps without width.

    A smooth step keeps a width of 1 where forward and backward friction differ: only there an offset is independent of the two.
    """
    terms = robot.tree.terms
    robot = with_shape(robot, "stribeck", [1.0 if "stribeck" in own else 0.0 for own in terms])
    return with_shape(robot, "width", [1.0 if "negative" in own and "width" in own else 0.0 for own in terms])


def check_couplings(given: Any) -> tuple[Coupling, ...]:
    """Return couplings from one or several, each a Coupling or a pair of joint names."""
    pair = isinstance(given, tuple) and len(given) == 2 and all(isinstance(x, str) for x in given)
    several = (given,) if pair or not isinstance(given, (list, tuple)) else tuple(given)
    made = [Coupling(*each) if isinstance(each, (tuple, list)) and len(each) == 2 else each for each in several]
    return tuple(instance("coupling", each, Coupling, "or a pair of joint names") for each in made)
