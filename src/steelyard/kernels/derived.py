"""Algorithms that are made from others on the graph: by differentiation, and by linearity in the parameters.

They run on expression nodes only. What they return is exact: no step size, no second derivation by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ..compiler.ir.differentiate import derivative, gradient, jacobian
from ..compiler.ir.graph import Expr, Graph, flatten
from ..dynamics.coriolis import coriolis_matrix
from ..dynamics.crba import mass_matrix
from ..dynamics.derivatives import torque_slope
from ..dynamics.energy import kinetic_energy
from ..dynamics.forward_by_crba import composite_forward, factorise, solve
from ..dynamics.gravity import gravity_torque
from ..dynamics.joint_torques import friction_torque
from ..dynamics.parametric import with_scalars
from ..dynamics.rnea import inverse_dynamics
from ..dynamics.rotors import gear_torque
from ..mechanism.model import Friction
from ..mechanism.parameter_vector import parameters
from ..mechanism.tree import Tree

Nodes = Sequence[Any]
_EXTRA = 1_000_000  # operand numbers of nodes that stand for something else while a program is made


def inverse_dynamics_derivatives(tree: Tree, q: Nodes, qd: Nodes, qdd: Nodes) -> tuple[Any, Any, Any]:
    """d tau / dq, d tau / dqd and M = d tau / dqdd, each n x n, with friction and drives.

    d tau / dqd = 2 C(q, qd) + d friction / dqd, since C qd is quadratic in qd and C belongs to the Christoffel symbols.
    """
    friction = friction_torque(tree, qd)
    by_qd = [[2.0 * x for x in row] for row in coriolis_matrix(tree, q, qd)]
    for i, x in enumerate(qd):
        by_qd[i][i] = by_qd[i][i] + derivative([friction[i]], {x: 1.0})[0]
    by_q = torque_slope(tree, q, qd, qdd)
    spin = jacobian(gear_torque(tree, q, qd, qdd), q)
    return [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(by_q, spin, strict=True)], by_qd, mass_matrix(tree, q)


def inverse_dynamics_derivatives_forward(tree: Tree, q: Nodes, qd: Nodes, qdd: Nodes) -> tuple[Any, Any, Any]:
    """The same by differentiating the graph of inverse dynamics, one forward sweep per input."""
    tau = inverse_dynamics(tree, q, qd, qdd)
    return jacobian(tau, q), jacobian(tau, qd), mass_matrix(tree, q)


def inverse_dynamics_derivatives_reverse(tree: Tree, q: Nodes, qd: Nodes, qdd: Nodes) -> tuple[Any, Any, Any]:
    """The same by one reverse sweep per torque."""
    rows = [gradient(x, [*q, *qd]) for x in inverse_dynamics(tree, q, qd, qdd)]
    return [row[: tree.n] for row in rows], [row[tree.n :] for row in rows], mass_matrix(tree, q)


def forward_dynamics_derivatives(tree: Tree, q: Nodes, qd: Nodes, tau: Nodes) -> tuple[Any, Any, Any]:
    """d qdd / dq = -M^-1 d tau / dq, d qdd / dqd = -M^-1 d tau / dqd, d qdd / dtau = M^-1, each n x n. Carpentier and Mansard 2018."""
    by_q, by_qd, M = inverse_dynamics_derivatives(tree, q, qd, composite_forward(tree, q, qd, tau))
    factors = factorise(M)
    identity = [[-1.0 if i == j else 0.0 for j in range(tree.n)] for i in range(tree.n)]
    return tuple(_negative_solve(factors, columns) for columns in (by_q, by_qd, identity))  # type: ignore[return-value]


def _negative_solve(factors: Any, matrix: Sequence[Nodes]) -> list[list[Any]]:
    columns = [solve(factors, [-x for x in column]) for column in zip(*matrix, strict=True)]
    return [list(row) for row in zip(*columns, strict=True)]


def coriolis_transpose(tree: Tree, q: Nodes, qd: Nodes) -> list[Any]:
    """C(q, qd)^T qd = dT/dq: what the momentum gains beside the torques. De Luca and Mattone 2003, eq. (6)."""
    return gradient(kinetic_energy(tree, q, qd), list(q))


def momentum_rate(tree: Tree, q: Nodes, qd: Nodes, tau: Nodes) -> list[Any]:
    """dp/dt = tau + C^T qd - g - friction: the momentum's rate without contact. De Luca and Mattone 2003, eq. (7)."""
    terms = zip(tau, coriolis_transpose(tree, q, qd), gravity_torque(tree, q), friction_torque(tree, qd), strict=True)
    return [a + b - c - d for a, b, c, d in terms]


def slotine_li(tree: Tree, q: Nodes, qd: Nodes, qrd: Nodes, qrdd: Nodes) -> list[Any]:
    """M(q) qrdd + C(q, qd) qrd + g(q) + friction(qd), with the Coriolis matrix of the Christoffel symbols.

    C(q, qd) qrd is half the derivative of C(q, qd) qd along qrd, since that is quadratic in qd. Slotine and Li 1987, eq. (6).
    """
    smooth = replace(tree, friction=(Friction(),) * tree.n)
    at_rest = inverse_dynamics(smooth, q, [0.0] * tree.n, qrdd)
    weightless = replace(smooth, gravity=(0.0, 0.0, 0.0))
    turning = derivative(inverse_dynamics(weightless, q, qd, [0.0] * tree.n), dict(zip(qd, qrd, strict=True)))
    return [a + 0.5 * b + c for a, b, c in zip(at_rest, turning, friction_torque(tree, qd), strict=True)]


def regressor_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """The coefficients of pi in a function that is linear in it: one row per result, one column per parameter."""

    def coefficients(tree: Tree, *arrays: Nodes) -> list[list[Any]]:
        graph = _graph(*arrays)
        pi = [graph.input(_EXTRA, k) for k in range(len(parameters(tree)))]
        results = list(flatten(function(with_scalars(tree, pi), *arrays)))
        return jacobian(results, pi)

    return coefficients


def row_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same of a function with a single result."""
    return lambda tree, *arrays: regressor_of(function)(tree, *arrays)[0]


def _graph(*arrays: Nodes) -> Graph:
    return next(x.graph for array in arrays for x in array if isinstance(x, Expr))
