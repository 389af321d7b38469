"""Inverse dynamics by the recursive Newton-Euler algorithm, in body frames."""

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
    """Angular velocity w, angular acceleration dw, and proper acceleration a of a body's origin.

    All in the body's frame. The point x of the body accelerates by a + U x with
    U = [dw]x + [w]x[w]x, which is computed once for the next origin, the force and the moment.
    """

    w: Vector
    dw: Vector
    U: Matrix
    a: Vector


def rnea(
    tree: Tree, q: Scalars, qd: Scalars, qdd: Scalars, wrench: Sequence[Scalars] | None = None
) -> list[Scalar]:
    """Return the torques of rigid bodies: tau = M(q) qdd + C(q, qd) qd + g(q) - J(q)^T wrench.

    Rotor inertia and friction are added by `inverse_dynamics`.

    Parameters
    ----------
    tree : the robot
    q, qd, qdd : n scalars each [rad|m], [rad/s|m/s], [rad/s2|m/s2]
    wrench : six scalars per body, the force [N] and moment [N m] that the environment applies, in
        the base frame about the body's origin

    Returns
    -------
    n torques [N m|N]. Luh, Walker and Paul 1980; U as in Khalil and Kleinfinger 1987; lecture
    "Newton-Euler formulation", algorithms 1 and 2.
    """
    joints = joint_motions(tree, q)
    motions = propagate_motion(tree, joints, qd, qdd)  # base to tip
    forces = net_forces(tree, motions)
    # tip to base
    tau = to_coordinates(tree, project_onto_axes(joints, accumulate_forces(tree, joints, forces)))
    if wrench is None:
        return tau
    return [a - b for a, b in zip(tau, wrench_torque(tree, q, wrench), strict=True)]


def propagate_motion(
    tree: Tree, joints: Sequence[JointMotion], qd: Scalars, qdd: Scalars
) -> list[BodyMotion]:
    """Return the motions of all bodies (forward pass, base to tip).

    A base at rest accelerates by -gravity, which accounts for the weight of all bodies.
    """
    base = base_motion(tree)
    motions: list[BodyMotion] = []
    for body, joint, rate, acceleration in zip(
        tree.bodies, joints, joint_rates(tree, qd), joint_rates(tree, qdd), strict=True
    ):
        parent = motions[body.parent] if body.parent >= 0 else base
        iteration((parent, rate))
        motions.append(child_motion(parent, joint, rate, acceleration))
    return motions


def base_motion(tree: Tree) -> BodyMotion:
    """Return the motion of the base, in its own frame."""
    a, w, dw = tree.base
    return BodyMotion(w, dw, (ZERO, ZERO, ZERO) if tree.moving is None else spin_matrix(w, dw), a)


def child_motion(
    parent: BodyMotion, joint: JointMotion, rate: Scalar, acceleration: Scalar
) -> BodyMotion:
    """Return a child's motion from its parent's motion and its joint's rate and acceleration."""
    w, a = joint.down(parent.w), joint.down(v3.add(parent.a, v3.apply(parent.U, joint.p)))
    if joint.revolute:
        return BodyMotion(*child_angular_motion(parent, joint, w, rate, acceleration), a)
    dw, coriolis = joint.down(parent.dw), v3.scale(2.0, v3.cross(w, joint.along(rate)))
    return BodyMotion(
        w, dw, spin_matrix(w, dw), v3.add(v3.add(a, coriolis), joint.along(acceleration))
    )


def child_angular_motion(
    parent: BodyMotion, joint: JointMotion, w: Vector, rate: Scalar, acceleration: Scalar
) -> tuple[Vector, Vector, Matrix]:
    """Return w, dw and U of the child of a revolute joint.

    Points on the joint's axis belong to both bodies, so that U times the axis equals the parent's.
    Where the axis is a coordinate axis of both frames, that column of U is known, and the rest
    follows from it in five operations less than from the parent's dw.
    """
    across, k = v3.apply(joint.placement, joint.axis), principal(joint.axis)
    along = joint.along(rate)
    turned = v3.add(w, along)
    if k is None or principal(across) is None:
        dw = v3.add(v3.add(joint.down(parent.dw), v3.cross(w, along)), joint.along(acceleration))
        return turned, dw, spin_matrix(turned, dw)
    shared = v3.scale(joint.axis[k], joint.down(v3.apply(parent.U, across)))
    return turned, *spin_from_column(
        k, turned, shared, joint.axis[k] * (v3.dot(across, parent.dw) + acceleration)
    )


def spin_matrix(w: Vector, dw: Vector) -> Matrix:
    """Return U = [dw]x + [w]x[w]x, so that U x = dw x x + w x (w x x)."""
    xx, yy, zz, xy, xz, yz = (
        w[0] * w[0],
        w[1] * w[1],
        w[2] * w[2],
        w[0] * w[1],
        w[0] * w[2],
        w[1] * w[2],
    )
    return (
        (-(yy + zz), xy - dw[2], xz + dw[1]),
        (xy + dw[2], -(xx + zz), yz - dw[0]),
        (xz - dw[1], yz + dw[0], -(xx + yy)),
    )


