"""How the canonical frames are turned: z on the joint's axis, x across it and the next one."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..mechanism.tree import Body, Tree

Array = NDArray[np.float64]
TINY = 1e-14  # a step away from the parent leaves a few units in the last place, never more
PARALLEL = 1e-3  # below this sine two axes count as parallel: their common normal is too far away to be of use


def choose_turns(tree: Tree) -> tuple[Array, list[Array]]:
    """The base frame with z against gravity, and each body's new axes in its old frame, as the columns of a rotation."""
    weight = np.array(tree.gravity, dtype=float)
    base = axes_on(-weight / np.linalg.norm(weight)) if weight.any() else np.eye(3)
    turns: list[Array] = []
    for i, body in enumerate(tree.bodies):
        step = (turns[body.parent] if body.parent >= 0 else base).T @ np.array(body.placement.R, dtype=float)
        turns.append(choose_turn(tree, i, step))
    return base, turns


def choose_turn(tree: Tree, i: int, step: Array) -> Array:
    """x across the axis and that of the main child; of a slide, across its axis and the parent's; of a tip, through the mass."""
    body, child = tree.bodies[i], main_child(tree, i)
    z = np.array(body.axis, dtype=float)
    if body.kind == "prismatic":
        return axes_on(z, step.T @ level(step @ axes_on(z)))
    turn = axes_on(z, across(body, child)) if child is not None else tip_axes(body)
    if (step @ turn)[:, 0] @ level(step @ turn) < -TINY:
        return turn @ np.diag([-1.0, -1.0, 1.0])  # spares an offset of half a turn
    return turn


def main_child(tree: Tree, i: int) -> Body | None:
    """The child that carries the most bodies."""
    carried = [1] * len(tree.bodies)
    for j in reversed(range(len(tree.bodies))):
        if tree.bodies[j].parent >= 0:
            carried[tree.bodies[j].parent] += carried[j]
    children = [j for j, body in enumerate(tree.bodies) if body.parent == i]
    return tree.bodies[max(children, key=lambda j: (carried[j], -j))] if children else None


def across(body: Body, child: Body) -> Array:
    """The direction of the common normal of a turning body's axis and its child's, in the body's frame; zero where any will do."""
    z = np.array(body.axis, dtype=float)
    normal = np.cross(z, np.array(child.placement.R) @ np.array(child.axis))
    if np.linalg.norm(normal) >= PARALLEL:
        return normal
    arm = np.array(child.placement.p, dtype=float)
    arm = arm - (arm @ z) * z
    return arm if child.kind == "revolute" and np.linalg.norm(arm) > TINY else np.zeros(3)


def tip_axes(body: Body) -> Array:
    """Axes of a body that carries nothing: x such that the first moment has no y part, or, where it has none, the inertia no xy part."""
    turn = axes_on(np.array(body.axis, dtype=float))
    m, h, I = body.inertia  # noqa: E741
    if not all(isinstance(value, float) for value in (m, *h, *I)):
        return turn
    x, y, _ = turn.T @ np.array(h)
    angle = math.atan2(y, x)
    if math.hypot(x, y) <= TINY * abs(m):
        full = turn.T @ np.array([[I.xx, I.xy, I.xz], [I.xy, I.yy, I.yz], [I.xz, I.yz, I.zz]]) @ turn
        angle = 0.5 * math.atan2(2.0 * full[0, 1], full[0, 0] - full[1, 1])
    c, s = math.cos(angle), math.sin(angle)
    return turn @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def axes_on(z: Array, x: Array | Sequence[float] = (0.0, 0.0, 0.0)) -> Array:
    """Right-handed axes with a given z and an x near the given one, or any x where that is zero."""
    x = np.array(x, dtype=float)
    if not x.any():
        x = np.eye(3)[0 if abs(z[0]) < 0.9 else 1]
    x = x - (x @ z) * z
    x = x / np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def level(step: Array) -> Array:
    """The direction across the parent's axis and the body's own, in the parent's frame; the parent's x where these are parallel."""
    sine = math.hypot(step[0, 2], step[1, 2])
    if sine <= TINY:
        return np.array([1.0, 0.0, 0.0])
    u = np.array([-step[1, 2], step[0, 2], 0.0]) / sine
    return -u if u[0] < -TINY else u
