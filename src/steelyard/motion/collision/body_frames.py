"""Where the bodies of a robot are, how far their points move, and how a point moves with each joint."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...dynamics.kinematics import carriers
from ...mechanism.tree import Tree
from ...robot import Robot
from .shapes import ConvexShape

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class BodyFrames:
    """Rotations R (N, B + 1, 3, 3) and origins p (N, B + 1, 3) [m] of the base, first, and of every body, in the base frame."""

    tree: Tree
    R: Array
    p: Array

    @classmethod
    def at(cls, robot: Robot, q: Array) -> BodyFrames:
        """The frames at positions q (N, n) [rad|m]."""
        base = np.broadcast_to(np.eye(4), (len(q), 4, 4))
        X = np.stack([base, *(robot.forward_kinematics(q, body.name) for body in robot.tree.bodies)], axis=1)
        return cls(robot.tree, X[..., :3, :3], X[..., :3, 3])

    def points(self, body: int, points: Array) -> Array:
        """Points (V, 3) of a body in the base frame, (N, V, 3)."""
        return np.asarray(points @ self.R[:, body + 1].transpose(0, 2, 1) + self.p[:, body + 1, None])

    def slope(self, time: Indices, body: int, point: Array, normal: Array) -> Array:
        """How fast points (M, 3) of a body at the samples `time` (M,) move along normals (M, 3) per coordinate, (M, n).

        A turn moves a point by z x (p - o), a slide by z. Siciliano et al. 2009, eq. (3.30).
        """
        made = np.zeros((len(time), self.tree.n))
        for i in carriers(self.tree, body):
            each = self.tree.bodies[i]
            z = self.R[time, i + 1] @ np.array(each.axis, dtype=float)
            arm = _cross(point - self.p[time, i + 1], normal) if each.kind == "revolute" else normal
            made[:, each.coordinate] += each.multiplier * np.sum(z * arm, axis=1)
        return made


def _cross(a: Array, b: Array) -> Array:
    """a x b of (M, 3) each; np.cross takes five times as long."""
    return np.asarray(a[:, [1, 2, 0]] * b[:, [2, 0, 1]] - a[:, [2, 0, 1]] * b[:, [1, 2, 0]])


def moving_joints(tree: Tree, a: int, b: int) -> list[tuple[int, int]]:
    """The bodies (i, end) whose joints move body a against body b, each with the one of them that it carries."""
    of_a, of_b = set(carriers(tree, a)), set(carriers(tree, b))
    return [*((i, a) for i in sorted(of_a - of_b)), *((i, b) for i in sorted(of_b - of_a))]


def lever(tree: Tree, a: ConvexShape, b: ConvexShape, travel: Array) -> Array:
    """How far a point of one shape moves against the other at most, per unit of each coordinate, (n,) [m/rad|1].

    travel (n,) is the largest |q| of every coordinate [rad|m]. A turn moves a point by its distance from the axis, which is at most the
    sum of the distances between the joints on the way and of the point from the last.
    """
    made = np.zeros(tree.n)
    for i, end in moving_joints(tree, a.body, b.body):
        body, shape = tree.bodies[i], a if end == a.body else b
        length = float(np.linalg.norm(shape.points, axis=1).max()) + shape.radius
        between = [tree.bodies[j] for j in carriers(tree, end) if i in carriers(tree, j) and j != i]
        length += sum(float(np.linalg.norm(np.array(each.placement.p, dtype=float))) for each in between)
        length += sum(abs(each.multiplier) * travel[each.coordinate] + abs(each.offset) for each in between if each.kind == "prismatic")
        made[body.coordinate] += abs(body.multiplier) * (length if body.kind == "revolute" else 1.0)
    return made
