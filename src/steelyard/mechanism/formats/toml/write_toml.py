"""Writer of TOML.

A mechanism from a TOML file is written into that file's text: form, comments and key order stay.
Other mechanisms, and changes that do not fit into the form of their file, are written in general
form, which reads back exactly. Inertias in a file that has them about the centre of mass read back
within 1e-12.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from ....algebra.rotation import from_rpy, to_rpy
from ....algebra.spatial import Inertia, Pose
from ....algebra.vector import IDENTITY, ZERO, Symmetric
from ....errors import ModelError
from ....files import write_atomic
from ... import near_integers as snap
from ...joint_terms import FRICTION, Terms
from ...known_torque import KnownTorque
from ...model import Coupling, Joint, Limits, Link, Mechanism, Rotor
from ...near_integers import snapped
from ..inertial import HERE, about_frame, changed_elements, com_form, motor_side
from .dh import placements
from .keys import TomlKeys
from .loop_rows import loop_keys
from .read_toml import read_toml
from .rows import INERTIA

Row = dict[str, Any]


def write_toml(mechanism: Mechanism, path: str | os.PathLike[str], overwrite: bool = False) -> None:
    """Write a mechanism to a TOML file, whole or not at all.

    An existing file is only replaced where asked.
    """
    write_atomic(path, toml(mechanism, os.fspath(path)).encode("utf-8"), overwrite)


def toml(mechanism: Mechanism, target: str = "TOML") -> str:
    """Return the text of a mechanism as TOML; `target` names the file in messages."""
    mechanism = snapped(mechanism)
    text = _edited(mechanism) or _new_document(mechanism)
    wrong = changed_elements(mechanism, read_toml(text, target, warn=False))
    if wrong:
        raise ModelError(
            f"{target}: TOML cannot hold {', '.join(wrong)} of {mechanism.name!r}; nothing was"
            " written"
        )
    return text


def _edited(mechanism: Mechanism) -> str | None:
    """Return the mechanism's source with its changes; None where they do not fit into its form."""
    source = mechanism.source
    if source is None or source.format not in ("toml", "builtin"):
        return None
    old = read_toml(source.text, source.path, warn=False)
    if old == mechanism:
        return source.text
    if _structure(old) != _structure(mechanism):
        return None
    return _edited_text(source.text, old, mechanism)


def _edited_text(text: str, old: Mechanism, new: Mechanism) -> str | None:
    """Return the text of a mechanism of the same structure with its changes.

    None where a changed link has no table in the text.
    """
    import tomlkit

    document = tomlkit.parse(text.replace("\r\n", "\n"))
    places = _link_places(document, old)
    for before, link in zip(old.links, new.links, strict=True):
        if before != link:
            if link.name not in places:
                return None
            _edit_link(*places[link.name], link)
    named = [
        joint.name for joint in old.joints if joint.kind != "fixed" or "convention" not in document
    ]
    rows = dict(zip(named, document.get("joints", []), strict=True))
    for was, joint in zip(old.joints, new.joints, strict=True):
        if was != joint:
            _edit_joint(rows[joint.name], was, joint)
    if new.couplings != old.couplings:
        _set_tables(document, "couplings", [coupling_keys(each) for each in new.couplings])
    if new.known != old.known:
        _set_tables(document, "known_torques", [known_keys(each) for each in new.known])
    if new.loops != old.loops:
        _set_tables(document, "loops", [loop_keys(each, origin_keys) for each in new.loops])
    if new.driven != old.driven:
        _set(document, ["driven"], {"driven": None if new.driven is None else list(new.driven)})
    changed = [key for key in ("name", "gravity") if getattr(old, key) != getattr(new, key)]
    _set(document, changed, {"gravity": list(new.gravity), "name": new.name})
    return tomlkit.dumps(document).replace("\n", "\r\n" if "\r\n" in text else "\n")


def _structure(mechanism: Mechanism) -> tuple[Any, ...]:
    """Return the parts of a mechanism that do not depend on its parameters."""
    joints = tuple(replace(joint, terms=Terms(), rotor=None) for joint in mechanism.joints)
    return tuple(link.name for link in mechanism.links), joints


