"""Writer of URDF: changed numbers go into the user's file, all other bytes stay.

A mechanism that did not come from a URDF, or with other links or joints, is written as a new
document. The result reads back as the same mechanism, inertias and rotations within 1e-12, or an
error names the difference.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from ....errors import ModelError
from ....files import write_atomic
from ...joint_terms import COUPLING_TERMS, JOINT_TERMS
from ...model import STANDARD_GRAVITY, Joint, Link, Mechanism
from ...near_integers import snapped
from ..inertial import changed_elements, motor_side
from . import elements
from .read_urdf import DYNAMICS, actuators, read_urdf, rotor_inertia
from .xml_text import Element, XmlEdit, parse, tag


class ExtensionTerm(NamedTuple):
    """A joint term in a <steelyard> element, which other programs ignore."""

    joint: str
    term: str
    value: float


# what a joint shares with another, before and after
_Shared = tuple[elements.Attributes, elements.Attributes]


def write_urdf(
    mechanism: Mechanism, path: str | os.PathLike[str], overwrite: bool = False
) -> tuple[ExtensionTerm, ...]:
    """Write a mechanism to a URDF file, whole or not at all.

    An existing file is only replaced where asked.

    Returns the joint terms that only steelyard reads from that file, since URDF has no place for
    them.
    """
    encoding = (
        mechanism.source.encoding
        if mechanism.source is not None and mechanism.source.format == "urdf"
        else "utf-8"
    )
    text = urdf(mechanism, os.fspath(path))
    write_atomic(path, text.encode(encoding), overwrite)
    return extension_terms(text)


def extension_terms(text: str) -> tuple[ExtensionTerm, ...]:
    """Return the nonzero joint terms that a URDF has in <steelyard> elements."""
    return tuple(
        ExtensionTerm(joint.attributes["name"], term, value)
        for joint in parse(text, "URDF").all("joint")
        for ours in joint.all("steelyard")
        for term in (
            *(row.key for row in JOINT_TERMS),
            *(f"shared_{row.key}" for row in COUPLING_TERMS),
            "ratio",
            "known_scale",
        )
        if (value := float(ours.attributes.get(term, 0.0)))
    )


def urdf(mechanism: Mechanism, target: str = "URDF") -> str:
    """Return the text of a mechanism as URDF; `target` names the file in messages."""
    mechanism = snapped(mechanism)
    for link in mechanism.links:
        _check_body(link, target)
    text = _edited(mechanism) or elements.new_document(mechanism)
    wrong = changed_elements(mechanism, read_urdf(text, target, warn=False))
    if wrong:
        raise ModelError(
            f"{target}: URDF cannot hold {', '.join(wrong)} of {mechanism.name!r}; nothing was"
            " written"
        )
    return text


def _check_body(link: Link, target: str) -> None:
    body = link.inertia
    if body is not None and (body.m < 0 or (body.m == 0 and any(body.h))):
        raise ModelError(
            f"{target}: link {link.name!r} has mass {body.m:g} kg and first moment {body.h} kg m:"
            " URDF can only hold a body that has a centre of mass. An estimate with physical"
            " consistency gives one"
        )


def _edited(mechanism: Mechanism) -> str | None:
    """Return the mechanism's source with its changes; None where the structure differs."""
    source = mechanism.source
    if source is None or source.format != "urdf":
        return None
    old = read_urdf(source.text, source.path, warn=False)
    if _structure(old) != _structure(mechanism):
        return None
    robot, edit = parse(source.text, source.path or "URDF"), XmlEdit(source.text)
    places = {(child.tag, child.attributes.get("name")): child for child in robot.children}
    motors = actuators(robot)
    for before, link in zip(old.links, mechanism.links, strict=True):
        if link != before:
            _edit_link(edit, places["link", link.name], link)
    for was, joint in zip(old.joints, mechanism.joints, strict=True):
        shared = elements.shared(was, old), elements.shared(joint, mechanism)
        if joint != was or shared[0] != shared[1]:
            _edit_joint(
                edit, places["joint", joint.name], was, joint, motors.get(joint.name), shared
            )
    _edit_robot(edit, robot, old, mechanism)
    return edit.text()


