"""Convex shapes of a robot's bodies: hulls of points swept by a radius.

They come from collision geometry, or from the kinematics alone.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...algebra.spatial import Pose
from ...errors import needs_extra, translate_errors
from ...mechanism.formats.urdf.collision_shapes import CollisionShape
from ...mechanism.tree import Tree
from .clearance_thresholds import THRESHOLDS

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ConvexShape:
    """All points within `radius` [m] of the hull of `points` (V, 3) [m], in the frame of a body.

    -1 is the base.

    One point is a ball, two are a capsule.
    """

    body: int
    name: str
    points: Array
    radius: float = 0.0

    @property
    def capsule(self) -> bool:
        """Whether it is its own bounding capsule."""
        return len(self.points) <= 2

    def holds(self, other: ConvexShape) -> bool:
        """Return whether this is a capsule on the same body that contains the other shape."""
        if self.body != other.body or not self.capsule:
            return False
        start, along = self.points[0], self.points[-1] - self.points[0]
        share = np.clip((other.points - start) @ along / max(float(along @ along), 1e-12), 0.0, 1.0)
        apart = np.linalg.norm(other.points - start - share[:, None] * along, axis=1)
        return float(apart.max()) + other.radius <= self.radius

    @property
    def bounding(self) -> tuple[Array, float]:
        """Ends (2, 3) and radius of a capsule that holds the shape: along its longest direction."""
        if self.capsule:
            return self.points[[0, -1]], self.radius
        middle = self.points.mean(axis=0)
        axis = np.linalg.svd(self.points - middle, full_matrices=False)[2][0]
        along = (self.points - middle) @ axis
        around = float(np.linalg.norm(self.points - middle - np.outer(along, axis), axis=1).max())
        middle = middle + axis * (along.max() + along.min()) / 2
        half = max(0.0, (along.max() - along.min()) / 2)
        return np.array([middle - half * axis, middle + half * axis]), around + self.radius

    def bounding_capsule(self) -> ConvexShape:
        """Return the capsule around the shape."""
        points, radius = self.bounding
        return replace(self, points=points, radius=radius)


def one_per_body(shapes: list[ConvexShape]) -> tuple[ConvexShape, ...]:
    """Merge the hulls of each moving body into one hull.

    There are fewer pairs then, and no gap between parts that are screwed together.
    """
    groups: dict[object, list[ConvexShape]] = {}
    for number, shape in enumerate(shapes):
        groups.setdefault(
            shape.body if shape.body >= 0 and not shape.capsule else ("alone", number), []
        ).append(shape)
    return tuple(
        replace(
            row[0], points=np.vstack([x.points for x in row]), radius=max(x.radius for x in row)
        )
        for row in groups.values()
    )


def convex_shape(tree: Tree, shape: CollisionShape) -> ConvexShape | None:
    """Return a collision shape in the frame of its body; None for a mesh whose file is absent."""
    frame = tree.frames.get(shape.link)
    if frame is None or (shape.kind == "mesh" and shape.file is None):
        return None
    points, radius = shape_points(shape)
    return ConvexShape(
        frame.body, shape.link, _transform(frame.pose.compose(shape.pose), points), radius
    )


def shape_points(shape: CollisionShape) -> tuple[Array, float]:
    """Return points (V, 3) and a radius [m] whose swept hull contains the shape."""
    if shape.kind == "sphere":
        return np.zeros((1, 3)), shape.sizes[0]
    if shape.kind == "box":
        return np.array(list(itertools.product(*((-x / 2, x / 2) for x in shape.sizes)))), 0.0
    if shape.kind == "cylinder":
        radius, length = shape.sizes
        turn = 2 * math.pi * np.arange(THRESHOLDS.prism_sides) / THRESHOLDS.prism_sides
        ring = (
            np.column_stack([np.cos(turn), np.sin(turn)])
            * radius
            / math.cos(math.pi / THRESHOLDS.prism_sides)
        )
        return (
            np.vstack(
                [
                    np.column_stack([ring, np.full(THRESHOLDS.prism_sides, z)])
                    for z in (-length / 2, length / 2)
                ]
            ),
            0.0,
        )
    return mesh_hull(shape)


def mesh_hull(shape: CollisionShape) -> tuple[Array, float]:
    """Return corners (V, 3) and a radius [m] whose swept hull contains a mesh.

    Corners are the farthest points in `corner_directions` directions.

    The radius is the distance of the farthest point of the mesh from the hull of these corners, a
    few mm.
    """
    coal = coal_module("reading the meshes of links")
    assert shape.file is not None
    with translate_errors(f"{shape.file} of link {shape.link!r}: not a mesh that coal can read"):
        mesh = coal.MeshLoader().load(str(shape.file), np.array(shape.sizes))
        mesh.buildConvexHull(True, "Qt")
        points = np.array(mesh.convex.points(), dtype=float)
        corners = points[
            np.unique(np.argmax(points @ directions(THRESHOLDS.corner_directions).T, axis=0))
        ]
        hull, ball = convex_hull(coal, corners), coal.Sphere(0.0)
        request, result = coal.DistanceRequest(), coal.DistanceResult()
        apart = [
            coal.distance(
                hull, coal.Transform3s(), ball, coal.Transform3s(np.eye(3), p), request, result
            )
            for p in points
        ]
    return corners, max(0.0, *apart)


def directions(count: int) -> Array:
    """Return evenly spread unit vectors (count, 3).

    Gonzalez, Mathematical Geosciences 42 (2010), section 2 (Fibonacci lattice).
    """
    k = np.arange(count) + 0.5
    z, turn = 1 - 2 * k / count, math.pi * (1 + math.sqrt(5)) * k
    flat = np.sqrt(1 - z**2)
    return np.column_stack([flat * np.cos(turn), flat * np.sin(turn), z])


def convex_hull(coal: Any, points: Array) -> Any:
    """Return the convex hull of points (V, 3) as an object of coal."""
    corners = coal.StdVec_Vec3s()
    for point in points:
        corners.append(point)
    return coal.Convex.convexHull(corners, True, "Qt")


def coal_module(purpose: str) -> Any:
    """Return the collision library coal; MissingExtra without it."""
    try:
        import coal
    except ImportError:
        raise needs_extra("coal", "collision", purpose) from None
    return coal


def link_capsules(tree: Tree) -> tuple[ConvexShape, ...]:
    """Return capsules from the origin of each body to each joint or frame on it, of one radius.

    The base is included.

    The last link is taken to be twice as long as its centre of mass is away.
    """
    ends, radius = _body_ends(tree), capsule_radius(tree)
    if not radius:
        return ()
    names = ["base", *(body.name for body in tree.bodies)]
    capsules = []
    for index, row in ends.items():
        tips = [p for p in row if np.linalg.norm(p) > radius] or [
            max(row, key=lambda p: float(np.linalg.norm(p)))
        ]
        capsules += [
            ConvexShape(index, names[index + 1], np.array([np.zeros(3), tip]), radius)
            for tip in tips
        ]
    return tuple(capsules)


def capsule_radius(tree: Tree, base: float | None = None) -> float:
    """Return the radius of capsules from the kinematics [m].

    `capsule_thickness` times the sum of the lengths of all bodies.

    `base` [m] replaces the length of the base, which includes where the root link puts the robot.
    """
    lengths = {
        index: max(float(np.linalg.norm(p)) for p in row) for index, row in _body_ends(tree).items()
    }
    if base is not None:
        lengths[-1] = base
    return THRESHOLDS.capsule_thickness * sum(lengths.values())


def _body_ends(tree: Tree) -> dict[int, list[Array]]:
    """Return the points that each body reaches, in its frame [m]; -1 is the base."""
    ends: dict[int, list[Array]] = {}
    carried = {body.parent for body in tree.bodies}
    for body in tree.bodies:
        ends.setdefault(body.parent, []).append(np.array(body.placement.p, dtype=float))
    for index, body in enumerate(tree.bodies):
        if index not in carried and body.inertia.m:
            ends.setdefault(index, []).append(
                2 * np.array(body.inertia.h, dtype=float) / float(body.inertia.m)
            )
    for frame in tree.frames.values():
        if frame.body >= 0 and frame.body not in carried:
            ends.setdefault(frame.body, []).append(np.array(frame.pose.p, dtype=float))
    return ends


def _transform(pose: Pose, points: Array) -> Array:
    return np.asarray(points @ np.array(pose.R, dtype=float).T + np.array(pose.p, dtype=float))
