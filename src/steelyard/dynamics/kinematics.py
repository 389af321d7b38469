"""Poses of bodies and frames in the base frame, and Jacobians."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra import vector as v3
from ..algebra.scalar import Scalar, Scalars
from ..algebra.spatial import Motion, Pose
from ..algebra.vector import ZERO, Vector
from ..mechanism.tree import Frame, Tree
from .joint import joint_motions, joint_rates


def poses(tree: Tree, q: Scalars) -> list[Pose]:
    """Return the pose X_0i of every body's frame in the base frame: X_0i = X_0p X_pi(q).

    q: n scalars [rad|m]. Returns a Pose (R, p [m]) per body. Featherstone 2008, section 4.2.
    """
    result: list[Pose] = []
    for body, joint in zip(tree.bodies, joint_motions(tree, q), strict=True):
        parent = result[body.parent] if body.parent >= 0 else Pose()
        x, y, z = (joint.down(row) for row in parent.R)
        result.append(Pose((x, y, z), parent.point(joint.p)))
    return result


def forward_kinematics(tree: Tree, q: Scalars, frame: str | Frame) -> Pose:
    """Return the pose (R, p [m]) of a frame, by name or as a Frame, in the base frame.

    q: n scalars [rad|m].
    """
    body, pose = find_frame(tree, frame)
    return poses(tree, q)[body].compose(pose) if body >= 0 else pose


def find_frame(tree: Tree, frame: str | Frame) -> Frame:
    """Return a frame of the tree by name; a Frame is returned unchanged."""
    return tree.frame(frame) if isinstance(frame, str) else frame


def joint_axes(tree: Tree, where: Sequence[Pose]) -> list[Vector]:
    """Return the axis of every body's joint in the base frame."""
    return [v3.apply(pose.R, body.axis) for body, pose in zip(tree.bodies, where, strict=True)]


def jacobian(tree: Tree, q: Scalars, frame: str | Frame) -> list[list[Scalar]]:
    """Return J(q), 6 x n, with (v, w) = J qd in the base frame.

    v is the velocity of the frame's origin [m/s], w the angular velocity [rad/s]. q: n scalars
    [rad|m]. Columns are (z x (o - o_i), z) of revolute and (z, 0) of prismatic joints. Siciliano et
    al. 2009, eq. (3.30).
    """
    body, pose = find_frame(tree, frame)
    where = poses(tree, q)
    return assemble(
        tree, jacobian_columns(tree, where, carriers(tree, body), origin(where, body, pose))
    )


def jacobian_rate(tree: Tree, q: Scalars, qd: Scalars, frame: str | Frame) -> list[list[Scalar]]:
    """Return dJ/dt, 6 x n; the acceleration of the frame is J qdd + (dJ/dt) qd.

    q [rad|m], qd: n scalars each. dz/dt = w_i x z for an axis; lever arms change with the
    velocities of their ends. Siciliano et al. 2009, section 3.6.
    """
    body, pose = find_frame(tree, frame)
    where = poses(tree, q)
    o, chain = origin(where, body, pose), carriers(tree, body)
    axes = joint_axes(tree, where)
    motions = base_velocities(tree, where, axes, chain, qd)
    tip = point_velocity(motions, where, body, o)
    return assemble(
        tree, {i: column_rate(tree, where, axes[i], motions[i], i, o, tip) for i in chain}
    )


def carriers(tree: Tree, body: int) -> list[int]:
    """Return the bodies from the base to a body, whose joints move it."""
    chain: list[int] = []
    while body >= 0:
        chain.insert(0, body)
        body = tree.bodies[body].parent
    return chain


def jacobian_columns(
    tree: Tree, where: Sequence[Pose], chain: Sequence[int], o: Vector
) -> dict[int, Motion]:
    """Return the motion of the point o at unit rate of each joint of the chain."""
    axes = joint_axes(tree, where)
    turning = {i: tree.bodies[i].kind == "revolute" for i in chain}
    return {
        i: (
            Motion(axes[i], v3.cross(axes[i], v3.sub(o, where[i].p)))
            if turning[i]
            else Motion(v=axes[i])
        )
        for i in chain
    }


def column_rate(
    tree: Tree, where: Sequence[Pose], z: Vector, motion: Motion, i: int, o: Vector, tip: Vector
) -> Motion:
    """Return the rate of change of one column of the Jacobian."""
    zd = v3.cross(motion.w, z)
    if tree.bodies[i].kind != "revolute":
        return Motion(v=zd)
    return Motion(
        zd, v3.add(v3.cross(zd, v3.sub(o, where[i].p)), v3.cross(z, v3.sub(tip, motion.v)))
    )


def base_velocities(
    tree: Tree, where: Sequence[Pose], axes: Sequence[Vector], chain: Sequence[int], qd: Scalars
) -> dict[int, Motion]:
    """Return angular and linear velocity of the chain's bodies, in the base frame."""
    rates = joint_rates(tree, qd)
    motions: dict[int, Motion] = {}
    for i in chain:
        parent = tree.bodies[i].parent
        w = motions[parent].w if parent >= 0 else ZERO
        v = point_velocity(motions, where, parent, where[i].p)
        along = v3.scale(rates[i], axes[i])
        motions[i] = (
            Motion(v3.add(w, along), v)
            if tree.bodies[i].kind == "revolute"
            else Motion(w, v3.add(v, along))
        )
    return motions


def point_velocity(
    motions: dict[int, Motion], where: Sequence[Pose], body: int, o: Vector
) -> Vector:
    """Return the velocity of the point o of a body; the base is at rest."""
    if body < 0:
        return ZERO
    return v3.add(motions[body].v, v3.cross(motions[body].w, v3.sub(o, where[body].p)))


def origin(where: Sequence[Pose], body: int, pose: Pose) -> Vector:
    """Return a frame's origin in the base frame."""
    return where[body].point(pose.p) if body >= 0 else pose.p


def assemble(tree: Tree, motions: dict[int, Motion]) -> list[list[Scalar]]:
    """Return the 6 x n matrix of the columns of bodies.

    Joints that share a coordinate add up, each times its multiplier.
    """
    J: list[list[Scalar]] = [[0.0] * tree.n for _ in range(6)]
    for i, motion in motions.items():
        body = tree.bodies[i]
        for row, value in zip(J, (*motion.v, *motion.w), strict=True):
            row[body.coordinate] = row[body.coordinate] + body.multiplier * value
    return J
