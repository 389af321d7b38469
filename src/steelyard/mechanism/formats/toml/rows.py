"""The parts that a joint and a link have in every TOML form: inertia, limits, friction, rotor, mimic, pose."""

from __future__ import annotations

import math
from dataclasses import fields
from fractions import Fraction

from ....algebra.rotation import from_rpy
from ....algebra.spatial import Inertia, Pose, from_com
from ....algebra.vector import IDENTITY, Matrix, Symmetric, Vector
from ...model import Friction, Limits, Mimic, Rotor
from .. import decimals as exact
from .keys import Table


def inertia(table: Table, pose: Pose = exact.HERE) -> Inertia | None:
    """Ten numbers of a link given in frame B, in frame A, X_AB = pose: `mass`, `com` (or `first_moment`), `inertia`, `inertia_at`.

    `inertia` is Ixx Ixy Ixz Iyy Iyz Izz, or the three of a diagonal one, about the centre of mass or the frame's origin.
    """
    keys = ("mass", "com", "first_moment", "inertia", "inertia_at")
    stated = [key for key in keys if table.has(key)]
    m = table.number("mass", None if stated else 0)
    six = table.numbers("inertia", (3, 6), (0, 0, 0))
    I = Symmetric(*six) if len(six) == 6 else Symmetric(six[0], Fraction(0), Fraction(0), six[1], Fraction(0), six[2])  # noqa: E741
    at = table.choice("inertia_at", ("com", "frame"), "com")
    if table.has("first_moment"):
        return _about_frame(table, m, I, at, pose)
    x, y, z = table.numbers("com", (3,), (0, 0, 0))
    if at == "frame":
        I = from_com(-m, (x, y, z), I).I  # noqa: E741
    return exact.read(exact.Given(m, (x, y, z), I), pose) if stated else None


def _about_frame(table: Table, m: Fraction, I: Symmetric, at: str, pose: Pose) -> Inertia:  # noqa: E741
    """The form that needs no centre of mass: it can hold a body without mass, as an estimate may have it."""
    if at != "frame" or table.has("com") or pose != exact.HERE:
        table.problem("first_moment goes with inertia_at = 'frame' and without com, and not into a standard DH table")
    x, y, z = table.numbers("first_moment", (3,), (0, 0, 0))
    return Inertia(float(m), (float(x), float(y), float(z)), Symmetric(*(float(v) for v in I)))


def limits(joint: Table, unit: float) -> Limits:
    """`limits = [lower, upper]` or a table with lower, upper, velocity, effort; `unit` is what one unit of position is in rad or m."""
    if isinstance(joint.data.get("limits"), list):
        ends = joint.numbers("limits", (2,), (0, 0))
        return Limits(float(ends[0]) * unit, float(ends[1]) * unit)
    table = joint.table("limits")
    lower, upper = table.bound("lower", -math.inf), table.bound("upper", math.inf)
    velocity, effort = table.bound("velocity", math.inf), table.bound("effort", math.inf)
    table.done()
    return Limits(lower * unit, upper * unit, velocity * unit, effort)


def friction(joint: Table) -> Friction:
    """`friction = { viscous, coulomb, offset, negative, stiction, width, stribeck }` at the joint's side; what is not there is absent."""
    table = joint.table("friction")
    result = Friction(**{field.name: table.optional(field.name) for field in fields(Friction)})
    table.done()
    return result


def armature(joint: Table) -> float | None:
    """`armature` at the joint's side, or `motor = { rotor_inertia, gear_ratio }`: Ia = G^2 Jm [kg m2|kg]."""
    if not joint.has("motor"):
        return joint.optional("armature")
    if joint.has("armature"):
        joint.problem("armature and motor both state the rotor's inertia; keep one of them")
    motor = joint.table("motor")
    Ia = motor.number("gear_ratio", 1) ** 2 * motor.number("rotor_inertia", None)
    motor.done()
    return float(Ia)


def rotor(joint: Table, parent: str) -> Rotor | None:
    """`rotor = { ratio, axis, mount }`: one that spins on the link `mount` (the parent by default) about `axis` in that link's frame."""
    if not joint.has("rotor"):
        return None
    table = joint.table("rotor")
    x, y, z = table.numbers("axis", (3,), (0, 0, 1))
    result = Rotor(float(table.number("ratio", None)), (float(x), float(y), float(z)), table.text("mount", parent))
    table.done()
    return result


def mimic(joint: Table) -> Mimic | None:
    """`mimic = { joint, multiplier, offset }`: q = multiplier q(joint) + offset."""
    if not joint.has("mimic"):
        return None
    table = joint.table("mimic")
    result = Mimic(table.text("joint"), float(table.number("multiplier", 1)), float(table.number("offset")))
    table.done()
    return result


def pose(parent: Table, key: str, angle: float = 1.0) -> Pose:
    """`{ xyz, rpy }` or `{ xyz, rotation }` with the nine entries of a rotation row by row; `angle` is what one unit of angle is in rad."""
    table = parent.table(key)
    x, y, z = table.numbers("xyz", (3,), (0, 0, 0))
    R: Matrix
    if table.has("rotation"):
        R = _rotation(table)
    else:
        roll, pitch, yaw = (float(a) * angle for a in table.numbers("rpy", (3,), (0, 0, 0)))
        R = from_rpy((roll, pitch, yaw)) if roll or pitch or yaw else IDENTITY
    table.done()
    return Pose(R, (float(x), float(y), float(z)))


def _rotation(table: Table) -> Matrix:
    a, b, c, d, e, f, g, h, i = map(float, table.numbers("rotation", (9,), (1, 0, 0, 0, 1, 0, 0, 0, 1)))
    R: Matrix = ((a, b, c), (d, e, f), (g, h, i))
    determinant = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
    lengths = [math.sqrt(sum(x * x for x in row)) for row in R]
    if max(abs(determinant - 1.0), *(abs(length - 1.0) for length in lengths)) > 1e-9:
        table.problem("rotation must be the nine entries of a rotation matrix, row by row")
        return IDENTITY
    return R


def gravity(table: Table, default: Vector) -> Vector:
    if not table.has("gravity"):
        return default
    x, y, z = table.numbers("gravity", (3,), (0, 0, 0))
    return (float(x), float(y), float(z))
