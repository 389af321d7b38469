"""Edits of mechanisms: each takes a mechanism and returns a new one."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from ..algebra.spatial import Inertia, from_com
from ..algebra.vector import Symmetric, apply
from ..errors import CallError, suggest
from .check import coupling_problems, rotor_problems, term_problems
from .freeze import freeze, thaw
from .joint_terms import COUPLING_TERMS, FRICTION, JOINT_TERMS, Terms
from .model import Coupling, Joint, Mechanism, Rotor
from .parameter_vector import with_joint_values, with_parameters
from .reduce import reduce, tip, tips
from .tree import Tree

PerJoint: TypeAlias = "float | Sequence[float] | Mapping[str, float] | None"

__all__ = [
    "freeze",
    "thaw",
    "tip",
    "tips",
    "with_coupling",
    "with_friction",
    "with_gravity",
    "with_joint_terms",
    "with_parameters",
    "with_payload",
    "with_rotors",
    "without_friction",
    "without_rotors",
    "without_terms",
]


def with_gravity(mechanism: Mechanism, gravity: Sequence[float]) -> Mechanism:
    """Return the mechanism with another gravity vector, three numbers in the base frame [m/s2]."""
    g = _finite("gravity", gravity, 3, "m/s2")
    return replace(mechanism, gravity=(g[0], g[1], g[2]))


def with_friction(mechanism: Mechanism, **terms: PerJoint) -> Mechanism:
    """Give joints friction: any of the keys of `joint_terms.FRICTION`, such as viscous or coulomb.

    Each is one number, one per coordinate, or by joint name; None leaves a term as it is. Units are
    as in `JOINT_TERMS`.
    """
    known = [row.key for row in FRICTION]
    for key in terms:
        if key not in known:
            raise CallError(f"friction has no term {key!r}; {suggest(key, known)}")
    return _with_values(mechanism, terms)


def with_joint_terms(mechanism: Mechanism, keys: Sequence[str]) -> Mechanism:
    """Give every coordinate these joint terms, new ones zero, with columns in the regressor."""
    known = [row.key for row in JOINT_TERMS if row.linear]
    for key in keys:
        if key not in known:
            raise CallError(f"no joint term is called {key!r}; {suggest(str(key), known)}")
    tree = reduce(mechanism)
    values = {
        name: dict.fromkeys([k for k in keys if k not in terms], 0.0)
        for name, terms in zip(tree.coordinates, tree.terms, strict=True)
    }
    return with_joint_values(mechanism, values)


def without_friction(mechanism: Mechanism) -> Mechanism:
    """Remove all friction: joints and couplings keep only their inertial terms.

    Known torques, such as a spring's, stay.
    """
    joints = tuple(
        replace(joint, terms=joint.terms.changed({row.key: None for row in FRICTION}))
        for joint in mechanism.joints
    )
    inertial = [row.key for row in COUPLING_TERMS if row.inertial]
    couplings = tuple(
        replace(each, terms=Terms.of({key: each.terms.get(key) for key in inertial}))
        for each in mechanism.couplings
    )
    return replace(
        mechanism, joints=joints, couplings=tuple(each for each in couplings if each.terms)
    )


def without_rotors(mechanism: Mechanism) -> Mechanism:
    """Remove all rotor inertia, including couplings between rotors."""
    inertial = {row.key: None for row in JOINT_TERMS if row.inertial}
    joints = tuple(
        replace(joint, terms=joint.terms.changed(inertial), rotor=None)
        for joint in mechanism.joints
    )
    couplings = tuple(
        replace(each, terms=each.terms.changed(inertial)) for each in mechanism.couplings
    )
    return replace(
        mechanism, joints=joints, couplings=tuple(each for each in couplings if each.terms)
    )


def without_terms(mechanism: Mechanism, names: Collection[tuple[str, str]]) -> Mechanism:
    """Remove joint terms by joint and key.

    `ratio` is a spinning rotor, shared_... a term of a coupling, known_scale a known torque.
    """

    def left(joint: Joint) -> Joint:
        terms = joint.terms.changed(
            {key: None for name, key in names if name == joint.name and key in joint.terms}
        )
        return replace(
            joint, terms=terms, rotor=None if (joint.name, "ratio") in names else joint.rotor
        )

    couplings = [
        replace(
            each,
            terms=each.terms.changed(
                {key: None for key in each.terms if (each.joint_b, f"shared_{key}") in names}
            ),
        )
        for each in mechanism.couplings
    ]
    known = tuple(each for each in mechanism.known if (each.joint, "known_scale") not in names)
    shared = tuple(each for each in couplings if each.terms)
    return replace(
        mechanism, joints=tuple(map(left, mechanism.joints)), couplings=shared, known=known
    )


def with_coupling(
    mechanism: Mechanism, joint_a: str, joint_b: str, **terms: float | None
) -> Mechanism:
    """Let two joints share a motor, with any of armature Iam, viscous Fvm, coulomb Fcm, width.

    None leaves a term as it is. See `Coupling`. The terms are named after `joint_b`, which may have
    one coupling only.
    """
    known = [row.key for row in COUPLING_TERMS]
    for key in terms:
        if key not in known:
            raise CallError(f"a coupling has no term {key!r}; {suggest(key, known)}")
    values = {key: None if value is None else _number(key, value) for key, value in terms.items()}
    for name in (joint_a, joint_b):
        mechanism.joint(name)
    before = next(
        (
            each.terms
            for each in mechanism.couplings
            if (each.joint_a, each.joint_b) == (joint_a, joint_b)
        ),
        Terms(),
    )
    coupling = Coupling(
        joint_a,
        joint_b,
        Terms.of({**before, **{key: value for key, value in values.items() if value is not None}}),
    )
    others = tuple(
        each for each in mechanism.couplings if (each.joint_a, each.joint_b) != (joint_a, joint_b)
    )
    made_mechanism = replace(mechanism, couplings=(*others, coupling))
    for problem in coupling_problems(made_mechanism):
        raise CallError(problem)
    reduce(made_mechanism)  # refuses joints that do not move on their own
    return made_mechanism


def _with_values(mechanism: Mechanism, values: Mapping[str, PerJoint]) -> Mechanism:
    tree = reduce(mechanism)
    columns = {key: per_coordinate(key, value, tree) for key, value in values.items()}
    terms = {
        name: {key: x for key, column in columns.items() if (x := column[i]) is not None}
        for i, name in enumerate(tree.coordinates)
    }
    edited = with_joint_values(mechanism, terms)
    for joint in edited.joints:
        for problem in term_problems(joint.terms):
            raise CallError(f"joint {joint.name!r}: {problem}")
    return edited


def with_rotors(
    mechanism: Mechanism,
    armature: PerJoint = None,
    ratio: PerJoint = None,
    axis: Sequence[float] | Sequence[Sequence[float]] | Mapping[str, Sequence[float]] | None = None,
    mount: str | Sequence[str] | Mapping[str, str] | None = None,
) -> Mechanism:
    """Return the mechanism with rotor inertias Ia = k^2 Im at the joint side [kg m2|kg].

    One number, one per coordinate, or by joint name. With a gear `ratio` k (not zero) the rotor
    spins on the link `mount` (the joint's parent by default) about the unit vector `axis` of that
    link (the joint's axis by default), and its gyroscopic coupling is part of the model; without,
    the armature acts at the joint only. A rotor that spins already keeps arguments that are None.
    """
    tree = reduce(mechanism)
    edited = _with_values(mechanism, {"armature": armature})
    ratios = per_coordinate("ratio", ratio, tree)
    axes, mounts = (
        _each("axis", axis, tree.coordinates, 1),
        _each("mount", mount, tree.coordinates, 0),
    )
    joints = []
    for joint in edited.joints:
        if joint.name in tree.coordinates:
            joint = _with_rotor(
                mechanism,
                joint,
                ratios[tree.coordinates.index(joint.name)],
                axes[joint.name],
                mounts[joint.name],
            )
        joints.append(joint)
    edited = replace(edited, joints=tuple(joints))
    reduce(edited)  # a rotor on a link that its own joint moves is refused here
    return edited


def _with_rotor(
    mechanism: Mechanism, joint: Joint, ratio: float | None, axis: Any, mount: str | None
) -> Joint:
    """Return the joint with a spinning rotor of this gear ratio, axis and mount.

    The joint is unchanged if all three are None.
    """
    if ratio is None and axis is None and mount is None:
        return joint
    if ratio is None and joint.rotor is None:
        raise CallError(
            f"joint {joint.name!r}: axis and mount say where a rotor spins; give its gear ratio="
            " too, or leave them out"
        )
    current = joint.rotor or Rotor(0.0, apply(joint.origin.R, joint.axis), joint.parent)
    x, y, z = current.axis if axis is None else _finite("axis", axis, 3, "unit vector")
    rotor = Rotor(current.ratio if ratio is None else ratio, (x, y, z), mount or current.mount)
    joint = replace(joint, rotor=rotor, terms=Terms.of({"armature": 0.0, **joint.terms}))
    mechanism.link(rotor.mount)
    for problem in rotor_problems(joint):
        raise CallError(f"joint {joint.name!r}: {problem}")
    return joint


def _each(what: str, value: Any, names: Sequence[str], depth: int) -> dict[str, Any]:
    """Return a value per coordinate from one value, a sequence, or a mapping by joint name."""
    if isinstance(value, Mapping):
        for name in value:
            if name not in names:
                raise CallError(
                    f"{what}: {name!r} is not an independent moving joint; "
                    f"{suggest(str(name), names)}"
                )
        return {name: value.get(name) for name in names}
    if value is None or np.ndim(value) == depth:
        return dict.fromkeys(names, value)
    if len(value) != len(names):
        raise CallError(
            f"{what} has {len(value)} entries; expected one, or {len(names)}: one for each of"
            f" {', '.join(names)}"
        )
    return dict(zip(names, value, strict=True))


def with_payload(
    mechanism: Mechanism,
    mass: float,
    com: Sequence[float] = (0.0, 0.0, 0.0),
    inertia: float | Sequence[float] | Sequence[Sequence[float]] = 0.0,
    frame: str | None = None,
) -> Mechanism:
    """Return the mechanism with a payload at a frame.

    Mass [kg], its centre in the frame [m], inertia about that centre in the frame's axes [kg m2]: 0
    (a point), three principal moments or a 3x3 matrix. The frame is a link's name; the last one of
    the arm by default.
    """
    name = tip(mechanism) if frame is None else mechanism.link(frame).name
    if reduce(mechanism).frames[name].body < 0:
        raise CallError(f"link {name!r} does not move: a load there changes nothing")
    if not (math.isfinite(mass) and mass >= 0):
        raise CallError(f"mass = {mass}: a load's mass is a number that is not negative [kg]")
    c = _finite("com", com, 3, "m")
    load = from_com(float(mass), (c[0], c[1], c[2]), _symmetric(inertia))
    links = tuple(
        replace(link, inertia=(link.inertia or Inertia()) + load) if link.name == name else link
        for link in mechanism.links
    )
    return replace(mechanism, links=links)


def _symmetric(inertia: float | Sequence[float] | Sequence[Sequence[float]]) -> Symmetric:
    is_scalar = np.ndim(inertia) == 0
    rows: list[Any] = [inertia] * 3 if is_scalar else list(inertia)  # type: ignore[arg-type]
    if np.shape(rows) == (3, 3):
        a, b, c = (_finite("inertia", row, 3, "kg m2") for row in rows)
        if max(abs(a[1] - b[0]), abs(a[2] - c[0]), abs(b[2] - c[1])) > 1e-9 * max(
            map(abs, (*a, *b, *c))
        ):
            raise CallError("inertia must be symmetric")
        return Symmetric(a[0], a[1], a[2], b[1], b[2], c[2])
    d = _finite("inertia", rows, 3, "kg m2, or three rows of three, or one number")
    return Symmetric(d[0], 0.0, 0.0, d[1], 0.0, d[2])


def per_coordinate(what: str, value: PerJoint, tree: Tree) -> list[float | None]:
    """Return one value per coordinate, None where there is none.

    From a number, a sequence, or a mapping by joint name.
    """
    if value is None:
        return [None] * tree.n
    if isinstance(value, Mapping):
        for name in value:
            if name not in tree.coordinates:
                raise CallError(
                    f"{what}: {name!r} is not an independent moving joint;"
                    f" {suggest(str(name), tree.coordinates)}"
                )
        column: list[Any] = [value.get(name) for name in tree.coordinates]
    else:
        column = [value] * tree.n if np.ndim(value) == 0 else list(value)  # type: ignore[arg-type]
    if len(column) != tree.n:
        raise CallError(
            f"{what} has {len(column)} numbers; expected one, or {tree.n}: one for each of"
            f" {', '.join(tree.coordinates)}"
        )
    return [None if x is None else _number(what, x) for x in column]


def _number(what: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise CallError(f"{what} = {value!r}; expected finite numbers")
    return number


def _finite(what: str, values: object, count: int, unit: str) -> list[float]:
    try:
        numbers = [float(x) for x in values]  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        numbers = []
    if len(numbers) != count or not all(map(math.isfinite, numbers)):
        raise CallError(f"{what} = {values!r}; expected {count} finite numbers [{unit}]")
    return numbers
