"""Edits: each takes a mechanism and returns a new one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..algebra.spatial import Inertia, Pose, from_com
from ..algebra.vector import Symmetric, apply
from ..errors import CallError
from . import near_integers as snap
from .check import rotor_problems, shape_problems
from .coordinate_terms import PerJoint, per_coordinate, with_terms
from .model import Friction, Joint, Mechanism, Rotor
from .near_integers import displaced
from .parameter_vector import with_parameters
from .reduce import reduce, tie, walked

__all__ = [
    "freeze",
    "tip",
    "with_friction",
    "with_gravity",
    "with_parameters",
    "with_payload",
    "with_rotors",
    "without_friction",
]


def with_gravity(mechanism: Mechanism, gravity: Sequence[float]) -> Mechanism:
    """The same mechanism where the acceleration of free fall is `gravity`, three numbers in the base's axes [m/s2]."""
    g = _finite("gravity", gravity, 3, "m/s2")
    return replace(mechanism, gravity=(g[0], g[1], g[2]))


def with_friction(
    mechanism: Mechanism,
    viscous: PerJoint = None,
    coulomb: PerJoint = None,
    offset: PerJoint = None,
    negative: PerJoint = None,
    stiction: PerJoint = None,
    width: PerJoint = None,
    stribeck: PerJoint = None,
) -> Mechanism:
    """The same mechanism with joint friction tau = Fv qd + Fc sign(qd) + F0, or the forms that `Friction` describes.

    Each is one number, one per coordinate, or a mapping from joint names; None leaves it as it is.
    Terms in [N m s/rad|N s/m] (viscous) and [N m|N]; the shapes width and stribeck in [rad/s|m/s].
    """
    tree = reduce(mechanism)
    given = {"viscous": viscous, "coulomb": coulomb, "offset": offset, "negative": negative, "stiction": stiction}
    columns = [per_coordinate(name, value, tree) for name, value in given.items()]
    made = with_terms(mechanism, {name: [column[i] for column in columns] for i, name in enumerate(tree.coordinates)}, 1)
    shapes = {name: per_coordinate(name, value, tree) for name, value in (("width", width), ("stribeck", stribeck)) if value is not None}
    return replace(made, joints=tuple(_shaped(joint, shapes, tree.coordinates) for joint in made.joints))


def _shaped(joint: Joint, shapes: Mapping[str, Sequence[float | None]], coordinates: Sequence[str]) -> Joint:
    """A joint with the nonlinear part of its friction."""
    if joint.name in coordinates:
        at = coordinates.index(joint.name)
        stated = {name: column[at] for name, column in shapes.items() if column[at] is not None}
        joint = replace(joint, friction=replace(joint.friction, **stated))
    for problem in shape_problems(joint.friction):
        raise CallError(f"joint {joint.name!r}: {problem}")
    return joint


def without_friction(mechanism: Mechanism) -> Mechanism:
    """The same mechanism with joints that do not rub: all friction terms absent."""
    return replace(mechanism, joints=tuple(replace(joint, friction=Friction()) for joint in mechanism.joints))


def with_rotors(
    mechanism: Mechanism,
    armature: PerJoint = None,
    ratio: PerJoint = None,
    axis: Sequence[float] | Sequence[Sequence[float]] | Mapping[str, Sequence[float]] | None = None,
    mount: str | Sequence[str] | Mapping[str, str] | None = None,
) -> Mechanism:
    """The same mechanism with rotor inertias Ia = k^2 Im seen at the joint [kg m2|kg]: one number, one per coordinate, or by joint name.

    With a gear `ratio` k (any but zero) the rotor spins on the link `mount` (the joint's parent by default) about the unit vector `axis`
    of that link (the joint's own axis by default), and its gyroscopic coupling is part of the model; without, the armature is only felt
    at the joint.
    """
    tree = reduce(mechanism)
    column = per_coordinate("armature", armature, tree)
    made = with_terms(mechanism, {name: [column[i]] for i, name in enumerate(tree.coordinates)}, 0)
    ratios = per_coordinate("ratio", ratio, tree)
    axes, mounts = _each("axis", axis, tree.coordinates, 1), _each("mount", mount, tree.coordinates, 0)
    joints = []
    for joint in made.joints:
        k = ratios[tree.coordinates.index(joint.name)] if joint.name in tree.coordinates else None
        if k is not None:
            direction = axes[joint.name] if axes[joint.name] is not None else apply(joint.origin.R, joint.axis)
            rotor = Rotor(k, tuple(float(x) for x in direction), mounts[joint.name] or joint.parent)  # type: ignore[arg-type]
            joint = replace(joint, rotor=rotor, armature=joint.armature if joint.armature is not None else 0.0)
            mechanism.link(rotor.mount)
            for problem in rotor_problems(joint):
                raise CallError(f"joint {joint.name!r}: {problem}")
        joints.append(joint)
    made = replace(made, joints=tuple(joints))
    reduce(made)  # a rotor on a link that its own joint moves is refused here
    return made


