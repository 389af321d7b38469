"""Bodies and joint screws in the base frame: axes of the base, moments about its origin."""

from __future__ import annotations

from typing import NamedTuple

from ...algebra import vector as v3
from ...algebra.scalar import Scalar, Scalars, iteration
from ...algebra.spatial import Force, Inertia, Motion
from ...algebra.vector import IDENTITY, ZERO, Matrix, Vector
from ...mechanism.tree import Tree
from ..crba import shift
from ..joint import JointMotion, joint_motions, joint_rates


class BodyInBase(NamedTuple):
    """Pose and motion of a body in the base frame.

    Rotation R and position p of its frame, velocity u and proper acceleration a of its origin, its
    angular velocity w and angular acceleration dw.
    """

    R: Matrix
    p: Vector
    u: Vector
    a: Vector
    w: Vector
    dw: Vector


class Screw(NamedTuple):
    """Motion of a joint's subtree at unit rate, and its first two time derivatives.

    The point r moves by s(r) = v + w x r with `unit` = (w, v). For a point of the subtree with
    velocity u, s changes at the rate v' + w' x r + w x u, with `rate` = (w', v'). Its second rate
    is v'' + w'' x r + 2 w' x u + w x a. `second` is (w'', v'' + w x g), so that the sum is the same
    with the proper acceleration in place of a.
    """

    unit: Motion
    rate: Motion
    second: Motion


def bodies_in_base(
    tree: Tree, q: Scalars, qd: Scalars, qdd: Scalars
) -> tuple[list[BodyInBase], list[Screw]]:
    """Return all bodies and the screws of their joints at q [rad|m], qd, qdd: n scalars each."""
    a, w, dw = tree.base
    base = BodyInBase(R=IDENTITY, p=ZERO, u=ZERO, a=a, w=w, dw=dw)
    bodies: list[BodyInBase] = []
    screws: list[Screw] = []
    joints, rates, accelerations = (
        joint_motions(tree, q),
        joint_rates(tree, qd),
        joint_rates(tree, qdd),
    )
    for body, joint, rate, acceleration in zip(
        tree.bodies, joints, rates, accelerations, strict=True
    ):
        iteration((joint.c, joint.p))
        child, screw = next_body(
            bodies[body.parent] if body.parent >= 0 else base, joint, rate, acceleration
        )
        bodies.append(child)
        screws.append(screw)
    return bodies, screws


def next_body(
    parent: BodyInBase, joint: JointMotion, rate: Scalar, acceleration: Scalar
) -> tuple[BodyInBase, Screw]:
    """Return a child from its parent, and the screw of the joint between them."""
    z = v3.apply(parent.R, v3.apply(joint.placement, joint.axis))
    zd = v3.cross(parent.w, z)
    zdd = v3.add(v3.cross(parent.dw, z), v3.cross(parent.w, zd))
    d = v3.apply(parent.R, joint.p)
    turned = v3.cross(parent.w, d)
    R = (joint.down(parent.R[0]), joint.down(parent.R[1]), joint.down(parent.R[2]))
    p, u = v3.add(parent.p, d), v3.add(parent.u, turned)
    a = v3.add(parent.a, v3.add(v3.cross(parent.dw, d), v3.cross(parent.w, turned)))
    along, pushed = v3.scale(rate, z), v3.scale(acceleration, z)
    if joint.revolute:
        dw = v3.add(parent.dw, v3.add(pushed, v3.scale(rate, zd)))
        return BodyInBase(R=R, p=p, u=u, a=a, w=v3.add(parent.w, along), dw=dw), revolute_screw(
            p, u, a, z, zd, zdd
        )
    a = v3.add(a, v3.add(pushed, v3.scale(2.0 * rate, zd)))
    return BodyInBase(R=R, p=p, u=v3.add(u, along), a=a, w=parent.w, dw=parent.dw), Screw(
        Motion(v=z), Motion(v=zd), Motion(v=zdd)
    )


def revolute_screw(p: Vector, u: Vector, a: Vector, z: Vector, zd: Vector, zdd: Vector) -> Screw:
    """Return the screw of a rotation about an axis z through p, from their rates: v = p x z."""
    second = v3.add(v3.add(v3.cross(a, z), v3.scale(2.0, v3.cross(u, zd))), v3.cross(p, zdd))
    return Screw(
        Motion(z, v3.cross(p, z)),
        Motion(zd, v3.add(v3.cross(u, z), v3.cross(p, zd))),
        Motion(zdd, second),
    )


def inertia_in_base(inertia: Inertia, body: BodyInBase) -> Inertia:
    """Return the inertia of a body in the base's axes, about the base's origin."""
    m, p = inertia.m, body.p
    h = v3.apply(body.R, inertia.h)
    return Inertia(
        m,
        v3.add(h, v3.scale(m, p)),
        v3.add_symmetric(v3.congruence(body.R, inertia.I), shift(m, h, p)),
    )


def force_of(inertia: Inertia, motion: Motion) -> Force:
    """Return the force that gives a body the accelerations v + w x r."""
    m, h, I = inertia  # noqa: E741
    f = v3.add(v3.scale(m, motion.v), v3.cross(motion.w, h))
    return Force(f, v3.add(v3.apply_symmetric(I, motion.w), v3.cross(h, motion.v)))


def power(motion: Motion, force: Force) -> Scalar:
    """Return the power of a force on a motion."""
    return v3.dot(motion.w, force.n) + v3.dot(motion.v, force.f)
