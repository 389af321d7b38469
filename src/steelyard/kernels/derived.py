"""Algorithms that are made from others on the graph: by differentiation, and by linearity in the parameters.

They run on expression nodes only. What they return is exact: no step size, no second derivation by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ..algebra.scalar import is_zero
from ..compiler.ir.differentiate import derivative, gradient, jacobian, substitute
from ..compiler.ir.graph import Expr, Graph, flatten
from ..dynamics.base_frame import matrices as base_frame
from ..dynamics.base_frame.acceleration_slopes import acceleration_slopes
from ..dynamics.crba import mass_matrix
from ..dynamics.derivatives import rigid_derivatives
from ..dynamics.energy import kinetic_energy
from ..dynamics.forward.aba import net_torque
from ..dynamics.forward.by_crba import Factors, factorise, inverse, solve
from ..dynamics.gravity import gravity_torque, potential_energy
from ..dynamics.joint_torques import friction_torque
from ..dynamics.rnea import bias_torque, inverse_dynamics
from ..dynamics.rotors import rotor_torque
from ..dynamics.wrench import wrench_torque
from ..mechanism.parameter_vector import parameters, with_scalars
from ..mechanism.tree import Tree

Nodes = Sequence[Any]
Wrenches = Sequence[Nodes] | None
_EXTRA = 1_000_000  # operand numbers of nodes that stand for something else while a program is made


def inverse_dynamics_derivatives(tree: Tree, q: Nodes, qd: Nodes, qdd: Nodes, wrench: Wrenches = None) -> tuple[Any, Any, Any]:
    """d tau / dq, d tau / dqd and M = d tau / dqdd, each n x n, with friction, rotors and wrenches that stay as they are in the base frame.

    Composite bodies give the links' part, the graph all else.
    """
    return _derivatives(_by_composites, tree, q, qd, qdd, wrench)


def inverse_dynamics_derivatives_in_base(tree: Tree, q: Nodes, qd: Nodes, qdd: Nodes, wrench: Wrenches = None) -> tuple[Any, Any, Any]:
    """The same with links and rotors in the base's frame."""
    return _derivatives(base_frame.derivatives, tree, q, qd, qdd, wrench)


def _derivatives(links: Callable[..., Any], tree: Tree, q: Nodes, qd: Nodes, qdd: Nodes, wrench: Wrenches) -> tuple[Any, Any, Any]:
    """Of all torques, from a function that gives those of links and rotors."""
    rest = _rest(tree, q, qd, wrench)
    by_q, by_qd, M = links(tree, q, qd, qdd)
    return _sum(by_q, jacobian(rest, q)), _sum(by_qd, jacobian(rest, qd)), M


def _rest(tree: Tree, q: Nodes, qd: Nodes, wrench: Wrenches) -> list[Any]:
    """The torques of friction and of wrenches, which do not depend on accelerations."""
    rest = friction_torque(tree, qd, q)
    return rest if wrench is None else [a - b for a, b in zip(rest, wrench_torque(tree, q, wrench), strict=True)]


def _by_composites(tree: Tree, q: Nodes, qd: Nodes, qdd: Nodes) -> tuple[Any, Any, Any]:
    """Composite bodies give the links' part, the graph that of rotors.

    They are derivatives at a constant acceleration: the graph's part is formed with inputs of their own in the place of qdd, which are
    replaced by the accelerations afterwards. Differentiating through qdd(q, qd, tau) would count its change twice.
    """
    stands_for = [_graph(q, qd).input(_EXTRA, k) for k in range(tree.n)]
    spin = rotor_torque(tree, q, qd, stands_for)
    slopes = [*flatten(jacobian(spin, q)), *flatten(jacobian(spin, qd))]
    slopes = substitute(slopes, dict(zip(stands_for, qdd, strict=True)))
    rows = [slopes[i : i + tree.n] for i in range(0, len(slopes), tree.n)]
    by_q, by_qd, M = rigid_derivatives(tree, q, qd, qdd)
    return _sum(by_q, rows[: tree.n]), _sum(by_qd, rows[tree.n :]), M


def inverse_dynamics_derivatives_forward(tree: Tree, q: Nodes, qd: Nodes, qdd: Nodes, wrench: Wrenches = None) -> tuple[Any, Any, Any]:
    """The same by differentiating the graph of inverse dynamics, one forward sweep per input."""
    tau = inverse_dynamics(tree, q, qd, qdd, wrench)
    return jacobian(tau, q), jacobian(tau, qd), mass_matrix(tree, q)


def inverse_dynamics_derivatives_reverse(tree: Tree, q: Nodes, qd: Nodes, qdd: Nodes, wrench: Wrenches = None) -> tuple[Any, Any, Any]:
    """The same by one reverse sweep per torque."""
    rows = [gradient(x, [*q, *qd]) for x in inverse_dynamics(tree, q, qd, qdd, wrench)]
    return [row[: tree.n] for row in rows], [row[tree.n :] for row in rows], mass_matrix(tree, q)


def forward_dynamics_derivatives(tree: Tree, q: Nodes, qd: Nodes, tau: Nodes, wrench: Wrenches = None) -> tuple[Any, Any, Any]:
    """d qdd / dq = -M^-1 d tau / dq, d qdd / dqd = -M^-1 d tau / dqd, d qdd / dtau = M^-1, each n x n. Carpentier and Mansard 2018."""
    return _forward_derivatives(_by_composites, mass_matrix, tree, q, qd, tau, wrench)


