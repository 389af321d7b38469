"""Inverse dynamics of rigid bodies by the Newton-Euler recursion, with classical accelerations in the bodies' own frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..algebra import vector as v3
from ..algebra.scalar import Scalar, Scalars, iteration
from ..algebra.spatial import Force, Inertia
from ..algebra.vector import ZERO, Matrix, Vector, vector
from ..mechanism.tree import Tree
from .joint import JointMotion, joint_motions, joint_rates, principal, to_coordinates
from .joint_torques import friction_torque, inertial_torque
from .rotors import rotor_torque
from .wrench import wrench_torque


class BodyMotion(NamedTuple):
    """Motion of a body in its own frame: angular velocity w, angular acceleration dw, acceleration a of its origin less gravity.

    The point x of the body accelerates by a + U x with U = [dw]x + [w]x[w]x, formed once for the next origin, the force and the moment.
    """

    w: Vector
    dw: Vector
    U: Matrix
    a: Vector


def rnea(tree: Tree, q: Scalars, qd: Scalars, qdd: Scalars, wrench: Sequence[Scalars] | None = None) -> list[Scalar]:
    """Torques that give rigid bodies a motion: tau = M(q) qdd + C(q, qd) qd + g(q) - J(q)^T wrench.

    q [rad|m], qd, qdd: n scalars each. `wrench`: per body six scalars, the force [N] and moment [N m] that the environment applies, in the
    base frame about the body's origin. Returns n torques [N m|N]. Rotor inertia and friction are in `inverse_dynamics`.
    Luh, Walker and Paul 1980; U as in Khalil and Kleinfinger 1987; lecture "Newton-Euler formulation", algorithms 1 and 2.
    """
    joints = joint_motions(tree, q)
    motions = spread_motion(tree, joints, qd, qdd)  # base to tip
    forces = net_forces(tree, motions)
    tau = to_coordinates(tree, joint_efforts(joints, gather_forces(tree, joints, forces)))  # tip to base
    if wrench is None:
        return tau
    return [a - b for a, b in zip(tau, wrench_torque(tree, q, wrench), strict=True)]


def spread_motion(tree: Tree, joints: Sequence[JointMotion], qd: Scalars, qdd: Scalars) -> list[BodyMotion]:
    """Motions of all bodies, base to tip. A base at rest accelerates by -gravity, so that weight needs no term of its own."""
    base = base_motion(tree)
    motions: list[BodyMotion] = []
    for body, joint, rate, acceleration in zip(tree.bodies, joints, joint_rates(tree, qd), joint_rates(tree, qdd), strict=True):
        parent = motions[body.parent] if body.parent >= 0 else base
        iteration((parent, rate))
        motions.append(next_motion(parent, joint, rate, acceleration))
    return motions


def base_motion(tree: Tree) -> BodyMotion:
    """Motion of the base, in its own frame."""
    a, w, dw = tree.base
    return BodyMotion(w, dw, (ZERO, ZERO, ZERO) if tree.moving is None else spin_matrix(w, dw), a)


def next_motion(parent: BodyMotion, joint: JointMotion, rate: Scalar, acceleration: Scalar) -> BodyMotion:
    """Motion of a child from its parent's: the joint adds its own rate and acceleration and what the turning frame makes of them."""
    w, a = joint.down(parent.w), joint.down(v3.add(parent.a, v3.apply(parent.U, joint.p)))
    if joint.revolute:
        return BodyMotion(*next_spin(parent, joint, w, rate, acceleration), a)
    dw, coriolis = joint.down(parent.dw), v3.scale(2.0, v3.cross(w, joint.along(rate)))
    return BodyMotion(w, dw, spin_matrix(w, dw), v3.add(v3.add(a, coriolis), joint.along(acceleration)))


def next_spin(parent: BodyMotion, joint: JointMotion, w: Vector, rate: Scalar, acceleration: Scalar) -> tuple[Vector, Vector, Matrix]:
    """w, dw and U behind a turning joint.

    Points of the joint's axis belong to both bodies, so that U times the axis is the parent's: where the axis is a coordinate axis of both
    frames, that column of U is at hand and the rest follows from it in five operations less than from the parent's dw.
    """
    across, k = v3.apply(joint.placement, joint.axis), principal(joint.axis)
    along = joint.along(rate)
    turned = v3.add(w, along)
    if k is None or principal(across) is None:
        dw = v3.add(v3.add(joint.down(parent.dw), v3.cross(w, along)), joint.along(acceleration))
        return turned, dw, spin_matrix(turned, dw)
    shared = v3.scale(joint.axis[k], joint.down(v3.apply(parent.U, across)))
    return turned, *spin_from_column(k, turned, shared, joint.axis[k] * (v3.dot(across, parent.dw) + acceleration))


