"""Distances between the links of a robot: between capsules by a formula, between hulls by the library of collisions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...cached import cached_property
from ...robot import Robot
from .body_frames import BodyFrames, lever
from .shapes import ConvexShape, coal_module, convex_hull

Array = NDArray[np.float64]
RARE = 0.005  # [m] beyond the clearance: pairs that are farther apart in all of them are looked at by the certificate alone
TRIES = 1000  # random positions at which pairs are looked at
MOSTLY, NEIGHBOURS = 0.95, 0.03  # of them, [m]: a pair that is nearer than that in so many is built so, and left out
FAR = 0.2  # [m] beyond the clearance: distances that are larger are not looked at
TINY = 1e-12  # [m]


class Distances(NamedTuple):
    """Distances (N, k) [m] of k pairs, negative where they overlap; unit normals from one to the other and nearest points, (N, k, 3)."""

    distance: Array
    normal: Array
    on_a: Array
    on_b: Array


@dataclass(frozen=True, eq=False)
class Clearance:
    """The pairs (k) of shapes of a robot that may meet, the least distance between them [m], and what may be kept beside it, (k,) [m].

    Those that come nearest in random positions are first; `often` is the number of pairs that come near in some.
    """

    robot: Robot
    shapes: tuple[ConvexShape, ...]
    pairs: tuple[tuple[int, int], ...]
    clearance: float = 0.0
    spare: tuple[float, ...] = ()
    often: int = 0

    @classmethod
    def of(cls, robot: Robot, shapes: tuple[ConvexShape, ...], lower: Array, upper: Array, clearance: float = 0.0) -> Clearance:
        """All pairs but those of one body, of bodies that a joint joins, and neighbours that are near in nearly all random positions.

        lower, upper (n,) [rad|m] bound the positions. What is kept beside the clearance is at most half of the distance that there is.
        """
        parents = [body.parent for body in robot.tree.bodies]

        def joined(a: int, b: int) -> bool:
            return a == b or (a >= 0 and parents[a] == b) or (b >= 0 and parents[b] == a)

        pairs = tuple((i, j) for i, j in combinations(range(len(shapes)), 2) if not joined(shapes[i].body, shapes[j].body))
        every = cls(robot, shapes, pairs, clearance)
        if not pairs:
            return every
        q = np.random.default_rng(0).uniform(lower, upper, (TRIES, robot.n))
        distances = every.distances(q, clearance + FAR).distance
        usual = np.quantile(distances, MOSTLY, axis=0)
        kept = sorted(np.flatnonzero(usual > NEIGHBOURS).tolist(), key=lambda k: float(distances[:, k].min()))
        count = int(np.sum(distances[:, kept].min(axis=0) < clearance + RARE))
        return cls(
            robot, shapes, tuple(pairs[k] for k in kept), clearance, tuple(max(0.0, float(usual[k]) - clearance) / 2 for k in kept), count
        )

    @property
    def labels(self) -> tuple[str, ...]:
        """The links of every pair."""
        return tuple(f"{self.shapes[i].name} apart from {self.shapes[j].name}" for i, j in self.pairs)

    @property
    def least(self) -> Array:
        """The least distances (k,) [m]."""
        return np.full(len(self.pairs), self.clearance)

    @property
    def frequent(self) -> Clearance:
        """The pairs that come near in some random positions; all if none does."""
        return replace(self, pairs=self.pairs[: self.often], spare=self.spare[: self.often]) if self.often else self

    def reserve(self, extra: float) -> Array:
        """What is kept beside the least distances, (k,) [m]: `extra`, or less where there is little room."""
        return np.minimum(extra, self.spare) if self.spare else np.full(len(self.pairs), extra)

    def levers(self, travel: Array) -> Array:
        """How far the shapes of a pair move against each other per unit of each coordinate at most, (k, n) [m/rad|1]."""
        made = [lever(self.robot.tree, self.shapes[i], self.shapes[j], travel) for i, j in self.pairs]
        return np.array(made).reshape(-1, self.robot.n)

    def distances(self, q: Array, exact: float | Array = np.inf) -> Distances:
        """The distances at positions q (N, n) [rad|m].

        Those of hulls are exact where their bounding capsules are nearer than `exact` [m], a number or (N, k); else those of the capsules,
        which are less.
        """
        frames = BodyFrames.at(self.robot, q)
        ends = [frames.points(shape.body, capsule) for shape, (capsule, _) in zip(self.shapes, self._capsules, strict=True)]
        first, second = (list(side) for side in zip(*self.pairs, strict=True))
        A, B = (np.stack([ends[i] for i in side], axis=1) for side in (first, second))
        radii = np.array([radius for _, radius in self._capsules])
        made = capsule_distances(A, B, radii[first], radii[second])
        near = (made.distance < exact) & np.array([not (self.shapes[i].capsule and self.shapes[j].capsule) for i, j in self.pairs])
        if near.any():
            self._along_normals(made, frames, near)
            near &= made.distance < exact
            self._refine(made, frames, near)
        return made

    def slopes(self, q: Array, made: Distances, near: NDArray[np.bool_]) -> Array:
        """d distance / dq (N, k, n) of the pairs marked in `near` (N, k), zero of the others."""
        frames, slope = BodyFrames.at(self.robot, q), np.zeros((*near.shape, self.robot.n))
        for k, (i, j) in enumerate(self.pairs):
            time = np.flatnonzero(near[:, k])
            if len(time):
                normal = made.normal[time, k]
                slope[time, k] = frames.slope(time, self.shapes[j].body, made.on_b[time, k], normal)
                slope[time, k] -= frames.slope(time, self.shapes[i].body, made.on_a[time, k], normal)
        return slope

    @cached_property
    def _capsules(self) -> list[tuple[Array, float]]:
        return [shape.bounding for shape in self.shapes]

    @cached_property
    def _solids(self) -> list[tuple[Any, Array, Array]]:
        """What the library of collisions takes each shape for, at a rotation (3, 3) and origin (3,) in the frame of its body."""
        return [solid(shape) for shape in self.shapes]

    def _along_normals(self, made: Distances, frames: BodyFrames, near: NDArray[np.bool_]) -> None:
        """Replace the distances marked in `near` (N, k) by those of the hulls along the capsules' normals, where they are larger."""
        for k in np.flatnonzero(near.any(axis=0)).tolist():
            time = np.flatnonzero(near[:, k])
            normal = made.normal[time, k]
            far = [_support(frames, self.shapes[i], time, sign * normal) for i, sign in zip(self.pairs[k], (1.0, -1.0), strict=True)]
            made.distance[time, k] = np.maximum(made.distance[time, k], -far[0] - far[1])

    def _refine(self, made: Distances, frames: BodyFrames, near: NDArray[np.bool_]) -> None:
        """Replace the distances marked in `near` (N, k) by exact ones of the library of collisions."""
        coal = coal_module("distances between links")
        request, result = coal.DistanceRequest(), coal.DistanceResult()
        solids, placed = self._solids, dict[tuple[int, int], Any]()
        for t, k in zip(*(x.tolist() for x in np.nonzero(near)), strict=True):
            for number in self.pairs[k]:
                if (t, number) not in placed:
                    body, (_, R, p) = self.shapes[number].body + 1, solids[number]
                    turn = frames.R[t, body]
                    placed[t, number] = coal.Transform3s(turn @ R, turn @ p + frames.p[t, body])
            i, j = self.pairs[k]
            result.clear()
            made.distance[t, k] = coal.distance(solids[i][0], placed[t, i], solids[j][0], placed[t, j], request, result)
            made.normal[t, k], made.on_a[t, k], made.on_b[t, k] = result.normal, result.getNearestPoint1(), result.getNearestPoint2()


