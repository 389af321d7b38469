"""Generalised momentum without the mass matrix."""

from __future__ import annotations

from ..algebra import vector as v3
from ..algebra.scalar import Scalar, Scalars
from ..algebra.spatial import Force, Inertia, Motion
from ..mechanism.tree import Tree
from .energy import spread_velocity
from .joint import joint_motions, to_coordinates
from .joint_torques import inertial_torque
from .rnea import cross_constant, gather_forces, joint_efforts
from .rotors import rotor_momentum


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
