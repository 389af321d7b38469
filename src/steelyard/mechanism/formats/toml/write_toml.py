"""Writer of TOML: a mechanism that came from a TOML file keeps its form and all that the file says; any other is written in general form.

An unchanged mechanism comes back as the very text that was read. A changed one keeps every key but not the comments.
"""

from __future__ import annotations

import json
import math
import os
import re
from dataclasses import fields, replace
from decimal import Decimal
from typing import Any

from ....algebra.rotation import from_rpy, to_rpy
from ....algebra.spatial import Inertia, Pose
from ....algebra.vector import IDENTITY, ZERO
from ....errors import ModelError
from ....files import write_whole
from ... import near_integers as snap
from ...model import Friction, Joint, Limits, Link, Mechanism, Rotor
from ...near_integers import snapped
from .. import decimals as exact
from .dh import placements
from .keys import Table
from .read_toml import parsed, read_toml


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


_BARE = re.compile(r"[A-Za-z0-9_-]+")
_WIDE = 120


def dumps(document: dict[str, Any]) -> str:
    """A TOML document: values first, then [tables], then [[arrays of tables]], keys in the order that they have."""
    plain = {key: value for key, value in document.items() if not _is_rows(value)}
    parts = [_lines(plain)]
    for key, rows in document.items():
        if _is_rows(rows):
            parts += [f"[[{_key(key)}]]\n{_lines(row)}" for row in rows]
    return "\n".join(part for part in parts if part)


def _lines(table: dict[str, Any]) -> str:
    return "".join(_line(key, value) for key, value in table.items())


def _line(key: str, value: Any) -> str:
    line = f"{_key(key)} = {_value(value)}\n"
    if isinstance(value, dict) and len(line) > _WIDE:  # an inline table may not be broken; dotted keys may
        return "".join(f"{_key(key)}.{_key(inner)} = {_value(item)}\n" for inner, item in value.items())
    return line


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _string(key)


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items()) + " }" if value else "{}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, Decimal):
        return str(value).lower().replace("infinity", "inf")
    return repr(value + 0.0) if isinstance(value, float) else repr(value)
