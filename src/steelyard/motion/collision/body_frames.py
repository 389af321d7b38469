"""Frames of the bodies of a robot, with bounds and derivatives of the motion of their points."""

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
    """Rotations R (N, B + 1, 3, 3) and origins p (N, B + 1, 3) [m] of base and bodies.

    The base is first; all are in the base frame.
    """

    tree: Tree
    R: Array
    p: Array

    @classmethod
    def compute(cls, robot: Robot, q: Array) -> BodyFrames:
        """Compute the frames at positions q (N, n) [rad|m]."""
        tree = robot.tree
        R, p = (
            np.zeros((len(q), len(tree.bodies) + 1, 3, 3)),
            np.zeros((len(q), len(tree.bodies) + 1, 3)),
        )
        R[:, 0] = np.eye(3)
        R[:, 1:], p[:, 1:] = kernel_of(_program, tree)(q)
        return cls(tree, R, p)

    def points(self, bodies: Indices, points: Array) -> Array:
        """Transform points (S, V, 3) of bodies (S,) to the base frame, (N, S, V, 3)."""
        return np.asarray(
            points @ self.R[:, bodies + 1].swapaxes(-1, -2) + self.p[:, bodies + 1, None]
        )

    def directions(self, time: Indices, bodies: Indices, normal: Array) -> Array:
        """Rotate directions (M, 3) from the base frame to bodies (M,) at samples `time` (M,)."""
        return np.asarray((normal[:, None] @ self.R[time, bodies + 1])[:, 0])

    def derivatives(
        self, time: Indices, sides: Array, on_a: Array, on_b: Array, normal: Array
    ) -> Array:
        """Compute d distance / dq (M, n) of points a and b (M, 3) along normals (M, 3).

        sides (M, B) is 1 for bodies whose joints move b against a, -1 for those that move a, else
        0. A turn moves a point by z x (p - o), a slide by z. Siciliano et al. 2009, eq. (3.30).
        """
        axes = np.array([body.axis for body in self.tree.bodies], dtype=float)
        z = (self.R[time, 1:] @ axes[:, :, None])[..., 0]
        point = np.where(sides[..., None] > 0, on_b[:, None], on_a[:, None])
        turns = np.array([body.kind == "revolute" for body in self.tree.bodies])[:, None]
        arm = np.where(turns, _cross(point - self.p[time, 1:], normal[:, None]), normal[:, None])
        return np.asarray((sides * np.einsum("mbi,mbi->mb", z, arm)) @ joint_multipliers(self.tree))


def _program(tree: Tree) -> Program:
    """Trace the rotations and origins of all bodies."""
    count = len(tree.bodies)
    outputs = [Operand("R", (count, 3, 3)), Operand("p", (count, 3), "m")]
    return trace(
        "body_frames",
        lambda q: tuple(zip(*poses(tree, q), strict=True)),
        [Operand("q", (tree.n,), "rad|m")],
        outputs,
    )


def _cross(a: Array, b: Array) -> Array:
    """Compute a x b of arrays (..., 3); np.cross takes five times as long."""
    return np.asarray(a[..., [1, 2, 0]] * b[..., [2, 0, 1]] - a[..., [2, 0, 1]] * b[..., [1, 2, 0]])


def joint_multipliers(tree: Tree) -> Array:
    """Return d(joint position) / d(coordinate) of every body, (B, n)."""
    matrix = np.zeros((len(tree.bodies), tree.n))
    for i, body in enumerate(tree.bodies):
        matrix[i, body.coordinate] = body.multiplier
    return matrix


def pair_sides(tree: Tree, pairs: list[tuple[int, int]]) -> Array:
    """Return which bodies' joints move the bodies (a, b) of pairs, (k, B).

    1 where they move b relative to a, -1 where they move a relative to b, else 0.
    """
    matrix = np.zeros((len(pairs), len(tree.bodies)))
    for row, (a, b) in zip(matrix, pairs, strict=True):
        for i, end in moving_joints(tree, a, b):
            row[i] = 1.0 if end == b else -1.0
    return matrix


def moving_joints(tree: Tree, a: int, b: int) -> list[tuple[int, int]]:
    """Return the bodies (i, end) whose joints move body a relative to b; `end` is the moved one."""
    of_a, of_b = set(carriers(tree, a)), set(carriers(tree, b))
    return [*((i, a) for i in sorted(of_a - of_b)), *((i, b) for i in sorted(of_b - of_a))]


def lever_arms(tree: Tree, a: ConvexShape, b: ConvexShape, travel: Array) -> Array:
    """Bound the relative motion of two shapes per unit of each coordinate, (n,) [m/rad|1].

    travel (n,) is the largest |q| of every coordinate [rad|m]. A turn moves a point by its distance
    from the axis, which is at most the sum of the distances between the joints on the way and of
    the point from the last.
    """
    lengths = np.zeros(tree.n)
    for i, end in moving_joints(tree, a.body, b.body):
        body, shape = tree.bodies[i], a if end == a.body else b
        length = float(np.linalg.norm(shape.points, axis=1).max()) + shape.radius
        between = [tree.bodies[j] for j in carriers(tree, end) if i in carriers(tree, j) and j != i]
        length += sum(
            float(np.linalg.norm(np.array(each.placement.p, dtype=float))) for each in between
        )
        length += sum(
            abs(each.multiplier) * travel[each.coordinate] + abs(each.offset)
            for each in between
            if each.kind == "prismatic"
        )
        lengths[body.coordinate] += abs(body.multiplier) * (
            length if body.kind == "revolute" else 1.0
        )
    return lengths
