"""Coriolis matrix of the Christoffel symbols, by composite bodies in motion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..algebra import vector as v3
from ..algebra.scalar import Scalar, Scalars, iteration
from ..algebra.spatial import Force, Inertia
from ..algebra.vector import Matrix, Vector
from ..mechanism.tree import Tree
from .crba import effort, inertia_to_parent, unit_force
from .joint import JointMotion, joint_motions, joint_rates
from .rnea import to_parent
from .rotors import rotor_coriolis


class CompositeFlow(NamedTuple):
    """Inertia of a composite body, and moments of the velocities u of its points r.

    Velocities are relative to the body's origin: P = sum of u dm [kg m/s], K = sum of u r^T dm
    [kg m2/s].
    """

    inertia: Inertia
    P: Vector
    K: Matrix


def coriolis_matrix(tree: Tree, q: Scalars, qd: Scalars) -> list[list[Scalar]]:
    """Return C(q, qd), n x n, with C_ij = sum over k of c_ijk qd_k (Christoffel symbols).

    dM/dt - 2 C is skew-symmetric, dM/dt = C + C^T. q [rad|m], qd: n scalars each. For point masses
    C = sum of m J^T dJ/dt; sums over the points of a subtree are moments of its composite body.
    Echeandia and Wensing 2021; lecture "Structure and identification", property 4.
    """
    rigid, spin = rigid_coriolis(tree, q, qd), rotor_coriolis(tree, q, qd)
    return [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(rigid, spin, strict=True)]


def rigid_coriolis(tree: Tree, q: Scalars, qd: Scalars) -> list[list[Scalar]]:
    """Return the part of the rigid bodies in C, n x n.

    On a rotating base, velocities include the base's: 2 C = d tau / dqd holds there too.
    """
    joints = joint_motions(tree, q)
    ws = propagate_angular_velocity(tree, joints, qd)  # base to tip
    drifts = origin_drifts(tree, joints, ws, qd)
    flows = composite_flows(tree, joints, ws, drifts)  # tip to base
    C: list[list[Scalar]] = [[0.0] * tree.n for _ in range(tree.n)]
    for i, flow in enumerate(flows):
        _fill(tree, C, joints, ws, drifts, i, flow)
    return C


def _fill(
    tree: Tree,
    C: list[list[Scalar]],
    joints: Sequence[JointMotion],
    ws: Sequence[Vector],
    drifts: Sequence[Vector],
    j: int,
    flow: CompositeFlow,
) -> None:
    """Enter the entries of joint j with itself and with its ancestors, from tip to base."""
    force, unit, twist = (
        rate_force(joints[j], ws[j], flow),
        unit_force(joints[j], flow.inertia),
        velocity_moment(joints[j], flow),
    )
    i, column = j, tree.bodies[j]
    while i >= 0:
        iteration(unit)
        row = tree.bodies[i]
        scale = row.multiplier * column.multiplier
        C[row.coordinate][column.coordinate] = C[row.coordinate][
            column.coordinate
        ] + scale * effort(joints[i], force)
        if i != j:
            turned = axis_rate_effort(joints[i], ws[i], unit, twist)
            C[column.coordinate][row.coordinate] = (
                C[column.coordinate][row.coordinate] + scale * turned
            )
        if row.parent >= 0:
            force, below = to_parent(joints[i], force), to_parent(joints[i], unit)
            twist, unit = v3.add(joints[i].up(twist), v3.cross(drifts[i], below.f)), below
        i = row.parent


def propagate_angular_velocity(
    tree: Tree, joints: Sequence[JointMotion], qd: Scalars
) -> list[Vector]:
    """Return the angular velocity of every body in its own frame."""
    ws: list[Vector] = []
    for body, joint, rate in zip(tree.bodies, joints, joint_rates(tree, qd), strict=True):
        w = joint.down(ws[body.parent] if body.parent >= 0 else tree.base.w)
        ws.append(v3.add(w, joint.along(rate)) if joint.revolute else w)
    return ws


def origin_drifts(
    tree: Tree, joints: Sequence[JointMotion], ws: Sequence[Vector], qd: Scalars
) -> list[Vector]:
    """Return the velocity of every body's origin relative to its parent's, in parent's frame."""
    drifts: list[Vector] = []
    for body, joint, rate in zip(tree.bodies, joints, joint_rates(tree, qd), strict=True):
        turned = v3.cross(ws[body.parent] if body.parent >= 0 else tree.base.w, joint.p)
        drifts.append(turned if joint.revolute else v3.add(turned, joint.up(joint.along(rate))))
    return drifts


