"""Mass matrix by the composite-rigid-body algorithm."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra import vector as v3
from ..algebra.scalar import Scalar, Scalars, iteration
from ..algebra.spatial import Force, Inertia
from ..algebra.vector import Symmetric, Vector
from ..mechanism.tree import Tree
from .joint import JointMotion, joint_motions
from .joint_torques import inertial_matrix
from .rnea import to_parent
from .rotors import rotor_matrix


def mass_matrix(tree: Tree, q: Scalars) -> list[list[Scalar]]:
    """Return the mass matrix M(q), n x n and symmetric, with T = qd^T M qd / 2.

    Rotor inertias are on the diagonal, couplings by spinning rotors beside it. q: n scalars
    [rad|m]. Entries in kg m2 (kg m, kg for prismatic joints); an entry between different branches
    is the float 0.0. Walker and Orin 1982; Featherstone 2008, table 6.2.
    """
    joints = joint_motions(tree, q)
    inertias = composite_inertias(tree, joints)  # tip to base
    M = joint_matrix(tree, joints, inertias)
    spin = rotor_matrix(tree, q)
    return [[M[max(i, j)][min(i, j)] + spin[i][j] for j in range(tree.n)] for i in range(tree.n)]


def composite_inertias(tree: Tree, joints: Sequence[JointMotion]) -> list[Inertia]:
    """Return the composite inertia of each body: its subtree as one rigid body, in its frame."""
    total = [body.inertia for body in tree.bodies]
    for i in reversed(range(len(total))):
        parent = tree.bodies[i].parent
        if parent >= 0:
            total[parent] = total[parent] + inertia_to_parent(joints[i], total[i])
    return total


def joint_matrix(
    tree: Tree, joints: Sequence[JointMotion], inertias: Sequence[Inertia]
) -> list[list[Scalar]]:
    """Return the lower triangle of M.

    The force of each joint's unit acceleration is projected onto the axes of its ancestors.
    """
    M = [row[: i + 1] for i, row in enumerate(inertial_matrix(tree))]
    for i, inertia in enumerate(inertias):
        force, j = unit_force(joints[i], inertia), i
        while j >= 0:
            iteration(force)
            _enter(tree, M, i, j, effort(joints[j], force))
            force, j = (
                (to_parent(joints[j], force) if tree.bodies[j].parent >= 0 else force),
                tree.bodies[j].parent,
            )
    return M


def _enter(tree: Tree, M: list[list[Scalar]], i: int, j: int, value: Scalar) -> None:
    """Add body entry (i, j) and its mirror image to the coordinates' matrix.

    Joints that share a coordinate add up on its diagonal.
    """
    a, b = tree.bodies[i], tree.bodies[j]
    value = a.multiplier * b.multiplier * value
    row, column = max(a.coordinate, b.coordinate), min(a.coordinate, b.coordinate)
    M[row][column] = M[row][column] + (value + value if i != j and row == column else value)


def unit_force(joint: JointMotion, inertia: Inertia) -> Force:
    """Return the force on a composite body of a unit acceleration of its joint: I^c S."""
    z = joint.axis
    if joint.revolute:
        return Force(v3.cross(z, inertia.h), v3.apply_symmetric(inertia.I, z))
    return Force(v3.scale(inertia.m, z), v3.cross(inertia.h, z))


def effort(joint: JointMotion, force: Force) -> Scalar:
    """Project a force onto the joint's axis: S^T f."""
    return v3.dot(joint.axis, force.n if joint.revolute else force.f)


def inertia_to_parent(joint: JointMotion, inertia: Inertia) -> Inertia:
    """Return a child's inertia in its parent's frame, about the parent's origin."""
    m, h = inertia.m, joint.up(inertia.h)
    return Inertia(
        m,
        v3.add(h, v3.scale(m, joint.p)),
        v3.add_symmetric(joint.up_symmetric(inertia.I), shift(m, h, joint.p)),
    )


def shift(m: Scalar, h: Vector, p: Vector) -> Symmetric:
    """Return the change of a body's inertia when it moves by p (parallel-axis theorem).

    (2 p.h + m p.p) 1 - p h^T - h p^T - m p p^T.
    """
    g = v3.add(v3.scale(2.0, h), v3.scale(m, p))
    xx, yy, zz = p[0] * g[0], p[1] * g[1], p[2] * g[2]
    t = v3.add(h, v3.scale(m, p))
    off = (-p[0] * t[1] - p[1] * h[0], -p[0] * t[2] - p[2] * h[0], -p[1] * t[2] - p[2] * h[1])
    return Symmetric(yy + zz, off[0], off[1], xx + zz, off[2], xx + yy)
