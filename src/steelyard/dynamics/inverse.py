"""Inverse dynamics of the whole robot: rigid bodies, rotors and friction."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.scalar import Scalar, Scalars
from ..mechanism.tree import Tree
from .friction import armature_torque, friction_torque
from .gyroscopic import gear_torque
from .newton_euler import newton_euler


def inverse_dynamics(tree: Tree, q: Scalars, qd: Scalars, qdd: Scalars, wrench: Sequence[Scalars] | None = None) -> list[Scalar]:
    """Torques that give the robot a motion: tau = M(q) qdd + C(q, qd) qd + g(q) + tau_f(qd) - J(q)^T wrench, M with the rotors.

    q [rad|m], qd, qdd: n scalars each; wrench: six scalars per body as in `newton_euler`. Returns n torques [N m|N].
    Khalil and Dombre 2002, section 9.2.
    """
    rigid = newton_euler(tree, q, qd, qdd, wrench)
    drives = zip(armature_torque(tree, qdd), gear_torque(tree, q, qd, qdd), friction_torque(tree, qd), strict=True)
    return [a + (b + c + d) for a, (b, c, d) in zip(rigid, drives, strict=True)]


def bias_torque(tree: Tree, q: Scalars, qd: Scalars, wrench: Sequence[Scalars] | None = None) -> list[Scalar]:
    """Torques at zero acceleration: C(q, qd) qd + g(q) + tau_f(qd) - J(q)^T wrench. Returns n torques [N m|N]."""
    return inverse_dynamics(tree, q, qd, [0.0] * tree.n, wrench)
