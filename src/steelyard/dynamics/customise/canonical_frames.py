"""Link frames with the fewest constants (modified Denavit-Hartenberg frames for trees).

Every joint's axis is z, and x lies on the common normal to the next axis. Joint-space quantities
are independent of the link frames. In these frames placements are Rx(alpha) with sparse offsets.
Poses in the base frame change.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...algebra.spatial import Inertia, Pose, moved
from ...algebra.vector import Matrix, Symmetric, Vector
from ...mechanism.tree import Body, Frame, Tree, TreeLoop

Array = NDArray[np.float64]


def in_canonical_frames(tree: Tree, level: bool = True) -> Tree:
    """Return the tree with link frames on the joint axes and gravity along the base's -z.

    Constant joint angles are in `Body.offset`; named frames are removed. Without `level` the base
    keeps its frame, so that its motion can be an input. Torques are equal up to rounding. Entries
    below 1e-14 of their scale become zero. Khalil and Kleinfinger 1986.
    """
    base, turns = choose_turns(tree, level)
    origins = choose_origins(tree, turns)
    reach = sum(float(np.linalg.norm(body.placement.p)) for body in tree.bodies) or 1.0
    bodies = []
    for body, turn, origin in zip(tree.bodies, turns, origins, strict=True):
        above, start = (
            (turns[body.parent], origins[body.parent]) if body.parent >= 0 else (base, np.zeros(3))
        )
        R, p = np.array(body.placement.R, dtype=float), np.array(body.placement.p, dtype=float)
        bodies.append(
            in_new_frame(
                body, above.T @ R @ turn, above.T @ (R @ origin + p - start), (turn, origin), reach
            )
        )
    gravity = (0.0, 0.0, -float(np.linalg.norm(tree.gravity))) if level else tree.gravity
    base_inertia = (
        snap_inertia(moved(tree.base_inertia, Pose(_rows(base.T))), reach)
        if level
        else tree.base_inertia
    )
    rotors = tuple(
        each._replace(axis=_rotate_axis(turns[each.mount] if each.mount >= 0 else base, each.axis))
        for each in tree.rotors
    )
    canonical = replace(
        tree,
        bodies=tuple(bodies),
        gravity=gravity,
        frames={},
        rotors=rotors,
        base_inertia=base_inertia,
    )
    # the base is last, at index -1
    new = [*zip(turns, origins, strict=True), (base, np.zeros(3))]
    return replace(canonical, loops=tuple(_with_frames(each, new, reach) for each in tree.loops))


def _with_frames(loop: TreeLoop, new: Sequence[tuple[Array, Array]], reach: float) -> TreeLoop:
    """Return a loop whose frames are in the new body frames, at (turn, origin) in the old ones."""
    placed = []
    for body, pose in (loop.a, loop.b):
        turn, origin = new[body]
        R, p = turn.T @ np.array(pose.R), turn.T @ (np.array(pose.p) - origin)
        rows = _rows(np.vectorize(snap)(R, 1.0))
        position = tuple(snap(float(x), reach) for x in p)
        placed.append(Frame(body, Pose(rows, position)))  # type: ignore[arg-type]
    return loop._replace(a=placed[0], b=placed[1])


def _rotate_axis(turn: Array, axis: Vector) -> Vector:
    """Return a direction in the new frame of its body."""
    x, y, z = (snap(float(v), 1.0) for v in turn.T @ np.array(axis))
    return (x, y, z)


def in_new_frame(body: Body, R: Array, p: Array, new: tuple[Array, Array], reach: float) -> Body:
    """Return a body in its new frame, which is at (R, p) in its parent's.

    A revolute joint moves the constant angle into its offset.
    """
    angle = 0.0
    if body.kind == "revolute":
        u = common_normal(R)
        placed = turn_z(u[0], u[1]) @ turn_x(R[2, 2], u[1] * R[0, 2] - u[0] * R[1, 2])
        rest = placed.T @ R
        angle, R = round_to_right_angle(math.atan2(rest[1, 0], rest[0, 0])), placed
    placement = Pose(
        tuple(tuple(snap(x, 1.0) for x in row) for row in R),  # type: ignore[arg-type]
        tuple(snap(x, reach) for x in p),  # type: ignore[arg-type]
    )
    turn, origin = new
    back = Pose(_rows(turn.T), tuple(float(x) for x in -turn.T @ origin))  # type: ignore[arg-type]
    inertia = snap_inertia(moved(body.inertia, back), reach)
    return replace(
        body, placement=placement, axis=(0.0, 0.0, 1.0), inertia=inertia, offset=body.offset + angle
    )


def _rows(R: Array) -> Matrix:
    return tuple(tuple(float(x) for x in row) for row in R)  # type: ignore[return-value]


def snap_inertia(inertia: Inertia, reach: float) -> Inertia:
    """Return the inertia with entries set to zero that are rounding relative to the body's size.

    Scalars other than floats are not changed.
    """
    m, h, I = inertia  # noqa: E741
    if not all(isinstance(value, float) for value in (m, *h, *I)):
        return inertia
    size = abs(I.xx) + abs(I.yy) + abs(I.zz)
    hx, hy, hz = (snap(x, abs(m) * reach) for x in h)
    return Inertia(m, (hx, hy, hz), Symmetric(*(snap(x, size) for x in I)))


def snap(x: float, scale: float) -> float:
    """Return x, or 0.0 where it is rounding relative to the scale."""
    return 0.0 if abs(x) <= TINY * scale else float(x)


def round_to_right_angle(angle: float) -> float:
    """Return the angle, exact where it is a multiple of 90 deg up to rounding.

    Such an offset costs no operation.
    """
    k = round(angle / (math.pi / 2))
    return k * (math.pi / 2) if abs(angle - k * (math.pi / 2)) <= TINY else angle


def turn_z(c: float, s: float) -> Array:
    return unit_circle(c, s, 0, 1)


def turn_x(c: float, s: float) -> Array:
    return unit_circle(c, s, 1, 2)


def unit_circle(c: float, s: float, i: int, j: int) -> Array:
    """Return a rotation in the plane of coordinates i and j; right angles are exact."""
    c, s = (0.0 if abs(x) <= TINY else x for x in (c, s))
    size = math.hypot(c, s)
    R = np.eye(3)
    R[i, i] = R[j, j] = c / size
    R[j, i], R[i, j] = s / size, -s / size
    return R


TINY = 1e-14  # rounding of one frame change: a few units in the last place
# axes with a smaller sine count as parallel: their common normal is too far away
PARALLEL = 1e-3


def choose_turns(tree: Tree, level: bool) -> tuple[Array, list[Array]]:
    """Return the base's new axes and each body's, in the old frames, as columns of rotations.

    With `level` the base's z points against gravity.
    """
    weight = np.array(tree.gravity, dtype=float)
    base = axes_on(-weight / np.linalg.norm(weight)) if level and weight.any() else np.eye(3)
    turns: list[Array] = []
    for i, body in enumerate(tree.bodies):
        step = (turns[body.parent] if body.parent >= 0 else base).T @ np.array(
            body.placement.R, dtype=float
        )
        turns.append(choose_turn(tree, i, step))
    return base, turns


def choose_turn(tree: Tree, i: int, step: Array) -> Array:
    """Return the axes of a body: z on the joint axis, x normal to it and to the main child's axis.

    For a prismatic joint, x is normal to its axis and the parent's; for a tip, x points to the
    mass.
    """
    body, child = tree.bodies[i], main_child(tree, i)
    z = np.array(body.axis, dtype=float)
    if body.kind == "prismatic":
        return axes_on(z, step.T @ common_normal(step @ axes_on(z)))
    turn = axes_on(z, child_normal(body, child)) if child is not None else tip_axes(body)
    if (step @ turn)[:, 0] @ common_normal(step @ turn) < -TINY:
        return turn @ np.diag([-1.0, -1.0, 1.0])  # avoids an offset of 180 deg
    return turn


def main_child(tree: Tree, i: int) -> Body | None:
    """Return the child with the most bodies in its subtree."""
    carried = [1] * len(tree.bodies)
    for j in reversed(range(len(tree.bodies))):
        if tree.bodies[j].parent >= 0:
            carried[tree.bodies[j].parent] += carried[j]
    children = [j for j, body in enumerate(tree.bodies) if body.parent == i]
    return tree.bodies[max(children, key=lambda j: (carried[j], -j))] if children else None


def child_normal(body: Body, child: Body) -> Array:
    """Return the common normal of a revolute body's axis and its child's, or zero for any."""
    z = np.array(body.axis, dtype=float)
    normal = np.cross(z, np.array(child.placement.R) @ np.array(child.axis))
    if np.linalg.norm(normal) >= PARALLEL:
        return normal
    arm = np.array(child.placement.p, dtype=float)
    arm = arm - (arm @ z) * z
    return arm if child.kind == "revolute" and np.linalg.norm(arm) > TINY else np.zeros(3)


def tip_axes(body: Body) -> Array:
    """Return the axes of a body without children.

    x is chosen so that the first moment has no y component, or the inertia no xy entry.
    """
    turn = axes_on(np.array(body.axis, dtype=float))
    m, h, I = body.inertia  # noqa: E741
    if not all(isinstance(value, float) for value in (m, *h, *I)):
        return turn
    x, y, _ = turn.T @ np.array(h)
    angle = math.atan2(y, x)
    if math.hypot(x, y) <= TINY * abs(m):
        full = (
            turn.T @ np.array([[I.xx, I.xy, I.xz], [I.xy, I.yy, I.yz], [I.xz, I.yz, I.zz]]) @ turn
        )
        angle = 0.5 * math.atan2(2.0 * full[0, 1], full[0, 0] - full[1, 1])
    c, s = math.cos(angle), math.sin(angle)
    return turn @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def axes_on(z: Array, x: Array | Sequence[float] = (0.0, 0.0, 0.0)) -> Array:
    """Return right-handed axes with this z and an x near the given one (any x if it is zero)."""
    x = np.array(x, dtype=float)
    if not x.any():
        x = np.eye(3)[0 if abs(z[0]) < 0.9 else 1]
    x = x - (x @ z) * z
    x = x / np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def common_normal(step: Array) -> Array:
    """Return the common normal of the parent's axis and the body's, in the parent's frame.

    It is the parent's x where the axes are parallel.
    """
    sine = math.hypot(step[0, 2], step[1, 2])
    if sine <= TINY:
        return np.array([1.0, 0.0, 0.0])
    u = np.array([-step[1, 2], step[0, 2], 0.0]) / sine
    return -u if u[0] < -TINY else u


Plan = tuple[float, dict[int, Array]]  # cost of a subtree and its origins
INNER = np.array([1.0, 1.0, 1.0])  # cost of an offset by direction in the parent's frame
FIRST = np.array([1.0, 1.0, 0.0])  # on a body that rotates about its z only


def choose_origins(tree: Tree, turns: Sequence[Array]) -> list[Array]:
    """Return each body's new origin in its old frame, by dynamic programming from the tips.

    Origins lie on the axes of revolute joints, and anywhere for prismatic joints.
    """
    chooser = OriginSearch(tree, turns)
    origins: dict[int, Array] = {}
    for i, body in enumerate(tree.bodies):
        if body.parent < 0:
            origins |= chooser.best(i, np.zeros(3))[1]
    return [origins[i] for i in range(len(tree.bodies))]


class OriginSearch:
    """Memoised search for origins."""

    def __init__(self, tree: Tree, turns: Sequence[Array]) -> None:
        self.tree, self.turns = tree, turns
        self.children: list[list[int]] = [
            [j for j, body in enumerate(tree.bodies) if body.parent == i]
            for i in range(len(tree.bodies))
        ]
        self.size = sum(float(np.linalg.norm(body.placement.p)) for body in tree.bodies) or 1.0
        self._plans: dict[tuple[int, bytes], Plan] = {}

    def best(self, i: int, above: Array) -> Plan:
        """Return the cheapest plan for the subtree of body i if its parent's origin is `above`."""
        key = (i, np.round(above / self.size, 9).tobytes())
        if key not in self._plans:
            plans = [self.plan(i, above, origin) for origin in self.candidates(i, above)]
            self._plans[key] = min(plans, key=lambda plan: plan[0])
        return self._plans[key]

    def plan(self, i: int, above: Array, origin: Array) -> Plan:
        below = [self.best(j, origin) for j in self.children[i]]
        cost = self.cost(i, above, origin) + sum(plan[0] for plan in below)
        return cost, {i: origin}.__or__({k: v for plan in below for k, v in plan[1].items()})

    def cost(self, i: int, above: Array, origin: Array) -> float:
        """Return the number of nonzero entries of the offset from the parent's origin.

        Offsets on the base are free.
        """
        body = self.tree.bodies[i]
        if body.parent < 0:
            return 0.0
        offset = self.turns[body.parent].T @ (
            np.array(body.placement.R) @ origin + np.array(body.placement.p) - above
        )
        parent = self.tree.bodies[body.parent]
        weights = FIRST if parent.parent < 0 and parent.kind == "revolute" else INNER
        return float(weights @ (np.abs(offset) > TINY * self.size))

    def candidates(self, i: int, above: Array) -> list[Array]:
        """Return origins worth trying.

        Feet of the normals to the axes of parent and children, the parent's level, the old origin.
        """
        body = self.tree.bodies[i]
        R, p = np.array(body.placement.R, dtype=float), np.array(body.placement.p, dtype=float)
        points = [*self.feet(i), np.zeros(3)]
        if body.parent >= 0:
            parent = self.tree.bodies[body.parent]
            back = R.T @ (above - p)  # the parent's origin in this frame
            points.insert(0, back)
            if parent.kind == "revolute":
                points.insert(
                    1, nearest_point(np.array(body.axis), back, R.T @ np.array(parent.axis))
                )
        z = np.array(body.axis, dtype=float)
        points = points if body.kind == "prismatic" else [(point @ z) * z for point in points]
        return [
            point
            for k, point in enumerate(points)
            if not any(np.allclose(point, other, 0, TINY * self.size) for other in points[:k])
        ]

    def feet(self, i: int) -> list[Array]:
        """Return the feet of the normals to the children's axes.

        For a parallel child axis, the feet on that axis are included.
        """
        result = []
        for j in self.children[i]:
            child = self.tree.bodies[j]
            R, p = (
                np.array(child.placement.R, dtype=float),
                np.array(child.placement.p, dtype=float),
            )
            result.append(
                nearest_point(np.array(self.tree.bodies[i].axis), p, R @ np.array(child.axis))
            )
            if has_parallel_axis(self.tree.bodies[i], child):
                result += [R @ point + p for point in self.feet(j)]
        return result


def has_parallel_axis(body: Body, child: Body) -> bool:
    direction = np.array(child.placement.R) @ np.array(child.axis)
    return bool(np.linalg.norm(np.cross(np.array(body.axis), direction)) < PARALLEL)


def nearest_point(z: Array, point: Array, direction: Array) -> Array:
    """Return the point on the line along z that is nearest to another line.

    If both are parallel, it is level with the other line's point.
    """
    normal = np.cross(z, direction)
    square = float(normal @ normal)
    if square < PARALLEL**2:
        return float(point @ z) * z
    return float(np.cross(point, direction) @ normal) / square * z