def forward_dynamics_derivatives_in_base(tree: Tree, q: Nodes, qd: Nodes, tau: Nodes, wrench: Wrenches = None) -> tuple[Any, Any, Any]:
    """The same with links and rotors in the base's frame."""
    return _forward_derivatives(base_frame.derivatives, base_frame.mass_matrix, tree, q, qd, tau, wrench)


def forward_dynamics_derivatives_articulated(tree: Tree, q: Nodes, qd: Nodes, tau: Nodes, wrench: Wrenches = None) -> tuple[Any, Any, Any]:
    """The same by articulated bodies in the base's frame, in O(n2), for joints that are coupled by the bodies between them alone."""
    by_q, by_qd, inverse = acceleration_slopes(tree, q, qd, net_torque(tree, q, qd, tau, wrench))
    rest = _rest(tree, q, qd, wrench)
    return _less_product(by_q, inverse, jacobian(rest, q)), _less_product(by_qd, inverse, jacobian(rest, qd)), inverse


def _less_product(slopes: Sequence[Nodes], inverse: Sequence[Nodes], matrix: Sequence[Nodes]) -> list[list[Any]]:
    """slopes - inverse @ matrix, of which most entries are 0.0."""
    columns = [[(k, x) for k, x in enumerate(column) if not is_zero(x)] for column in zip(*matrix, strict=True)]
    return [
        [a - sum(row[k] * x for k, x in own) if own else a for a, own in zip(slope, columns, strict=True)]
        for slope, row in zip(slopes, inverse, strict=True)
    ]


def _forward_derivatives(
    links: Callable[..., Any], mass: Callable[..., Any], tree: Tree, q: Nodes, qd: Nodes, tau: Nodes, wrench: Wrenches
) -> tuple[Any, Any, Any]:
    factors = factorise(mass(tree, q))
    qdd = solve(factors, [a - b for a, b in zip(tau, bias_torque(tree, q, qd, wrench), strict=True)])
    by_q, by_qd, _ = _derivatives(links, tree, q, qd, qdd, wrench)
    negative = factors._replace(inverse=[-x for x in factors.inverse])
    return _solved(negative, by_q), _solved(negative, by_qd), inverse(factors)


def _solved(factors: Factors, matrix: Sequence[Nodes]) -> list[list[Any]]:
    columns = [solve(factors, column) for column in zip(*matrix, strict=True)]
    return [list(row) for row in zip(*columns, strict=True)]


def _sum(a: Sequence[Nodes], b: Sequence[Nodes]) -> list[list[Any]]:
    return [[x + y for x, y in zip(*rows, strict=True)] for rows in zip(a, b, strict=True)]


def coriolis_transpose(tree: Tree, q: Nodes, qd: Nodes) -> list[Any]:
    """C(q, qd)^T qd = dT/dq: what the momentum gains beside the torques. De Luca and Mattone 2003, eq. (6)."""
    return gradient(kinetic_energy(tree, q, qd), list(q))


def momentum_rate(tree: Tree, q: Nodes, qd: Nodes, tau: Nodes) -> list[Any]:
    """dp/dt = tau + C^T qd - g - friction: the momentum's rate without contact. De Luca and Mattone 2003, eq. (7)."""
    terms = zip(tau, coriolis_transpose(tree, q, qd), gravity_torque(tree, q), friction_torque(tree, qd, q), strict=True)
    return [a + b - c - d for a, b, c, d in terms]


def slotine_li(tree: Tree, q: Nodes, qd: Nodes, qrd: Nodes, qrdd: Nodes) -> list[Any]:
    """M(q) qrdd + C(q, qd) qrd + g(q) + friction(qd), with the Coriolis matrix of the Christoffel symbols.

    C(q, qd) qrd is half the derivative of C(q, qd) qd along qrd, since that is quadratic in qd. Slotine and Li 1987, eq. (6).
    """
    smooth = tree.without_friction()
    at_rest = inverse_dynamics(smooth, q, [0.0] * tree.n, qrdd)
    weightless = replace(smooth, gravity=(0.0, 0.0, 0.0))
    turning = derivative(inverse_dynamics(weightless, q, qd, [0.0] * tree.n), dict(zip(qd, qrd, strict=True)))
    return [a + 0.5 * b + c for a, b, c in zip(at_rest, turning, friction_torque(tree, qd, q), strict=True)]


def energy(tree: Tree, q: Nodes, qd: Nodes) -> Any:
    """T + U [J]."""
    return kinetic_energy(tree, q, qd) + potential_energy(tree, q)


def row_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """The coefficients of pi in a function that is linear in it and has a single result: one for each parameter.

    Friction that grows with the load is linear at the load of the tree as it is.
    """

    def coefficients(tree: Tree, *arrays: Nodes) -> list[Any]:
        graph = _graph(*arrays)
        pi = [graph.input(_EXTRA, k) for k in range(len(parameters(tree)))]
        model = replace(with_scalars(tree, pi), load=tuple(body.inertia for body in tree.carrying.bodies))
        return gradient(function(model, *arrays), pi)

    return coefficients


def _graph(*arrays: Nodes) -> Graph:
    return next(x.graph for array in arrays for x in array if isinstance(x, Expr))
