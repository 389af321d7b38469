"""The general TOML form of a mechanism: [[links]] and [[joints]], with the same meaning as in URDF.

    name = "gantry"
    gravity = [0, 0, -9.81]
    [[links]]
    name = "base"
    [[links]]
    name = "carriage"
    mass = 3.0
    com = [0, 0, 0.1]
    inertia = [0.02, 0.02, 0.03]        # or Ixx Ixy Ixz Iyy Iyz Izz; about the centre of mass, or inertia_at = "frame"
    [[joints]]
    name = "rail"
    kind = "prismatic"                  # revolute, continuous, prismatic, fixed
    parent = "base"
    child = "carriage"
    origin = { xyz = [0, 0, 1], rpy = [0, 0, 0] }
    axis = [1, 0, 0]
    limits = { lower = 0, upper = 2, velocity = 1, effort = 500 }
    friction = { viscous = 20, coulomb = 5, offset = 0 }
    armature = 1.2                      # or motor = { rotor_inertia = 1e-4, gear_ratio = 100 }

Units are SI; `degrees = true` makes angles (rpy, limits and velocities of turning joints) degrees.
"""

from __future__ import annotations

import math
from dataclasses import replace

from ..algebra.vector import Vector
from . import terms
from .check import KINDS
from .mechanism import STANDARD_GRAVITY, Joint, Link, Mechanism
from .rotation import unit
from .table import Table


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
