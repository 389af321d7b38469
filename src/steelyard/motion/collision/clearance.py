"""Distances between the links of a robot: capsules by a formula, hulls by coal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...cached import cached_property
from ...robot import Robot
from .body_frames import BodyFrames, lever_arms, pair_sides
from .capsules import Distances, capsule_distances
from .clearance_thresholds import THRESHOLDS
from .shapes import ConvexShape, coal_module, convex_hull

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Clearance:
    """Pairs (k) of shapes that may collide, with the clearance [m] to keep between them.

    `spare` (k,) [m] may be kept in addition. Pairs that come nearest in random positions are first;
    the first `often` pairs come near in some. `left_out` names pairs of links built so close
    together that they are not checked.
    """

    robot: Robot
    shapes: tuple[ConvexShape, ...]
    pairs: tuple[tuple[int, int], ...]
    clearance: float = 0.0
    spare: tuple[float, ...] = ()
    often: int = 0
    left_out: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(
        cls,
        robot: Robot,
        shapes: tuple[ConvexShape, ...],
        lower: Array,
        upper: Array,
        clearance: float = 0.0,
    ) -> Clearance:
        """Collect all pairs, except within one body, of adjacent bodies, and of close neighbours.

        Close neighbours are near each other in nearly all random positions.

        lower, upper (n,) [rad|m] bound the positions. What is kept beside the clearance is at most
        half of the distance that there is.
        """
        parents = [body.parent for body in robot.tree.bodies]

        def joined(a: int, b: int) -> bool:
            return a == b or (a >= 0 and parents[a] == b) or (b >= 0 and parents[b] == a)

        pairs = tuple(
            (i, j)
            for i, j in combinations(range(len(shapes)), 2)
            if not joined(shapes[i].body, shapes[j].body)
        )
        if not pairs:
            return cls(robot, shapes, pairs, clearance)
        q = np.random.default_rng(0).uniform(lower, upper, (THRESHOLDS.pair_positions, robot.n))
        every, distances = cls(robot, shapes, pairs, clearance)._thinned(q)
        usual = np.quantile(distances, THRESHOLDS.built_close_share, axis=0)
        counted = sorted(
            np.flatnonzero(usual > THRESHOLDS.built_close_distance).tolist(),
            key=lambda k: float(distances[:, k].min()),
        )
        spare = tuple(max(0.0, float(usual[k]) - clearance) / 2 for k in counted)
        often = int(
            np.sum(distances[:, counted].min(axis=0) < clearance + THRESHOLDS.rare_distance)
        )
        built = tuple(
            (shapes[i].name, shapes[j].name) for k, (i, j) in enumerate(pairs) if k not in counted
        )
        return cls(
            robot=robot,
            shapes=every.shapes,
            pairs=tuple(every.pairs[k] for k in counted),
            clearance=clearance,
            spare=spare,
            often=often,
            left_out=built,
        )

    def _thinned(self, q: Array) -> tuple[Clearance, Array]:
        """Replace capsules built close together by thinner ones; also return distances (N, k) [m].

        The radius of a capsule from the kinematics is one for all links: around short ones, such as
        wrist links, it is too large. Each pair keeps the largest radius with which it is apart
        often enough.
        """
        farthest = self.clearance + THRESHOLDS.farthest_distance
        distances = self.distances(q, farthest).distance
        shapes, pairs = list(self.shapes), list(self.pairs)
        capsules = self._round[self._numbers].all(axis=1)
        steps = [
            *((THRESHOLDS.often_close_share, factor) for factor in THRESHOLDS.thinner_radii),
            (THRESHOLDS.built_close_share, THRESHOLDS.thin_radius),
        ]
        for share, factor in steps:
            usual = np.quantile(distances, share, axis=0)
            close = np.flatnonzero(capsules & (usual <= THRESHOLDS.built_close_distance)).tolist()
            for k in close:
                shapes += [
                    replace(self.shapes[i], radius=factor * self.shapes[i].radius)
                    for i in self.pairs[k]
                ]
                pairs[k] = (len(shapes) - 2, len(shapes) - 1)
            if close:
                some = replace(
                    self, shapes=tuple(shapes), pairs=tuple(pairs[k] for k in close)
                ).distances(q, farthest)
                distances[:, close] = some.distance
        return replace(self, shapes=tuple(shapes), pairs=tuple(pairs)), distances

    @property
    def labels(self) -> tuple[str, ...]:
        """The links of every pair."""
        return tuple(
            f"{self.shapes[i].name} apart from {self.shapes[j].name}" for i, j in self.pairs
        )

    @property
    def least(self) -> Array:
        """The least distances (k,) [m]."""
        return np.full(len(self.pairs), self.clearance)

    @property
    def frequent(self) -> Clearance:
        """The pairs that come near in some random positions; all if none does."""
        return (
            replace(self, pairs=self.pairs[: self.often], spare=self.spare[: self.often])
            if self.often
            else self
        )

    def reserve(self, extra: float) -> Array:
        """Return the reserve beside the least distances, (k,) [m]; at most `extra`."""
        return np.minimum(extra, self.spare) if self.spare else np.full(len(self.pairs), extra)

    def levers(self, travel: Array) -> Array:
        """Bound the relative motion of each pair per unit of each coordinate, (k, n) [m/rad|1]."""
        rows = [
            lever_arms(self.robot.tree, self.shapes[i], self.shapes[j], travel)
            for i, j in self.pairs
        ]
        return np.array(rows).reshape(-1, self.robot.n)

    def distances(self, q: Array, exact: float | Array = np.inf) -> Distances:
        """Compute the distances at positions q (N, n) [rad|m].

        Distances between hulls are exact where their bounding capsules are nearer than `exact` [m],
        a number or (N, k); otherwise the smaller distances of the capsules.
        """
        frames = BodyFrames.compute(self.robot, q)
        ends = frames.points(self._bodies, self._capsules)
        first, second = self._numbers.T
        distances = capsule_distances(
            ends[:, first], ends[:, second], self._radii[first], self._radii[second]
        )
        near = (distances.distance < exact) & ~(self._round[first] & self._round[second])
        if near.any():
            self._along_normals(distances, frames, near)
            self._refine(distances, frames, near & (distances.distance < exact))
        return distances

    def derivatives(self, q: Array, distances: Distances, near: NDArray[np.bool_]) -> Array:
        """Compute d distance / dq (N, k, n) of the pairs marked in `near` (N, k), else 0."""
        gradient, (time, k) = np.zeros((*near.shape, self.robot.n)), np.nonzero(near)
        if len(time):
            frames = BodyFrames.compute(self.robot, q)
            gradient[time, k] = frames.derivatives(
                time,
                self._sides[k],
                *(x[time, k] for x in (distances.on_a, distances.on_b, distances.normal)),
            )
        return gradient

    @cached_property
    def _numbers(self) -> NDArray[np.intp]:
        """The shapes of every pair, (k, 2)."""
        return np.array(self.pairs, dtype=np.intp).reshape(-1, 2)

    @cached_property
    def _bodies(self) -> NDArray[np.intp]:
        return np.array([shape.body for shape in self.shapes], dtype=np.intp)

    @cached_property
    def _sides(self) -> Array:
        return pair_sides(
            self.robot.tree, [(self.shapes[i].body, self.shapes[j].body) for i, j in self.pairs]
        )

    @cached_property
    def _capsules(self) -> Array:
        """The ends of bounding capsules, (S, 2, 3)."""
        return np.array([shape.bounding[0] for shape in self.shapes])

    @cached_property
    def _radii(self) -> Array:
        return np.array([shape.bounding[1] for shape in self.shapes])

    @cached_property
    def _round(self) -> NDArray[np.bool_]:
        """Which shapes are capsules themselves, (S,)."""
        return np.array([shape.capsule for shape in self.shapes])

    @cached_property
    def _solids(self) -> list[tuple[Any, Array, Array]]:
        """The shapes as objects of coal, with rotation (3, 3) and origin (3,) in the body frame."""
        return [coal_shape(shape) for shape in self.shapes]

    def _along_normals(
        self, distances: Distances, frames: BodyFrames, near: NDArray[np.bool_]
    ) -> None:
        """Raise distances marked in `near` (N, k) to the gap of the hulls along the normals."""
        time, k = np.nonzero(near)
        normal = distances.normal[time, k]
        reach = self._reach(frames, time, self._numbers[k, 0], normal) + self._reach(
            frames, time, self._numbers[k, 1], -normal
        )
        distances.distance[time, k] = np.maximum(distances.distance[time, k], -reach)

    def _reach(
        self, frames: BodyFrames, time: NDArray[np.intp], shapes: NDArray[np.intp], normal: Array
    ) -> Array:
        """Return the extent of shapes (M,) along normals (M, 3) at samples `time`, (M,) [m]."""
        turned = frames.directions(time, self._bodies[shapes], normal)
        reach = np.sum(normal * frames.p[time, self._bodies[shapes] + 1], axis=1)
        for number in np.flatnonzero(np.bincount(shapes)).tolist():
            rows = shapes == number
            reach[rows] += (
                np.max(turned[rows] @ self.shapes[number].points.T, axis=1)
                + self.shapes[number].radius
            )
        return reach

    def _refine(self, distances: Distances, frames: BodyFrames, near: NDArray[np.bool_]) -> None:
        """Replace the distances marked in `near` (N, k) by exact ones, computed by coal."""
        time, k = np.nonzero(near)
        if not len(time):
            return
        coal = coal_module("distances between links")
        request, result, distance = coal.DistanceRequest(), coal.DistanceResult(), coal.distance
        used = np.unique(time[:, None] * len(self.shapes) + self._numbers[k])
        placed = dict(
            zip(
                used.tolist(),
                self._placed(coal, frames, *np.divmod(used, len(self.shapes))),
                strict=True,
            )
        )
        solids, exact = (
            [each[0] for each in self._solids],
            Distances(np.empty(len(time)), *np.empty((3, len(time), 3))),
        )
        for row, (t, (i, j)) in enumerate(
            zip((time * len(self.shapes)).tolist(), self._numbers[k].tolist(), strict=True)
        ):
            result.clear()
            exact.distance[row] = distance(
                solids[i], placed[t + i], solids[j], placed[t + j], request, result
            )
            exact.normal[row], exact.on_a[row], exact.on_b[row] = (
                result.normal,
                result.getNearestPoint1(),
                result.getNearestPoint2(),
            )
        for each, values in zip(distances, exact, strict=True):
            each[time, k] = values

    def _placed(
        self, coal: Any, frames: BodyFrames, time: NDArray[np.intp], shapes: NDArray[np.intp]
    ) -> list[Any]:
        """Return the transforms of shapes (M,) at the samples `time` (M,) as objects of coal."""
        turn, body = np.array([each[1] for each in self._solids]), self._bodies[shapes] + 1
        origin = np.array([each[2] for each in self._solids])
        R = frames.R[time, body] @ turn[shapes]
        p = (frames.R[time, body] @ origin[shapes][:, :, None])[..., 0] + frames.p[time, body]
        return list(map(coal.Transform3s, R, p))


def coal_shape(shape: ConvexShape) -> tuple[Any, Array, Array]:
    """Return a shape as an object of coal, with rotation and origin in the frame of its body."""
    coal = coal_module("distances between links")
    if not shape.capsule:
        hull = convex_hull(coal, shape.points)
        if shape.radius:
            hull.setSweptSphereRadius(shape.radius)
        return hull, np.eye(3), np.zeros(3)
    a, b = shape.points[0], shape.points[-1]
    length = float(np.linalg.norm(b - a))
    if length < THRESHOLDS.point_length:
        return coal.Sphere(shape.radius), np.eye(3), a
    z = (b - a) / length
    x = np.cross(z, np.eye(3)[int(np.argmin(np.abs(z)))])
    x /= np.linalg.norm(x)
    return coal.Capsule(shape.radius, length), np.column_stack([x, np.cross(z, x), z]), (a + b) / 2
