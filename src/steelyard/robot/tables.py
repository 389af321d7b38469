"""Tables of a robot: joints with limits and terms, and moving bodies."""

from __future__ import annotations

import math

from ..algebra.spatial import at_com
from ..drawing.numbers import fixed, short
from ..drawing.table import Column, Table
from ..mechanism.joint_terms import JOINT_TERMS
from .description import Description

RATINGS = {
    "acceleration": "acceleration",
    "jerk": "jerk",
    "effort_rate": "rate of the effort",
    "torque_constant": "torque constant",
}
"""Fields of `JointRatings` with their headings."""


def facts(robot: Description) -> str:
    """Return size, moving mass [kg] and gravity [m/s2] in a line."""
    mechanism = robot.mechanism
    mass = short(sum(body.inertia.m for body in robot.tree.bodies), 4)
    gravity = ", ".join(short(x) for x in mechanism.gravity)
    size = (
        f"{robot.n} joints, {len(mechanism.links)} links, {mass} kg moving, {len(robot.parameters)}"
        " parameters"
    )
    return f"{size}; gravity ({gravity}) m/s²"


def joint_table(robot: Description) -> Table:
    """Return a table of the coordinates: limits [rad|m], speed, effort [N m|N] and joint terms.

    Columns without any entry are left out.
    """
    rows = []
    for name, limits, terms in zip(
        robot.joint_names, robot.tree.limits, robot.tree.terms, strict=True
    ):
        travel = f"{short(limits.lower)} … {short(limits.upper)}"
        numbers = (limits.velocity, limits.effort, *(terms.get(row.key) for row in JOINT_TERMS))
        joint = robot.mechanism.joint(name)
        rows.append((name, joint.kind, joint.child, travel, *(short(x, 4) for x in numbers)))
    words = [Column(name, numeric=False) for name in ("joint", "kind", "carries")]
    columns = (
        *words,
        *map(Column, ("travel", "speed", "effort", *(row.symbol for row in JOINT_TERMS))),
    )
    shown = [i for i in range(len(columns)) if i < 4 or any(row[i] != "–" for row in rows)]
    meanings = "".join(
        f"; {row.symbol} {row.meaning}" for i, row in enumerate(JOINT_TERMS) if i + 6 in shown
    )
    note = f"rad or m, N m or N; – unlimited or none{meanings}"
    return Table(
        "Joints",
        tuple(columns[i] for i in shown),
        tuple(tuple(row[i] for i in shown) for row in rows),
        note,
        data=_joint_data(robot),
    )


def _joint_data(robot: Description) -> dict[str, list[object]]:
    """Return the columns of the joint table with all digits; None for missing values."""
    joints = [robot.mechanism.joint(name) for name in robot.joint_names]
    columns: dict[str, list[object]] = {"joint": list(robot.joint_names)}
    columns |= {
        "kind": [joint.kind for joint in joints],
        "carries": [joint.child for joint in joints],
    }
    for name in ("lower", "upper", "velocity", "effort"):
        columns[name] = [getattr(limits, name) for limits in robot.tree.limits]
    for row in JOINT_TERMS:
        if any(row.key in terms for terms in robot.tree.terms):
            columns[row.symbol] = [terms.get(row.key) for terms in robot.tree.terms]
    return columns


def body_table(robot: Description) -> Table:
    """Return a table of the moving bodies with all links fixed to them.

    Mass [kg], centre [m], inertia [kg m2] about the centre.
    """
    rows, data = (
        list[tuple[str, ...]](),
        dict[str, list[object]](
            (name, []) for name in ("body", "mass", "com_x", "com_y", "com_z", "Ixx", "Iyy", "Izz")
        ),
    )
    for body in robot.tree.bodies:
        if not body.inertia.m:
            rows.append((body.name, "0", "", "", "", ""))
            numbers = [0.0, *6 * [float("nan")]]
        else:
            m, c, I = at_com(body.inertia)  # noqa: E741
            rows.append(
                (
                    body.name,
                    short(m, 4),
                    " ".join(fixed(x) for x in c),
                    *(short(x, 4) for x in (I.xx, I.yy, I.zz)),
                )
            )
            numbers = [m, *c, I.xx, I.yy, I.zz]
        for column, value in zip(data.values(), (body.name, *numbers), strict=True):
            column.append(value)
    columns = (
        Column("body", numeric=False),
        Column("mass", "kg"),
        Column("centre", "m"),
        *map(Column, ("Ixx", "Iyy", "Izz")),
    )
    return Table(
        "Moving bodies", columns, tuple(rows), "centre of mass; inertia [kg m²] about it", data=data
    )


def ratings_table(robot: Description) -> Table:
    """Return a table of published ratings of the joints; columns without any are left out."""
    ratings = [
        each for each in robot.mechanism.data_sheet.ratings if each.joint in robot.joint_names
    ]
    columns = [Column("joint", numeric=False)]
    data: dict[str, list[object]] = {"joint": [each.joint for each in ratings]}
    for key, name in RATINGS.items():
        values = [getattr(each, key) for each in ratings]
        if any(map(math.isfinite, values)):
            columns.append(Column(name))
            data[key] = [x if math.isfinite(x) else None for x in values]
    rows = [
        (str(name), *(short(x, 5) for x in values))
        for name, *values in zip(*data.values(), strict=True)
    ]
    note = "per s² and s³ in rad or m; N m/s or N/s; N m/A or N/A at the joint"
    return Table("Ratings", tuple(columns), tuple(rows), note, data=data)
