"""The torques' dependence on the parameters: the joint-torque regressor."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra import vector as v3
from ..algebra.scalar import Scalar, Scalars, iteration
from ..algebra.spatial import Motion
from ..algebra.vector import Vector
from ..mechanism.tree import Tree
from .joint import JointMotion, joint_motions
from .joint_torques import term_columns
from .rnea import BodyMotion, spread_motion
from .rotors import rotor_columns


def regressor(tree: Tree, q: Scalars, qd: Scalars, qdd: Scalars) -> list[list[Scalar]]:
    """Y(q, qd, qdd), n x p, with inverse_dynamics = Y pi; the columns in the order of `parameter_vector`.

    q [rad|m], qd, qdd: n scalars each. Columns of a body: m, mcx, mcy, mcz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz in its frame; then per coordinate
    the joint terms that it has. Joints that do not carry a body have the float 0.0 in its columns: the block-triangular structure.
    Tau = sum of J_i^T A_i pi_i; lecture "Structure and identification", the regressor matrix; Atkeson, An and Hollerbach 1986.
    """
    joints = joint_motions(tree, q)
    motions = spread_motion(tree, joints, qd, qdd)
    screws = body_jacobians(tree, joints)
    blocks = [body_block(tree, screws[i], motion) for i, motion in enumerate(motions)]
    extra = joint_columns(tree, q, qd, qdd)
    return [[y for block in blocks for y in block[row]] + [column[row] for column in extra] for row in range(tree.n)]


def body_jacobians(tree: Tree, joints: Sequence[JointMotion]) -> list[dict[int, Motion]]:
    """For every body the joints that move it, with the body's Motion at unit rate of that joint alone, in the body's frame."""
    result: list[dict[int, Motion]] = []
    for i, (body, joint) in enumerate(zip(tree.bodies, joints, strict=True)):
        above = result[body.parent] if body.parent >= 0 else {}
        screws = {j: Motion(joint.down(s.w), joint.down(v3.add(s.v, v3.cross(s.w, joint.p)))) for j, s in above.items()}
        screws[i] = Motion(w=joint.axis) if joint.revolute else Motion(v=joint.axis)
        result.append(screws)
    return result


def body_block(tree: Tree, screws: dict[int, Motion], motion: BodyMotion) -> list[list[Scalar]]:
    """The ten columns of one body: row j is the power of its net force on the unit motion of coordinate j, per parameter."""
    block: list[list[Scalar]] = [[0.0] * 10 for _ in range(tree.n)]
    for j, screw in screws.items():
        iteration(screw)
        multiplier, row = tree.bodies[j].multiplier, tree.bodies[j].coordinate
        block[row] = [a + multiplier * b for a, b in zip(block[row], parameter_powers(screw, motion), strict=True)]
    return block


def parameter_powers(screw: Motion, motion: BodyMotion) -> list[Scalar]:
    """v . f + w . n of the net force that each unit parameter needs."""
    return [v3.dot(screw.v, motion.a), *first_moment_powers(screw, motion), *inertia_powers(screw.w, motion)]


def first_moment_powers(screw: Motion, motion: BodyMotion) -> Vector:
    """Of h: f = U h, n = h x a, so a x w + U^T v."""
    return v3.add(v3.cross(motion.a, screw.w), v3.apply(v3.transpose(motion.U), screw.v))


def inertia_powers(z: Vector, motion: BodyMotion) -> tuple[Scalar, ...]:
    """Of Ixx, Ixy, Ixz, Iyy, Iyz, Izz: z . (I dw + w x I w), by entry."""
    w, dw = motion.w, motion.dw
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = motion.U
    wxy, wxz, wyz = w[0] * w[1], w[0] * w[2], w[1] * w[2]
    return (
        z[0] * dw[0] + z[1] * wxz - z[2] * wxy,
        z[1] * zy - z[0] * zx + z[2] * (xx - yy),
        z[0] * yx - z[2] * yz + z[1] * (zz - xx),
        z[1] * dw[1] + z[2] * wxy - z[0] * wyz,
        z[2] * xz - z[1] * xy + z[0] * (yy - zz),
        z[2] * dw[2] + z[0] * wyz - z[1] * wxz,
    )


def joint_columns(tree: Tree, q: Scalars, qd: Scalars, qdd: Scalars) -> list[list[Scalar]]:
    """The columns of the joint terms that are present; that of a rotor's inertia with what its spin adds."""
    columns = []
    spin = rotor_columns(tree, q, qd, qdd)
    for use, column in zip(tree.joint_terms, term_columns(tree, q, qd, qdd), strict=True):
        added = spin.get(use.at[0], {}) if use.row.key == "armature" and len(use.at) == 1 else {}
        columns.append([column.get(row, 0.0) + added.get(row, 0.0) for row in range(tree.n)])
    return columns
