"""The equations of a tree over any scalar that can be differentiated: a normal form or a node of the graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..algebra.scalar import Scalar
from ..dynamics.composite import mass_matrix
from ..dynamics.energy import kinetic_energy
from ..dynamics.friction import friction_torque
from ..dynamics.gravity import potential_energy
from ..dynamics.inverse import inverse_dynamics
from ..dynamics.regressor import regressor
from ..mechanism.tree import Tree

Derivative = Callable[[Sequence[Any], dict[Any, Any]], list[Any]]


@dataclass(frozen=True)
class Equations:
    """T [J], U [J], M, C, g, friction, tau and Y as nested lists of scalars."""

    T: Scalar
    U: Scalar
    M: list[list[Scalar]]
    C: list[list[Scalar]]
    g: list[Scalar]
    friction: list[Scalar]
    tau: list[Scalar]
    Y: list[list[Scalar]]


def equations(tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar], derivative: Derivative) -> Equations:
    """Energies and mass matrix by their algorithms, C by Christoffel symbols of M, g as the slope of U; tau and Y by Newton-Euler.

    Lagrangian lecture, "How it all fits together": D(q) qdd + C(q, qd) qd + G(q) = tau.
    """
    M = mass_matrix(tree, q)
    U = potential_energy(tree, q)
    return Equations(
        T=kinetic_energy(tree, q, qd),
        U=U,
        M=M,
        C=christoffel_matrix(M, q, qd, derivative),
        g=[derivative([U], {x: 1.0})[0] for x in q],
        friction=friction_torque(tree, qd),
        tau=inverse_dynamics(tree, q, qd, qdd),
        Y=regressor(tree, q, qd, qdd),
    )


def christoffel_matrix(
    M: Sequence[Sequence[Scalar]], q: Sequence[Scalar], qd: Sequence[Scalar], derivative: Derivative
) -> list[list[Scalar]]:
    """c_kj = sum over i of (dM_kj/dq_i + dM_ki/dq_j - dM_ij/dq_k)/2 qd_i, which is C = (dM/dt + A - A^T)/2 with A = d(M qd)/dq.

    The second form takes n + 1 derivatives in place of n^3. Lagrangian lecture, "Christoffel symbols".
    """
    n = len(q)
    momentum = [sum((m * rate for m, rate in zip(row, qd, strict=True)), 0.0) for row in M]
    columns = [derivative(momentum, {x: 1.0}) for x in q]  # columns[j][k] = A_kj
    rates = derivative([M[k][j] for k in range(n) for j in range(n)], dict(zip(q, qd, strict=True)))
    return [[0.5 * (rates[n * k + j] + columns[j][k] - columns[k][j]) for j in range(n)] for k in range(n)]
