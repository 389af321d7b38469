"""Edits: each takes a mechanism and returns a new one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..algebra.inertia import from_com
from ..algebra.spatial import Inertia, Pose
from ..algebra.vector import Symmetric
from ..errors import CallError
from . import snap
from .drives import PerJoint, per_coordinate, with_terms
from .mechanism import Friction, Joint, Mechanism
from .reduce import reduce, tie, walked
from .rotation import displaced
from .with_parameters import with_parameters

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


def with_friction(mechanism: Mechanism, viscous: PerJoint = None, coulomb: PerJoint = None, offset: PerJoint = None) -> Mechanism:
    """The same mechanism with joint friction tau = Fv qd + Fc sign(qd) + F0.

    Each term [N m s/rad|N s/m, N m|N, N m|N] is one number, one per coordinate, or a mapping from joint names; None leaves it as it is.
    """
    tree = reduce(mechanism)
    columns = {
        "viscous": per_coordinate("viscous", viscous, tree),
        "coulomb": per_coordinate("coulomb", coulomb, tree),
        "offset": per_coordinate("offset", offset, tree),
    }
    return with_terms(mechanism, {name: [column[i] for column in columns.values()] for i, name in enumerate(tree.coordinates)}, 1)


def without_friction(mechanism: Mechanism) -> Mechanism:
    """The same mechanism with joints that do not rub: all friction terms absent."""
    return replace(mechanism, joints=tuple(replace(joint, friction=Friction()) for joint in mechanism.joints))


def with_rotors(mechanism: Mechanism, armature: PerJoint) -> Mechanism:
    """The same mechanism with rotor inertias Ia = G^2 Jm seen at the joint [kg m2|kg]: one number, one per coordinate, or by joint name."""
    tree = reduce(mechanism)
    column = per_coordinate("armature", armature, tree)
    return with_terms(mechanism, {name: [column[i]] for i, name in enumerate(tree.coordinates)}, 0)


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