def spin_matrix(w: Vector, dw: Vector) -> Matrix:
    """U = [dw]x + [w]x[w]x, so that U x = dw x x + w x (w x x)."""
    xx, yy, zz, xy, xz, yz = w[0] * w[0], w[1] * w[1], w[2] * w[2], w[0] * w[1], w[0] * w[2], w[1] * w[2]
    return ((-(yy + zz), xy - dw[2], xz + dw[1]), (xy + dw[2], -(xx + zz), yz - dw[0]), (xz - dw[1], yz + dw[0], -(xx + yy)))


def spin_from_column(k: int, w: Vector, column: Vector, about: Scalar) -> tuple[Vector, Matrix]:
    """dw and U from w, the k-th column of U and the k-th entry of dw."""
    i, j = (k + 1) % 3, (k + 2) % 3
    ki, kj, ij, kk = w[k] * w[i], w[k] * w[j], w[i] * w[j], w[k] * w[k]
    dw, U = [about] * 3, [[column[r]] * 3 for r in range(3)]
    dw[i], dw[j] = kj - column[j], column[i] - ki
    U[k][i], U[k][j], U[i][j], U[j][i] = ki - dw[j], kj + dw[i], ij - about, ij + about
    U[i][i], U[j][j] = -(w[j] * w[j] + kk), -(w[i] * w[i] + kk)
    return vector(dw), (vector(U[0]), vector(U[1]), vector(U[2]))


def net_force(inertia: Inertia, motion: BodyMotion) -> Force:
    """Force and moment about the body's origin that the motion takes: f = m a + U h, n = sum of r x (U r) dm + h x a.

    The moment is the skew part of U S with the second moments S of the mass, which equals I dw + w x I w in fewer operations.
    """
    m, h, _ = inertia
    w, (_, xy, xz), (yx, _, yz), (zx, zy, _) = motion.w, *motion.U
    xx, yy, zz = w[0] * w[0], w[1] * w[1], w[2] * w[2]  # their differences are those of U's diagonal, which may not be needed
    S = inertia.second_moments()
    moment = (
        S.yy * zy + -S.zz * yz + S.xy * zx + -S.xz * yx + S.yz * (zz - yy),
        S.zz * xz + -S.xx * zx + S.yz * xy + -S.xy * zy + S.xz * (xx - zz),
        S.xx * yx + -S.yy * xy + S.xz * yz + -S.yz * xz + S.xy * (yy - xx),
    )
    return Force(v3.add(v3.scale(m, motion.a), v3.apply(motion.U, h)), v3.add(moment, cross_constant(h, motion.a)))


def net_forces(tree: Tree, motions: Sequence[BodyMotion]) -> list[Force]:
    """The net force of every body."""
    forces = []
    for body, motion in zip(tree.bodies, motions, strict=True):
        iteration(motion)
        forces.append(net_force(body.inertia, motion))
    return forces


def gather_forces(tree: Tree, joints: Sequence[JointMotion], forces: Sequence[Force]) -> list[Force]:
    """What each joint transmits to its body, in the body's frame: its own net force and those of the bodies that it carries."""
    total = list(forces)
    for i in reversed(range(len(total))):
        iteration(total[i])
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


def inverse_dynamics(tree: Tree, q: Scalars, qd: Scalars, qdd: Scalars, wrench: Sequence[Scalars] | None = None) -> list[Scalar]:
    """Torques that give the robot a motion: tau = M(q) qdd + C(q, qd) qd + g(q) + tau_f(qd) - J(q)^T wrench, M with the rotors.

    q [rad|m], qd, qdd: n scalars each; wrench: six scalars per body as in `rnea`. Returns n torques [N m|N].
    Khalil and Dombre 2002, section 9.2.
    """
    rigid = rnea(tree, q, qd, qdd, wrench)
    drives = zip(inertial_torque(tree, qdd), rotor_torque(tree, q, qd, qdd), friction_torque(tree, qd, q), strict=True)
    return [a + (b + c + d) for a, (b, c, d) in zip(rigid, drives, strict=True)]


def bias_torque(tree: Tree, q: Scalars, qd: Scalars, wrench: Sequence[Scalars] | None = None) -> list[Scalar]:
    """Torques at zero acceleration: C(q, qd) qd + g(q) + tau_f(qd) - J(q)^T wrench. Returns n torques [N m|N]."""
    return inverse_dynamics(tree, q, qd, [0.0] * tree.n, wrench)