def _structure(mechanism: Mechanism) -> tuple[object, ...]:
    return tuple(link.name for link in mechanism.links), tuple(
        (joint.name, joint.parent, joint.child) for joint in mechanism.joints
    )


def _edit_robot(edit: XmlEdit, robot: Element, old: Mechanism, new: Mechanism) -> None:
    if new.name != old.name:
        edit.set(robot, {"name": new.name})
    if (new.loops, new.driven) != (old.loops, old.driven):
        for element in (*robot.all("steelyard"), *robot.all("loop_joint")):
            edit.remove(element)
        edit.append(robot, elements.extension_lines(new))
    elif new.gravity != old.gravity:
        ours = robot.first("steelyard")
        if ours is not None:
            edit.set(ours, elements.gravity(new))
        elif new.gravity != STANDARD_GRAVITY:
            edit.append(robot, [tag("steelyard", elements.gravity(new))])


def _edit_link(edit: XmlEdit, element: Element, link: Link) -> None:
    inertial = element.first("inertial")
    if inertial is None:
        if link.inertia is not None:
            edit.append(element, elements.inertial_lines(link.inertia))
    elif link.inertia is None:
        edit.remove(inertial)
    else:
        _edit_children(edit, inertial, elements.inertial(link.inertia))


def _edit_joint(
    edit: XmlEdit,
    element: Element,
    old: Joint,
    new: Joint,
    actuator: Element | None,
    shared: _Shared,
) -> None:
    edit.set(element, {"type": elements.urdf_kind(new)})
    # a joint that is held keeps its limits for later
    children = _moving_children(old, new) if new.kind != "fixed" else {}
    if new.origin != old.origin:
        children["origin"] = elements.origin(new.origin)
    if new.axis != old.axis:
        children["axis"] = {"xyz": elements.decimals(new.axis)}
    _edit_children(edit, element, children | _edit_terms(edit, element, old, new, actuator, shared))


def _moving_children(old: Joint, new: Joint) -> dict[str, elements.Attributes]:
    children = {"limit": elements.limit(new)} if new.limits != old.limits else {}
    return children | ({"mimic": elements.mimic(new)} if new.mimic != old.mimic else {})


def _edit_terms(
    edit: XmlEdit,
    element: Element,
    old: Joint,
    new: Joint,
    actuator: Element | None,
    shared: _Shared,
) -> dict[str, elements.Attributes]:
    """Write joint terms to the elements of the file that hold them."""
    terms, before, rotor = new.terms, old.terms, rotor_inertia(actuator)
    elsewhere = (*DYNAMICS, "armature") if rotor is not None else tuple(DYNAMICS)
    children = {}
    if (
        rotor is not None
        and terms.get("armature") != before.get("armature")
        and new.kind != "fixed"
    ):
        edit.set(rotor[0], {"value": repr(motor_side(terms.get("armature", 0.0), rotor[1]))})
    dynamics, stands = elements.dynamics(terms), element.first("dynamics")
    if dynamics != elements.dynamics(before) and new.kind != "fixed":
        children["dynamics"] = {
            key: "0" for key in (stands.attributes if stands else ()) if key in DYNAMICS.values()
        } | dynamics
    ours = elements.extension(new, elsewhere) | shared[1]
    if ours != elements.extension(old, elsewhere) | shared[0]:
        children["steelyard"] = ours
    return children


def _edit_children(
    edit: XmlEdit, parent: Element, children: dict[str, elements.Attributes]
) -> None:
    """Give children of an element these attributes.

    Set where they stand, removed where there are none, appended where absent.
    """
    absent = []
    for name, attributes in children.items():
        child = parent.first(name)
        if child is None:
            absent += [tag(name, attributes)] if attributes else []
        elif not attributes:
            edit.remove(child)
        elif name in ("steelyard", "limit") and set(child.attributes) - set(attributes):
            # some of its attributes are to go
            edit.changes.append((child.start, child.end, tag(name, attributes)))
        else:
            edit.set(child, attributes)
    if absent:
        edit.append(parent, absent)
