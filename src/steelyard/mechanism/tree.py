"""Mechanism as the algorithms use it: moving bodies, parents first, and their coordinates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from ..algebra.scalar import Scalar
from ..algebra.spatial import Inertia, Pose
from ..algebra.vector import ZERO, Vector, neg
from ..cached import cached_property
from ..content_digest import content_digest
from ..errors import CallError, suggest
from .joint_terms import (
    COUPLING_TERMS,
    JOINT_TERMS,
    KNOWN_TORQUE,
    JointState,
    JointTerm,
    Terms,
    memory_distance,
)
from .loops import Loop
from .model import Limits


class Frame(NamedTuple):
    """A frame fixed to a body (index, -1 is the base) at a pose in the body's frame."""

    body: int
    pose: Pose


class BaseMotion(NamedTuple):
    """Motion of the base in its own frame, as an inertial sensor at its origin measures it.

    a: proper acceleration, acceleration of the origin minus gravity [m/s2]; w: angular velocity
    [rad/s]; dw: angular acceleration [rad/s2].
    """

    a: Vector
    w: Vector = ZERO
    dw: Vector = ZERO


class MountedRotor(NamedTuple):
    """A rotor that spins with a coordinate and is mounted on a body.

    It spins `ratio` times as fast as the coordinate, about `axis` (unit, in the frame of the body
    `mount`; -1 is the base). Its inertia is the coordinate's armature Ia = ratio^2 I_m; its weight,
    and its inertia while locked, belong to the body that carries it.
    """

    coordinate: int
    mount: int
    ratio: float
    axis: Vector


class TermUse(NamedTuple):
    """A linear joint term of a tree: owner, row of the table, coordinates and values.

    A coupling acts on two coordinates.
    """

    owner: str
    row: JointTerm
    coordinates: tuple[int, ...]
    values: Terms

    @property
    def value(self) -> Any:
        """The parameter."""
        return self.values[self.row.key]

    @property
    def meaning(self) -> str:
        """What the term is, in words."""
        return self.row.meaning

    def column(self, states: Sequence[JointState]) -> dict[int, Scalar]:
        """Return the torque per unit of the value: coordinate -> factor."""
        assert self.row.factor is not None
        factors = self.row.factor(self.values, *(states[i] for i in self.coordinates))
        return (
            {self.coordinates[0]: factors}
            if len(self.coordinates) == 1
            else dict(zip(self.coordinates, factors, strict=True))
        )


class TreeCoupling(NamedTuple):
    """A motor that two coordinates share, and its terms."""

    owner: str
    coordinates: tuple[int, int]
    terms: Terms


class TreeKnown(NamedTuple):
    """A known torque on the first of some coordinates, all of which it reads."""

    owner: str
    coordinates: tuple[int, ...]
    terms: Terms


class TreeLoop(NamedTuple):
    """A loop of the mechanism with its two frames on bodies.

    `positions` has (joint, coordinate, k, offset) of the joints that it names: k q[coordinate] +
    offset.
    """

    loop: Loop
    a: Frame
    b: Frame
    positions: tuple[tuple[str, int, float, float], ...]


