"""The pieces of a URDF: what its elements say of a link and a joint, as attributes in decimals that read back exactly."""

from __future__ import annotations

import math
from dataclasses import fields

from ....algebra.rotation import from_rpy, to_rpy
from ....algebra.spatial import Inertia, Pose
from ....errors import ModelError
from ... import near_integers as snap
from ...model import STANDARD_GRAVITY, Joint, Link, Mechanism
from .. import decimals as exact
from .read_urdf import MOMENTS
from .xml_text import tag

Attributes = dict[str, str]


def fresh(mechanism: Mechanism) -> str:
    """A whole URDF of a mechanism that did not come from one."""
    lines = ['<?xml version="1.0"?>', tag("robot", {"name": mechanism.name}).removesuffix("/>") + ">"]
    if mechanism.gravity != STANDARD_GRAVITY:
        lines.append("  " + tag("steelyard", gravity(mechanism)))
    for link in mechanism.links:
        lines += _block("link", {"name": link.name}, [] if link.inertia is None else inertial(link, link.inertia))
    for joint in mechanism.joints:
        lines += _block("joint", {"name": joint.name, "type": kind(joint)}, _joint_lines(joint))
    return "\n".join([*lines, "</robot>", ""])


def _joint_lines(joint: Joint) -> list[str]:
    pieces = [
        ("origin", origin(joint.origin)),
        ("parent", {"link": joint.parent}),
        ("child", {"link": joint.child}),
        ("axis", {"xyz": numbers(joint.axis)} if joint.kind != "fixed" or joint.axis != (1.0, 0.0, 0.0) else {}),
        ("limit", limit(joint)),
        ("dynamics", dynamics(joint)),
        ("mimic", mimic(joint)),
        ("steelyard", extension(joint)),
    ]
    return [tag(name, attributes) for name, attributes in pieces if attributes]


def _block(name: str, attributes: Attributes, lines: list[str]) -> list[str]:
    opening = tag(name, attributes)
    return [f"  {opening}"] if not lines else [f"  {opening.removesuffix('/>')}>", *(f"    {line}" for line in lines), f"  </{name}>"]


def inertial(link: Link, inertia: Inertia) -> list[str]:
    """The lines of an <inertial>."""
    pieces = inertial_pieces(link, inertia)
    return ["<inertial>", *(f"  {tag(name, attributes)}" for name, attributes in pieces.items()), "</inertial>"]


def inertial_pieces(link: Link, inertia: Inertia) -> dict[str, Attributes]:
    """<origin>, <mass> and <inertia>: the centre of mass and the inertia about it, in the link's own axes."""
    if inertia.m < 0 or (inertia.m == 0 and any(inertia.h)):
        raise ModelError(
            f"link {link.name!r} has mass {inertia.m:g} kg and first moment {inertia.h} kg m: URDF can only hold a body that has a centre"
            " of mass. An estimate with physical consistency gives one"
        )
    m, c, moments = exact.written(inertia)
    return {
        "origin": {"xyz": " ".join(c), "rpy": "0 0 0"},
        "mass": {"value": m},
        "inertia": dict(zip(MOMENTS, moments, strict=True)),
    }


def kind(joint: Joint) -> str:
    """A revolute joint without limits is continuous in URDF."""
    return "continuous" if joint.kind == "revolute" and _unlimited(joint) else joint.kind


def origin(pose: Pose) -> Attributes:
    return {"xyz": numbers(pose.p), "rpy": numbers(to_rpy(pose.R))}


def limit(joint: Joint) -> Attributes:
    """Velocity and effort of 0 stand for no limit: URDF wants them stated."""
    limits = joint.limits
    if joint.kind != "prismatic" and _unlimited(joint) and math.isinf(limits.velocity) and math.isinf(limits.effort):
        return {}
    ends = {} if _unlimited(joint) else {"lower": repr(limits.lower), "upper": repr(limits.upper)}
    return ends | {
        key: "0" if math.isinf(value) else repr(value) for key, value in (("effort", limits.effort), ("velocity", limits.velocity))
    }


def dynamics(joint: Joint) -> Attributes:
    terms = {"damping": joint.friction.viscous, "friction": joint.friction.coulomb}
    return {key: repr(value) for key, value in terms.items() if value}


def mimic(joint: Joint) -> Attributes:
    if joint.mimic is None:
        return {}
    return {"joint": joint.mimic.joint, "multiplier": repr(joint.mimic.multiplier), "offset": repr(joint.mimic.offset)}


def extension(joint: Joint) -> Attributes:
    """What URDF has no place for: rotor inertia, friction offset, terms that are there but zero, rotations that rpy cannot hold exactly."""
    terms = {"armature": joint.armature} | {field.name: getattr(joint.friction, field.name) for field in fields(joint.friction)}
    own = {"viscous", "coulomb"}  # URDF has a place for these, but not for one that is there and zero
    found = {key: repr(value) for key, value in terms.items() if value is not None and (value == 0 or key not in own)}
    if joint.rotor is not None:
        found |= {"ratio": repr(joint.rotor.ratio), "rotor_axis": numbers(joint.rotor.axis), "mount": joint.rotor.mount}
    if kind(joint) != joint.kind:
        found["kind"] = joint.kind
    if snap.matrix(from_rpy(to_rpy(joint.origin.R))) != joint.origin.R:
        found["rotation"] = numbers([x for row in joint.origin.R for x in row])
    return found


def gravity(mechanism: Mechanism) -> Attributes:
    return {"gravity": numbers(mechanism.gravity)}


def numbers(values: object) -> str:
    return " ".join(repr(x + 0.0) for x in values)  # type: ignore[attr-defined]


def _unlimited(joint: Joint) -> bool:
    return math.isinf(joint.limits.lower) and math.isinf(joint.limits.upper)
