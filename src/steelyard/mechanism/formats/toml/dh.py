"""Reader of Denavit-Hartenberg tables in TOML.

    name = "two_links"
    convention = "modified"             # or "standard"
    degrees = false
    gravity = [0, -9.81, 0]
    base = { xyz = [0, 0, 0.5], rpy = [0, 0, 0] }
    tool = { xyz = [0.1, 0, 0] }
    [[joints]]                          # one row per joint, base first
    kind = "revolute"                   # or continuous, prismatic
    a = 0.0
    alpha = 0.0
    d = 0.0
    theta = 0.0                         # what is added to q; `offset` may be used for it too
    limits = [-3.1, 3.1]
    friction = { viscous = 0.1, coulomb = 0.2, offset = 0.0 }
    motor = { rotor_inertia = 1e-4, gear_ratio = 100 }     # or armature = 1.0
    link = { mass = 2.0, com = [0.5, 0, 0], inertia = [0.1, 0.1, 0.1], inertia_at = "com" }

Standard: A_i = Rz(theta) Tz(d) Tx(a) Rx(alpha); modified: A_i = Rx(alpha) Tx(a) Rz(theta) Tz(d)
with a and alpha of the link before.

A body's frame has to sit on its joint's axis. Modified frames do. Standard frame i sits at the
link's far end, on the axis of joint i + 1: there `linkN` is the frame on the axis of joint N,
before d, a and alpha are gone along, and the frame of the table is `frameN`, fixed to it. The
numbers in a table are always in the table's own frame; a standard table's are moved to the joint's
axis when read. Corke 2017, "Robotics, Vision and Control", section 7.1 and 7.2.
"""

from __future__ import annotations

import math
from dataclasses import replace

from ....algebra.rotation import rotation_x, rotation_z
from ....algebra.spatial import Pose
from ....algebra.vector import IDENTITY, ZERO
from ... import near_integers as snap
from ...model import STANDARD_GRAVITY, Joint, JointKind, Link, Mechanism, Source
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

CONVENTIONS = ("standard", "modified")
MOVING = ("revolute", "continuous", "prismatic")
BASE, TOOL = "base", "tool"


def denavit_hartenberg(keys: TomlKeys, source: Source | None = None) -> Mechanism:
    """Return a mechanism from a DH table; problems are added to the keys."""
    angle = math.pi / 180 if keys.flag("degrees") else 1.0
    standard = keys.choice("convention", CONVENTIONS, "standard") == "standard"
    links, joints = [Link(BASE)], []
    parent, reach = BASE, read_pose(keys, "base", angle)
    for i, row in enumerate(keys.tables("joints"), start=1):
        before, after = placements(row, standard, angle)
        link, joint = _row(row, i, after, angle, parent)
        links.append(link)
        joints.append(replace(joint, parent=parent, origin=reach.compose(before)))
        parent, reach = link.name, after
        if standard:
            links.append(Link(f"frame{i}"))
            joints.append(_fixed(f"frame{i}", parent, after))
    if keys.has("tool"):
        links.append(Link(TOOL))
        joints.append(_fixed(TOOL, parent, reach.compose(read_pose(keys, "tool", angle))))
    gravity, couplings, known = (
        keys.vector("gravity", STANDARD_GRAVITY),
        read_couplings(keys),
        read_known(keys),
    )
    name = keys.text("name", "")
    loops, driven = read_loop_rows(keys, angle)
    moving = [joint for joint in joints if joint.kind != "fixed"]
    data_sheet = read_data_sheet(keys, moving, angle)
    keys.done()
    return Mechanism(
        name=name,
        links=tuple(links),
        joints=tuple(joints),
        gravity=gravity,
        couplings=couplings,
        source=source,
        known=known,
        loops=loops,
        driven=driven,
        data_sheet=data_sheet,
    )


def placements(row: TomlKeys, standard: bool, angle: float) -> tuple[Pose, Pose]:
    """Return the joint's frame at q = 0 in the previous table frame, and the table frame in it."""
    prismatic = row.data.get("kind") == "prismatic"
    a, d, alpha, theta, offset = (row.number(key) for key in ("a", "d", "alpha", "theta", "offset"))
    d, theta = (d + offset, theta) if prismatic else (d, theta + offset)
    across = Pose(snap.matrix(rotation_x(alpha * angle)), (a, 0.0, 0.0))
    turn = Pose(snap.matrix(rotation_z(theta * angle)), ZERO)
    along = Pose(IDENTITY, (0.0, 0.0, d))
    if not standard:
        return across.compose(turn).compose(along), Pose()
    return (turn.compose(along), across) if prismatic else (turn, along.compose(across))


def _row(row: TomlKeys, i: int, after: Pose, angle: float, parent: str) -> tuple[Link, Joint]:
    kind: JointKind = row.choice("kind", MOVING, "revolute")  # type: ignore[assignment]
    body = row.table("link")
    link = Link(body.text("name", f"link{i}"), read_inertia(body, after))
    body.done()
    joint = read_moving(
        row, Joint(row.text("name", f"joint{i}"), kind, parent, link.name), angle, parent
    )
    row.done()
    return link, joint


def _fixed(name: str, parent: str, origin: Pose) -> Joint:
    return Joint(f"{name}_fixed", "fixed", parent, name, origin)
