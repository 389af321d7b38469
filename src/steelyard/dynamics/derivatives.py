"""How torques change with the position: the slope of inverse dynamics, by composite bodies in motion."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra import vector as v3
from ..algebra.scalar import Scalar, Scalars, iteration
from ..algebra.spatial import Force
from ..algebra.vector import Vector
from ..mechanism.tree import Tree
from .coriolis import CompositeFlow, composite_flows, origin_drifts, rigid_coriolis, spread_spin, trace_less, unit_twist
from .crba import effort, mass_matrix, unit_force
from .joint import JointMotion, joint_motions
from .rnea import BodyMotion, gather_forces, lift, net_forces, spread_motion


def rigid_derivatives(tree: Tree, q: Scalars, qd: Scalars, qdd: Scalars) -> tuple[list[list[Scalar]], ...]:
    """d tau / dq and d tau / dqd of rigid bodies, and M with the drives' inertia, each n x n. q [rad|m], qd, qdd: n scalars each.

    d tau / dqd = 2 C(q, qd), since C qd is quadratic in qd and C belongs to the Christoffel symbols.
    """
    by_qd = [[2.0 * x for x in row] for row in rigid_coriolis(tree, q, qd)]
    return position_derivative(tree, q, qd, qdd), by_qd, mass_matrix(tree, q)


def position_derivative(tree: Tree, q: Scalars, qd: Scalars, qdd: Scalars) -> list[list[Scalar]]:
    """d tau_i / d q_j of rigid bodies at given qd and qdd, n x n [N m/rad|N/m ...]. q [rad|m], qd, qdd: n scalars each.

    Turning joint j turns all that it carries: accelerations there change by z x (a - a_j) + z'' x x + 2 z' x u, with z the axis, z' and z''
    its rates on the parent, x and u the position and velocity of a point beside the joint. Joints before j feel that as a wrench; joints
    after j turn along, so that only what the axis' rates and the origin's acceleration cause is left.
    Singh, Russell and Wensing 2022 give the same in spatial vectors.
    """
    joints = joint_motions(tree, q)
    motions = spread_motion(tree, joints, qd, qdd)  # base to tip
    ws = spread_spin(tree, joints, qd)
    drifts = origin_drifts(tree, joints, ws, qd)
    flows = composite_flows(tree, joints, ws, drifts)  # tip to base
    forces = gather_forces(tree, joints, net_forces(tree, motions))
    slope: list[list[Scalar]] = [[0.0] * tree.n for _ in range(tree.n)]
    for j, joint in enumerate(joints):
        _enter_before(tree, slope, joints, j, position_wrench(joint, motions[j], flows[j], forces[j]))
        _enter_after(tree, slope, joints, motions, drifts, j, flows[j])
    return slope


def position_wrench(joint: JointMotion, motion: BodyMotion, flow: CompositeFlow, force: Force) -> Force:
    """The wrench, in the body's frame, that the joint and those before it feel per unit of this joint's position."""
    z, zdd = joint.axis, v3.apply(motion.U, joint.axis)
    m, h, I = flow.inertia  # noqa: E741
    if not joint.revolute:
        return Force(v3.scale(m, zdd), v3.add(v3.cross(h, zdd), v3.cross(z, force.f)))
    zd, za = v3.cross(motion.w, z), v3.cross(z, motion.a)
    f = v3.add(v3.sub(v3.cross(z, force.f), v3.scale(m, za)), v3.add(v3.cross(zdd, h), v3.scale(2.0, v3.cross(zd, flow.P))))
    turned = v3.sub(v3.cross(z, force.n), v3.cross(h, za))
    return Force(f, v3.add(turned, v3.add(v3.apply_symmetric(I, zdd), v3.scale(2.0, trace_less(flow.K, zd)))))


def _enter_before(tree: Tree, slope: list[list[Scalar]], joints: Sequence[JointMotion], j: int, wrench: Force) -> None:
    """Column j: the efforts of the joint itself and of those that carry it."""
    column, i = tree.bodies[j], j
    while i >= 0:
        iteration(wrench)
        row = tree.bodies[i]
        value = row.multiplier * column.multiplier * effort(joints[i], wrench)
        slope[row.coordinate][column.coordinate] = slope[row.coordinate][column.coordinate] + value
        if row.parent >= 0:
            wrench = lift(joints[i], wrench)
        i = row.parent


def _enter_after(
    tree: Tree, slope: list[list[Scalar]], joints: Sequence[JointMotion], motions: Sequence[BodyMotion], drifts: Sequence[Vector],
    i: int, flow: CompositeFlow,
) -> None:  # fmt: skip
    """Row i: what its effort gains from each joint that carries it."""
    unit, twist = unit_force(joints[i], flow.inertia), unit_twist(joints[i], flow)
    row, j = tree.bodies[i], i
    while tree.bodies[j].parent >= 0:
        iteration(unit)
        lifted = lift(joints[j], unit)
        twist, unit = v3.add(joints[j].up(twist), v3.cross(drifts[j], lifted.f)), lifted
        j = tree.bodies[j].parent
        column = tree.bodies[j]
        value = row.multiplier * column.multiplier * carried_effort(joints[j], motions[j], unit, twist)
        slope[row.coordinate][column.coordinate] = slope[row.coordinate][column.coordinate] + value


def carried_effort(joint: JointMotion, motion: BodyMotion, unit: Force, twist: Vector) -> Scalar:
    """Power of a later joint's unit motion on what is left of the change of acceleration: z'' x x + 2 z' x u - z x a_j."""
    z, zdd = joint.axis, v3.apply(motion.U, joint.axis)
    if not joint.revolute:
        return v3.dot(zdd, unit.f)
    zd, za = v3.cross(motion.w, z), v3.cross(z, motion.a)
    return v3.dot(zdd, unit.n) + 2.0 * v3.dot(zd, twist) - v3.dot(za, unit.f)