@dataclass(frozen=True, slots=True)
class Body:
    """A moving link with all that is fixed to it.

    Its frame is the frame of the link that its joint carries.

    The body's frame in its parent's frame is `placement` followed by a rotation about (or a
    translation along) `axis` by `multiplier * q[coordinate] + offset`.
    """

    name: str
    joint: str
    parent: int
    kind: Literal["revolute", "prismatic"]
    placement: Pose
    axis: Vector
    inertia: Inertia
    coordinate: int
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class Tree:
    """Bodies with parents first, `n` coordinates with joint terms, couplings, rotors and frames.

    `load` are the inertias whose weight causes load-dependent friction; () for the inertias of the
    bodies. `base_inertia` is the inertia of the root with all links fixed to it. `moving` is the
    motion of the base; None for a base at rest under `gravity`. `memory` has the presliding state
    of each coordinate; () for coordinates that slide. `driven` are the coordinates that
    have a drive; `rows` are the independent scalars of the loops' residuals; `independent` are
    coordinates that determine all others.
    """

    bodies: tuple[Body, ...]
    coordinates: tuple[str, ...]
    gravity: Vector
    terms: tuple[Terms, ...]
    frames: Mapping[str, Frame]
    limits: tuple[Limits, ...] = ()
    rotors: tuple[MountedRotor, ...] = ()
    couplings: tuple[TreeCoupling, ...] = ()
    known: tuple[TreeKnown, ...] = ()
    load: tuple[Inertia, ...] = ()
    base_inertia: Inertia = Inertia()
    moving: BaseMotion | None = None
    loops: tuple[TreeLoop, ...] = ()
    driven: tuple[int, ...] = ()
    rows: tuple[int, ...] = ()
    independent: tuple[int, ...] = ()
    memory: tuple[Scalar, ...] = ()

    @property
    def closures(self) -> int:
        """The number m of scalars in the residuals of all loops."""
        return sum(len(each.loop.rows) for each in self.loops)

    @property
    def n(self) -> int:
        return len(self.coordinates)

    @property
    def base(self) -> BaseMotion:
        """The motion of the base.

        At rest it accelerates by -gravity, so that weight needs no separate term.
        """
        return BaseMotion(neg(self.gravity)) if self.moving is None else self.moving

    def frame(self, name: str) -> Frame:
        """Return the frame of a link, moving or fixed."""
        if name not in self.frames:
            raise CallError(f"no frame is called {name!r}; {suggest(name, self.frames)}")
        return self.frames[name]

    @cached_property
    def __content_digest__(self) -> str:
        """The digest of all fields, for keys of caches."""
        return content_digest(tuple((f.name, getattr(self, f.name)) for f in fields(self)))

    @cached_property
    def joint_terms(self) -> tuple[TermUse, ...]:
        """Every linear joint term in the order of the parameter vector.

        Coordinate by coordinate, then couplings, then known torques.
        """
        joint_uses = [
            (name, JOINT_TERMS, (c,), terms)
            for c, (name, terms) in enumerate(zip(self.coordinates, self.terms, strict=True))
        ]
        shared = [
            (coupling.owner, COUPLING_TERMS, coupling.coordinates, coupling.terms)
            for coupling in self.couplings
        ]
        known = [(each.owner, (KNOWN_TORQUE,), each.coordinates, each.terms) for each in self.known]
        return tuple(
            TermUse(owner, row, coordinates, terms)
            for owner, table, coordinates, terms in (*joint_uses, *shared, *known)
            for row in table
            if row.linear and row.key in terms
        )

    @cached_property
    def memory_distances(self) -> tuple[Any, ...]:
        """The presliding distance [rad|m] of each coordinate; None without memory."""
        return tuple(memory_distance(terms) for terms in self.terms)

    @property
    def has_memory(self) -> bool:
        """Whether the friction of some coordinate has memory."""
        return any(distance is not None for distance in self.memory_distances)

    @property
    def carrying(self) -> Tree:
        """The tree with the inertias of `load`."""
        if not self.load:
            return self
        bodies = tuple(
            replace(body, inertia=inertia)
            for body, inertia in zip(self.bodies, self.load, strict=True)
        )
        return replace(self, bodies=bodies, load=())

    def with_joint_terms(self, values: Sequence[Scalar]) -> Tree:
        """Replace the values of `joint_terms`, in their order."""
        new: dict[tuple[bool, tuple[int, ...]], dict[str, Scalar]] = {}
        for use, value in zip(self.joint_terms, values, strict=True):
            new.setdefault((use.row is KNOWN_TORQUE, use.coordinates), {})[use.row.key] = value
        terms = tuple(
            terms.changed(new.get((False, (c,)), {})) for c, terms in enumerate(self.terms)
        )
        couplings = tuple(
            each._replace(terms=each.terms.changed(new.get((False, each.coordinates), {})))
            for each in self.couplings
        )
        known = tuple(
            each._replace(terms=each.terms.changed(new[True, each.coordinates]))
            for each in self.known
        )
        return replace(self, terms=terms, couplings=couplings, known=known)

    def without_friction(self, coordinates: Sequence[int] | None = None) -> Tree:
        """Keep only the joint terms that are inertial.

        With `coordinates`, only the terms of these coordinates are removed.
        """
        inertial = [
            Terms.of({row.key: terms.get(row.key) for row in JOINT_TERMS if row.inertial})
            for terms in self.terms
        ]
        if coordinates is not None:
            return replace(
                self,
                terms=tuple(
                    a if c in coordinates else b
                    for c, (a, b) in enumerate(zip(inertial, self.terms, strict=True))
                ),
            )
        return replace(
            self,
            known=(),
            terms=tuple(inertial),
            couplings=tuple(
                each._replace(
                    terms=Terms.of(
                        {row.key: each.terms.get(row.key) for row in COUPLING_TERMS if row.inertial}
                    )
                )
                for each in self.couplings
            ),
        )

    @property
    def is_uncoupled(self) -> bool:
        """Whether joints are coupled by rigid bodies alone.

        No mimic joint, no rotor that spins on a moving link, no motor shared by joints.
        """
        tied = len(self.bodies) != self.n or any(body.multiplier != 1.0 for body in self.bodies)
        coupled = any(len(use.coordinates) > 1 and use.row.inertial for use in self.joint_terms)
        return (
            not tied
            and not coupled
            and all(rotor.mount < 0 and self.moving is None for rotor in self.rotors)
        )

    def __post_init__(self) -> None:
        object.__setattr__(self, "frames", MappingProxyType(dict(self.frames)))

    def __reduce__(self) -> tuple[Any, ...]:
        values = {f.name: getattr(self, f.name) for f in fields(self)} | {
            "frames": dict(self.frames)
        }
        return (Tree, tuple(values.values()))  # a read-only mapping cannot be pickled as it is
