"""The same robot in the frames that leave the fewest constants: every joint's axis is z, x lies on the common normal to the next axis.

Torques, the mass matrix and everything else in joint space do not depend on the frames that links are described in. These frames make
placements Rx(alpha) with sparse offsets, so that a step costs what its turn costs. Poses in the base frame are not kept.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..algebra.inertia import moved
from ..algebra.spatial import Inertia, Pose
from ..algebra.vector import Symmetric, Vector
from ..mechanism.tree import Body, Tree
from .canonical_origin import choose_origins
from .canonical_turn import TINY, choose_turns, level

Array = NDArray[np.float64]


def canonical(tree: Tree) -> Tree:
    """The tree with link frames on the joints' axes, gravity along the base's -z, constant joint angles in `Body.offset`, no named frames.

    Exact to rounding for every quantity in joint space: tau(canonical(tree)) = tau(tree). Entries below 1e-14 of their scale become zero.
    Khalil and Kleinfinger 1986 (modified Denavit-Hartenberg frames for trees).
    """
    base, turns = choose_turns(tree)
    origins = choose_origins(tree, turns)
    reach = sum(float(np.linalg.norm(body.placement.p)) for body in tree.bodies) or 1.0
    bodies = []
    for body, turn, origin in zip(tree.bodies, turns, origins, strict=True):
        above, start = (turns[body.parent], origins[body.parent]) if body.parent >= 0 else (base, np.zeros(3))
        R, p = np.array(body.placement.R, dtype=float), np.array(body.placement.p, dtype=float)
        bodies.append(rebuilt(body, above.T @ R @ turn, above.T @ (R @ origin + p - start), (turn, origin), reach))
    weight = float(np.linalg.norm(tree.gravity))
    gears = tuple(gear._replace(axis=_turned(turns[gear.mount] if gear.mount >= 0 else base, gear.axis)) for gear in tree.gears)
    return replace(tree, bodies=tuple(bodies), gravity=(0.0, 0.0, -weight), frames={}, gears=gears)


def _turned(turn: Array, axis: Vector) -> Vector:
    """A direction in the new frame of its body."""
    x, y, z = (snap(float(v), 1.0) for v in turn.T @ np.array(axis))
    return (x, y, z)


def rebuilt(body: Body, R: Array, p: Array, new: tuple[Array, Array], reach: float) -> Body:
    """The body in its new frame, which stands at (R, p) in its parent's; a turning joint takes the constant angle into its offset."""
    angle = 0.0
    if body.kind == "revolute":
        u = level(R)
        placed = turn_z(u[0], u[1]) @ turn_x(R[2, 2], u[1] * R[0, 2] - u[0] * R[1, 2])
        rest = placed.T @ R
        angle, R = quarter(math.atan2(rest[1, 0], rest[0, 0])), placed
    placement = Pose(tuple(tuple(snap(x, 1.0) for x in row) for row in R), tuple(snap(x, reach) for x in p))  # type: ignore[arg-type]
    turn, origin = new
    back = Pose(tuple(tuple(float(x) for x in row) for row in turn.T), tuple(float(x) for x in -turn.T @ origin))  # type: ignore[arg-type]
    inertia = snapped_inertia(moved(body.inertia, back), reach)
    return replace(body, placement=placement, axis=(0.0, 0.0, 1.0), inertia=inertia, offset=body.offset + angle)


def snapped_inertia(inertia: Inertia, reach: float) -> Inertia:
    """Ten numbers with those that are rounding beside the body's own size set to zero; scalars other than floats stay as they are."""
    m, h, I = inertia  # noqa: E741
    if not all(isinstance(value, float) for value in (m, *h, *I)):
        return inertia
    size = abs(I.xx) + abs(I.yy) + abs(I.zz)
    hx, hy, hz = (snap(x, abs(m) * reach) for x in h)
    return Inertia(m, (hx, hy, hz), Symmetric(*(snap(x, size) for x in I)))


def snap(x: float, scale: float) -> float:
    """x, or 0.0 where it is rounding beside the scale."""
    return 0.0 if abs(x) <= TINY * scale else float(x)


def quarter(angle: float) -> float:
    """An angle, exact where it is a multiple of a right angle but for rounding: such an offset costs nothing."""
    k = round(angle / (math.pi / 2))
    return k * (math.pi / 2) if abs(angle - k * (math.pi / 2)) <= TINY else angle


def turn_z(c: float, s: float) -> Array:
    return unit_circle(c, s, 0, 1)


def turn_x(c: float, s: float) -> Array:
    return unit_circle(c, s, 1, 2)


def unit_circle(c: float, s: float, i: int, j: int) -> Array:
    """A rotation in the plane of coordinates i and j; a right angle is exact."""
    c, s = (0.0 if abs(x) <= TINY else x for x in (c, s))
    size = math.hypot(c, s)
    R = np.eye(3)
    R[i, i] = R[j, j] = c / size
    R[j, i], R[i, j] = s / size, -s / size
    return R
