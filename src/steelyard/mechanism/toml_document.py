"""What the rows of a TOML file say of links and joints: the inverse of the readers of `terms`."""

from __future__ import annotations

import math
from dataclasses import fields
from decimal import Decimal
from typing import Any

from ..algebra.spatial import Inertia, Pose
from ..algebra.vector import IDENTITY, ZERO
from . import exact, snap
from .mechanism import Friction, Joint, Limits, Link, Mechanism, Rotor
from .rotation import from_rpy, to_rpy

Row = dict[str, Any]


def document(mechanism: Mechanism) -> Row:
    """The general form of a mechanism."""
    return {
        "name": mechanism.name,
        "gravity": list(mechanism.gravity),
        "links": [link_row(link) for link in mechanism.links],
        "joints": [joint_row(joint) for joint in mechanism.joints],
    }


def link_row(link: Link) -> Row:
    return {"name": link.name} | ({} if link.inertia is None else inertia_keys(link.inertia))


def inertia_keys(inertia: Inertia, pose: Pose = exact.HERE) -> Row:
    """mass, com and inertia in the frame B that X_AB = pose places; about the frame itself where there is no centre of mass."""
    if inertia.m == 0 and any(inertia.h):
        return {"mass": 0.0, "first_moment": list(inertia.h), "inertia": list(inertia.I), "inertia_at": "frame"}
    m, c, moments = exact.written(inertia, pose)
    six = [Decimal(x) for x in moments]
    diagonal = not (six[1] or six[2] or six[4])
    keys = {"mass": Decimal(m), "com": [Decimal(x) for x in c], "inertia": [six[0], six[3], six[5]] if diagonal else six}
    return {key: value for key, value in keys.items() if key != "com" or any(value)}  # type: ignore[arg-type]


def joint_row(joint: Joint) -> Row:
    row: Row = {"name": joint.name, "kind": joint.kind, "parent": joint.parent, "child": joint.child}
    keys = {"origin": origin_keys(joint.origin), "axis": list(joint.axis)}
    if joint.axis == (0.0, 0.0, 1.0):
        del keys["axis"]
    return row | {key: value for key, value in (keys | joint_keys(joint)).items() if value not in ({}, None)}


def joint_keys(joint: Joint) -> Row:
    """Terms of a moving joint; None or {} stands for nothing to say."""
    if joint.kind == "fixed":
        return {}
    mimic = joint.mimic
    return {
        "limits": limit_keys(joint.limits),
        "friction": friction_keys(joint.friction),
        "armature": joint.armature,
        "rotor": rotor_keys(joint.rotor),
        "mimic": None if mimic is None else {"joint": mimic.joint, "multiplier": mimic.multiplier, "offset": mimic.offset},
    }


def limit_keys(limits: Limits) -> Row:
    keys = {"lower": limits.lower, "upper": limits.upper, "velocity": limits.velocity, "effort": limits.effort}
    return {key: value for key, value in keys.items() if not math.isinf(value)}


def rotor_keys(rotor: Rotor | None) -> Row | None:
    return None if rotor is None else {"ratio": rotor.ratio, "axis": list(rotor.axis), "mount": rotor.mount}


def friction_keys(friction: Friction) -> Row:
    keys = {field.name: getattr(friction, field.name) for field in fields(friction)}
    return {key: value for key, value in keys.items() if value is not None}


def origin_keys(pose: Pose) -> Row:
    keys: Row = {} if pose.p == ZERO else {"xyz": list(pose.p)}
    if pose.R == IDENTITY:
        return keys
    rpy = to_rpy(pose.R)
    if snap.matrix(from_rpy(rpy)) == pose.R:
        return keys | {"rpy": list(rpy)}
    return keys | {"rotation": [x for row in pose.R for x in row]}