def _link_places(document: Any, old: Mechanism) -> dict[str, tuple[Any, Pose | None]]:
    """Return the row of each link and, in a DH table, the pose of the table frame in the link."""
    if "convention" not in document:
        return {row["name"]: (row, None) for row in document["links"]}
    moving = [joint for joint in old.joints if joint.kind != "fixed"]
    angle, standard = (
        math.pi / 180 if document.get("degrees") else 1.0,
        document["convention"] == "standard",
    )
    poses = [
        placements(TomlKeys(row.unwrap(), "", []), standard, angle)[1] for row in document["joints"]
    ]
    return {
        joint.child: row_and_pose
        for joint, row_and_pose in zip(
            moving, zip(document["joints"], poses, strict=True), strict=True
        )
    }


def _edit_link(row: Any, pose: Pose | None, link: Link) -> None:
    if pose is not None and "link" not in row:
        _add(row, "link", _inline({}))
    table = row if pose is None else row["link"]
    keys = (
        {}
        if link.inertia is None
        else inertia_keys(link.inertia, pose or HERE, table.get("inertia_at", "com"))
    )
    _set(table, INERTIA, keys)


def _edit_joint(row: Any, before: Joint, joint: Joint) -> None:
    if joint.rotor != before.rotor:
        _set(row, ("rotor",), {"rotor": rotor_keys(joint.rotor)})
    old, new = term_keys(before.terms), term_keys(joint.terms)
    changed = [key for key in ("friction", "armature") if old.get(key) != new.get(key)]
    if "armature" in changed and "motor" in row:
        _edit_motor(row, new)
    _set(row, changed, new)


def _edit_motor(row: Any, keys: Row) -> None:
    """Move the rotor inertia from `keys` into the row's `motor`, which is removed without one."""
    armature = keys.pop("armature")
    if armature is None:
        del row["motor"]
    else:
        _set(
            row["motor"],
            ("rotor_inertia",),
            {"rotor_inertia": motor_side(armature, row["motor"].get("gear_ratio", 1.0))},
        )


def _set(table: Any, keys: Any, values: Mapping[str, Any]) -> None:
    """Give these keys of a table their values.

    Changed where they differ, removed where there is none, tables key by key.
    """
    for key in keys:
        value = values.get(key)
        if value is None or value == {}:
            table.pop(key, None)
        elif isinstance(value, dict) and key in table:
            _set(table[key], [*dict.fromkeys([*table[key], *value])], value)
        elif key not in table:
            _add(table, key, _inline(value))
        elif table[key] != value:
            table[key] = _inline(value)


def _add(table: Any, key: str, value: Any) -> None:
    """Add a key behind the last one.

    Comments at the end of a table are about the next one and stay there.
    """
    from tomlkit.items import Table

    body = table.value.body if isinstance(table, Table) else []
    last = max((i for i, (name, _) in enumerate(body) if name is not None), default=len(body))
    tail = [item for _, item in body[last + 1 :]]
    del body[last + 1 :]
    table[key] = value
    for item in tail:
        table.add(item)


def _inline(value: Any) -> Any:
    """Return a value as tomlkit writes it on one line."""
    import tomlkit

    if isinstance(value, dict):
        inline = tomlkit.inline_table()
        inline.update(value)
        return inline
    return value


def _new_document(mechanism: Mechanism) -> str:
    """Return the general form of a mechanism."""
    import tomlkit

    document = tomlkit.document()
    document.update({"name": mechanism.name, "gravity": list(mechanism.gravity)})
    _set(
        document,
        ["driven"],
        {"driven": None if mechanism.driven is None else list(mechanism.driven)},
    )
    rows = {"links": map(link_keys, mechanism.links), "joints": map(joint_keys, mechanism.joints)}
    rows |= {
        "couplings": map(coupling_keys, mechanism.couplings),
        "known_torques": map(known_keys, mechanism.known),
    }
    rows |= {"loops": map(partial(loop_keys, origin=origin_keys), mechanism.loops)}
    for key, tables in rows.items():
        _set_tables(document, key, list(tables))
    return tomlkit.dumps(document)


