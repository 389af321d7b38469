"""Forward dynamics through the mass matrix: fewer operations than articulated bodies on short arms, and mimic joints are no obstacle."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.scalar import Scalar, Scalars
from ..mechanism.tree import Tree
from .composite import mass_matrix
from .factorisation import factorise, solve
from .inverse import bias_torque


def composite_forward(tree: Tree, q: Scalars, qd: Scalars, tau: Scalars, wrench: Sequence[Scalars] | None = None) -> list[Scalar]:
    """Accelerations under given torques: (M + diag(Ia)) qdd = tau - C qd - g - tau_f(qd) + J^T wrench.

    q [rad|m], qd, tau [N m|N]: n scalars each; wrench: six scalars per body as in `newton_euler`. Returns n accelerations [rad/s2|m/s2].
    Walker and Orin 1982, method 3; Featherstone 2008, section 6.5 for the factors L^T D L.
    """
    bias = bias_torque(tree, q, qd, wrench)
    return solve(factorise(mass_matrix(tree, q)), [a - b for a, b in zip(tau, bias, strict=True)])
