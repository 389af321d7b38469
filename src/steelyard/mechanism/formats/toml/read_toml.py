"""Reader of TOML files: a DH table where it has a `convention`, else the general form."""

from __future__ import annotations

import math
import re
import sys
from dataclasses import replace
from decimal import Decimal
from typing import Any

from ....algebra.rotation import unit
from ....algebra.vector import Vector
from ....errors import ModelError
from ...check import KINDS, finished
from ...model import STANDARD_GRAVITY, Joint, Link, Mechanism, Source
from . import rows as terms
from .dh import denavit_hartenberg
from .keys import Table

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def read_toml(text: str, path: str | None = None, warn: bool = True) -> Mechanism:
    """A mechanism from the text of a TOML file; the path names it in messages."""
    where = path or "TOML"
    problems: list[str] = []
    table = Table(parsed(text, where), where, problems)
    mechanism = denavit_hartenberg(table) if table.has("convention") else general(table)
    if problems:
        raise ModelError("\n".join(problems))
    mechanism = replace(mechanism, source=Source("toml", text, path))
    return finished(mechanism, lambda what, name: where if what == "robot" else f"{where}, {what} {name!r}", warn)


def parsed(text: str, where: str) -> dict[str, Any]:
    """The tables of a TOML text, floats as exact decimals."""
    try:
        return tomllib.loads(text.replace("\r\n", "\n"), parse_float=Decimal)
    except (tomllib.TOMLDecodeError, ValueError, ArithmeticError, RecursionError) as error:
        sentence = re.sub(r"^(.*) \(at (.*)\)$", r"\2: \1", str(error))
        raise ModelError(f"{where}: not a TOML file ({sentence})") from None


def general(table: Table) -> Mechanism:
    """A mechanism from the general form; problems are left in the table."""
    angle = math.pi / 180 if table.flag("degrees") else 1.0
    mechanism = Mechanism(
        name=table.text("name", ""),
        links=tuple(_link(row) for row in table.tables("links")),
        joints=tuple(_joint(row, angle) for row in (table.tables("joints") if table.has("joints") else [])),
        gravity=terms.gravity(table, STANDARD_GRAVITY),
    )
    table.text("description", "")
    table.done()
    return mechanism


def _link(row: Table) -> Link:
    link = Link(row.text("name"), terms.inertia(row))
    row.done()
    return link


def _joint(row: Table, angle: float) -> Joint:
    kind = row.choice("kind", KINDS, "revolute")
    joint = Joint(
        name=row.text("name"),
        kind=kind,  # type: ignore[arg-type]
        parent=row.text("parent"),
        child=row.text("child"),
        origin=terms.pose(row, "origin", angle),
        axis=axis(row),
    )
    if kind != "fixed":
        joint = _moving(row, joint, angle)
    row.done()
    return joint


def _moving(row: Table, joint: Joint, angle: float) -> Joint:
    return replace(
        joint,
        limits=terms.limits(row, 1.0 if joint.kind == "prismatic" else angle),
        friction=terms.friction(row),
        armature=terms.armature(row),
        mimic=terms.mimic(row),
        rotor=terms.rotor(row, joint.parent),
    )


def axis(row: Table) -> Vector:
    """A direction of any length but zero, made a unit vector."""
    x, y, z = map(float, row.numbers("axis", (3,), (0, 0, 1)))
    direction = unit((x, y, z))
    if direction is None:
        row.problem("axis = [0, 0, 0]; it must be a direction")
    return direction or (0.0, 0.0, 1.0)