def _each(what: str, value: Any, names: Sequence[str], depth: int) -> dict[str, Any]:
    """A value per coordinate: the same for all, one each, or by name; None where nothing is said."""
    if isinstance(value, Mapping):
        return {name: value.get(name) for name in names}
    if value is None or np.ndim(value) == depth:
        return dict.fromkeys(names, value)
    if len(value) != len(names):
        raise CallError(f"{what} has {len(value)} entries; expected one, or {len(names)}: one for each of {', '.join(names)}")
    return dict(zip(names, value, strict=True))


def with_payload(
    mechanism: Mechanism,
    mass: float,
    com: Sequence[float] = (0.0, 0.0, 0.0),
    inertia: float | Sequence[float] | Sequence[Sequence[float]] = 0.0,
    frame: str | None = None,
) -> Mechanism:
    """The same mechanism carrying a load: mass [kg], its centre in the frame [m], inertia about that centre in the frame's axes [kg m2].

    The inertia is 0 (a point), three principal moments or a 3x3 matrix. The frame is a link's name; the last one of the arm by default.
    """
    name = tip(mechanism) if frame is None else mechanism.link(frame).name
    if reduce(mechanism).frames[name].body < 0:
        raise CallError(f"link {name!r} does not move: a load there changes nothing")
    if not (math.isfinite(mass) and mass >= 0):
        raise CallError(f"mass = {mass}: a load's mass is a number that is not negative [kg]")
    c = _finite("com", com, 3, "m")
    load = from_com(float(mass), (c[0], c[1], c[2]), _symmetric(inertia))
    links = tuple(replace(link, inertia=(link.inertia or Inertia()) + load) if link.name == name else link for link in mechanism.links)
    return replace(mechanism, links=links)


def tip(mechanism: Mechanism) -> str:
    """The last link of an arm: of all that is fixed to its last body, the one that comes last. An error where there are several arms."""
    tree = reduce(mechanism)
    ends = [body.name for i, body in enumerate(tree.bodies) if all(other.parent != i for other in tree.bodies)]
    if len(ends) != 1:
        raise CallError(f"the robot ends in {len(ends)} bodies; say which frame is meant: {', '.join(ends) or 'it has no moving body'}")
    last = tree.frames[ends[0]].body
    return [joint.child for joint in walked(mechanism) if tree.frames[joint.child].body == last][-1]


def freeze(mechanism: Mechanism, positions: Mapping[str, float]) -> Mechanism:
    """The same mechanism with joints held at positions [rad|m]; what mimics them is held too. Held joints are fixed ones."""
    for name, value in positions.items():
        joint = mechanism.joint(name)
        if joint.kind == "fixed":
            raise CallError(f"joint {name!r} is fixed already")
        if joint.mimic is not None:
            raise CallError(f"joint {name!r} mimics {joint.mimic.joint!r}: freeze that one")
        if not math.isfinite(value):
            raise CallError(f"joint {name!r} cannot be held at {value}; expected a finite position [rad|m]")
    return replace(mechanism, joints=tuple(_held(mechanism, joint, positions) for joint in mechanism.joints))


def _held(mechanism: Mechanism, joint: Joint, positions: Mapping[str, float]) -> Joint:
    if joint.kind == "fixed":
        return joint
    leader, multiplier, offset = tie(mechanism, joint)
    if leader not in positions:
        return joint
    pose = displaced(joint.kind, joint.origin, joint.axis, multiplier * float(positions[leader]) + offset)
    return Joint(joint.name, "fixed", joint.parent, joint.child, Pose(snap.matrix(pose.R), pose.p), joint.axis)


def _symmetric(inertia: float | Sequence[float] | Sequence[Sequence[float]]) -> Symmetric:
    rows: list[Any] = [inertia] * 3 if np.ndim(inertia) == 0 else list(inertia)  # type: ignore[arg-type]
    if np.shape(rows) == (3, 3):
        a, b, c = (_finite("inertia", row, 3, "kg m2") for row in rows)
        if max(abs(a[1] - b[0]), abs(a[2] - c[0]), abs(b[2] - c[1])) > 1e-9 * max(map(abs, (*a, *b, *c))):
            raise CallError("inertia must be symmetric")
        return Symmetric(a[0], a[1], a[2], b[1], b[2], c[2])
    d = _finite("inertia", rows, 3, "kg m2, or three rows of three, or one number")
    return Symmetric(d[0], 0.0, 0.0, d[1], 0.0, d[2])


def _finite(what: str, values: object, count: int, unit: str) -> list[float]:
    try:
        numbers = [float(x) for x in values]  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        numbers = []
    if len(numbers) != count or not all(map(math.isfinite, numbers)):
        raise CallError(f"{what} = {values!r}; expected {count} finite numbers [{unit}]")
    return numbers