def _set_tables(document: Any, key: str, rows: list[Row]) -> None:
    """Give the document an array of tables, or none."""
    import tomlkit

    tables = tomlkit.aot()
    for row in rows:
        table = tomlkit.table()
        _set(table, row, row)
        tables.append(table)
    document.pop(key, None)
    if rows:
        document[key] = tables


def coupling_keys(coupling: Coupling) -> Row:
    """Return a row of [[couplings]]."""
    return {"joint_a": coupling.joint_a, "joint_b": coupling.joint_b, **coupling.terms}


def known_keys(torque: KnownTorque) -> Row:
    """Return a row of [[known_torques]]."""
    return {"joint": torque.joint, "expression": torque.expression} | (
        {"scale": torque.scale} if torque.scale != 1.0 else {}
    )


def link_keys(link: Link) -> Row:
    """Return a row of [[links]], about the centre of mass if that reads back exactly.

    Otherwise it is about the link's origin.
    """
    if link.inertia is None:
        return {"name": link.name}
    exact = link.inertia.m > 0 and about_frame(*com_form(link.inertia)) == link.inertia
    return {"name": link.name} | inertia_keys(link.inertia, reference="com" if exact else "frame")


def inertia_keys(inertia: Inertia, pose: Pose = HERE, reference: str = "com") -> Row:
    """Return the keys of an inertia in frame B, X_AB = pose.

    About the centre of mass or, exactly, about the origin of B.
    """
    if (reference == "frame" and pose == HERE) or (inertia.m == 0 and any(inertia.h)):
        return {
            "mass": inertia.m,
            "first_moment": list(inertia.h),
            "inertia": _moments(inertia.I),
            "inertia_at": "frame",
        }
    m, c, I_c = com_form(inertia, pose)
    return {"mass": m, "com": list(c) if any(c) else None, "inertia": _moments(I_c)}


def _moments(I: Symmetric) -> list[float]:  # noqa: E741
    return list(I) if I.xy or I.xz or I.yz else [I.xx, I.yy, I.zz]


def joint_keys(joint: Joint) -> Row:
    """Return a row of [[joints]]; None or {} stands for a key that is omitted."""
    row: Row = {
        "name": joint.name,
        "kind": joint.kind,
        "parent": joint.parent,
        "child": joint.child,
    }
    row |= {
        "origin": origin_keys(joint.origin),
        "axis": None if joint.axis == (0.0, 0.0, 1.0) else list(joint.axis),
    }
    if joint.kind == "fixed":
        return row
    mimic = joint.mimic and {
        "joint": joint.mimic.joint,
        "multiplier": joint.mimic.multiplier,
        "offset": joint.mimic.offset,
    }
    return (
        row
        | {"limits": limit_keys(joint.limits)}
        | term_keys(joint.terms)
        | {"rotor": rotor_keys(joint.rotor), "mimic": mimic}
    )


def limit_keys(limits: Limits) -> Row:
    keys = {
        "lower": limits.lower,
        "upper": limits.upper,
        "velocity": limits.velocity,
        "effort": limits.effort,
    }
    return {key: value for key, value in keys.items() if not math.isinf(value)}


def term_keys(terms: Terms) -> Row:
    """Return `friction` and `armature`."""
    return {
        "friction": {row.key: terms[row.key] for row in FRICTION if row.key in terms},
        "armature": terms.get("armature"),
    }


def rotor_keys(rotor: Rotor | None) -> Row | None:
    return (
        None
        if rotor is None
        else {"ratio": rotor.ratio, "axis": list(rotor.axis), "mount": rotor.mount}
    )


def origin_keys(pose: Pose) -> Row:
    """Return `xyz` and `rpy`, or the rotation matrix where rpy would not read back exactly."""
    keys: Row = {} if pose.p == ZERO else {"xyz": list(pose.p)}
    if pose.R == IDENTITY:
        return keys
    rpy = to_rpy(pose.R)
    if snap.matrix(from_rpy(rpy)) == pose.R:
        return keys | {"rpy": [angle + 0.0 for angle in rpy]}
    return keys | {"rotation": [x for row in pose.R for x in row]}
