"""Articulated bodies in the frame of the base: joints that give way to what they carry, and how bodies yield to forces.

Featherstone 2008, section 7.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...algebra import vector as v3
from ...algebra.scalar import Scalar, Scalars, iteration
from ...algebra.spatial import ArticulatedInertia, Force, Inertia, Motion
from ...algebra.vector import Matrix, Symmetric, Vector
from ...mechanism.tree import Tree
from ..coriolis import CompositeFlow
from ..forward.aba import UPPER, less, scaled
from ..joint_torques import inertial_matrix
from .screws import Screw, power

AT_REST = Motion()


class Drag(NamedTuple):
    """The force that gives each point of a body the acceleration c' x u: f = F c', n = N c'."""

    F: Matrix
    N: Matrix

    def force(self, c: Vector) -> Force:
        """The force of a vector c'."""
        return Force(v3.apply(self.F, c), v3.apply(self.N, c))

    def on(self, motion: Motion) -> Vector:
        """The power on a motion, as the vector whose product with c' it is."""
        return v3.add(v3.apply(v3.transpose(self.F), motion.v), v3.apply(v3.transpose(self.N), motion.w))


class Mobility(NamedTuple):
    """How a body accelerates under a force: v = A f + B n, w = B^T f + C n."""

    A: Symmetric
    B: Matrix
    C: Symmetric

    def motion(self, force: Force) -> Motion:
        """The acceleration under a force."""
        v = v3.add(v3.apply_symmetric(self.A, force.f), v3.apply(self.B, force.n))
        return Motion(v3.add(v3.apply(v3.transpose(self.B), force.f), v3.apply_symmetric(self.C, force.n)), v)


class Joint(NamedTuple):
    """A joint that gives way, qdd = torque / D + gain . a + drift . c', under an acceleration a of its parent and c' of all behind it.

    With the articulated inertia I and drag of its body, and its screw s: D = s . I s, gain = -I s / D.
    """

    inertia: ArticulatedInertia
    drag: Drag
    inverse: Scalar  # 1 / D
    gain: Force
    drift: Vector


def gather(
    tree: Tree, screws: Sequence[Screw], inertias: Sequence[Inertia], flows: Sequence[CompositeFlow], nets: Sequence[Force], tau: Scalars
) -> tuple[list[Joint], list[Scalar]]:
    """All joints with what they carry, tip to base, and the acceleration of each under its torque while its parent does not accelerate."""
    total = [ArticulatedInertia.rigid(inertia) for inertia in inertias]
    drags, biases = [drag_of(flow) for flow in flows], list(nets)
    rotors = [row[i] for i, row in enumerate(inertial_matrix(tree))]
    joints: list[Joint] = []
    free: list[Scalar] = []
    for i in reversed(range(len(total))):
        iteration(biases[i])
        body, s = tree.bodies[i], screws[i].unit
        unit, felt = total[i].force(s), drags[i].on(s)
        inverse = 1.0 / (power(s, unit) + rotors[body.coordinate])
        joint = Joint(total[i], drags[i], inverse, scaled(-inverse, unit), v3.scale(-inverse, felt))
        torque = tau[body.coordinate] - power(s, biases[i])
        joints.append(joint)
        free.append(inverse * torque)
        if body.parent >= 0:
            total[body.parent] = total[body.parent] + less(total[i], scaled(-1.0, unit), joint.gain)
            drags[body.parent] = _child_added(drags[body.parent], drags[i], joint.gain, felt)
            biases[body.parent] = biases[body.parent] + (biases[i] + scaled(-torque, joint.gain))
    return joints[::-1], free[::-1]


def spread(tree: Tree, screws: Sequence[Screw], joints: Sequence[Joint], free: Scalars) -> list[Motion]:
    """What the accelerations of joints add to those of the bodies, base to tip."""
    made: list[Motion] = []
    for i, (screw, joint) in enumerate(zip(screws, joints, strict=True)):
        iteration(joint.gain)
        above = of_parent(tree, made, i)
        made.append(plus(above, free[i] + power(above, joint.gain), screw.unit))
    return made


def more_mobile(parent: Mobility | None, s: Motion, yields: Motion, own: Scalar) -> Mobility:
    """The mobility of a body behind a joint: that of its parent, + s y^T + y s^T + own s s^T."""
    z = plus(yields, 0.5 * own, s)
    A, C = (Symmetric(*(a[i] * b[j] + b[i] * a[j] for i, j in UPPER)) for a, b in ((s.v, z.v), (s.w, z.w)))
    x, y, w = (v3.add(v3.scale(a, z.w), v3.scale(b, s.w)) for a, b in zip(s.v, z.v, strict=True))
    if parent is None:
        return Mobility(A, (x, y, w), C)
    rows = zip(parent.B, (x, y, w), strict=True)
    B = tuple(v3.add(a, b) for a, b in rows)
    return Mobility(v3.add_symmetric(parent.A, A), B, v3.add_symmetric(parent.C, C))  # type: ignore[arg-type]


def drag_of(flow: CompositeFlow) -> Drag:
    """The drag of a flow: c' x P, and (trace(K) 1 - K) c'."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = flow.K
    return Drag(v3.cross_matrix(v3.neg(flow.P)), ((yy + zz, -xy, -xz), (-yx, xx + zz, -yz), (-zx, -zy, xx + yy)))


def _child_added(parent: Drag, drag: Drag, gain: Force, felt: Vector) -> Drag:
    """The drag of a parent with that of a child whose joint gives way."""
    return Drag(*(_rows_sum(a, b, x, felt) for a, b, x in ((parent.F, drag.F, gain.f), (parent.N, drag.N, gain.n))))


def _rows_sum(a: Matrix, b: Matrix, x: Vector, felt: Vector) -> Matrix:
    rows = (v3.add(p, v3.add(q, v3.scale(s, felt))) for p, q, s in zip(a, b, x, strict=True))
    first, second, third = rows
    return (first, second, third)


def of_parent(tree: Tree, motions: Sequence[Motion], i: int) -> Motion:
    return motions[tree.bodies[i].parent] if tree.bodies[i].parent >= 0 else AT_REST


def plus(a: Motion, x: Scalar, b: Motion) -> Motion:
    """a + x b."""
    return Motion(v3.add(a.w, v3.scale(x, b.w)), v3.add(a.v, v3.scale(x, b.v)))
