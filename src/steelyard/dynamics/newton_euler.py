"""Inverse dynamics of rigid bodies by the Newton-Euler recursion, with classical accelerations in the bodies' own frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..algebra import vector as v3
from ..algebra.scalar import Scalar
from ..algebra.spatial import Force, Inertia
from ..algebra.vector import ZERO, Vector
from ..mechanism.tree import Tree
from .external import wrench_torque
from .joint_motion import JointMotion, joint_motions, joint_rates, to_coordinates


class BodyMotion(NamedTuple):
    """Motion of a body in its own frame: angular velocity w, angular acceleration dw, acceleration a of its origin less gravity.

    The point x of the body accelerates by a + U x with U = [dw]x + [w]x[w]x; `lean` is U's off-diagonal part by name of entry and `spin` the
    squares wx wx, wy wy, wz wz, so that U is formed once and serves the next origin, the force and the moment.
    """

    w: Vector
    dw: Vector
    a: Vector
    lean: tuple[Scalar, Scalar, Scalar, Scalar, Scalar, Scalar]  # xy, yx, xz, zx, yz, zy
    spin: Vector


def newton_euler(tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar], wrench: Sequence | None = None) -> list[Scalar]:
    """Torques that give rigid bodies a motion: tau = M(q) qdd + C(q, qd) qd + g(q) - J(q)^T wrench.

    q [rad|m], qd, qdd: n scalars each. `wrench`: per body six scalars, the force [N] and moment [N m] that the environment applies, in the base
    frame about the body's origin. Returns n torques [N m|N]. Rotor inertia and friction are in `inverse_dynamics`.
    Luh, Walker and Paul 1980; Khalil and Kleinfinger 1987 for U; lecture "Newton-Euler formulation", algorithms 1 and 2.
    """
    joints = joint_motions(tree, q)
    motions = spread_motion(tree, joints, qd, qdd)  # base to tip
    forces = [net_force(body.inertia, motion) for body, motion in zip(tree.bodies, motions, strict=True)]
    tau = to_coordinates(tree, joint_efforts(joints, gather_forces(tree, joints, forces)))  # tip to base
    if wrench is None:
        return tau
    return [a - b for a, b in zip(tau, wrench_torque(tree, q, wrench), strict=True)]


def spread_motion(tree: Tree, joints: Sequence[JointMotion], qd: Sequence[Scalar], qdd: Sequence[Scalar]) -> list[BodyMotion]:
    """Motions of all bodies, base to tip. The base accelerates by -gravity, so that weight needs no term of its own."""
    base = body_motion(ZERO, ZERO, v3.neg(tree.gravity))
    motions: list[BodyMotion] = []
    for body, joint, rate, acceleration in zip(tree.bodies, joints, joint_rates(tree, qd), joint_rates(tree, qdd), strict=True):
        parent = motions[body.parent] if body.parent >= 0 else base
        motions.append(next_motion(parent, joint, rate, acceleration))
    return motions


def next_motion(parent: BodyMotion, joint: JointMotion, rate: Scalar, acceleration: Scalar) -> BodyMotion:
    """Motion of a child from its parent's: the joint adds its own rate and acceleration and what the turning frame makes of them."""
    w, dw, a = joint.down(parent.w), joint.down(parent.dw), joint.down(carry(parent.a, parent, joint.p))
    along = joint.along(rate)
    coriolis = v3.cross(w, along)
    if joint.revolute:
        return body_motion(v3.add(w, along), v3.add(v3.add(dw, coriolis), joint.along(acceleration)), a)
    return body_motion(w, dw, v3.add(v3.add(a, v3.scale(2.0, coriolis)), joint.along(acceleration)))


def body_motion(w: Vector, dw: Vector, a: Vector) -> BodyMotion:
    """A motion with its U = [dw]x + [w]x[w]x."""
    xy, xz, yz = w[0] * w[1], w[0] * w[2], w[1] * w[2]
    lean = (xy - dw[2], xy + dw[2], xz + dw[1], xz - dw[1], yz - dw[0], yz + dw[0])
    return BodyMotion(w, dw, a, lean, (w[0] * w[0], w[1] * w[1], w[2] * w[2]))


def carry(start: Vector, motion: BodyMotion, x: Vector) -> Vector:
    """start + U x. The diagonal of U is minus a sum of squares: the sign goes into x, which is a constant."""
    xy, yx, xz, zx, yz, zy = motion.lean
    wxx, wyy, wzz = motion.spin
    return (
        start[0] + xy * x[1] + xz * x[2] + (wyy + wzz) * -x[0],
        start[1] + yx * x[0] + yz * x[2] + (wxx + wzz) * -x[1],
        start[2] + zx * x[0] + zy * x[1] + (wxx + wyy) * -x[2],
    )


def net_force(inertia: Inertia, motion: BodyMotion) -> Force:
    """Force and moment about the body's origin that the motion takes: f = m a + U h, n = sum of r x (U r) dm + h x a.

    The moment is the skew part of U S with the second moments S of the mass, which equals I dw + w x I w in fewer operations.
    """
    m, h, _ = inertia
    a = motion.a
    xy, yx, xz, zx, yz, zy = motion.lean
    wxx, wyy, wzz = motion.spin
    S = inertia.second_moments()
    moment = (
        S.yy * zy + -S.zz * yz + S.xy * zx + -S.xz * yx + S.yz * (wzz - wyy),
        S.zz * xz + -S.xx * zx + S.yz * xy + -S.xy * zy + S.xz * (wxx - wzz),
        S.xx * yx + -S.yy * xy + S.xz * yz + -S.yz * xz + S.xy * (wyy - wxx),
    )
    return Force(carry(v3.scale(m, a), motion, h), v3.add(moment, cross_constant(h, a)))


def gather_forces(tree: Tree, joints: Sequence[JointMotion], forces: Sequence[Force]) -> list[Force]:
    """What each joint transmits to its body, in the body's frame: its own net force and those of the bodies that it carries."""
    total = list(forces)
    for i in reversed(range(len(total))):
        parent = tree.bodies[i].parent
        if parent >= 0:
            total[parent] = total[parent] + lift(joints[i], total[i])
    return total


def lift(joint: JointMotion, force: Force) -> Force:
    """A force on a child as a force on its parent, about the parent's origin."""
    f = joint.up(force.f)
    return Force(f, v3.add(joint.up(force.n), cross_constant(joint.p, f)))


def joint_efforts(joints: Sequence[JointMotion], forces: Sequence[Force]) -> list[Scalar]:
    """The part of each transmitted force that the joint's drive bears: moment about, or force along, the axis."""
    return [v3.dot(joint.axis, force.n if joint.revolute else force.f) for joint, force in zip(joints, forces, strict=True)]


def cross_constant(x: Vector, f: Vector) -> Vector:
    """x x f, with the signs in x: where x is a constant no negation is left."""
    return (x[1] * f[2] + -x[2] * f[1], x[2] * f[0] + -x[0] * f[2], x[0] * f[1] + -x[1] * f[0])
