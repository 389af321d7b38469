"""Gravity torques and potential energy, which need only masses and first moments."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra import vector as v3
from ..algebra.scalar import Scalar, Scalars
from ..algebra.vector import Vector
from ..mechanism.tree import Tree
from .joint import JointMotion, joint_motions, to_coordinates

Moment = tuple[Scalar, Vector]  # mass [kg] and first moment [kg m]


def gravity_torque(tree: Tree, q: Scalars) -> list[Scalar]:
    """Return g(q) = dU/dq, n torques [N m|N]. q: n scalars [rad|m].

    Each joint carries one composite body, of which only mass and first moment matter.
    Lecture "Lagrangian of a robot", potential energy; Siciliano et al. 2009, eq. (7.39).
    """
    joints = joint_motions(tree, q)
    moments = composite_moments(tree, joints)  # tip to base
    lifts = gravity_in_bodies(tree, joints)  # base to tip
    return to_coordinates(
        tree, [joint_gravity(*parts) for parts in zip(joints, moments, lifts, strict=True)]
    )


def potential_energy(tree: Tree, q: Scalars) -> Scalar:
    """Return U(q) = -g . (sum of the bodies' first moments about the base's origin) [J].

    U is zero where all mass is at the base's origin. q: n scalars [rad|m].
    Lecture "Lagrangian of a robot", potential energy; Siciliano et al. 2009, eq. (7.36).
    """
    joints = joint_motions(tree, q)
    moments = composite_moments(tree, joints)
    at_base = [
        moment_to_parent(joint, moment)[1]
        for body, joint, moment in zip(tree.bodies, joints, moments, strict=True)
        if body.parent < 0
    ]
    return -v3.dot(tree.gravity, v3.total(at_base))


def composite_moments(tree: Tree, joints: Sequence[JointMotion]) -> list[Moment]:
    """Return mass and first moment of each body's subtree, in the body's frame."""
    total: list[Moment] = [(body.inertia.m, body.inertia.h) for body in tree.bodies]
    for i in reversed(range(len(total))):
        parent = tree.bodies[i].parent
        if parent >= 0:
            m, h = moment_to_parent(joints[i], total[i])
            total[parent] = (total[parent][0] + m, v3.add(total[parent][1], h))
    return total


def moment_to_parent(joint: JointMotion, moment: Moment) -> Moment:
    """Return mass and first moment of a child, in its parent's frame about the parent's origin."""
    m, h = moment
    return m, v3.add(joint.up(h), v3.scale(m, joint.p))


def gravity_in_bodies(tree: Tree, joints: Sequence[JointMotion]) -> list[Vector]:
    """Return the base's proper acceleration, -gravity for a base at rest, in every body's frame."""
    lifts: list[Vector] = []
    for body, joint in zip(tree.bodies, joints, strict=True):
        lifts.append(joint.down(lifts[body.parent] if body.parent >= 0 else tree.base.a))
    return lifts


def joint_gravity(joint: JointMotion, moment: Moment, lift: Vector) -> Scalar:
    """Return the gravity torque of a joint: axis . (h x a) if revolute, m axis . a if prismatic."""
    m, h = moment
    return v3.dot(joint.axis, v3.cross(h, lift)) if joint.revolute else m * v3.dot(joint.axis, lift)
