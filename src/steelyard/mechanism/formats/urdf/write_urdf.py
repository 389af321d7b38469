"""Writer of URDF: changed numbers go into the user's own file, everything else in it stays byte for byte.

A mechanism that did not come from a URDF, or whose links and joints are others now, is written afresh. What is written reads back as
exactly the same mechanism, or an error says why it cannot.
"""

from __future__ import annotations

import os

from ....errors import ModelError
from ....files import write_whole
from ...model import STANDARD_GRAVITY, Joint, Link, Mechanism
from ...near_integers import snapped
from . import elements as urdf_text
from .read_urdf import read_urdf
from .xml_text import Element, XmlEdit, parse, tag


def write_urdf(mechanism: Mechanism, path: str | os.PathLike[str], overwrite: bool = False) -> None:
    """Write a mechanism to a URDF file, whole or not at all; an existing file is only replaced where asked."""
    encoding = mechanism.source.encoding if mechanism.source is not None and mechanism.source.format == "urdf" else "utf-8"
    write_whole(path, urdf(mechanism).encode(encoding), overwrite)


def urdf(mechanism: Mechanism) -> str:
    """The text of a mechanism as URDF."""
    mechanism = snapped(mechanism)
    text = _edited(mechanism) or urdf_text.fresh(mechanism)
    back = read_urdf(text, "the URDF to be written", warn=False)
    if back != mechanism:
        raise ModelError(f"URDF cannot hold {_difference(mechanism, back)} of {mechanism.name!r} exactly; nothing was written")
    return text


def _edited(mechanism: Mechanism) -> str | None:
    """The mechanism's own source with what changed, None where it has none or its structure is another."""
    source = mechanism.source
    if source is None or source.format != "urdf":
        return None
    old = read_urdf(source.text, source.path, warn=False)
    if _structure(old) != _structure(mechanism):
        return None
    robot, edit = parse(source.text, source.path or "URDF"), XmlEdit(source.text)
    elements = {(child.tag, child.attributes.get("name")): child for child in robot.children}
    for before, link in zip(old.links, mechanism.links, strict=True):
        if link != before:
            _edit_link(edit, elements["link", link.name], link)
    for was, joint in zip(old.joints, mechanism.joints, strict=True):
        if joint != was:
            _edit_joint(edit, elements["joint", joint.name], was, joint)
    _edit_robot(edit, robot, old, mechanism)
    return edit.text()


def _edit_robot(edit: XmlEdit, robot: Element, old: Mechanism, new: Mechanism) -> None:
    if new.name != old.name:
        edit.set(robot, {"name": new.name})
    if new.gravity != old.gravity:
        ours = robot.first("steelyard")
        if ours is not None:
            edit.set(ours, urdf_text.gravity(new))
        elif new.gravity != STANDARD_GRAVITY:
            edit.append(robot, [tag("steelyard", urdf_text.gravity(new))])


def _edit_link(edit: XmlEdit, element: Element, link: Link) -> None:
    inertial = element.first("inertial")
    if inertial is None:
        if link.inertia is not None:
            edit.append(element, urdf_text.inertial(link, link.inertia))
    elif link.inertia is None:
        edit.remove(inertial)
    else:
        _edit_pieces(edit, inertial, urdf_text.inertial_pieces(link, link.inertia))


def _edit_joint(edit: XmlEdit, element: Element, old: Joint, new: Joint) -> None:
    edit.set(element, {"type": urdf_text.kind(new)})
    pieces = _moving_pieces(element, old, new) if new.kind != "fixed" else {}  # a joint that is held keeps its limits for later
    if new.origin != old.origin:
        pieces["origin"] = urdf_text.origin(new.origin)
    if new.axis != old.axis:
        pieces["axis"] = {"xyz": urdf_text.numbers(new.axis)}
    if urdf_text.extension(new) != urdf_text.extension(old):
        pieces["steelyard"] = urdf_text.extension(new)
    _edit_pieces(edit, element, pieces)


def _moving_pieces(element: Element, old: Joint, new: Joint) -> dict[str, urdf_text.Attributes]:
    pieces = {}
    if new.limits != old.limits:
        pieces["limit"] = urdf_text.limit(new)
    if new.mimic != old.mimic:
        pieces["mimic"] = urdf_text.mimic(new)
    dynamics, stands = urdf_text.dynamics(new), element.first("dynamics")
    if dynamics != urdf_text.dynamics(old):
        pieces["dynamics"] = {key: "0" for key in (stands.attributes if stands else ()) if key in ("damping", "friction")} | dynamics
    return pieces


def _edit_pieces(edit: XmlEdit, parent: Element, pieces: dict[str, urdf_text.Attributes]) -> None:
    """Children of an element with these attributes: set where they stand, taken out where there is nothing to say, put in where absent."""
    absent = []
    for name, attributes in pieces.items():
        child = parent.first(name)
        if child is None:
            absent += [tag(name, attributes)] if attributes else []
        elif not attributes:
            edit.remove(child)
        elif name in ("steelyard", "limit") and set(child.attributes) - set(attributes):
            edit.changes.append((child.start, child.end, tag(name, attributes)))  # some of its attributes are to go
        else:
            edit.set(child, attributes)
    if absent:
        edit.append(parent, absent)


def _structure(mechanism: Mechanism) -> tuple[object, ...]:
    return tuple(link.name for link in mechanism.links), tuple((joint.name, joint.parent, joint.child) for joint in mechanism.joints)


def _difference(wanted: Mechanism, found: Mechanism) -> str:
    links = [f"link {a.name!r}" for a, b in zip(wanted.links, found.links, strict=False) if a != b]
    joints = [f"joint {a.name!r}" for a, b in zip(wanted.joints, found.joints, strict=False) if a != b]
    return ", ".join(links + joints) or "the name or gravity"
