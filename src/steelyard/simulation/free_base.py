"""Motion of a robot with a free base: accelerations in world axes and unit quaternions."""

from __future__ import annotations

from ..algebra import vector as v3
from ..algebra.rotation import from_unit_quaternion
from ..algebra.scalar import Scalar, Scalars, sqrt
from ..dynamics.forward.free_base import free_equations, free_forward_dynamics
from ..dynamics.loops.constrained import constrained_accelerations
from ..kernels.loops import closure_terms
from ..mechanism.tree import Tree


def free_accelerations(
    tree: Tree, q: Scalars, pose: Scalars, qd: Scalars, twist: Scalars, tau: Scalars
) -> list[Scalar]:
    """Return joint accelerations, then linear and angular acceleration of the base in world axes.

    pose: position and quaternion x y z w of the base; twist: its velocity and angular velocity in
    world axes.
    """
    qdd, base = free_forward_dynamics(tree, q, qd, tau, to_base_axes(pose, twist)[3:])
    return in_world(tree, pose, [*base[:3], *base[6:], *qdd])


def free_closed_accelerations(
    tree: Tree, q: Scalars, pose: Scalars, qd: Scalars, twist: Scalars, tau: Scalars
) -> list[Scalar]:
    """Return the accelerations of `free_accelerations` for a tree with closed loops.

    M a = rhs + (0 Phi)^T lambda with Phi qdd = -bias: the base does not enter the closures.
    """
    M, rhs = free_equations(tree, q, qd, tau, to_base_axes(pose, twist)[3:])
    terms = closure_terms(tree, q, qd)
    Phi = [[*[0.0] * 6, *row] for row in terms.Phi]
    return in_world(tree, pose, constrained_accelerations(M, Phi, terms.bias, rhs).values)


def free_equations_of_motion(
    tree: Tree, q: Scalars, pose: Scalars, qd: Scalars, twist: Scalars, tau: Scalars
) -> tuple[list[list[Scalar]], list[Scalar]]:
    """Return M and b of M a = b without friction; a has the base in its own frame, then joints."""
    return free_equations(tree.without_friction(), q, qd, tau, to_base_axes(pose, twist)[3:])


def to_base_axes(pose: Scalars, twist: Scalars) -> list[Scalar]:
    """Rotate a twist from world axes to the axes of the base."""
    to_base = v3.transpose(rotation(pose[3:]))
    return [*v3.apply(to_base, v3.vector(twist)), *v3.apply(to_base, v3.vector(twist[3:]))]


def to_world_axes(pose: Scalars, twist: Scalars) -> list[Scalar]:
    """Rotate a twist from the axes of the base to world axes."""
    R = rotation(pose[3:])
    return [*v3.apply(R, v3.vector(twist)), *v3.apply(R, v3.vector(twist[3:]))]


def in_world(tree: Tree, pose: Scalars, accelerations: Scalars) -> list[Scalar]:
    """Return qdd, then the base's acceleration and angular acceleration in world axes.

    accelerations: proper ones of the base in its own axes, then qdd.
    """
    base = to_world_axes(pose, accelerations[:6])
    return [*accelerations[6:], *v3.add(v3.vector(base), tree.gravity), *base[3:]]


def rates_of_position(n: int, x: Scalars, u: Scalars) -> list[Scalar]:
    """Return the rates of positions x, of a free or fixed base.

    The rate of a quaternion q is (w, 0) q / 2 with w in world axes. Featherstone 2008, eq. (4.13).
    """
    if len(x) == n:
        return list(u)
    v, s, w = v3.vector(x[n + 3 :]), x[n + 6], v3.vector(u[n + 3 :])
    rate = v3.add(v3.scale(s, w), v3.cross(w, v))
    return [*u[: n + 3], *(0.5 * a for a in rate), -0.5 * v3.dot(w, v)]


def unit_quaternion(quaternion: Scalars) -> list[Scalar]:
    """Normalise a quaternion; Runge-Kutta steps leave the unit sphere by their error."""
    x, y, z, w = quaternion
    inverse = 1.0 / sqrt(x * x + y * y + z * z + w * w)
    return [inverse * a for a in quaternion]


def rotation(quaternion: Scalars) -> v3.Matrix:
    """Return the rotation matrix of a unit quaternion x y z w."""
    x, y, z, w = quaternion
    return from_unit_quaternion(w, x, y, z)
