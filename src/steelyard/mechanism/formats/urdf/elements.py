"""Write URDF elements of links and joints, with the shortest decimals that read back exactly."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ....algebra.rotation import to_rpy
from ....algebra.spatial import Inertia, Pose
from ...joint_terms import Terms
from ...model import STANDARD_GRAVITY, Joint, Mechanism
from ..inertial import com_form
from .loop_elements import loop_lines
from .read_urdf import DYNAMICS, MOMENTS
from .xml_text import tag

Attributes = dict[str, str]


def new_document(mechanism: Mechanism) -> str:
    """Return a complete URDF of a mechanism that was not read from a URDF."""
    lines = [
        '<?xml version="1.0"?>',
        tag("robot", {"name": mechanism.name}).removesuffix("/>") + ">",
    ]
    lines += [f"  {line}" for line in extension_lines(mechanism)]
    for link in mechanism.links:
        lines += _block(
            "link",
            {"name": link.name},
            [] if link.inertia is None else inertial_lines(link.inertia),
        )
    for joint in mechanism.joints:
        lines += _block(
            "joint", {"name": joint.name, "type": urdf_kind(joint)}, _joint_lines(joint, mechanism)
        )
    return "\n".join([*lines, "</robot>", ""])


def _joint_lines(joint: Joint, mechanism: Mechanism) -> list[str]:
    pieces = [
        ("origin", origin(joint.origin)),
        ("parent", {"link": joint.parent}),
        ("child", {"link": joint.child}),
        (
            "axis",
            (
                {"xyz": decimals(joint.axis)}
                if joint.kind != "fixed" or joint.axis != (1.0, 0.0, 0.0)
                else {}
            ),
        ),
        ("limit", limit(joint)),
        ("dynamics", dynamics(joint.terms)),
        ("mimic", mimic(joint)),
        ("steelyard", extension(joint) | shared(joint, mechanism)),
    ]
    return [tag(name, attributes) for name, attributes in pieces if attributes]


def _block(name: str, attributes: Attributes, lines: list[str]) -> list[str]:
    opening = tag(name, attributes)
    return (
        [f"  {opening}"]
        if not lines
        else [
            f"  {opening.removesuffix('/>')}>",
            *(f"    {line}" for line in lines),
            f"  </{name}>",
        ]
    )


def inertial_lines(inertia: Inertia) -> list[str]:
    """Return the lines of an <inertial>."""
    pieces = inertial(inertia)
    return [
        "<inertial>",
        *(f"  {tag(name, attributes)}" for name, attributes in pieces.items()),
        "</inertial>",
    ]


def inertial(inertia: Inertia) -> dict[str, Attributes]:
    """Return <origin>, <mass> and <inertia>, about the centre of mass in the link's axes."""
    m, c, moments = com_form(inertia)
    return {
        "origin": {"xyz": decimals(c), "rpy": "0 0 0"},
        "mass": {"value": repr(m)},
        "inertia": dict(zip(MOMENTS, map(repr, moments), strict=True)),
    }


def urdf_kind(joint: Joint) -> str:
    """Return the type in URDF, where a revolute joint without limits is continuous."""
    return "continuous" if joint.kind == "revolute" and _unlimited(joint) else joint.kind


def origin(pose: Pose) -> Attributes:
    return {"xyz": decimals(pose.p), "rpy": decimals(to_rpy(pose.R))}


def limit(joint: Joint) -> Attributes:
    """Return the attributes of <limit>; velocity and effort of 0 stand for no limit."""
    limits = joint.limits
    if (
        joint.kind != "prismatic"
        and _unlimited(joint)
        and math.isinf(limits.velocity)
        and math.isinf(limits.effort)
    ):
        return {}
    ends = {} if _unlimited(joint) else {"lower": repr(limits.lower), "upper": repr(limits.upper)}
    return ends | {
        key: "0" if math.isinf(value) else repr(value)
        for key, value in (("effort", limits.effort), ("velocity", limits.velocity))
    }


def dynamics(terms: Terms) -> Attributes:
    """Return the attributes of <dynamics>: its terms that are not zero."""
    return {key: repr(terms[term]) for term, key in DYNAMICS.items() if terms.get(term)}


def extension(joint: Joint, elsewhere: Iterable[str] = DYNAMICS) -> Attributes:
    """Return the attributes of <steelyard>: terms that are not `elsewhere`, rotor and kind."""
    attributes = {
        term: repr(value)
        for term, value in joint.terms.items()
        if value == 0 or term not in elsewhere
    }
    if joint.rotor is not None:
        attributes |= {
            "ratio": repr(joint.rotor.ratio),
            "rotor_axis": decimals(joint.rotor.axis),
            "mount": joint.rotor.mount,
        }
    return attributes | ({"kind": joint.kind} if urdf_kind(joint) != joint.kind else {})


def shared(joint: Joint, mechanism: Mechanism) -> Attributes:
    """Return further attributes of <steelyard>: motor coupling and known torque of a joint."""
    attributes: Attributes = {}
    for each in mechanism.couplings:
        if each.joint_b == joint.name:
            attributes |= {"coupled_with": each.joint_a} | {
                f"shared_{key}": repr(value) for key, value in each.terms.items()
            }
    for torque in mechanism.known:
        if torque.joint == joint.name:
            attributes |= {"known_torque": torque.expression, "known_scale": repr(torque.scale)}
    return attributes


def mimic(joint: Joint) -> Attributes:
    if joint.mimic is None:
        return {}
    return {
        "joint": joint.mimic.joint,
        "multiplier": repr(joint.mimic.multiplier),
        "offset": repr(joint.mimic.offset),
    }


def extension_lines(mechanism: Mechanism) -> list[str]:
    """Return the <steelyard> element of <robot>: gravity, drives and loops, if any."""
    attributes = gravity(mechanism) if mechanism.gravity != STANDARD_GRAVITY else {}
    attributes |= {"drives": "none"} if mechanism.driven == () else {}
    inner = loop_lines(mechanism.loops, mechanism.driven)
    if not inner:
        return [tag("steelyard", attributes)] if attributes else []
    return [
        tag("steelyard", attributes).removesuffix("/>") + ">",
        *(f"  {line}" for line in inner),
        "</steelyard>",
    ]


def gravity(mechanism: Mechanism) -> Attributes:
    return {"gravity": decimals(mechanism.gravity)}


def decimals(values: Iterable[float]) -> str:
    """Return the shortest decimals that read back to the same floats, separated by spaces."""
    return " ".join(repr(x + 0.0) for x in values)


def _unlimited(joint: Joint) -> bool:
    return math.isinf(joint.limits.lower) and math.isinf(joint.limits.upper)
