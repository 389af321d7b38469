"""The mechanism as the algorithms see it: moving bodies, parents first, fixed links merged, mimic joints tied to their coordinate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from ..algebra.spatial import Inertia, Pose
from ..algebra.vector import Vector
from ..errors import CallError, choices
from .model import Friction, Limits


class Frame(NamedTuple):
    """A frame fixed to a body (index, -1 is the base) at a pose in the body's frame."""

    body: int
    pose: Pose


class Gear(NamedTuple):
    """A rotor that spins with a coordinate on a body of its own choice, so that its momentum is felt there.

    It turns `ratio` times as fast as the coordinate, about `axis` (unit, in the frame of the body `mount`; -1 is the base). Its inertia is
    the coordinate's armature Ia = ratio^2 I_m; what it weighs, and its inertia while it is locked, belong to the body that carries it.
    """

    coordinate: int
    mount: int
    ratio: float
    axis: Vector


@dataclass(frozen=True, slots=True)
class Body:
    """A moving link with all that is fixed to it. Its frame is the frame of the link that its joint carries.

    The body's frame in its parent's frame is `placement` followed by a turn about (or a slide along) `axis` by
    `multiplier * q[coordinate] + offset`.
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
    """Bodies in an order in which parents come first, `n` coordinates, joint terms per coordinate, named frames."""

    bodies: tuple[Body, ...]
    coordinates: tuple[str, ...]
    gravity: Vector
    friction: tuple[Friction, ...]
    armature: tuple[float | None, ...]
    frames: Mapping[str, Frame]
    limits: tuple[Limits, ...] = ()
    gears: tuple[Gear, ...] = ()

    @property
    def n(self) -> int:
        return len(self.coordinates)

    def frame(self, name: str) -> Frame:
        """The frame of a link, moving or fixed."""
        if name not in self.frames:
            raise CallError(f"no frame is called {name!r}; {choices(name, self.frames)}")
        return self.frames[name]

    def __post_init__(self) -> None:
        object.__setattr__(self, "frames", MappingProxyType(dict(self.frames)))

    def __reduce__(self) -> tuple[Any, ...]:
        fields = (self.bodies, self.coordinates, self.gravity, self.friction, self.armature, dict(self.frames), self.limits, self.gears)
        return (Tree, fields)  # a read-only mapping cannot be pickled as it is