def _support(frames: BodyFrames, shape: ConvexShape, time: NDArray[np.intp], normal: Array) -> Array:
    """How far a shape reaches along normals (M, 3) at the samples `time` (M,), (M,) [m]."""
    turned = np.einsum("mij,mi->mj", frames.R[time, shape.body + 1], normal)
    return np.max(turned @ shape.points.T, axis=1) + np.sum(normal * frames.p[time, shape.body + 1], axis=1) + shape.radius


def solid(shape: ConvexShape) -> tuple[Any, Array, Array]:
    """A shape of the library of collisions, with its rotation and origin in the frame of the body."""
    coal = coal_module("distances between links")
    if not shape.capsule:
        hull = convex_hull(coal, shape.points)
        if shape.radius:
            hull.setSweptSphereRadius(shape.radius)
        return hull, np.eye(3), np.zeros(3)
    a, b = shape.points[0], shape.points[-1]
    length = float(np.linalg.norm(b - a))
    if length < TINY:
        return coal.Sphere(shape.radius), np.eye(3), a
    z = (b - a) / length
    x = np.cross(z, np.eye(3)[int(np.argmin(np.abs(z)))])
    x /= np.linalg.norm(x)
    return coal.Capsule(shape.radius, length), np.column_stack([x, np.cross(z, x), z]), (a + b) / 2


def capsule_distances(A: Array, B: Array, ra: Array, rb: Array) -> Distances:
    """Distances between capsules with ends A and B (N, k, 2, 3) and radii (k,).

    The nearest points of two segments: Ericson, Real-Time Collision Detection, 2005, section 5.1.9.
    """
    d1, d2, r = A[..., 1, :] - A[..., 0, :], B[..., 1, :] - B[..., 0, :], A[..., 0, :] - B[..., 0, :]
    a, e, f = np.sum(d1 * d1, -1), np.sum(d2 * d2, -1), np.sum(d2 * r, -1)
    c, b = np.sum(d1 * r, -1), np.sum(d1 * d2, -1)
    a, e = np.maximum(a, TINY**2), np.maximum(e, TINY**2)
    s = np.clip((b * f - c * e) / np.maximum(a * e - b * b, 1e-9 * a * e), 0.0, 1.0)
    t = np.clip((b * s + f) / e, 0.0, 1.0)
    s = np.clip((b * t - c) / a, 0.0, 1.0)
    p1, p2 = A[..., 0, :] + s[..., None] * d1, B[..., 0, :] + t[..., None] * d2
    gap = p2 - p1
    length = np.linalg.norm(gap, axis=-1)
    normal = gap / np.maximum(length, TINY)[..., None]
    return Distances(length - ra - rb, normal, p1 + normal * ra[:, None], p2 - normal * rb[:, None])
