"""Where on its axis each canonical frame stands: the choice that leaves the fewest nonzero offsets between frames."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..mechanism.tree import Body, Tree
from .canonical_turn import PARALLEL, TINY

Array = NDArray[np.float64]
Plan = tuple[float, dict[int, Array]]  # the cost of a subtree and the origins that reach it
INNER = np.array([1.0, 1.0, 1.0])  # what an offset costs, by direction in the parent's frame
FIRST = np.array([1.0, 1.0, 0.0])  # on a body that only turns about its z


def choose_origins(tree: Tree, turns: Sequence[Array]) -> list[Array]:
    """Each body's new origin in its old frame, by dynamic programming from the tips. On a turning joint's axis; anywhere for a slide."""
    chooser = Chooser(tree, turns)
    origins: dict[int, Array] = {}
    for i, body in enumerate(tree.bodies):
        if body.parent < 0:
            origins |= chooser.best(i, np.zeros(3))[1]
    return [origins[i] for i in range(len(tree.bodies))]


class Chooser:
    """The search for origins, with what it has found out already."""

    def __init__(self, tree: Tree, turns: Sequence[Array]) -> None:
        self.tree, self.turns = tree, turns
        self.children: list[list[int]] = [[j for j, body in enumerate(tree.bodies) if body.parent == i] for i in range(len(tree.bodies))]
        self.size = sum(float(np.linalg.norm(body.placement.p)) for body in tree.bodies) or 1.0
        self._found: dict[tuple[int, bytes], Plan] = {}

    def best(self, i: int, above: Array) -> Plan:
        """The cheapest plan for the subtree of body i when its parent's origin is at `above`."""
        key = (i, np.round(above / self.size, 9).tobytes())
        if key not in self._found:
            plans = [self.plan(i, above, origin) for origin in self.candidates(i, above)]
            self._found[key] = min(plans, key=lambda plan: plan[0])
        return self._found[key]

    def plan(self, i: int, above: Array, origin: Array) -> Plan:
        below = [self.best(j, origin) for j in self.children[i]]
        cost = self.cost(i, above, origin) + sum(plan[0] for plan in below)
        return cost, {i: origin}.__or__({k: v for plan in below for k, v in plan[1].items()})

    def cost(self, i: int, above: Array, origin: Array) -> float:
        """How many entries of the offset from the parent's origin are not zero; on the base none counts."""
        body = self.tree.bodies[i]
        if body.parent < 0:
            return 0.0
        offset = self.turns[body.parent].T @ (np.array(body.placement.R) @ origin + np.array(body.placement.p) - above)
        parent = self.tree.bodies[body.parent]
        weights = FIRST if parent.parent < 0 and parent.kind == "revolute" else INNER
        return float(weights @ (np.abs(offset) > TINY * self.size))

    def candidates(self, i: int, above: Array) -> list[Array]:
        """Points worth trying: feet of the normals to the parent's and the children's axes, the parent's level, the old origin."""
        body = self.tree.bodies[i]
        R, p = np.array(body.placement.R, dtype=float), np.array(body.placement.p, dtype=float)
        points = [*self.feet(i), np.zeros(3)]
        if body.parent >= 0:
            parent = self.tree.bodies[body.parent]
            back = R.T @ (above - p)  # the parent's origin in this frame
            points.insert(0, back)
            if parent.kind == "revolute":
                points.insert(1, foot(np.array(body.axis), back, R.T @ np.array(parent.axis)))
        z = np.array(body.axis, dtype=float)
        points = points if body.kind == "prismatic" else [(point @ z) * z for point in points]
        return [point for k, point in enumerate(points) if not any(np.allclose(point, other, 0, TINY * self.size) for other in points[:k])]

    def feet(self, i: int) -> list[Array]:
        """Feet of the normals to the children's axes; along parallel axes the children's own feet count."""
        result = []
        for j in self.children[i]:
            child = self.tree.bodies[j]
            R, p = np.array(child.placement.R, dtype=float), np.array(child.placement.p, dtype=float)
            result.append(foot(np.array(self.tree.bodies[i].axis), p, R @ np.array(child.axis)))
            if parallel(self.tree.bodies[i], child):
                result += [R @ point + p for point in self.feet(j)]
        return result


def parallel(body: Body, child: Body) -> bool:
    direction = np.array(child.placement.R) @ np.array(child.axis)
    return bool(np.linalg.norm(np.cross(np.array(body.axis), direction)) < PARALLEL)


def foot(z: Array, point: Array, direction: Array) -> Array:
    """The point of the line through the origin along z that is nearest to another line; level with its point where both are parallel."""
    normal = np.cross(z, direction)
    square = float(normal @ normal)
    if square < PARALLEL**2:
        return float(point @ z) * z
    return float(np.cross(point, direction) @ normal) / square * z
