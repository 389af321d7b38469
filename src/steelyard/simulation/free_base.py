"""The motion of a robot whose base nothing holds: its position and unit quaternion, its energy and its momentum in the world."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..algebra import vector as v3
from ..algebra.rotation import from_unit_quaternion
from ..algebra.scalar import Scalar, Scalars, sqrt
from ..compiler.ir.program import Operand, Program, trace
from ..compiler.runtime.kernel import Kernel
from ..dynamics.forward.free_base import free_energy, free_equations, free_forward_dynamics, free_momentum
from ..dynamics.loops.constrained import constrained_accelerations
from ..kernels import kernel_of
from ..kernels.loops import closure_terms
from ..mechanism.tree import Tree
from ..robot import Robot


def free_accelerations(tree: Tree, q: Scalars, pose: Scalars, qd: Scalars, twist: Scalars, tau: Scalars) -> list[Scalar]:
    """Accelerations of the joints, of the base's origin [m/s2] and of its turning [rad/s2], the last two in the world's axes.

    pose: position and quaternion x y z w of the base; twist: its velocity and angular velocity in the world's axes.
    """
    qdd, base = free_forward_dynamics(tree, q, qd, tau, own_twist(pose, twist)[3:])
    return in_world(tree, pose, [*base[:3], *base[6:], *qdd])


def free_closed_accelerations(tree: Tree, q: Scalars, pose: Scalars, qd: Scalars, twist: Scalars, tau: Scalars) -> list[Scalar]:
    """The same of a tree with loops, which stay closed; the base opens none: M a = left + (0 Phi)^T lambda with Phi qdd = -bias."""
    M, left = free_equations(tree, q, qd, tau, own_twist(pose, twist)[3:])
    terms = closure_terms(tree, q, qd)
    Phi = [[*[0.0] * 6, *row] for row in terms.Phi]
    return in_world(tree, pose, constrained_accelerations(M, Phi, terms.bias, left).values)


def own_equations(
    tree: Tree, q: Scalars, pose: Scalars, qd: Scalars, twist: Scalars, tau: Scalars
) -> tuple[list[list[Scalar]], list[Scalar]]:
    """M and b of the accelerations of base and joints without friction, those of the base in its own frame."""
    return free_equations(tree.without_friction(), q, qd, tau, own_twist(pose, twist)[3:])


def own_twist(pose: Scalars, twist: Scalars) -> list[Scalar]:
    """A twist in the world's axes, in those of the base."""
    back = v3.transpose(rotation(pose[3:]))
    return [*v3.apply(back, v3.vector(twist)), *v3.apply(back, v3.vector(twist[3:]))]


def world_twist(pose: Scalars, twist: Scalars) -> list[Scalar]:
    """A twist in the axes of the base, in those of the world."""
    R = rotation(pose[3:])
    return [*v3.apply(R, v3.vector(twist)), *v3.apply(R, v3.vector(twist[3:]))]


def in_world(tree: Tree, pose: Scalars, accelerations: Scalars) -> list[Scalar]:
    """qdd, then acceleration and angular acceleration of the base in the world's axes, from proper ones in its own and qdd."""
    turned = world_twist(pose, accelerations[:6])
    return [*accelerations[6:], *v3.add(v3.vector(turned), tree.gravity), *turned[3:]]


def rates_of_position(n: int, x: Scalars, u: Scalars) -> list[Scalar]:
    """The rates of x, of a free base or of one that is held. A quaternion q turns at (w, 0) q / 2, w in the world's axes.

    Featherstone 2008, eq. (4.13).
    """
    if len(x) == n:
        return list(u)
    v, s, w = v3.vector(x[n + 3 :]), x[n + 6], v3.vector(u[n + 3 :])
    turned = v3.add(v3.scale(s, w), v3.cross(w, v))
    return [*u[: n + 3], *(0.5 * a for a in turned), -0.5 * v3.dot(w, v)]


def unit_quaternion(quaternion: Scalars) -> list[Scalar]:
    """The quaternion over its length. Runge-Kutta steps leave the unit sphere by the error of their order."""
    x, y, z, w = quaternion
    inverse = 1.0 / sqrt(x * x + y * y + z * z + w * w)
    return [inverse * a for a in quaternion]


def rotation(quaternion: Scalars) -> v3.Matrix:
    """The rotation of a unit quaternion x y z w."""
    x, y, z, w = quaternion
    return from_unit_quaternion(w, x, y, z)


def audit_kernel(robot: Robot) -> Kernel:
    """The kernel of a free robot's energy [J] and of its momentum about the world's origin: (q, qd, pose, twist) -> (E, p)."""
    return kernel_of(audit_program, robot.tree)


def audit_program(tree: Tree) -> Program:
    """Return the program of the energy and momentum of a free tree."""
    taken = [Operand("q", (tree.n,)), Operand("qd", (tree.n,)), Operand("pose", (7,)), Operand("twist", (6,))]
    return trace("audit", partial(_audit, tree), taken, [Operand("energy", ()), Operand("momentum", (6,))])


def _audit(tree: Tree, q: Scalars, qd: Scalars, pose: Scalars, twist: Scalars) -> Any:
    R, p, own = rotation(pose[3:]), v3.vector(pose), own_twist(pose, twist)
    back = v3.transpose(R)
    energy = free_energy(tree, q, qd, own, v3.apply(back, p), v3.apply(back, tree.gravity))
    momentum = free_momentum(tree, q, qd, own)
    linear = v3.apply(R, v3.vector(momentum))
    return energy, [*linear, *v3.add(v3.apply(R, v3.vector(momentum[3:])), v3.cross(p, linear))]
