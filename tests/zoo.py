"""The zoo: few robots on which every feature of a mechanism is present, most in combination.

Laws run over all of them.

A robot is built from rows, one per joint, that say what matters; poses and inertias are drawn from
a generator seeded by the robot's name. Which features a robot has is read off its mechanism, so
that the tags cannot be wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

import numpy as np

import steelyard as sy
from steelyard.algebra.spatial import Inertia, Pose
from steelyard.algebra.vector import IDENTITY, Vector
from steelyard.mechanism.joint_terms import Terms
from steelyard.mechanism.model import (
    STANDARD_GRAVITY,
    Coupling,
    Joint,
    Link,
    Mechanism,
    Mimic,
    Rotor,
)
from tests.random_robots import random_inertia, random_pose, unit
from tests.reference import Reference

# None: a direction drawn for this joint
X, Y, Z, OBLIQUE = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), None
TILTED, WEIGHTLESS = (3.0, -4.0, -7.5), (0.0, 0.0, 0.0)
DRY = {"viscous": 0.7, "coulomb": 0.9, "offset": -0.3}
ONE_SIDED = {"viscous": 0.4, "coulomb": 1.1, "negative": 0.6}
STRIBECK = {"coulomb": 0.8, "stiction": 1.9, "stribeck": 0.7}
SMOOTH = {"coulomb": 0.8, "width": 0.8}
RIPPLE = {
    "sine1": 0.4,
    "cosine1": -0.3,
    "sine2": 0.2,
    "cosine2": 0.5,
    "sine6": -0.1,
    "cosine6": 0.2,
    "gear": 1.7,
}
MEMORY = {"presliding": 0.7, "distance": 0.02}
RATE_TERMS = {
    **DRY,
    "negative": 1.4,
    "stiction": 2.1,
    "stribeck": 0.9,
    "width": 0.8,
    **MEMORY,
}
ALL_TERMS = {**RATE_TERMS, **RIPPLE}

# at half the rate the shapes of RATE_TERMS
MIRRORED = {
    **RATE_TERMS,
    "coulomb": 0.3,
    "negative": 0.1,
    "stribeck": 0.45,
    "width": 0.4,
    "distance": 0.01,
}
COUPLED = {"armature": 0.05, "viscous": 0.2, "coulomb": 0.3}


@dataclass(frozen=True)
class Row:
    """A joint `name` with the link "link_<name>", on the link of the joint `parent`.

    None: on the base.

    `rotor` is (ratio, axis, mount) with the joint whose link carries the rotor. `mass` False leaves
    the link without inertia. `fixed` True adds a link with mass that is fixed to it in a rotated
    frame. `simple` keeps to right angles, so that kernels stay small.
    """

    name: str
    parent: str | None
    kind: str = "revolute"
    axis: Vector | None = Z
    terms: dict[str, float] = field(default_factory=dict)
    armature: float | None = None
    rotor: tuple[float, Vector | None, str | None] | None = None
    mimic: tuple[str, float, float] | None = None
    mass: bool = True
    fixed: bool = False
    simple: bool = True


PENDULUM = (
    Row(
        "swing",
        None,
        "continuous",
        OBLIQUE,
        ALL_TERMS,
        0.7,
        (-30.0, OBLIQUE, None),
        fixed=True,
        simple=False,
    ),
)

LIFT = (
    Row("lift", None, "prismatic", OBLIQUE, DRY, 0.8, (25.0, Y, None), simple=False),
    Row("turn", "lift", axis=Y, terms=ONE_SIDED, armature=0.5, rotor=(1.0, X, "lift"), mass=False),
    Row("nod", "turn", axis=X, terms=STRIBECK, armature=0.4, fixed=True),
    Row(
        "roll", "nod", axis=Z, terms=SMOOTH, armature=0.3, rotor=(2.0, OBLIQUE, "nod"), simple=False
    ),
    Row("flip", "roll", axis=X, terms={"viscous": 0.1}, armature=0.2, rotor=(-1.5, OBLIQUE, "nod")),
)

HAND = (
    Row("wrist", None, axis=Y, terms=DRY, armature=0.4, rotor=(40.0, Z, None), simple=False),
    Row(
        "knuckle",
        "wrist",
        axis=X,
        terms=DRY,
        armature=0.3,
        rotor=(-2.0, OBLIQUE, "left"),
        fixed=True,
    ),
    Row("middle", "knuckle", axis=X, terms=ONE_SIDED, mimic=("knuckle", -0.6, 0.4), mass=False),
    Row("tip", "middle", axis=OBLIQUE, terms=DRY, mimic=("middle", 1.5, -0.2), simple=False),
    Row("thumb", "tip", axis=Y, terms=SMOOTH, armature=0.2, rotor=(1.5, OBLIQUE, "middle")),
    Row("left", "wrist", "prismatic", Y, ALL_TERMS, 0.2),
    Row(
        "right",
        "wrist",
        "prismatic",
        OBLIQUE,
        MIRRORED,
        0.1,
        mimic=("left", -0.5, 0.05),
        mass=False,
    ),
)

TORSO = (
    Row("waist", None, axis=Z, terms=SMOOTH, armature=0.9, rotor=(50.0, OBLIQUE, None)),
    Row("shoulder", "waist", axis=OBLIQUE, terms=ALL_TERMS, armature=0.5, simple=False),
    Row("elbow", "shoulder", axis=X, terms=DRY, armature=0.3, fixed=True),
    Row("rail", "waist", "prismatic", OBLIQUE, ONE_SIDED, 0.4, simple=False),
    Row("other", "rail", axis=Y, terms=STRIBECK, fixed=True),
    Row("spin", "other", axis=Z, terms={"viscous": 0.2}, armature=0.1, mass=False),
)

CRANE = (
    Row("boom", None, axis=X, terms=DRY),
    Row("jib", "boom", "prismatic", Y, mass=False),
    Row("hook", "jib", axis=OBLIQUE, simple=False, fixed=True),
    Row("swivel", "hook", axis=Z, terms=SMOOTH, mass=False),
)

CRUSHER = (  # friction that grows with the load
    Row("arm", None, axis=OBLIQUE, terms={**DRY, "load": 0.2}, armature=0.4, simple=False),
    Row(
        "ram",
        "arm",
        "prismatic",
        X,
        {"coulomb": 0.5, "width": 0.6, "load": 0.3, "driving": 0.15, "driven": 0.4},
        0.3,
        fixed=True,
    ),
    Row("die", "ram", axis=Y, terms=RIPPLE),
)

TWINS = (  # twelve joints: a trunk, two arms and a head
    Row("trunk", None, axis=Z, terms=DRY, armature=0.6),
    Row("bend", "trunk", axis=Y, terms=SMOOTH, armature=0.5, rotor=(4.0, OBLIQUE, "trunk")),
    *(
        Row(
            f"{side}{i}",
            f"{side}{i - 1}" if i else "bend",
            "prismatic" if (side, i) == ("b", 2) else "revolute",
            (Y, Z, X, Y)[i],
            (ONE_SIDED, DRY, STRIBECK, SMOOTH)[i],
            (0.3, 0.2, None, 0.1)[i],
            rotor=(-2.0, X, "bend") if (side, i) == ("a", 1) else None,
            mass=(side, i) != ("a", 2),
            fixed=(side, i) == ("a", 3),
        )
        for side in "ab"
        for i in range(4)
    ),
    Row("pan", "trunk", axis=Z, terms={"viscous": 0.3}),
    Row("tilt", "pan", axis=Y),
    Row(
        "claw",
        "b3",
        "prismatic",
        X,
        {"viscous": 0.2, "offset": 0.3},
        0.1,
        mimic=("b3", -0.2, 0.1),
        fixed=True,
    ),
)

ROWS: dict[str, tuple[tuple[Row, ...], Vector]] = {
    "pendulum": (PENDULUM, TILTED),
    "lift": (LIFT, WEIGHTLESS),
    "hand": (HAND, TILTED),
    "torso": (TORSO, STANDARD_GRAVITY),
    "crane": (CRANE, TILTED),
    "crusher": (CRUSHER, TILTED),
    "twins": (TWINS, STANDARD_GRAVITY),
}
COUPLINGS = {
    "lift": (Coupling("nod", "roll", Terms.of(COUPLED)),),
    "hand": (
        Coupling(
            "wrist",
            "thumb",
            Terms.of({"armature": 0.04, "viscous": -0.1, "coulomb": 0.2, "width": 0.8}),
        ),
    ),
    "crane": (Coupling("boom", "hook", Terms.of({"coulomb": 0.6, "width": 0.7})),),
    "twins": (
        Coupling("a2", "a3", Terms.of({**COUPLED, "width": 0.9})),
        Coupling("a3", "b3", Terms.of(COUPLED)),
    ),
}
ZOO = tuple(ROWS)


FEATURES: dict[str, Callable[[Mechanism], bool]] = {
    "one joint": lambda m: len(_leading(m)) == 1,
    "twelve joints": lambda m: len(_leading(m)) >= 12,
    "prismatic": lambda m: any(j.kind == "prismatic" for j in _leading(m)),
    "branches": lambda m: len({j.parent for j in _moving(m)}) < len(_moving(m)),
    "oblique axis": lambda m: any(max(map(abs, j.axis)) < 1.0 for j in _moving(m)),
    "fixed link": lambda m: any(
        j.kind == "fixed" and m.link(j.child).inertia and j.origin.R != IDENTITY for j in m.joints
    ),
    "massless link": lambda m: any(
        _massless(m, j.child) and _carries(m, j.child) for j in _moving(m)
    ),
    "massless leaf": lambda m: any(
        _massless(m, j.child) and not _carries(m, j.child) for j in _moving(m)
    ),
    "no inertia": lambda m: any(_idle(m, j) for j in _leading(m)),
    "tilted gravity": lambda m: bool(m.gravity[0] or m.gravity[1]),
    "weightless": lambda m: m.gravity == WEIGHTLESS,
    "mimic": lambda m: any(j.mimic for j in m.joints),
    "mimic, backwards": lambda m: any(j.mimic and j.mimic.multiplier < 0 for j in m.joints),
    "mimic, fractional": lambda m: any(
        j.mimic and abs(j.mimic.multiplier) not in (0.0, 1.0) for j in m.joints
    ),
    "mimic, offset": lambda m: any(j.mimic and j.mimic.offset for j in m.joints),
    "mimic, sliding": lambda m: any(j.mimic and j.kind == "prismatic" for j in m.joints),
    "mimic of mimic": lambda m: any(j.mimic and m.joint(j.mimic.joint).mimic for j in m.joints),
    "mimic, own terms": lambda m: any(
        j.mimic and "armature" in j.terms and len(j.terms) > 1 for j in m.joints
    ),
    "armature": lambda m: any("armature" in j.terms and j.rotor is None for j in _leading(m)),
    "rotor on base": lambda m: any(j.rotor and j.rotor.mount == m.root for j in m.joints),
    "rotor on moving link": lambda m: any(j.rotor and j.rotor.mount != m.root for j in m.joints),
    "rotor on turning link": lambda m: any(
        j.rotor and _turns(m, j.rotor.mount) > 1 for j in m.joints
    ),
    "rotor elsewhere": lambda m: any(
        j.rotor and j.rotor.mount not in (j.parent, m.root) for j in m.joints
    ),
    "rotor, any axis": lambda m: any(
        j.rotor and j.rotor.mount != m.root and max(map(abs, j.rotor.axis)) < 1.0 for j in m.joints
    ),
    **{
        term: lambda m, term=term: any(term in j.terms for j in m.joints)
        for term in (*ALL_TERMS, "load", "driving", "driven")
    },
    **{
        f"coupling, {t}": lambda m, t=t: any(t in c.terms for c in m.couplings)
        for t in (*COUPLED, "width")
    },
}


def features(name: str) -> tuple[str, ...]:
    """The features that a robot of the zoo has."""
    result = mechanism(name)
    return tuple(feature for feature, present in FEATURES.items() if present(result))


def _moving(m: Mechanism) -> list[Joint]:
    return [joint for joint in m.joints if joint.kind != "fixed"]


def _leading(m: Mechanism) -> list[Joint]:
    return [joint for joint in _moving(m) if joint.mimic is None]


def _turns(m: Mechanism, link: str) -> int:
    """How many joints turn a link."""
    joint = next((j for j in m.joints if j.child == link), None)
    return (
        0 if joint is None else _turns(m, joint.parent) + (joint.kind in ("revolute", "continuous"))
    )


def _massless(m: Mechanism, link: str) -> bool:
    """Whether neither the link nor what is fixed to it has an inertia."""
    return m.link(link).inertia is None and all(
        _massless(m, j.child) for j in m.joints if j.parent == link and j.kind == "fixed"
    )


def _carries(m: Mechanism, link: str) -> bool:
    return any(
        m.link(j.child).inertia is not None or _carries(m, j.child)
        for j in m.joints
        if j.parent == link
    )


def _idle(m: Mechanism, leader: Joint) -> bool:
    """Whether nothing resists an acceleration of the joint and of those that mimic it."""
    group = [joint for joint in _moving(m) if _leads(m, joint) == leader.name]
    return all(
        "armature" not in joint.terms
        and m.link(joint.child).inertia is None
        and not _carries(m, joint.child)
        for joint in group
    )


def _leads(m: Mechanism, joint: Joint) -> str:
    return joint.name if joint.mimic is None else _leads(m, m.joint(joint.mimic.joint))


@cache
def robot(name: str) -> sy.Robot:
    """A robot of the zoo. The same object in every test, so that its kernels are made once."""
    return sy.Robot(mechanism(name))


@cache
def mechanism(name: str) -> Mechanism:
    rows, gravity = ROWS[name]
    rng = np.random.default_rng(list(name.encode()))
    links, joints = [Link("base", random_inertia(np.random.default_rng(11)))], []
    for row in rows:
        joints.append(_joint(rng, row))
        links.append(Link(_link(row.name), _inertia(rng, row)))
        if row.fixed:
            links.append(Link(f"tool_{row.name}", random_inertia(rng)))
            joints.append(
                Joint(
                    f"fix_{row.name}",
                    "fixed",
                    _link(row.name),
                    f"tool_{row.name}",
                    random_pose(rng),
                )
            )
    return Mechanism(name, tuple(links), tuple(joints), gravity, COUPLINGS.get(name, ()))


def _joint(rng: np.random.Generator, row: Row) -> Joint:
    ratio, axis, mount = row.rotor or (0.0, None, None)
    return Joint(
        row.name,
        row.kind,  # type: ignore[arg-type]
        _link(row.parent),
        _link(row.name),
        _pose(rng, row),
        _direction(rng, row.axis),
        terms=Terms.of({"armature": row.armature, **row.terms}),
        rotor=Rotor(ratio, _direction(rng, axis), _link(mount)) if row.rotor else None,
        mimic=Mimic(*row.mimic) if row.mimic else None,
    )


def _pose(rng: np.random.Generator, row: Row) -> Pose:
    if not row.simple:
        return random_pose(rng)
    return Pose(
        p=tuple(float(x) for x in np.where(rng.random(3) < 0.4, 0.0, rng.uniform(0.2, 0.6, 3)))
    )


def _inertia(rng: np.random.Generator, row: Row) -> Inertia | None:
    return random_inertia(rng) if row.mass else None


def _direction(rng: np.random.Generator, axis: Vector | None) -> Vector:
    return axis or tuple(float(x) for x in unit(rng.normal(size=3)))


def _link(joint: str | None) -> str:
    return "base" if joint is None else f"link_{joint}"


@dataclass(frozen=True)
class Case:
    """A robot of the zoo, the same by `Reference`, and states to put it in, (SAMPLES, n).

    No rate is near zero, where friction jumps.
    """

    robot: sy.Robot
    reference: Reference
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray

    @property
    def tau(self) -> np.ndarray:
        return self.robot.inverse_dynamics(self.q, self.qd, self.qdd)


SAMPLES = 5  # a full block of a kernel and a tail


@cache
def case(name: str) -> Case:
    arm = robot(name)
    rng = np.random.default_rng(list(name.encode()))
    q, qd, qdd = rng.uniform(0.3, 1.2, (3, SAMPLES, arm.n)) * rng.choice(
        [-1.0, 1.0], (3, SAMPLES, arm.n)
    )
    return Case(arm, Reference(arm.mechanism, arm.joint_names), q, qd, qdd)