def composite_flows(
    tree: Tree, joints: Sequence[JointMotion], ws: Sequence[Vector], drifts: Sequence[Vector]
) -> list[CompositeFlow]:
    """Return the flow of each body's subtree, in the body's frame."""
    total = [body_flow(body.inertia, w) for body, w in zip(tree.bodies, ws, strict=True)]
    for i in reversed(range(len(total))):
        iteration(total[i])
        parent = tree.bodies[i].parent
        if parent >= 0:
            total[parent] = sum_of_flows(
                total[parent], flow_to_parent(joints[i], total[i], drifts[i])
            )
    return total


def sum_of_flows(a: CompositeFlow, b: CompositeFlow) -> CompositeFlow:
    """Return the sum of two flows about the same origin."""
    K: Matrix = (v3.add(a.K[0], b.K[0]), v3.add(a.K[1], b.K[1]), v3.add(a.K[2], b.K[2]))
    return CompositeFlow(a.inertia + b.inertia, v3.add(a.P, b.P), K)


def body_flow(inertia: Inertia, w: Vector) -> CompositeFlow:
    """Return the flow of one rigid body, u = w x r: P = w x h, K = [w]x S with second moments S."""
    S = v3.full(inertia.second_moments())
    columns = (v3.cross(w, S[0]), v3.cross(w, S[1]), v3.cross(w, S[2]))
    return CompositeFlow(inertia, v3.cross(w, inertia.h), v3.transpose(columns))


def flow_to_parent(joint: JointMotion, flow: CompositeFlow, drift: Vector) -> CompositeFlow:
    """Return a child's flow about its parent's origin, in the parent's frame: r + p, u + drift."""
    inertia = inertia_to_parent(joint, flow.inertia)
    P, K = joint.up(flow.P), joint.up_matrix(flow.K)
    moved = tuple(
        v3.add(v3.add(row, v3.scale(P[i], joint.p)), v3.scale(drift[i], inertia.h))
        for i, row in enumerate(K)
    )
    momentum = v3.add(P, v3.scale(flow.inertia.m, drift))
    return CompositeFlow(inertia, momentum, moved)  # type: ignore[arg-type]


def rate_force(joint: JointMotion, w: Vector, flow: CompositeFlow) -> Force:
    """Return the force on the composite body of the rate of change of the joint's unit motion.

    For a revolute joint the point r has the rate z' x r + z x u.
    """
    z = joint.axis
    zd = v3.cross(w, z)
    if not joint.revolute:
        return Force(v3.scale(flow.inertia.m, zd), v3.cross(flow.inertia.h, zd))
    f = v3.add(v3.cross(zd, flow.inertia.h), v3.cross(z, flow.P))
    return Force(f, v3.add(v3.apply_symmetric(flow.inertia.I, zd), trace_less(flow.K, z)))


def velocity_moment(joint: JointMotion, flow: CompositeFlow) -> Vector:
    """Return the sum of u x (unit motion of the joint) dm.

    The rate of an ancestor's axis acts on it.
    """
    return (
        trace_less(v3.transpose(flow.K), joint.axis)
        if joint.revolute
        else v3.cross(flow.P, joint.axis)
    )


def axis_rate_effort(joint: JointMotion, w: Vector, unit: Force, twist: Vector) -> Scalar:
    """Return the power of a unit force on the rate of change of this joint's unit motion."""
    zd = v3.cross(w, joint.axis)
    return v3.dot(zd, unit.n) + v3.dot(joint.axis, twist) if joint.revolute else v3.dot(zd, unit.f)


def trace_less(K: Matrix, z: Vector) -> Vector:
    """Return (trace(K) 1 - K) z without forming the entries that cancel."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = K
    return (
        (yy + zz) * z[0] - xy * z[1] - xz * z[2],
        (xx + zz) * z[1] - yx * z[0] - yz * z[2],
        (xx + yy) * z[2] - zx * z[0] - zy * z[1],
    )
