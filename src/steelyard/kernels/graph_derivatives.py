"""Algorithms that differentiate expression graphs: derivatives of the dynamics, energy regressors.

They run on expression nodes only. The derivatives are exact: there is no step size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ..algebra.scalar import is_zero
from ..compiler.ir.differentiate import derivative, gradient, graph_jacobian, substitute
from ..compiler.ir.graph import Expr, Graph, flatten
from ..dynamics.crba import mass_matrix
from ..dynamics.derivatives import rigid_derivatives
from ..dynamics.energy import kinetic_energy
from ..dynamics.forward.aba import net_torque
from ..dynamics.forward.by_crba import Factors, factorise, inverse, solve_factored
from ..dynamics.gravity import gravity_torque, potential_energy
from ..dynamics.implementation import Implementation
from ..dynamics.joint_torques import friction_torque
from ..dynamics.long_chains import for_long_chains, for_short_chains
from ..dynamics.long_chains import matrices as long_chains
from ..dynamics.long_chains.aba_derivatives import aba_derivatives
from ..dynamics.rnea import bias_torque, inverse_dynamics
from ..dynamics.rotors import rotor_torque
from ..dynamics.wrench import wrench_torque
from ..mechanism.parameter_vector import parameters, with_scalars
from ..mechanism.tree import Tree

Nodes = Sequence[Any]
Wrenches = Sequence[Nodes] | None
_EXTRA = 1_000_000  # operand numbers of placeholder inputs while a program is traced


def inverse_dynamics_derivatives(
    tree: Tree, q: Nodes, qd: Nodes, qdd: Nodes, wrench: Wrenches = None
) -> tuple[Any, Any, Any]:
    """Return d tau / dq, d tau / dqd and M = d tau / dqdd, each n x n.

    Friction, rotors and external wrenches are included; wrenches are constant in the base frame.
    The part of the links comes from composite rigid bodies, the rest from the graph.
    """
    return _derivatives(_by_composites, tree, q, qd, qdd, wrench)


def inverse_dynamics_derivatives_in_base(
    tree: Tree, q: Nodes, qd: Nodes, qdd: Nodes, wrench: Wrenches = None
) -> tuple[Any, Any, Any]:
    """Return the same with links and rotors in the base frame, for long chains."""
    return _derivatives(long_chains.derivatives, tree, q, qd, qdd, wrench)


def _derivatives(
    links: Callable[..., Any], tree: Tree, q: Nodes, qd: Nodes, qdd: Nodes, wrench: Wrenches
) -> tuple[Any, Any, Any]:
    """Add the derivatives of friction and wrenches to the derivatives of links and rotors."""
    rest = _rate_torque(tree, q, qd, wrench)
    by_q, by_qd, M = links(tree, q, qd, qdd)
    return _sum(by_q, graph_jacobian(rest, q)), _sum(by_qd, graph_jacobian(rest, qd)), M


def _rate_torque(tree: Tree, q: Nodes, qd: Nodes, wrench: Wrenches) -> list[Any]:
    """Return the torques of friction and wrenches, which are independent of qdd."""
    rest = friction_torque(tree, qd, q)
    return (
        rest
        if wrench is None
        else [a - b for a, b in zip(rest, wrench_torque(tree, q, wrench), strict=True)]
    )


def _by_composites(tree: Tree, q: Nodes, qd: Nodes, qdd: Nodes) -> tuple[Any, Any, Any]:
    """Return derivatives of links (composite rigid bodies) and rotors (graph) at constant qdd.

    The graph is differentiated with new inputs in place of qdd, which are substituted afterwards.
    Differentiating through qdd(q, qd, tau) would count its change twice.
    """
    placeholders = [_graph(q, qd).input(_EXTRA, k) for k in range(tree.n)]
    spin = rotor_torque(tree, q, qd, placeholders)
    entries = [*flatten(graph_jacobian(spin, q)), *flatten(graph_jacobian(spin, qd))]
    entries = substitute(entries, dict(zip(placeholders, qdd, strict=True)))
    rows = [entries[i : i + tree.n] for i in range(0, len(entries), tree.n)]
    by_q, by_qd, M = rigid_derivatives(tree, q, qd, qdd)
    return _sum(by_q, rows[: tree.n]), _sum(by_qd, rows[tree.n :]), M


def inverse_dynamics_derivatives_forward(
    tree: Tree, q: Nodes, qd: Nodes, qdd: Nodes, wrench: Wrenches = None
) -> tuple[Any, Any, Any]:
    """Return the same by forward differentiation of the graph, one sweep per input."""
    tau = inverse_dynamics(tree, q, qd, qdd, wrench)
    return graph_jacobian(tau, q), graph_jacobian(tau, qd), mass_matrix(tree, q)


def inverse_dynamics_derivatives_reverse(
    tree: Tree, q: Nodes, qd: Nodes, qdd: Nodes, wrench: Wrenches = None
) -> tuple[Any, Any, Any]:
    """Return the same by reverse differentiation of the graph, one sweep per torque."""
    rows = [gradient(x, [*q, *qd]) for x in inverse_dynamics(tree, q, qd, qdd, wrench)]
    return [row[: tree.n] for row in rows], [row[tree.n :] for row in rows], mass_matrix(tree, q)


def forward_dynamics_derivatives(
    tree: Tree, q: Nodes, qd: Nodes, tau: Nodes, wrench: Wrenches = None
) -> tuple[Any, Any, Any]:
    """Return d qdd / dq, d qdd / dqd and d qdd / dtau, each n x n.

    d qdd / dq = -M^-1 d tau / dq, d qdd / dqd = -M^-1 d tau / dqd, d qdd / dtau = M^-1.
    Carpentier and Mansard 2018.
    """
    return _forward_derivatives(_by_composites, mass_matrix, tree, q, qd, tau, wrench)


def forward_dynamics_derivatives_in_base(
    tree: Tree, q: Nodes, qd: Nodes, tau: Nodes, wrench: Wrenches = None
) -> tuple[Any, Any, Any]:
    """Return the same with links and rotors in the base frame, for long chains."""
    return _forward_derivatives(
        long_chains.derivatives, long_chains.mass_matrix, tree, q, qd, tau, wrench
    )


def forward_dynamics_derivatives_articulated(
    tree: Tree, q: Nodes, qd: Nodes, tau: Nodes, wrench: Wrenches = None
) -> tuple[Any, Any, Any]:
    """Return the same by articulated bodies in the base frame, in O(n^2), for uncoupled joints."""
    by_q, by_qd, inverse = aba_derivatives(tree, q, qd, net_torque(tree, q, qd, tau, wrench))
    rest = _rate_torque(tree, q, qd, wrench)
    return (
        _minus_product(by_q, inverse, graph_jacobian(rest, q)),
        _minus_product(by_qd, inverse, graph_jacobian(rest, qd)),
        inverse,
    )


def _minus_product(
    derivatives: Sequence[Nodes], inverse: Sequence[Nodes], matrix: Sequence[Nodes]
) -> list[list[Any]]:
    """Return derivatives - inverse @ matrix, for a matrix of which most entries are 0.0."""
    columns = [  # the entries that are not zero
        [(k, x) for k, x in enumerate(column) if not is_zero(x)]
        for column in zip(*matrix, strict=True)
    ]
    return [
        [
            a - sum(row[k] * x for k, x in column) if column else a
            for a, column in zip(derivative_row, columns, strict=True)
        ]
        for derivative_row, row in zip(derivatives, inverse, strict=True)
    ]


def _forward_derivatives(
    links: Callable[..., Any],
    mass: Callable[..., Any],
    tree: Tree,
    q: Nodes,
    qd: Nodes,
    tau: Nodes,
    wrench: Wrenches,
) -> tuple[Any, Any, Any]:
    factors = factorise(mass(tree, q))
    qdd = solve_factored(
        factors, [a - b for a, b in zip(tau, bias_torque(tree, q, qd, wrench), strict=True)]
    )
    by_q, by_qd, _ = _derivatives(links, tree, q, qd, qdd, wrench)
    negative = factors._replace(inverse=[-x for x in factors.inverse])
    return _solve_columns(negative, by_q), _solve_columns(negative, by_qd), inverse(factors)


def _solve_columns(factors: Factors, matrix: Sequence[Nodes]) -> list[list[Any]]:
    """Return the solution for each column of a matrix."""
    columns = [solve_factored(factors, column) for column in zip(*matrix, strict=True)]
    return [list(row) for row in zip(*columns, strict=True)]


def _sum(a: Sequence[Nodes], b: Sequence[Nodes]) -> list[list[Any]]:
    return [[x + y for x, y in zip(*rows, strict=True)] for rows in zip(a, b, strict=True)]


def coriolis_transpose(tree: Tree, q: Nodes, qd: Nodes) -> list[Any]:
    """Return C(q, qd)^T qd = dT/dq, the part of dp/dt that no torque causes.

    De Luca and Mattone 2003, eq. (6).
    """
    return gradient(kinetic_energy(tree, q, qd), list(q))


def momentum_rate(tree: Tree, q: Nodes, qd: Nodes, tau: Nodes) -> list[Any]:
    """Return dp/dt = tau + C^T qd - g - friction, the momentum's rate without contact.

    De Luca and Mattone 2003, eq. (7).
    """
    terms = zip(
        tau,
        coriolis_transpose(tree, q, qd),
        gravity_torque(tree, q),
        friction_torque(tree, qd, q),
        strict=True,
    )
    return [a + b - c - d for a, b, c, d in terms]


def slotine_li(tree: Tree, q: Nodes, qd: Nodes, qrd: Nodes, qrdd: Nodes) -> list[Any]:
    """Return M(q) qrdd + C(q, qd) qrd + g(q) + friction(qd), C from the Christoffel symbols.

    C(q, qd) qrd is half the derivative of C(q, qd) qd along qrd, since that is quadratic in qd.
    Slotine and Li 1987, eq. (6).
    """
    smooth = tree.without_friction()
    at_rest = inverse_dynamics(smooth, q, [0.0] * tree.n, qrdd)
    weightless = replace(smooth, gravity=(0.0, 0.0, 0.0))
    turning = derivative(
        inverse_dynamics(weightless, q, qd, [0.0] * tree.n), dict(zip(qd, qrd, strict=True))
    )
    return [
        a + 0.5 * b + c
        for a, b, c in zip(at_rest, turning, friction_torque(tree, qd, q), strict=True)
    ]


def energy(tree: Tree, q: Nodes, qd: Nodes) -> Any:
    """Return T + U [J]."""
    return kinetic_energy(tree, q, qd) + potential_energy(tree, q)


def parameter_gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the gradient, by the parameters pi, of a scalar function that is linear in them.

    Friction that grows with the load is linearised at the load of the given tree.
    """

    def coefficients(tree: Tree, *arrays: Nodes) -> list[Any]:
        graph = _graph(*arrays)
        pi = [graph.input(_EXTRA, k) for k in range(len(parameters(tree)))]
        model = replace(
            with_scalars(tree, pi), load=tuple(body.inertia for body in tree.carrying.bodies)
        )
        return gradient(function(model, *arrays), pi)

    return coefficients


def _graph(*arrays: Nodes) -> Graph:
    return next(x.graph for array in arrays for x in array if isinstance(x, Expr))


_SMALL = 8  # joints up to which differentiating the graph of inverse dynamics may be the shortest
INVERSE_DYNAMICS_DERIVATIVES = (
    for_short_chains(inverse_dynamics_derivatives),
    Implementation(inverse_dynamics_derivatives_forward, max_joints=_SMALL),
    Implementation(inverse_dynamics_derivatives_reverse, max_joints=_SMALL),
    for_long_chains(inverse_dynamics_derivatives_in_base),
)
FORWARD_DYNAMICS_DERIVATIVES = (
    for_short_chains(forward_dynamics_derivatives),
    for_long_chains(forward_dynamics_derivatives_in_base),
    for_long_chains(forward_dynamics_derivatives_articulated, needs_uncoupled=True),
)
