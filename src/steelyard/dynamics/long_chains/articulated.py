"""Articulated bodies in the base frame, and the mobility of bodies under forces.

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
from ..forward.aba import UPPER, rank_one_downdate, scale_force
from ..joint_torques import inertial_matrix
from .screws import Screw, power

AT_REST = Motion()


class VelocityCoupling(NamedTuple):
    """Force that accelerates each point of a body by c' x u: f = F c', n = N c'."""

    F: Matrix
    N: Matrix

    def force(self, c: Vector) -> Force:
        """Return the force for a vector c'."""
        return Force(v3.apply(self.F, c), v3.apply(self.N, c))

    def on(self, motion: Motion) -> Vector:
        """Return the vector whose scalar product with c' is the power on a motion."""
        return v3.add(
            v3.apply(v3.transpose(self.F), motion.v), v3.apply(v3.transpose(self.N), motion.w)
        )


class Mobility(NamedTuple):
    """Acceleration of a body under a force: v = A f + B n, w = B^T f + C n."""

    A: Symmetric
    B: Matrix
    C: Symmetric

    def motion(self, force: Force) -> Motion:
        """Return the acceleration under a force."""
        v = v3.add(v3.apply_symmetric(self.A, force.f), v3.apply(self.B, force.n))
        return Motion(
            v3.add(v3.apply(v3.transpose(self.B), force.f), v3.apply_symmetric(self.C, force.n)), v
        )


class ArticulatedJoint(NamedTuple):
    """A free joint: qdd = torque / D + gain . a + drift . c'.

    a is the acceleration of its parent, c' the vector of its subtree. With the articulated inertia
    I and velocity coupling of its body, and its screw s: D = s . I s, gain = -I s / D.
    """

    inertia: ArticulatedInertia
    coupling: VelocityCoupling
    inverse: Scalar  # 1 / D
    gain: Force
    drift: Vector


def accumulate_articulated(
    tree: Tree,
    screws: Sequence[Screw],
    inertias: Sequence[Inertia],
    flows: Sequence[CompositeFlow],
    nets: Sequence[Force],
    tau: Scalars,
) -> tuple[list[ArticulatedJoint], list[Scalar]]:
    """Return all joints with articulated inertias, tip to base, and their free accelerations.

    A free acceleration is due to the joint's torque while its parent does not accelerate.
    """
    total = [ArticulatedInertia.rigid(inertia) for inertia in inertias]
    couplings, biases = [velocity_coupling(flow) for flow in flows], list(nets)
    rotors = [row[i] for i, row in enumerate(inertial_matrix(tree))]
    joints: list[ArticulatedJoint] = []
    free: list[Scalar] = []
    for i in reversed(range(len(total))):
        iteration(biases[i])
        body, s = tree.bodies[i], screws[i].unit
        unit, drift = total[i].force(s), couplings[i].on(s)
        inverse = 1.0 / (power(s, unit) + rotors[body.coordinate])
        joint = ArticulatedJoint(
            total[i], couplings[i], inverse, scale_force(-inverse, unit), v3.scale(-inverse, drift)
        )
        torque = tau[body.coordinate] - power(s, biases[i])
        joints.append(joint)
        free.append(inverse * torque)
        if body.parent >= 0:
            total[body.parent] = total[body.parent] + rank_one_downdate(
                total[i], scale_force(-1.0, unit), joint.gain
            )
            couplings[body.parent] = _add_child(
                couplings[body.parent], couplings[i], joint.gain, drift
            )
            biases[body.parent] = biases[body.parent] + (
                biases[i] + scale_force(-torque, joint.gain)
            )
    return joints[::-1], free[::-1]


def propagate_mobilities(
    tree: Tree, screws: Sequence[Screw], joints: Sequence[ArticulatedJoint], free: Scalars
) -> list[Motion]:
    """Return the accelerations of bodies due to the accelerations of joints, base to tip."""
    motions: list[Motion] = []
    for i, (screw, joint) in enumerate(zip(screws, joints, strict=True)):
        iteration(joint.gain)
        above = parent_motion(tree, motions, i)
        motions.append(add_scaled(above, free[i] + power(above, joint.gain), screw.unit))
    return motions


def propagate_mobility(
    parent: Mobility | None, s: Motion, response: Motion, inverse: Scalar
) -> Mobility:
    """Return the mobility of a joint's child: the parent's + s y^T + y s^T + inverse s s^T."""
    z = add_scaled(response, 0.5 * inverse, s)
    A, C = (
        Symmetric(*(a[i] * b[j] + b[i] * a[j] for i, j in UPPER))
        for a, b in ((s.v, z.v), (s.w, z.w))
    )
    x, y, w = (v3.add(v3.scale(a, z.w), v3.scale(b, s.w)) for a, b in zip(s.v, z.v, strict=True))
    if parent is None:
        return Mobility(A, (x, y, w), C)
    rows = zip(parent.B, (x, y, w), strict=True)
    B = tuple(v3.add(a, b) for a, b in rows)
    A, C = v3.add_symmetric(parent.A, A), v3.add_symmetric(parent.C, C)
    return Mobility(A, B, C)  # type: ignore[arg-type]


def velocity_coupling(flow: CompositeFlow) -> VelocityCoupling:
    """Return the velocity coupling of a flow: c' x P, and (trace(K) 1 - K) c'."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = flow.K
    return VelocityCoupling(
        v3.cross_matrix(v3.neg(flow.P)),
        ((yy + zz, -xy, -xz), (-yx, xx + zz, -yz), (-zx, -zy, xx + yy)),
    )


def _add_child(
    parent: VelocityCoupling, coupling: VelocityCoupling, gain: Force, drift: Vector
) -> VelocityCoupling:
    """Return the velocity coupling of a parent with a child behind a free joint."""
    return VelocityCoupling(
        *(
            _rows_sum(a, b, x, drift)
            for a, b, x in ((parent.F, coupling.F, gain.f), (parent.N, coupling.N, gain.n))
        )
    )


def _rows_sum(a: Matrix, b: Matrix, x: Vector, drift: Vector) -> Matrix:
    rows = (v3.add(p, v3.add(q, v3.scale(s, drift))) for p, q, s in zip(a, b, x, strict=True))
    first, second, third = rows
    return (first, second, third)


def parent_motion(tree: Tree, motions: Sequence[Motion], i: int) -> Motion:
    return motions[tree.bodies[i].parent] if tree.bodies[i].parent >= 0 else AT_REST


def add_scaled(a: Motion, x: Scalar, b: Motion) -> Motion:
    """Return a + x b."""
    return Motion(v3.add(a.w, v3.scale(x, b.w)), v3.add(a.v, v3.scale(x, b.v)))
