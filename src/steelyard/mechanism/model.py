"""Immutable description of a robot: links, joints, gravity."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from hashlib import blake2b
from typing import Any, Literal, TypeVar

from ..algebra.spatial import Inertia, Pose
from ..algebra.vector import Vector
from ..cached import cached_property
from ..errors import CallError, ModelError, suggest
from ..names import check_names
from .data_sheet import DataSheet
from .joint_terms import Terms
from .known_torque import KnownTorque
from .loops import Loop, fingerprint_of

JointKind = Literal["revolute", "continuous", "prismatic", "fixed"]
STANDARD_GRAVITY: Vector = (0.0, 0.0, -9.81)
Named = TypeVar("Named")


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a joint: position [rad|m], |velocity| [rad/s|m/s], |effort| [N m|N].

    Infinite by default.
    """

    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float = math.inf


@dataclass(frozen=True, slots=True)
class Mimic:
    """Tie of a joint to another: q = multiplier * q(joint) + offset."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, slots=True)
class Rotor:
    """A motor's rotor that spins `ratio` times as fast as its joint about `axis` of link `mount`.

    The axis is a unit vector. The inertia is the joint's term `armature`, Ia = ratio^2 I_m; the
    weight, and the inertia while locked, are part of the carrying link (the augmented link of the
    lecture "Newton-Euler formulation"). Without a Rotor the armature acts at the joint only: the
    diagonal approximation.
    """

    ratio: float
    axis: Vector
    mount: str


@dataclass(frozen=True, slots=True)
class Link:
    """A rigid body.

    `inertia` is about the link frame's origin, in the link frame; None where the description has
    none.
    """

    name: str
    inertia: Inertia | None = None


@dataclass(frozen=True, slots=True)
class Joint:
    """A joint between a parent and a child link.

    At q = 0 the child's frame is at `origin` in the parent's; it rotates about or slides along
    `axis`, a unit vector in the child's frame through its origin. `terms` are its friction and
    rotor inertia, by the keys of `joint_terms.JOINT_TERMS`.
    """

    name: str
    kind: JointKind
    parent: str
    child: str
    origin: Pose = Pose()
    axis: Vector = (0.0, 0.0, 1.0)
    limits: Limits = Limits()
    terms: Terms = Terms()
    mimic: Mimic | None = None
    rotor: Rotor | None = None


@dataclass(frozen=True, slots=True)
class Coupling:
    """A motor that two joints share, as in a wrist with coupled axes.

    tau_a += Iam qdd_b + Fvm qd_b + Fcm sign(qd_a + qd_b), and tau_b likewise with a and b
    exchanged; `terms` are the values, by the keys of `joint_terms.COUPLING_TERMS`: armature Iam [kg
    m2], viscous Fvm [N m s/rad], coulomb Fcm [N m], width [rad/s], at the joint side. Gautier,
    Vandanjon and Presse, "Identification of inertial and drive gain parameters of robots", CDC
    1994.

    Parameters
    ----------
    joint_a, joint_b : names of the joints.
    terms : values [kg m2, N m s/rad, N m, rad/s] by key.

    Examples
    --------
    >>> sy.Coupling("joint5", "joint6").joint_b
    'joint6'
    """

    joint_a: str
    joint_b: str
    terms: Terms = Terms()


@dataclass(frozen=True, slots=True)
class Source:
    """The file of a mechanism, so that edits are written into it with everything else unchanged."""

    format: Literal["urdf", "mjcf", "toml", "builtin"]
    text: str = ""
    path: str | None = None
    encoding: str = "utf-8"


@dataclass(frozen=True)
class Mechanism:
    """Links and joints of a tree on its root link, and the loops that close it.

    `remarks` are sentences about changes at loading. `driven` names the joints that have a drive;
    None: all. `data_sheet` has sources and ratings, which no algorithm uses. Numbers are plain
    floats (they fold when an algorithm is traced), containers are tuples: the mechanism is
    immutable. Raises ModelError if a name has control characters (`names.REFUSED`).
    """

    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    gravity: Vector = STANDARD_GRAVITY
    couplings: tuple[Coupling, ...] = ()
    source: Source | None = field(default=None, compare=False)
    remarks: tuple[str, ...] = field(default=(), compare=False)
    known: tuple[KnownTorque, ...] = ()
    loops: tuple[Loop, ...] = ()
    driven: tuple[str, ...] | None = None
    data_sheet: DataSheet = field(default=DataSheet(), compare=False)

    def __post_init__(self) -> None:
        path = None if self.source is None else self.source.path
        for kind, names in _all_names(self):
            check_names(kind, names, path or "robot description", ModelError)

    def link(self, name: str) -> Link:
        """Return the link of that name."""
        return _named("link", name, self._links)

    def joint(self, name: str) -> Joint:
        """Return the joint of that name."""
        return _named("joint", name, self._joints)

    @cached_property
    def root(self) -> str:
        """The link that is not the child of any joint."""
        children = {joint.child for joint in self.joints}
        return next(link.name for link in self.links if link.name not in children)

    @cached_property
    def _links(self) -> dict[str, Link]:
        return {link.name: link for link in self.links}

    @cached_property
    def _joints(self) -> dict[str, Joint]:
        return {joint.name: joint for joint in self.joints}


def _all_names(mechanism: Mechanism) -> Iterator[tuple[str, list[str]]]:
    """Give every name of a mechanism by its kind; references to links and joints too."""
    joints, loops = mechanism.joints, mechanism.loops
    yield "robot", [mechanism.name]
    yield "link", [link.name for link in mechanism.links]
    yield "link", [name for joint in joints for name in (joint.parent, joint.child)]
    yield "link", [joint.rotor.mount for joint in joints if joint.rotor is not None]
    yield "joint", [joint.name for joint in joints]
    yield "joint", [joint.mimic.joint for joint in joints if joint.mimic is not None]
    yield "joint", [name for each in mechanism.couplings for name in (each.joint_a, each.joint_b)]
    yield "joint", [each.joint for each in mechanism.known]
    yield "joint", list(mechanism.driven or ())
    yield "loop", [loop.name for loop in loops]
    yield "frame", [name for loop in loops for name in (loop.a, loop.b)]


def _named(what: str, name: str, known: dict[str, Named]) -> Named:
    if name not in known:
        raise CallError(f"no {what} is called {name!r}; {suggest(name, known)}")
    return known[name]


def fingerprint(mechanism: Mechanism) -> str:
    """Return BLAKE2b (32 hexadecimal digits) of names, structure and the bits of every number.

    Source and remarks do not count. Unused fields add nothing: fingerprints are stable when a field
    is added.
    """
    digest = blake2b(digest_size=16)
    values = {f.name: getattr(mechanism, f.name) for f in fields(mechanism) if f.compare}
    first = [values.pop(name) for name in ("name", "links", "joints", "gravity", "couplings")]
    known, loops, driven = (values.pop(name) for name in ("known", "loops", "driven"))
    later: list[Any] = [known] if known else []
    if loops or driven is not None:
        later += [tuple(map(fingerprint_of, loops)), driven]
    usual = {f.name: f.default for f in fields(mechanism)}
    later += [(name, value) for name, value in values.items() if value != usual[name]]
    for atom in _atoms((*first, *later)):
        digest.update(f"{len(atom)}:{atom};".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _atoms(value: Any) -> Iterator[str]:
    if is_dataclass(value):
        yield type(value).__name__
        for field in fields(value):
            yield from _atoms(getattr(value, field.name))
    elif isinstance(value, tuple):
        yield f"({len(value)}"
        for item in value:
            yield from _atoms(item)
    elif isinstance(value, str) or value is None:
        yield repr(value)
    else:
        yield (float(value) + 0.0).hex()  # -0.0 equals 0.0
