"""A robot's card: what it is, its joints, its bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ...algebra.spatial import at_com
from ...mechanism.joint_terms import JOINT_TERMS
from .console import fixed, number, remarks, table

if TYPE_CHECKING:
    from ...robot import Robot

UNITS = {"revolute": "N m", "continuous": "N m", "prismatic": "N"}


def card(robot: Robot) -> RenderableType:
    """Everything that one wants to know of a robot before using it."""
    return Group(head(robot), _joints(robot), _bodies(robot), remarks(robot.mechanism.remarks))


def robots_table(robots: Sequence[tuple[str, Robot]]) -> Table:
    made = table("Built-in robots", ["name", ">joints", "kinds", ">moving mass [kg]", ">parameters"])
    for name, robot in robots:
        kinds = "".join(robot.mechanism.joint(joint).kind[0].upper() for joint in robot.joint_names)
        made.add_row(name, str(robot.n), kinds, number(_mass(robot)), str(len(robot.parameters)))
    return made


def torque_table(robot: Robot, state: Sequence[NDArray[np.float64]], tau: NDArray[np.float64]) -> Table:
    """One state and its torques, joint by joint."""
    made = table("Torques", ["joint", ">q", ">qd", ">qdd", ">tau", "unit"], "q in rad or m, rates per s and s²")
    for name, q, qd, qdd, effort in zip(robot.joint_names, *state, tau, strict=True):
        made.add_row(name, *(number(x, 6) for x in (q, qd, qdd)), number(float(effort), 7), UNITS[robot.mechanism.joint(name).kind])
    return made


def _mass(robot: Robot) -> float:
    return sum(body.inertia.m for body in robot.tree.bodies)


def head(robot: Robot) -> Text:
    """Name, size and origin."""
    mechanism = robot.mechanism
    source = mechanism.source
    where = {"builtin": "built in"}.get(source.format, source.path or source.format) if source else "made in Python"
    gravity = ", ".join(number(x) for x in mechanism.gravity)
    text = Text(mechanism.name, style="bold cyan")
    facts = f"\n{robot.n} joints, {len(mechanism.links)} links, {_mass(robot):.4g} kg moving, {len(robot.parameters)} parameters"
    text.append(f"{facts}; gravity ({gravity}) m/s²", style="not bold default")
    text.append(f"\n{where}; fingerprint {robot.fingerprint[:16]}", style="not bold dim default")
    return text


def _joints(robot: Robot) -> Table:
    """One row per coordinate; columns that no joint fills are left out."""
    rows = []
    for name, limits, terms in zip(robot.joint_names, robot.tree.limits, robot.tree.terms, strict=True):
        travel = f"{number(limits.lower, 3)} … {number(limits.upper, 3)}"
        numbers = (limits.velocity, limits.effort, *(terms.get(row.key) for row in JOINT_TERMS))
        kind = robot.mechanism.joint(name).kind
        rows.append([name, kind, robot.mechanism.joint(name).child, travel, *(number(x) for x in numbers)])
    names = ["joint", "kind", "carries", ">travel", ">speed", ">effort", *(f">{row.symbol}" for row in JOINT_TERMS)]
    kept = [i for i in range(len(names)) if i < 4 or any(row[i] not in ("", "–") for row in rows)]
    meanings = "; ".join(f"{row.symbol} {row.meaning}" for i, row in enumerate(JOINT_TERMS) if i + 6 in kept)
    made = table("Joints", [names[i] for i in kept], "rad or m, N m or N; – unlimited" + (f"; {meanings}" if meanings else ""))
    for row in rows:
        made.add_row(*(row[i] for i in kept))
    return made


def _bodies(robot: Robot) -> Table:
    """Moving bodies with all that is fixed to them."""
    made = table("Moving bodies", ["body", ">mass [kg]", ">centre [m]", ">Ixx", ">Iyy", ">Izz"], "centre of mass; inertia [kg m²] about it")
    for body in robot.tree.bodies:
        if not body.inertia.m:
            made.add_row(body.name, "0", "", "", "", "")
            continue
        m, c, I = at_com(body.inertia)  # noqa: E741
        made.add_row(body.name, number(m), " ".join(fixed(x, 3) for x in c), number(I.xx), number(I.yy), number(I.zz))
    return made
