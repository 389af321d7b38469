"""Centre of mass of all moving bodies, and its Jacobian."""

from __future__ import annotations

from ..algebra import vector as v3
from ..algebra.scalar import Scalar, Scalars
from ..algebra.vector import Vector
from ..errors import ModelError
from ..mechanism.tree import Tree
from .gravity import composite_moments
from .joint import joint_motions
from .kinematics import poses


def center_of_mass(tree: Tree, q: Scalars) -> list[Scalar]:
    """Return c(q) = sum of m_i c_i / sum of m_i over the moving bodies, in the base frame [m].

    q: n scalars [rad|m]. Siciliano et al. 2009, eq. (7.36) divided by the weight.
    """
    bodies = zip(tree.bodies, poses(tree, q), strict=True)
    moments = [
        v3.add(v3.apply(pose.R, body.inertia.h), v3.scale(body.inertia.m, pose.p))
        for body, pose in bodies
    ]
    return list(v3.scale(1.0 / _mass(tree), v3.total(moments)))


def com_jacobian(tree: Tree, q: Scalars) -> list[list[Scalar]]:
    """Return J_c(q), 3 x n; the velocity of the centre of mass is J_c qd [m/s].

    q: n scalars [rad|m]. With mass m_i and first moment h_i of the subtree of joint i, and the
    total mass m, the column is z x h_i / m for a revolute joint and z m_i / m for a prismatic
    joint. Wieber 2006, section 2.
    """
    joints, where = joint_motions(tree, q), poses(tree, q)
    share = 1.0 / _mass(tree)
    J: list[list[Scalar]] = [[0.0] * tree.n for _ in range(3)]
    for body, joint, pose, (m, h) in zip(
        tree.bodies, joints, where, composite_moments(tree, joints), strict=True
    ):
        moved: Vector = v3.cross(joint.axis, h) if joint.revolute else v3.scale(m, joint.axis)
        for row, value in zip(J, v3.apply(pose.R, v3.scale(share, moved)), strict=True):
            row[body.coordinate] = row[body.coordinate] + body.multiplier * value
    return J


def _mass(tree: Tree) -> Scalar:
    mass = sum((body.inertia.m for body in tree.bodies), 0.0)
    if isinstance(mass, float) and not mass > 0.0:
        raise ModelError(
            "no moving link has a mass, so that there is no centre of mass; give the links an"
            " inertia"
        )
    return mass
