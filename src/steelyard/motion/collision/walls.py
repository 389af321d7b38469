"""Walls: half-spaces that frames and links stay in, such as the sides of a box and the ground."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arguments import numbers
from ...errors import CallError, suggest
from ...robot import Robot
from .body_frames import BodyFrames, lever_arms, pair_sides
from .capsules import Distances
from .ground import shapes_above_ground
from .shapes import ConvexShape

Array = NDArray[np.float64]
Boxes: TypeAlias = Mapping[str, tuple[ArrayLike, ArrayLike]]
EVERY = "*"
SIDES = ("x", "y", "z")


class HalfSpace(NamedTuple):
    """The points x with normal . x <= offset [m], in the base frame.

    `frames` names the frames and links that stay in it, "*" all links.
    """

    normal: ArrayLike
    offset: float
    frames: str | Sequence[str] = EVERY


class Wall(NamedTuple):
    """A half-space that a shape stays in: unit normal (3,), offset [m], least distance [m].

    `name` describes it in sentences.
    """

    shape: ConvexShape
    normal: Array
    offset: float
    least: float
    name: str


@dataclass(frozen=True, eq=False)
class Walls:
    """The k walls of a robot.

    `standing` names the links that the ground does not count for: they cannot leave it.
    """

    robot: Robot
    walls: tuple[Wall, ...]
    standing: tuple[str, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """Each in words."""
        return tuple(wall.name for wall in self.walls)

    @property
    def least(self) -> Array:
        """The least distances (k,) [m]."""
        return np.array([wall.least for wall in self.walls])

    @property
    def frequent(self) -> Walls:
        """All of them."""
        return self

    def reserve(self, extra: float) -> Array:
        """Return the reserve beside the least distances, (k,) [m]."""
        return np.full(len(self.walls), extra)

    def levers(self, travel: Array) -> Array:
        """Bound the motion of each shape per unit of each coordinate, (k, n) [m/rad|1]."""
        base = ConvexShape(-1, "base", np.zeros((1, 3)))
        return np.array(
            [lever_arms(self.robot.tree, base, wall.shape, travel) for wall in self.walls]
        ).reshape(-1, self.robot.n)

    def distances(self, q: Array, exact: float | Array = np.inf) -> Distances:
        """Compute the distances to the walls at positions q (N, n) [rad|m].

        Each is taken at the shape's farthest point along the normal.
        """
        frames = BodyFrames.compute(self.robot, q)
        bodies = np.array([wall.shape.body for wall in self.walls]) + 1
        normals = np.array([wall.normal for wall in self.walls])
        R = frames.R[:, bodies]
        turned = (normals[:, None] @ R)[:, :, 0]
        points = np.empty(turned.shape)
        for k, wall in enumerate(self.walls):
            corners = wall.shape.points
            points[:, k] = (
                corners[np.argmax(turned[:, k] @ corners.T, axis=1)]
                if len(corners) > 1
                else corners
            )
        p = (R @ points[..., None])[..., 0] + frames.p[:, bodies]
        spare = np.array([wall.offset - wall.shape.radius for wall in self.walls])
        return Distances(
            spare - np.sum(p * normals, axis=-1), np.broadcast_to(-normals, p.shape), p, p
        )

    def derivatives(self, q: Array, distances: Distances, near: NDArray[np.bool_]) -> Array:
        """Compute d distance / dq (N, k, n) of the walls marked in `near` (N, k), else 0."""
        gradient, (time, k) = np.zeros((*near.shape, self.robot.n)), np.nonzero(near)
        if len(time):
            moving = pair_sides(self.robot.tree, [(-1, wall.shape.body) for wall in self.walls])
            frames, point = BodyFrames.compute(self.robot, q), distances.on_b[time, k]
            gradient[time, k] = frames.derivatives(
                time, moving[k], point, point, distances.normal[time, k]
            )
        return gradient


def walls(
    robot: Robot,
    shapes: tuple[ConvexShape, ...],
    workspace: Boxes | None = None,
    half_spaces: Sequence[HalfSpace] = (),
    ground: float | None = None,
    clearance: float = 0.0,
    travel: tuple[Array, Array] | None = None,
) -> Walls:
    """Build the walls of boxes, half-spaces and the ground.

    `workspace` maps a frame or link to (low, high) corners [m]; `ground` is a height [m] in the
    base frame.

    The ground keeps `clearance` [m]; `ground.shapes_above_ground` says what counts for it within
    the ends of `travel` (n,) [rad|m]. A link with shapes stays in with all of it, any other frame
    with its origin.
    """
    rows: list[Wall] = []
    for name, (low, high) in (workspace or {}).items():
        low, high = (_three(f"workspace[{name!r}]", x) for x in (low, high))
        if not np.all(low < high):
            raise CallError(
                f"workspace[{name!r}]: low {low.tolist()} must be below high {high.tolist()}"
            )
        for shape in _shapes(robot, shapes, name):
            rows += _box(shape, low, high)
    for number, each in enumerate(half_spaces):
        normal, offset = _three("half_spaces: normal", each[0]), float(each[1])
        if not (np.all(np.isfinite(normal)) and np.linalg.norm(normal) > 0 and np.isfinite(offset)):
            raise CallError(
                f"half_spaces[{number}]: expected a normal of three numbers, not all zero, and an"
                " offset [m]"
            )
        size = float(np.linalg.norm(normal))
        frames = HalfSpace(*each).frames
        for name in [frames] if isinstance(frames, str) else frames:
            for shape in _shapes(robot, shapes, name):
                rows.append(
                    Wall(
                        shape,
                        normal / size,
                        offset / size,
                        0.0,
                        f"{shape.name} within half-space {number + 1}",
                    )
                )
    if ground is None:
        return Walls(robot, tuple(rows))
    above, standing = shapes_above_ground(robot, shapes, ground, clearance, travel)
    down = np.array([0.0, 0.0, -1.0])
    floor = (
        Wall(shape, down, -ground, clearance, f"{shape.name} above the ground") for shape in above
    )
    return Walls(robot, (*rows, *floor), standing)


def _box(shape: ConvexShape, low: Array, high: Array) -> list[Wall]:
    """Return the finite sides of a box as walls."""
    rows = []
    for sign, bound, word in ((-1.0, low, "above"), (1.0, high, "below")):
        for axis in np.flatnonzero(np.isfinite(bound)).tolist():
            name = f"{shape.name} {word} {SIDES[axis]} = {bound[axis]:g} m"
            rows.append(Wall(shape, sign * np.eye(3)[axis], float(sign * bound[axis]), 0.0, name))
    return rows


def _shapes(robot: Robot, shapes: tuple[ConvexShape, ...], name: str) -> list[ConvexShape]:
    """Return the shapes of a link, of all moving links for "*", or the origin of a frame."""
    if name == EVERY:
        return [shape for shape in shapes if shape.body >= 0]
    named = [shape for shape in shapes if shape.name == name]
    if named:
        return named
    frames = robot.tree.frames
    if name not in frames:
        raise CallError(
            f"workspace: no frame or link is called {name!r};"
            f" {suggest(str(name), (EVERY, *frames))}",
            argument="workspace",
        )
    frame = frames[name]
    if frame.body < 0:
        raise CallError(
            f"workspace: {name!r} does not move;"
            f" {suggest('', [k for k, f in frames.items() if f.body >= 0])}",
            argument="workspace",
        )
    return [ConvexShape(frame.body, name, np.array([frame.pose.p], dtype=float))]


def _three(what: str, value: ArrayLike) -> Array:
    array = numbers(what, value)
    if array.shape != (3,) or np.any(np.isnan(array)):
        raise CallError(f"{what} = {value!r}; expected three numbers [m]")
    return array
