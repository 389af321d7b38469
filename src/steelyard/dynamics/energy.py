"""Kinetic energy and generalised momentum. The potential energy is with gravity."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra import vector as v3
from ..algebra.scalar import Scalar, Scalars
from ..algebra.spatial import Force, Inertia, Motion
from ..mechanism.tree import Tree
from .joint import JointMotion, joint_motions, joint_rates, to_coordinates
from .joint_torques import inertial_torque
from .rnea import cross_constant, gather_forces, joint_efforts
from .rotors import rotor_energy, rotor_momentum

STILL = Motion()


def kinetic_energy(tree: Tree, q: Scalars, qd: Scalars) -> Scalar:
    """T = qd^T M(q) qd / 2 [J], rotors included. q [rad|m], qd: n scalars each.

    Sum over the bodies of m v.v / 2 + v . (w x h) + w . I w / 2.
    Lecture "Lagrangian of a robot", kinetic energy; Siciliano et al. 2009, eq. (7.32).
    """
    velocities = spread_velocity(tree, joint_motions(tree, q), qd)  # base to tip
    bodies = [body_energy(body.inertia, motion) for body, motion in zip(tree.bodies, velocities, strict=True)]
    rotors = [0.5 * (rate * p) for rate, p in zip(qd, inertial_torque(tree, qd), strict=True)]
    return sum(bodies + rotors, rotor_energy(tree, q, qd))


def spread_velocity(tree: Tree, joints: Sequence[JointMotion], qd: Scalars, base: Motion = STILL) -> list[Motion]:
    """Angular velocity of every body and velocity of its origin, in its own frame; `base` is the motion of the base in its own."""
    velocities: list[Motion] = []
    for body, joint, rate in zip(tree.bodies, joints, joint_rates(tree, qd), strict=True):
        above = velocities[body.parent] if body.parent >= 0 else base
        w, v = joint.down(above.w), joint.down(v3.add(above.v, v3.cross(above.w, joint.p)))
        along = joint.along(rate)
        velocities.append(Motion(v3.add(w, along), v) if joint.revolute else Motion(w, v3.add(v, along)))
    return velocities


def body_energy(inertia: Inertia, motion: Motion) -> Scalar:
    """Kinetic energy of one body: (v . (m v + 2 w x h) + w . I w) / 2."""
    m, h, I = inertia  # noqa: E741
    w, v = motion
    linear = v3.add(v3.scale(m, v), v3.scale(2.0, v3.cross(w, h)))
    return 0.5 * (v3.dot(v, linear) + v3.dot(w, v3.apply_symmetric(I, w)))


def momentum(tree: Tree, q: Scalars, qd: Scalars) -> list[Scalar]:
    """p = M(q) qd, rotors included. q [rad|m], qd: n scalars each. Returns n scalars [kg m2/s|kg m/s].

    Momenta of bodies add up towards the base as forces do, so p is what Newton-Euler gives for qd in the place of qdd at rest, weightless.
    De Luca and Mattone 2003 (the momentum of the collision observer).
    """
    joints = joint_motions(tree, q)
    velocities = spread_velocity(tree, joints, qd)  # base to tip
    momenta = [body_momentum(body.inertia, motion) for body, motion in zip(tree.bodies, velocities, strict=True)]
    rigid = to_coordinates(tree, joint_efforts(joints, gather_forces(tree, joints, momenta)))  # tip to base
    drives = zip(inertial_torque(tree, qd), rotor_momentum(tree, q, qd), strict=True)
    return [p + (a + b) for p, (a, b) in zip(rigid, drives, strict=True)]


def body_momentum(inertia: Inertia, motion: Motion) -> Force:
    """Linear momentum m v + w x h, and angular momentum I w + h x v about the body's origin."""
    m, h, I = inertia  # noqa: E741
    w, v = motion
    return Force(v3.add(v3.scale(m, v), v3.cross(w, h)), v3.add(v3.apply_symmetric(I, w), cross_constant(h, v)))
