"""Partial derivatives of inverse dynamics with respect to q and qd, by composite bodies."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra import vector as v3
from ..algebra.scalar import Scalar, Scalars, iteration
from ..algebra.spatial import Force
from ..algebra.vector import Vector
from ..mechanism.tree import Tree
from .coriolis import (
    CompositeFlow,
    composite_flows,
    origin_drifts,
    propagate_angular_velocity,
    rigid_coriolis,
    trace_less,
    velocity_moment,
)
from .crba import effort, mass_matrix, unit_force
from .joint import JointMotion, joint_motions
from .rnea import BodyMotion, accumulate_forces, net_forces, propagate_motion, to_parent


def rigid_derivatives(
    tree: Tree, q: Scalars, qd: Scalars, qdd: Scalars
) -> tuple[list[list[Scalar]], ...]:
    """Return d tau / dq, d tau / dqd of rigid bodies, and M with the drives' inertia, each n x n.

    q [rad|m], qd, qdd: n scalars each. d tau / dqd = 2 C(q, qd), since C qd is quadratic in qd and
    C is the matrix of the Christoffel symbols.
    """
    by_qd = [[2.0 * x for x in row] for row in rigid_coriolis(tree, q, qd)]
    return position_derivative(tree, q, qd, qdd), by_qd, mass_matrix(tree, q)


def position_derivative(tree: Tree, q: Scalars, qd: Scalars, qdd: Scalars) -> list[list[Scalar]]:
    """Return d tau_i / d q_j of rigid bodies at constant qd and qdd, n x n [N m/rad|N/m ...].

    q [rad|m], qd, qdd: n scalars each. A rotation about joint j changes the accelerations of its
    subtree by z x (a - a_j) + z'' x x + 2 z' x u: z is the axis, z' and z'' are its rates, x and u
    are the position and velocity of a point relative to the joint. On j and its ancestors this
    change acts as a wrench. Descendants of j rotate with it, so that only the rates of the axis and
    the acceleration of the origin act on them. Singh, Russell and Wensing 2022, there in spatial
    vectors.
    """
    joints = joint_motions(tree, q)
    motions = propagate_motion(tree, joints, qd, qdd)  # base to tip
    ws = propagate_angular_velocity(tree, joints, qd)
    drifts = origin_drifts(tree, joints, ws, qd)
    flows = composite_flows(tree, joints, ws, drifts)  # tip to base
    forces = accumulate_forces(tree, joints, net_forces(tree, motions))
    by_q: list[list[Scalar]] = [[0.0] * tree.n for _ in range(tree.n)]
    for j, joint in enumerate(joints):
        _enter_before(
            tree, by_q, joints, j, position_wrench(joint, motions[j], flows[j], forces[j])
        )
        _enter_after(tree, by_q, joints, motions, drifts, j, flows[j])
    return by_q


def position_wrench(
    joint: JointMotion, motion: BodyMotion, flow: CompositeFlow, force: Force
) -> Force:
    """Return the wrench on a joint and its ancestors per unit of its position, in body frame."""
    z, zdd = joint.axis, v3.apply(motion.U, joint.axis)
    m, h, I = flow.inertia  # noqa: E741
    if not joint.revolute:
        return Force(v3.scale(m, zdd), v3.add(v3.cross(h, zdd), v3.cross(z, force.f)))
    zd, za = v3.cross(motion.w, z), v3.cross(z, motion.a)
    f = v3.add(
        v3.sub(v3.cross(z, force.f), v3.scale(m, za)),
        v3.add(v3.cross(zdd, h), v3.scale(2.0, v3.cross(zd, flow.P))),
    )
    turned = v3.sub(v3.cross(z, force.n), v3.cross(h, za))
    return Force(
        f, v3.add(turned, v3.add(v3.apply_symmetric(I, zdd), v3.scale(2.0, trace_less(flow.K, zd))))
    )


def _enter_before(
    tree: Tree, by_q: list[list[Scalar]], joints: Sequence[JointMotion], j: int, wrench: Force
) -> None:
    """Fill column j for the joint itself and its ancestors."""
    column, i = tree.bodies[j], j
    while i >= 0:
        iteration(wrench)
        row = tree.bodies[i]
        value = row.multiplier * column.multiplier * effort(joints[i], wrench)
        by_q[row.coordinate][column.coordinate] = by_q[row.coordinate][column.coordinate] + value
        if row.parent >= 0:
            wrench = to_parent(joints[i], wrench)
        i = row.parent


def _enter_after(
    tree: Tree,
    by_q: list[list[Scalar]],
    joints: Sequence[JointMotion],
    motions: Sequence[BodyMotion],
    drifts: Sequence[Vector],
    i: int,
    flow: CompositeFlow,
) -> None:
    """Fill row i for the ancestors of joint i."""
    unit, twist = unit_force(joints[i], flow.inertia), velocity_moment(joints[i], flow)
    row, j = tree.bodies[i], i
    while tree.bodies[j].parent >= 0:
        iteration(unit)
        lifted = to_parent(joints[j], unit)
        twist, unit = v3.add(joints[j].up(twist), v3.cross(drifts[j], lifted.f)), lifted
        j = tree.bodies[j].parent
        column = tree.bodies[j]
        value = (
            row.multiplier * column.multiplier * carried_effort(joints[j], motions[j], unit, twist)
        )
        by_q[row.coordinate][column.coordinate] = by_q[row.coordinate][column.coordinate] + value


def carried_effort(joint: JointMotion, motion: BodyMotion, unit: Force, twist: Vector) -> Scalar:
    """Return the power of a descendant's unit motion on the change of acceleration.

    The change is z'' x x + 2 z' x u - z x a_j.
    """
    z, zdd = joint.axis, v3.apply(motion.U, joint.axis)
    if not joint.revolute:
        return v3.dot(zdd, unit.f)
    zd, za = v3.cross(motion.w, z), v3.cross(z, motion.a)
    return v3.dot(zdd, unit.n) + 2.0 * v3.dot(zd, twist) - v3.dot(za, unit.f)
