"""Writer of TOML: a mechanism that came from a TOML file keeps its form and all that the file says; any other is written in general form.

An unchanged mechanism comes back as the very text that was read. A changed one keeps every key but not the comments.
"""

from __future__ import annotations

import math
import os
from dataclasses import replace
from typing import Any

from ..algebra.spatial import Pose
from ..errors import ModelError
from .dh import placements
from .files import write_whole
from .mechanism import Friction, Joint, Link, Mechanism
from .snap import snapped
from .table import Table
from .toml import parsed, read_toml
from .toml_document import Row, document, friction_keys, inertia_keys, rotor_keys
from .toml_text import dumps


def write_toml(mechanism: Mechanism, path: str | os.PathLike[str], overwrite: bool = False) -> None:
    """Write a mechanism to a TOML file, whole or not at all; an existing file is only replaced where asked."""
    write_whole(path, toml(mechanism).encode("utf-8"), overwrite)


def toml(mechanism: Mechanism) -> str:
    """The text of a mechanism as TOML."""
    mechanism = snapped(mechanism)
    text = _edited(mechanism) or dumps(document(mechanism))
    if read_toml(text, "the TOML to be written", warn=False) != mechanism:
        raise ModelError(f"TOML cannot hold {mechanism.name!r} exactly; nothing was written")
    return text


def _edited(mechanism: Mechanism) -> str | None:
    """The mechanism's own source with what changed, None where it has none or the change does not fit into its form."""
    source = mechanism.source
    if source is None or source.format not in ("toml", "builtin"):
        return None
    old = read_toml(source.text, source.path, warn=False)
    if old == mechanism:
        return source.text
    if _frame(old) != _frame(mechanism):
        return None
    doc = parsed(source.text, source.path or "TOML")
    rows = _dh_rows(doc, old) if "convention" in doc else _general_rows(doc)
    changed = [link for before, link in zip(old.links, mechanism.links, strict=True) if before != link]
    if any(link.name not in rows for link in changed):
        return None
    for link in changed:
        _put_link(*rows[link.name], link)
    for before, joint, row in _changed_joints(doc, old, mechanism):
        _put_joint(row, before, joint)
    if mechanism.gravity != old.gravity:
        doc["gravity"] = list(mechanism.gravity)
    if mechanism.name != old.name:
        doc["name"] = mechanism.name
    return dumps(doc)


def _frame(mechanism: Mechanism) -> tuple[Any, ...]:
    """All of a mechanism that does not change when its parameters do."""
    joints = tuple(replace(joint, friction=Friction(), armature=None, rotor=None) for joint in mechanism.joints)
    return tuple(link.name for link in mechanism.links), joints


def _general_rows(doc: Row) -> dict[str, tuple[Row, Pose]]:
    return {row["name"]: (row, Pose()) for row in doc["links"]}


def _dh_rows(doc: Row, old: Mechanism) -> dict[str, tuple[Row, Pose]]:
    """Where the numbers of every link stand, and the pose of the table's frame in the link's."""
    found = {}
    moving = [joint for joint in old.joints if joint.kind != "fixed"]
    unit = math.pi / 180 if doc.get("degrees") else 1.0
    for row, joint in zip(doc["joints"], moving, strict=True):
        after = placements(Table(row, "", []), doc["convention"] == "standard", unit)[1]
        found[joint.child] = (row.setdefault("link", {}), after)
    return found


def _changed_joints(doc: Row, old: Mechanism, new: Mechanism) -> list[tuple[Joint, Joint, Row]]:
    rows = {row["name"]: row for row in doc.get("joints", []) if "name" in row}
    if "convention" in doc:
        rows = dict(zip((joint.name for joint in old.joints if joint.kind != "fixed"), doc["joints"], strict=True))
    return [(a, b, rows[b.name]) for a, b in zip(old.joints, new.joints, strict=True) if a != b]


def _put_link(row: Row, pose: Pose, link: Link) -> None:
    for key in ("mass", "com", "first_moment", "inertia", "inertia_at"):
        row.pop(key, None)
    if link.inertia is not None:
        row.update(inertia_keys(link.inertia, pose))


def _put_joint(row: Row, before: Joint, joint: Joint) -> None:
    if joint.friction != before.friction:
        row["friction"] = friction_keys(joint.friction)
        if not row["friction"]:
            del row["friction"]
    if joint.rotor != before.rotor:
        row.pop("rotor", None)
        if joint.rotor is not None:
            row["rotor"] = rotor_keys(joint.rotor)
    if joint.armature != before.armature:
        row.pop("motor", None)
        row.pop("armature", None)
        if joint.armature is not None:
            row["armature"] = joint.armature
