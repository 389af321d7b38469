"""Reader of TOML files: a DH table where it has a `convention`, else the general form."""

from __future__ import annotations

import math

from ....algebra.rotation import unit
from ....algebra.vector import Vector
from ....errors import ModelError
from ....toml_text import parse_toml
from ...check import KINDS, validated
from ...model import STANDARD_GRAVITY, Joint, Link, Mechanism, Source
from .dh import denavit_hartenberg
from .keys import TomlKeys
from .loop_rows import read_loop_rows
from .rows import (
    read_couplings,
    read_data_sheet,
    read_inertia,
    read_known,
    read_moving,
    read_pose,
)


def read_toml(text: str, path: str | None = None, warn: bool = True) -> Mechanism:
    """Return a mechanism from the text of a TOML file; the path names it in messages."""
    where = path or "TOML"
    keys = TomlKeys(parse_toml(text, where, ModelError), where, [])
    source = Source("toml", text, path)
    mechanism = (
        denavit_hartenberg(keys, source) if keys.has("convention") else _general(keys, source)
    )
    if keys.problems:
        raise ModelError("\n".join(keys.problems))
    return validated(
        mechanism,
        lambda what, name: where if what == "robot" else f"{where}, {what} {name!r}",
        warn,
    )


def _general(keys: TomlKeys, source: Source) -> Mechanism:
    """Return a mechanism from the general form: [[links]] and [[joints]].

    Problems are added to the keys.
    """
    angle = math.pi / 180 if keys.flag("degrees") else 1.0
    name, links = keys.text("name", ""), tuple(_link(row) for row in keys.tables("links"))
    rows = keys.tables("joints") if keys.has("joints") else []
    joints = tuple(_joint(row, angle) for row in rows)
    gravity, couplings = keys.vector("gravity", STANDARD_GRAVITY), read_couplings(keys)
    known, (loops, driven) = read_known(keys), read_loop_rows(keys, angle)
    mechanism = Mechanism(
        name=name,
        links=links,
        joints=joints,
        gravity=gravity,
        couplings=couplings,
        source=source,
        known=known,
        loops=loops,
        driven=driven,
        data_sheet=read_data_sheet(keys, joints, angle),
    )
    keys.done()
    return mechanism


def _link(row: TomlKeys) -> Link:
    link = Link(row.text("name"), read_inertia(row))
    row.done()
    return link


def _joint(row: TomlKeys, angle: float) -> Joint:
    kind = row.choice("kind", KINDS, "revolute")
    joint = Joint(
        name=row.text("name"),
        kind=kind,  # type: ignore[arg-type]
        parent=row.text("parent"),
        child=row.text("child"),
        origin=read_pose(row, "origin", angle),
        axis=_axis(row),
    )
    if kind != "fixed":
        joint = read_moving(row, joint, angle, joint.parent)
    row.done()
    return joint


def _axis(row: TomlKeys) -> Vector:
    """Return a direction of any length but zero as a unit vector."""
    direction = unit(row.vector("axis", (0.0, 0.0, 1.0)))
    if direction is None:
        row.problem("axis = [0, 0, 0]; it must be a direction")
    return direction or (0.0, 0.0, 1.0)
