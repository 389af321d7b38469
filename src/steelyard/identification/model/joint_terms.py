"""Joint terms that are to be found.

The robot with a column for each, and with the shapes of its friction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arguments import instance, per_joint, whole_number
from ...errors import CallError, mention, suggest
from ...mechanism.joint_terms import (
    BY_KEY,
    COUNTERPART,
    COUPLING_TERMS,
    FRICTION,
    KNOWN_TORQUE,
    Terms,
)
from ...mechanism.model import Coupling, Mechanism
from ...mechanism.parameter_vector import with_joint_values
from ...mechanism.tree import TermUse
from ...robot import Robot
from .model_thresholds import THRESHOLDS

Array = NDArray[np.float64]
USUAL = ("viscous", "coulomb", "offset")
RIPPLE = tuple(row.key for row in FRICTION if row.linear and "gear" in row.needs)
LOSSES = ("driving", "driven")
TERMS = {
    **{row.key: (row.key,) for row in FRICTION if row.linear and row.key not in LOSSES},
    "stribeck": ("stiction",),
    "losses": LOSSES,
    "ripple": RIPPLE,
}
"""Words of `friction`, with the keys of the table that they stand for."""
START = {
    "stribeck": THRESHOLDS.first_stribeck_velocity,
    "distance": THRESHOLDS.first_presliding_distance,
}
"""Values of the shapes from which a search starts where the robot has none [rad/s|m/s, rad|m]."""


def complete(robot: Robot, words: Sequence[str], rotor: bool, gears: Sequence[float]) -> Robot:
    """Return the robot with these friction terms and, if asked, a rotor inertia at every joint.

    Its torques stay what they are.

    A joint with backward friction gets no offset: forward friction, backward friction and an offset
    are distinguishable only at rest.
    """
    keys = [key for word in words for key in TERMS[word]]
    if set(keys) & set(RIPPLE) and not any(gears):
        raise CallError(
            f"friction 'ripple' needs gear ratios: {mention('gear_ratio')}, or rotors that"
            " have one in the description",
            argument="friction",
        )
    robot = robot.with_joint_terms(
        [
            *(["armature"] if rotor else []),
            *(key for key in keys if key in USUAL and key != "offset"),
        ]
    )
    if "offset" in keys and "negative" not in keys:
        lacking = [
            name
            for name, terms in zip(robot.joint_names, robot.tree.terms, strict=True)
            if not {"offset", "negative"} & set(terms)
        ]
        robot = robot.with_friction(offset=dict.fromkeys(lacking, 0.0))
    return with_terms(
        robot,
        dict.fromkeys(robot.joint_names, tuple(key for key in keys if key not in USUAL)),
        gears,
    )


def with_terms(
    robot: Robot, terms_by_joint: Mapping[str, Sequence[str]], gears: Sequence[float]
) -> Robot:
    """Return the robot with further friction terms, joint -> keys; its torques stay what they are.

    A joint that lacks a term gets zero; stiction and backward friction get the value of its Coulomb
    friction. Only joints whose gear ratio is known, (n,) with 0 for those unknown, can have torque
    ripple.
    """
    ratio = {name: gear for name, gear in zip(robot.joint_names, gears, strict=True) if gear > 0}
    for key in dict.fromkeys(key for keys in terms_by_joint.values() for key in keys):
        like_coulomb = "coulomb" in (BY_KEY[key].otherwise, *BY_KEY[key].above)
        lacking = {
            name: terms.get("coulomb", 0.0) if like_coulomb else 0.0
            for name, terms in zip(robot.joint_names, robot.tree.terms, strict=True)
            if key in terms_by_joint.get(name, ())
            and key not in terms
            and (key not in RIPPLE or name in ratio)
        }
        shapes: dict[str, dict[str, float]] = {
            shape: dict.fromkeys(lacking, START[shape])
            for shape in BY_KEY[key].needs
            if shape in START
        }
        shapes |= {"gear": {name: ratio[name] for name in lacking}} if key in RIPPLE else {}
        keys = LOSSES if key in LOSSES else (key,)
        robot = robot.with_friction(**dict.fromkeys(keys, lacking), **shapes) if lacking else robot
    return robot


def gear_ratios(robot: Robot, ratio: Any) -> Array:
    """Return the gear ratio of each joint, (n,), 0 where it is not known.

    As given, of its torque ripple, or of its rotor.
    """
    if ratio is not None:
        return np.abs(per_joint("gear_ratio", ratio, robot.joint_names))
    ratios = np.array([terms.get("gear") or 0.0 for terms in robot.tree.terms])
    for rotor in robot.tree.rotors:
        ratios[rotor.coordinate] = ratios[rotor.coordinate] or abs(rotor.ratio)
    return ratios


def coupled(robot: Robot, coupling: Coupling) -> Robot:
    """Return the robot with every linear term of a coupling, zero where it has none.

    Joints are given by name or by number from 0.
    """
    a, b = (place(joint, robot.joint_names) for joint in (coupling.joint_a, coupling.joint_b))
    if a == b:
        raise CallError(f"a coupling needs two joints, not {coupling.joint_a!r} twice")
    terms: Mapping[str, float] = next(
        (each.terms for each in robot.tree.couplings if each.coordinates == (a, b)), {}
    )
    values = {
        row.key: coupling.terms.get(row.key, terms.get(row.key, 0.0))
        for row in COUPLING_TERMS
        if row.linear
    }
    return robot.with_coupling(robot.joint_names[a], robot.joint_names[b], **values)


def place(joint: str | int, joint_names: Sequence[str]) -> int:
    """Return the index of a joint given by name or by number from 0."""
    if isinstance(joint, str):
        if joint not in joint_names:
            raise CallError(
                f"coupling: no joint is called {joint!r}; {suggest(joint, joint_names)}",
                argument="coupling",
            )
        return list(joint_names).index(joint)
    return whole_number(
        "coupling: a joint that is not given by name", joint, 0, len(joint_names) - 1
    )


def with_shape(robot: Robot, key: str, values: Sequence[float]) -> Robot:
    """Return the robot with a shape of friction at every coordinate, 0 for none.

    A coupling has the larger width of its two joints.
    """
    bare = replace(
        robot.mechanism,
        joints=tuple(
            replace(j, terms=j.terms.changed({key: None})) for j in robot.mechanism.joints
        ),
    )
    mechanism: Mechanism = with_joint_values(
        bare,
        {name: {key: float(v)} for name, v in zip(robot.joint_names, values, strict=True) if v > 0},
    )
    if key == "width" and mechanism.couplings:
        width = dict(zip(robot.joint_names, values, strict=True))
        couplings = (
            replace(
                each,
                terms=each.terms.changed(
                    {key: max(width[each.joint_a], width[each.joint_b]) or None}
                ),
            )
            for each in mechanism.couplings
        )
        mechanism = replace(mechanism, couplings=tuple(couplings))
    return type(robot)(mechanism)


def structural(robot: Robot) -> Robot:
    """Return the robot with a Stribeck velocity of 1 where it has one, and steps without width.

    A presliding distance is 1 where it has one.

    A smooth step keeps a width of 1 where forward and backward friction differ: only there an
    offset is independent of the two.
    """
    terms = robot.tree.terms
    for key in START:
        robot = with_shape(robot, key, [1.0 if key in each else 0.0 for each in terms])
    return with_shape(
        robot, "width", [1.0 if "negative" in each and "width" in each else 0.0 for each in terms]
    )


def with_usual_terms(robot: Robot) -> Robot:
    """Return the robot with the usual joint terms and rotors only.

    Shapes, known torques and terms that depend on others are removed.
    """
    terms = ("armature", *USUAL)
    joints = (
        replace(j, terms=Terms.of({key: j.terms.get(key) for key in terms}))
        for j in robot.mechanism.joints
    )
    couplings = (
        replace(each, terms=each.terms.changed({"width": None}))
        for each in robot.mechanism.couplings
    )
    return type(robot)(
        replace(robot.mechanism, joints=tuple(joints), couplings=tuple(couplings), known=())
    )


def is_plain(use: TermUse) -> bool:
    """Return whether a joint term has the same column in the plain robot.

    No shape and no counterpart enters it.
    """
    entering = (*use.row.shapes, COUNTERPART.get(use.row.key, ""))
    return use.row is not KNOWN_TORQUE and not any(
        use.values.get(key) is not None for key in entering
    )


def check_couplings(couplings: Any) -> tuple[Coupling, ...]:
    """Return couplings from one or several, each a Coupling or a pair of joint names."""
    pair = (
        isinstance(couplings, tuple)
        and len(couplings) == 2
        and all(isinstance(x, str) for x in couplings)
    )
    several = (couplings,) if pair or not isinstance(couplings, (list, tuple)) else tuple(couplings)
    pairs = [
        Coupling(*each) if isinstance(each, (tuple, list)) and len(each) == 2 else each
        for each in several
    ]
    return tuple(instance("coupling", each, Coupling, "or a pair of joint names") for each in pairs)
