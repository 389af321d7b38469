"""Kinetic energy and generalised momentum; the potential energy is in `gravity`."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra import vector as v3
from ..algebra.scalar import Scalar, Scalars
from ..algebra.spatial import Force, Inertia, Motion
from ..mechanism.tree import Tree
from .joint import JointMotion, joint_motions, joint_rates, to_coordinates
from .joint_torques import inertial_torque
from .rnea import accumulate_forces, cross_constant, project_onto_axes
from .rotors import rotor_energy, rotor_momentum

STILL = Motion()


def kinetic_energy(tree: Tree, q: Scalars, qd: Scalars) -> Scalar:
    """Return T = qd^T M(q) qd / 2 [J], rotors included. q [rad|m], qd: n scalars each.

    Sum over the bodies of m v.v / 2 + v . (w x h) + w . I w / 2.
    Lecture "Lagrangian of a robot", kinetic energy; Siciliano et al. 2009, eq. (7.32).
    """
    velocities = propagate_velocity(tree, joint_motions(tree, q), qd)  # base to tip
    bodies = [
        body_energy(body.inertia, motion)
        for body, motion in zip(tree.bodies, velocities, strict=True)
    ]
    rotors = [0.5 * (rate * p) for rate, p in zip(qd, inertial_torque(tree, qd), strict=True)]
    return sum(bodies + rotors, rotor_energy(tree, q, qd))


def propagate_velocity(
    tree: Tree, joints: Sequence[JointMotion], qd: Scalars, base: Motion = STILL
) -> list[Motion]:
    """Return the angular velocity of every body and the velocity of its origin, in its own frame.

    `base` is the velocity of the base in its own frame.
    """
    velocities: list[Motion] = []
    for body, joint, rate in zip(tree.bodies, joints, joint_rates(tree, qd), strict=True):
        above = velocities[body.parent] if body.parent >= 0 else base
        w, v = joint.down(above.w), joint.down(v3.add(above.v, v3.cross(above.w, joint.p)))
        along = joint.along(rate)
        velocities.append(
            Motion(v3.add(w, along), v) if joint.revolute else Motion(w, v3.add(v, along))
        )
    return velocities


def body_energy(inertia: Inertia, motion: Motion) -> Scalar:
    """Return the kinetic energy of one body: (v . (m v + 2 w x h) + w . I w) / 2."""
    m, h, I = inertia  # noqa: E741
    w, v = motion
    linear = v3.add(v3.scale(m, v), v3.scale(2.0, v3.cross(w, h)))
    return 0.5 * (v3.dot(v, linear) + v3.dot(w, v3.apply_symmetric(I, w)))


def momentum(tree: Tree, q: Scalars, qd: Scalars) -> list[Scalar]:
    """Return p = M(q) qd, rotors included, n scalars [kg m2/s|kg m/s].

    q [rad|m], qd: n scalars each. Momenta of bodies add up towards the base as forces do. De Luca
    and Mattone 2003 (the momentum of the collision observer).
    """
    joints = joint_motions(tree, q)
    velocities = propagate_velocity(tree, joints, qd)  # base to tip
    momenta = [
        body_momentum(body.inertia, motion)
        for body, motion in zip(tree.bodies, velocities, strict=True)
    ]
    # tip to base
    rigid = to_coordinates(
        tree, project_onto_axes(joints, accumulate_forces(tree, joints, momenta))
    )
    drives = zip(inertial_torque(tree, qd), rotor_momentum(tree, q, qd), strict=True)
    return [p + (a + b) for p, (a, b) in zip(rigid, drives, strict=True)]


def body_momentum(inertia: Inertia, motion: Motion) -> Force:
    """Return the linear momentum m v + w x h and the angular momentum I w + h x v of a body."""
    m, h, I = inertia  # noqa: E741
    w, v = motion
    return Force(
        v3.add(v3.scale(m, v), v3.cross(w, h)),
        v3.add(v3.apply_symmetric(I, w), cross_constant(h, v)),
    )