def spin_from_column(k: int, w: Vector, column: Vector, about: Scalar) -> tuple[Vector, Matrix]:
    """Return dw and U from w, the k-th column of U and the k-th entry of dw."""
    i, j = (k + 1) % 3, (k + 2) % 3
    ki, kj, ij, kk = w[k] * w[i], w[k] * w[j], w[i] * w[j], w[k] * w[k]
    dw, U = [about] * 3, [[column[r]] * 3 for r in range(3)]
    dw[i], dw[j] = kj - column[j], column[i] - ki
    U[k][i], U[k][j], U[i][j], U[j][i] = ki - dw[j], kj + dw[i], ij - about, ij + about
    U[i][i], U[j][j] = -(w[j] * w[j] + kk), -(w[i] * w[i] + kk)
    return vector(dw), (vector(U[0]), vector(U[1]), vector(U[2]))


def net_force(inertia: Inertia, motion: BodyMotion) -> Force:
    """Return the net force and moment of a moving body, about its origin.

    f = m a + U h, n = sum of r x (U r) dm + h x a. The moment is the skew part of U S with the
    second moments S of the mass, which equals I dw + w x I w in fewer operations.
    """
    m, h, _ = inertia
    w, (_, xy, xz), (yx, _, yz), (zx, zy, _) = motion.w, *motion.U
    # differences of U's diagonal would compute entries that may not be needed
    xx, yy, zz = w[0] * w[0], w[1] * w[1], w[2] * w[2]
    S = inertia.second_moments()
    moment = (
        S.yy * zy + -S.zz * yz + S.xy * zx + -S.xz * yx + S.yz * (zz - yy),
        S.zz * xz + -S.xx * zx + S.yz * xy + -S.xy * zy + S.xz * (xx - zz),
        S.xx * yx + -S.yy * xy + S.xz * yz + -S.yz * xz + S.xy * (yy - xx),
    )
    return Force(
        v3.add(v3.scale(m, motion.a), v3.apply(motion.U, h)),
        v3.add(moment, cross_constant(h, motion.a)),
    )


def net_forces(tree: Tree, motions: Sequence[BodyMotion]) -> list[Force]:
    """Return the net force of every body."""
    forces = []
    for body, motion in zip(tree.bodies, motions, strict=True):
        iteration(motion)
        forces.append(net_force(body.inertia, motion))
    return forces


def accumulate_forces(
    tree: Tree, joints: Sequence[JointMotion], forces: Sequence[Force]
) -> list[Force]:
    """Return the wrench that each joint transmits, in its body's frame (backward pass)."""
    total = list(forces)
    for i in reversed(range(len(total))):
        iteration(total[i])
        parent = tree.bodies[i].parent
        if parent >= 0:
            total[parent] = total[parent] + to_parent(joints[i], total[i])
    return total


def to_parent(joint: JointMotion, force: Force) -> Force:
    """Return a force on a child as a force on its parent, about the parent's origin."""
    f = joint.up(force.f)
    return Force(f, v3.add(joint.up(force.n), cross_constant(joint.p, f)))


def project_onto_axes(joints: Sequence[JointMotion], forces: Sequence[Force]) -> list[Scalar]:
    """Project joint wrenches onto the joint axes: tau_i = S_i^T f_i."""
    return [
        v3.dot(joint.axis, force.n if joint.revolute else force.f)
        for joint, force in zip(joints, forces, strict=True)
    ]


def cross_constant(x: Vector, f: Vector) -> Vector:
    """Return x x f with the signs in x, so that a constant x leaves no negation in the program."""
    return (x[1] * f[2] + -x[2] * f[1], x[2] * f[0] + -x[0] * f[2], x[0] * f[1] + -x[1] * f[0])


def inverse_dynamics(
    tree: Tree, q: Scalars, qd: Scalars, qdd: Scalars, wrench: Sequence[Scalars] | None = None
) -> list[Scalar]:
    """Return tau = M(q) qdd + C(q, qd) qd + g(q) + tau_f(qd) - J(q)^T wrench, M with the rotors.

    q [rad|m], qd, qdd: n scalars each; wrench: six scalars per body as in `rnea`. Returns n torques
    [N m|N]. Khalil and Dombre 2002, section 9.2.
    """
    rigid = rnea(tree, q, qd, qdd, wrench)
    drives = zip(
        inertial_torque(tree, qdd),
        rotor_torque(tree, q, qd, qdd),
        friction_torque(tree, qd, q),
        strict=True,
    )
    return [a + (b + c + d) for a, (b, c, d) in zip(rigid, drives, strict=True)]


def bias_torque(
    tree: Tree, q: Scalars, qd: Scalars, wrench: Sequence[Scalars] | None = None
) -> list[Scalar]:
    """Return the torques at zero acceleration [N m|N].

    C(q, qd) qd + g(q) + tau_f(qd) - J(q)^T wrench.
    """
    return inverse_dynamics(tree, q, qd, [0.0] * tree.n, wrench)
