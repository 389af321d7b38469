"""The mass matrix by the composite-rigid-body algorithm."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra import vector as v3
from ..algebra.scalar import Scalar, Scalars, iteration
from ..algebra.spatial import Force, Inertia
from ..algebra.vector import Symmetric, Vector
from ..mechanism.tree import Tree
from .joint import JointMotion, joint_motions
from .joint_torques import inertial_matrix
from .rnea import lift
from .rotors import rotor_matrix


def mass_matrix(tree: Tree, q: Scalars) -> list[list[Scalar]]:
    """M(q), n x n, symmetric, so that the kinetic energy is qd^T M qd / 2. Rotor inertias are on its diagonal, their spin beside it.

    q: n scalars [rad|m]. Entries in kg m2 (kg m, kg for slides); an entry between different branches is the float 0.0.
    Walker and Orin 1982; Featherstone 2008, table 6.2.
    """
    joints = joint_motions(tree, q)
    inertias = composite_inertias(tree, joints)  # tip to base
    M = joint_matrix(tree, joints, inertias)
    spin = rotor_matrix(tree, q)
    return [[M[max(i, j)][min(i, j)] + spin[i][j] for j in range(tree.n)] for i in range(tree.n)]


def composite_inertias(tree: Tree, joints: Sequence[JointMotion]) -> list[Inertia]:
    """The inertia of each body with all that it carries as one rigid body, in its frame."""
    total = [body.inertia for body in tree.bodies]
    for i in reversed(range(len(total))):
        parent = tree.bodies[i].parent
        if parent >= 0:
            total[parent] = total[parent] + lift_inertia(joints[i], total[i])
    return total


def joint_matrix(tree: Tree, joints: Sequence[JointMotion], inertias: Sequence[Inertia]) -> list[list[Scalar]]:
    """The lower triangle of M: the force of each joint's unit acceleration, brought down to the axes of its ancestors."""
    M = [row[: i + 1] for i, row in enumerate(inertial_matrix(tree))]
    for i, inertia in enumerate(inertias):
        force, j = unit_force(joints[i], inertia), i
        while j >= 0:
            iteration(force)
            _enter(tree, M, i, j, effort(joints[j], force))
            force, j = (lift(joints[j], force) if tree.bodies[j].parent >= 0 else force), tree.bodies[j].parent
    return M


def _enter(tree: Tree, M: list[list[Scalar]], i: int, j: int, value: Scalar) -> None:
    """Add body entry (i, j) and its mirror image to the coordinates' matrix; joints that share a coordinate add up on its diagonal."""
    a, b = tree.bodies[i], tree.bodies[j]
    value = a.multiplier * b.multiplier * value
    row, column = max(a.coordinate, b.coordinate), min(a.coordinate, b.coordinate)
    M[row][column] = M[row][column] + (value + value if i != j and row == column else value)


def unit_force(joint: JointMotion, inertia: Inertia) -> Force:
    """Force on a composite body whose joint alone accelerates, by one."""
    z = joint.axis
    if joint.revolute:
        return Force(v3.cross(z, inertia.h), v3.apply_symmetric(inertia.I, z))
    return Force(v3.scale(inertia.m, z), v3.cross(inertia.h, z))


def effort(joint: JointMotion, force: Force) -> Scalar:
    """The part of a force that the joint bears."""
    return v3.dot(joint.axis, force.n if joint.revolute else force.f)


def lift_inertia(joint: JointMotion, inertia: Inertia) -> Inertia:
    """The inertia of a child, in its parent's frame, about the parent's origin."""
    m, h = inertia.m, joint.up(inertia.h)
    return Inertia(m, v3.add(h, v3.scale(m, joint.p)), v3.add_symmetric(joint.up_symmetric(inertia.I), shift(m, h, joint.p)))


def shift(m: Scalar, h: Vector, p: Vector) -> Symmetric:
    """What moving a body by p adds to its inertia: (2 p.h + m p.p) 1 - p h^T - h p^T - m p p^T."""
    g = v3.add(v3.scale(2.0, h), v3.scale(m, p))
    xx, yy, zz = p[0] * g[0], p[1] * g[1], p[2] * g[2]
    t = v3.add(h, v3.scale(m, p))
    off = (-p[0] * t[1] - p[1] * h[0], -p[0] * t[2] - p[2] * h[0], -p[1] * t[2] - p[2] * h[1])
    return Symmetric(yy + zz, off[0], off[1], xx + zz, off[2], xx + yy)
