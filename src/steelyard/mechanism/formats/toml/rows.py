"""Rows of joints and links in every TOML form: inertia, limits, terms, rotor, mimic, pose."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from ....algebra.rotation import from_rpy
from ....algebra.spatial import Inertia, Pose, from_com
from ....algebra.vector import IDENTITY, Matrix, Symmetric
from ...data_sheet import DataSheet, JointRatings
from ...joint_terms import COUPLING_TERMS, FRICTION, Terms
from ...known_torque import KnownTorque
from ...model import Coupling, Joint, Limits, Mimic, Rotor
from ..inertial import HERE, about_frame
from .keys import TomlKeys

INERTIA = ("mass", "com", "first_moment", "inertia", "inertia_at")


def read_inertia(link: TomlKeys, pose: Pose = HERE) -> Inertia | None:
    """Return the ten numbers in frame A of a link described in frame B, X_AB = pose.

    Keys are `mass`, `com` (or `first_moment`), `inertia`, `inertia_at`. `inertia` is Ixx Ixy Ixz
    Iyy Iyz Izz, or three of a diagonal one, about the centre of mass or the frame's origin.
    """
    stated = [key for key in INERTIA if link.has(key)]
    m = link.number("mass", None if stated else 0.0)
    six = link.numbers("inertia", (3, 6), (0.0, 0.0, 0.0))
    if len(six) == 3:
        six = (six[0], 0.0, 0.0, six[1], 0.0, six[2])
    moments = Symmetric(*six)
    reference = link.choice("inertia_at", ("com", "frame"), "com")
    if link.has("first_moment"):
        return _frame_form(link, m, moments, reference, pose)
    c = link.vector("com")
    if reference == "frame":
        moments = from_com(-m, c, moments).I
    return about_frame(m, c, moments, pose) if stated else None


def _frame_form(
    link: TomlKeys, m: float, moments: Symmetric, reference: str, pose: Pose
) -> Inertia:
    """Return the inertia of the form without a centre of mass: the ten numbers themselves."""
    if reference != "frame" or link.has("com") or pose != HERE:
        link.problem(
            "first_moment goes with inertia_at = 'frame' and without com, and not into a standard"
            " DH table"
        )
    return Inertia(m, link.vector("first_moment"), moments)


def read_moving(row: TomlKeys, joint: Joint, angle: float, parent: str) -> Joint:
    """Return a joint with limits, terms, rotor and mimic, which only a moving joint has.

    `angle` is the unit of angles in rad.
    """
    limits = read_limits(row, 1.0 if joint.kind == "prismatic" else angle)
    row.has("ratings")  # `read_data_sheet` reads it
    joint = replace(joint, limits=limits, mimic=_mimic(row), rotor=_rotor(row, parent))
    return replace(joint, terms=read_terms(row))


def read_limits(joint: TomlKeys, unit: float) -> Limits:
    """Read `limits = [lower, upper]` or a table with lower, upper, velocity, effort.

    `unit` is one unit of position in rad or m.
    """
    if isinstance(joint.data.get("limits"), list):
        lower, upper = joint.numbers("limits", (2,), (0.0, 0.0))
        return Limits(lower * unit, upper * unit)
    keys = joint.table("limits")
    lower, upper = keys.bound("lower", -math.inf), keys.bound("upper", math.inf)
    velocity, effort = keys.bound("velocity", math.inf), keys.bound("effort", math.inf)
    keys.done()
    return Limits(lower * unit, upper * unit, velocity * unit, effort)


def read_terms(joint: TomlKeys) -> Terms:
    """Read joint terms at the joint side: `friction = { viscous, coulomb, ... }` and `armature`.

    The rotor inertia Ia [kg m2|kg] is `armature`, or `motor = { rotor_inertia, gear_ratio }`: Ia =
    G^2 Jm.
    """
    friction = joint.table("friction")
    terms = {row.key: friction.optional(row.key) for row in FRICTION} | {
        "armature": joint.optional("armature")
    }
    friction.done()
    if joint.has("motor"):
        if joint.has("armature"):
            joint.problem("armature and motor both state the rotor's inertia; keep one of them")
        motor = joint.table("motor")
        terms["armature"] = motor.number("gear_ratio", 1.0) ** 2 * motor.number(
            "rotor_inertia", None
        )
        motor.done()
    return Terms.of(terms)


def read_data_sheet(keys: TomlKeys, joints: Iterable[Joint], angle: float) -> DataSheet:
    """Read `description`, `source`, `estimated`, and `ratings` of the moving joints.

    `joints` are in the order of their rows; `angle` is the unit of angles in rad.
    """
    rows = keys.tables("joints") if keys.has("joints") else []
    ratings = [
        _ratings(row.table("ratings"), joint, angle)
        for row, joint in zip(rows, joints, strict=False)  # `tables` reports other rows
        if row.has("ratings")
    ]
    return DataSheet(
        description=keys.text("description", ""),
        source=keys.text("source", ""),
        estimated=keys.text("estimated", ""),
        ratings=tuple(ratings),
    )


def _ratings(keys: TomlKeys, joint: Joint, angle: float) -> JointRatings:
    """Read `ratings = { acceleration, jerk, effort_rate, torque_constant }` of a joint."""
    unit = 1.0 if joint.kind == "prismatic" else angle
    ratings = JointRatings(
        joint=joint.name,
        acceleration=keys.bound("acceleration", math.inf) * unit,
        jerk=keys.bound("jerk", math.inf) * unit,
        effort_rate=keys.bound("effort_rate", math.inf),
        torque_constant=keys.number("torque_constant") if keys.has("torque_constant") else math.nan,
    )
    for key in keys.asked:
        if keys.has(key) and getattr(ratings, key) <= 0:
            keys.problem(f"{key} = {keys.data[key]!r}; expected a number above 0")
    keys.done()
    return ratings


def read_couplings(keys: TomlKeys) -> tuple[Coupling, ...]:
    """Read `[[couplings]]`, each with joint_a, joint_b, armature, viscous, coulomb, width."""
    couplings = []
    for row in keys.tables("couplings") if keys.has("couplings") else []:
        values = {term.key: row.optional(term.key) for term in COUPLING_TERMS}
        couplings.append(Coupling(row.text("joint_a"), row.text("joint_b"), Terms.of(values)))
        row.done()
    return tuple(couplings)


def read_known(keys: TomlKeys) -> tuple[KnownTorque, ...]:
    """Read `[[known_torques]]`, each with joint, expression and, if it is not 1, scale."""
    torques = []
    for row in keys.tables("known_torques") if keys.has("known_torques") else []:
        torques.append(
            KnownTorque(row.text("joint"), row.text("expression"), row.number("scale", 1.0))
        )
        row.done()
    return tuple(torques)


def _rotor(joint: TomlKeys, parent: str) -> Rotor | None:
    """Read `rotor = { ratio, axis, mount }`.

    It spins on the link `mount` (the parent by default) about `axis` in that link's frame.
    """
    if not joint.has("rotor"):
        return None
    keys = joint.table("rotor")
    rotor = Rotor(
        keys.number("ratio", None), keys.vector("axis", (0.0, 0.0, 1.0)), keys.text("mount", parent)
    )
    keys.done()
    return rotor


def _mimic(joint: TomlKeys) -> Mimic | None:
    """Read `mimic = { joint, multiplier, offset }`: q = multiplier q(joint) + offset."""
    if not joint.has("mimic"):
        return None
    keys = joint.table("mimic")
    mimic = Mimic(keys.text("joint"), keys.number("multiplier", 1.0), keys.number("offset"))
    keys.done()
    return mimic


def read_pose(parent: TomlKeys, key: str, angle: float = 1.0) -> Pose:
    """Read `{ xyz, rpy }` or `{ xyz, rotation }` with nine entries of a rotation row by row.

    `angle` is the unit of angles in rad.
    """
    return read_pose_keys(parent.table(key), angle)


def read_pose_keys(keys: TomlKeys, angle: float = 1.0) -> Pose:
    """Return the pose from the keys of a table, which must have no others left."""
    p = keys.vector("xyz")
    if keys.has("rotation"):
        R = _rotation(keys)
    else:
        roll, pitch, yaw = keys.vector("rpy")
        R = (
            from_rpy((roll * angle, pitch * angle, yaw * angle))
            if roll or pitch or yaw
            else IDENTITY
        )
    keys.done()
    return Pose(R, p)


def _rotation(keys: TomlKeys) -> Matrix:
    a, b, c, d, e, f, g, h, i = keys.numbers(
        "rotation", (9,), (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    )
    R: Matrix = ((a, b, c), (d, e, f), (g, h, i))
    determinant = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
    lengths = [math.sqrt(sum(x * x for x in row)) for row in R]
    if max(abs(determinant - 1.0), *(abs(length - 1.0) for length in lengths)) > 1e-9:
        keys.problem("rotation must be the nine entries of a rotation matrix, row by row")
        return IDENTITY
    return R
