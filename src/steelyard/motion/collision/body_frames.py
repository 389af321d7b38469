"""Where the bodies of a robot are, how far their points move, and how a point moves with each joint."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...compiler.ir.program import Operand, Program, trace
from ...dynamics.kinematics import carriers, poses
from ...kernels import kernel_of
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
        tree = robot.tree
        R, p = np.zeros((len(q), len(tree.bodies) + 1, 3, 3)), np.zeros((len(q), len(tree.bodies) + 1, 3))
        R[:, 0] = np.eye(3)
        R[:, 1:], p[:, 1:] = kernel_of(_program, tree)(q)
        return cls(tree, R, p)

    def points(self, bodies: Indices, points: Array) -> Array:
        """Points (S, V, 3) of bodies (S,) in the base frame, (N, S, V, 3)."""
        return np.asarray(points @ self.R[:, bodies + 1].swapaxes(-1, -2) + self.p[:, bodies + 1, None])

    def directions(self, time: Indices, bodies: Indices, normal: Array) -> Array:
        """Directions (M, 3) of the base frame in the frames of bodies (M,) at the samples `time` (M,)."""
        return np.asarray((normal[:, None] @ self.R[time, bodies + 1])[:, 0])

    def slopes(self, time: Indices, sides: Array, on_a: Array, on_b: Array, normal: Array) -> Array:
        """How fast points b (M, 3) move away from points a (M, 3) along normals (M, 3) per coordinate, at the samples `time`: (M, n).

        sides (M, B) is 1 for bodies whose joints move b against a, -1 for those that move a, else 0. A turn moves a point by z x (p - o),
        a slide by z. Siciliano et al. 2009, eq. (3.30).
        """
        axes = np.array([body.axis for body in self.tree.bodies], dtype=float)
        z = (self.R[time, 1:] @ axes[:, :, None])[..., 0]
        point = np.where(sides[..., None] > 0, on_b[:, None], on_a[:, None])
        turns = np.array([body.kind == "revolute" for body in self.tree.bodies])[:, None]
        arm = np.where(turns, _cross(point - self.p[time, 1:], normal[:, None]), normal[:, None])
        return np.asarray((sides * np.einsum("mbi,mbi->mb", z, arm)) @ coordinates(self.tree))


def _program(tree: Tree) -> Program:
    """Rotations and origins of all bodies."""
    count = len(tree.bodies)
    outputs = [Operand("R", (count, 3, 3)), Operand("p", (count, 3), "m")]
    return trace("body_frames", lambda q: tuple(zip(*poses(tree, q), strict=True)), [Operand("q", (tree.n,), "rad|m")], outputs)


def _cross(a: Array, b: Array) -> Array:
    """a x b of (..., 3) each; np.cross takes five times as long."""
    return np.asarray(a[..., [1, 2, 0]] * b[..., [2, 0, 1]] - a[..., [2, 0, 1]] * b[..., [1, 2, 0]])


def coordinates(tree: Tree) -> Array:
    """How far each body's joint moves with every coordinate, (B, n)."""
    made = np.zeros((len(tree.bodies), tree.n))
    for i, body in enumerate(tree.bodies):
        made[i, body.coordinate] = body.multiplier
    return made


def sides(tree: Tree, pairs: list[tuple[int, int]]) -> Array:
    """For pairs (k) of bodies (a, b): 1 for bodies whose joints move b against a, -1 for those that move a against b, (k, B)."""
    made = np.zeros((len(pairs), len(tree.bodies)))
    for row, (a, b) in zip(made, pairs, strict=True):
        for i, end in moving_joints(tree, a, b):
            row[i] = 1.0 if end == b else -1.0
    return made


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
