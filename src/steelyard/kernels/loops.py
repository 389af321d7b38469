"""Algorithms of mechanisms with loops: closures with their derivatives from the graph, and the mixed equations on top of them.

They run on expression nodes only. Which closures are independent, `tree.rows`, is decided once for a mechanism (`robot.loop_structure`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..algebra.scalar import dot
from ..compiler.ir.differentiate import derivative, jacobian, substitute
from ..compiler.ir.graph import Expr
from ..dynamics.crba import mass_matrix
from ..dynamics.loops.closure import closure
from ..dynamics.loops.constrained import (
    columns,
    constrained_accelerations,
    dependent_acceleration,
    drive_torques,
    motion_basis,
    projected,
)
from ..dynamics.regressor import regressor
from ..dynamics.rnea import bias_torque, inverse_dynamics
from ..mechanism.tree import Tree
from .algorithms import ACCELERATION, TORQUE, Algorithm

Nodes = Sequence[Any]
Wrenches = Sequence[Nodes] | None
_EXTRA = 2_000_000  # operand numbers of nodes that stand for positions and velocities while closures are differentiated


class ClosureTerms(NamedTuple):
    """phi: r, Phi = dphi/dq: r x n, and bias = (dPhi/dt) qd: r; of the independent closures."""

    phi: list[Any]
    Phi: list[list[Any]]
    bias: list[Any]


def closure_terms(tree: Tree, q: Nodes, qd: Nodes) -> ClosureTerms:
    """The closures and their derivatives at any nodes: formed at inputs of their own, which are replaced afterwards."""
    graph = next(x.graph for x in (*q, *qd) if isinstance(x, Expr))
    at, rate = ([graph.input(_EXTRA + i, k) for k in range(tree.n)] for i in range(2))
    phi = closure(tree, at)
    first = derivative(phi, dict(zip(at, rate, strict=True)))
    second = derivative(first, dict(zip(at, rate, strict=True)))
    Phi = jacobian(phi, at)
    r, n = len(phi), tree.n
    flat = substitute([*phi, *second, *(x for row in Phi for x in row)], dict(zip([*at, *rate], [*q, *qd], strict=True)))
    return ClosureTerms(flat[:r], [flat[2 * r + i * n : 2 * r + (i + 1) * n] for i in range(r)], flat[r : 2 * r])


def closure_jacobian(tree: Tree, q: Nodes) -> list[list[Any]]:
    """Phi(q) = dphi/dq, m x n: Phi qd is the rate at which the loops open."""
    return closure_terms(tree, q, [0.0] * tree.n).Phi


def closure_bias(tree: Tree, q: Nodes, qd: Nodes) -> list[Any]:
    """(dPhi/dt) qd, m: the loops stay closed where Phi qdd + (dPhi/dt) qd = 0."""
    return closure_terms(tree, q, qd).bias


def constrained_forward_dynamics(
    tree: Tree, q: Nodes, qd: Nodes, tau: Nodes, wrench: Wrenches = None
) -> tuple[list[Any], list[Any], list[Any]]:
    """Accelerations, n, multipliers, m (0 for dependent closures), and how fast the loops open all the same, Phi qdd + bias, r."""
    terms = closure_terms(tree, q, qd)
    force = [a - b for a, b in zip(tau, bias_torque(tree, q, qd, wrench), strict=True)]
    solved = constrained_accelerations(mass_matrix(tree, q), terms.Phi, terms.bias, force)
    opening = [dot(row, solved.values) + b for row, b in zip(terms.Phi, terms.bias, strict=True)]
    return solved.values, every_row(tree, solved.multipliers), opening


def constrained_torque(
    tree: Tree, q: Nodes, qd: Nodes, qdd: Nodes, weight: Nodes, wrench: Wrenches = None
) -> tuple[list[Any], list[Any], list[Any]]:
    """Drive torques, n (0 for passive joints), multipliers, m, and what is left of the equations, n, for a motion that is given."""
    Phi = closure_terms(tree, q, [0.0] * tree.n).Phi
    force = inverse_dynamics(tree, q, qd, qdd, wrench)
    solved = drive_torques(Phi, force, tree.driven, weight)
    left = [a - (b + dot(column, solved.multipliers)) for a, b, column in zip(force, solved.values, columns(Phi), strict=True)]
    return solved.values, every_row(tree, solved.multipliers), left


def constrained_regressor(tree: Tree, q: Nodes, qd: Nodes, qdd: Nodes) -> list[list[Any]]:
    """N^T Y, f x p: the regressor in the independent coordinates, in which the multipliers have no part."""
    N = columns(freedom_basis(tree, q))
    Y = columns(regressor(tree, q, qd, qdd))
    return [[dot(column, y) for y in Y] for column in N]


def freedom_basis(tree: Tree, q: Nodes) -> list[list[Any]]:
    """N(q), n x f: qd = N qd_independent."""
    return motion_basis(closure_terms(tree, q, [0.0] * tree.n).Phi, tree.independent)


class ReducedEquations(NamedTuple):
    """M a = left - friction of the independent coordinates, f x f; qd = N rates, qdd = N a + gamma."""

    M: list[list[Any]]
    left: list[Any]
    N: list[list[Any]]
    gamma: list[Any]


def reduced_equations(tree: Tree, q: Nodes, qd: Nodes, tau: Nodes) -> ReducedEquations:
    """Equations of the independent coordinates, without the friction of their own joints."""
    terms = closure_terms(tree, q, qd)
    N = motion_basis(terms.Phi, tree.independent)
    gamma = dependent_acceleration(terms.Phi, terms.bias, tree.independent)
    M = mass_matrix(tree, q)
    bias = bias_torque(tree.without_friction(tree.independent), q, qd)
    force = [a - b - dot(row, gamma) for a, b, row in zip(tau, bias, M, strict=True)]
    moved = [[dot(row, column) for column in columns(N)] for row in M]  # M N
    return ReducedEquations([[dot(a, b) for b in columns(moved)] for a in columns(N)], [dot(a, force) for a in columns(N)], N, gamma)


def closed_state(tree: Tree, q: Nodes, qd: Nodes, precise: bool = False) -> tuple[list[Any], list[Any]]:
    """A state that is nearly closed, after a Newton step of its positions and with the velocities that keep the loops closed.

    The Jacobian is that before the step, so that velocities are as wrong as the loops were open; if `precise`, two more steps are taken,
    and velocities have a Jacobian of their own.
    """
    terms = closure_terms(tree, q, [0.0] * tree.n)
    moved, Phi = projected(terms.Phi, terms.phi, q), terms.Phi
    for _ in range(2 if precise else 0):
        again = closure_terms(tree, moved, [0.0] * tree.n)
        moved, Phi = projected(again.Phi, again.phi, moved), again.Phi
    return moved, projected(Phi, [dot(row, qd) for row in Phi], qd)


def constrained_acceleration(tree: Tree, q: Nodes, qd: Nodes, tau: Nodes) -> list[Any]:
    """The accelerations of `constrained_forward_dynamics` alone."""
    return constrained_forward_dynamics(tree, q, qd, tau)[0]


def as_drive_torques(tree: Tree, q: Nodes, tau: Nodes, suffice: bool) -> list[Any]:
    """Torques of the drives alone that move the closed mechanism as torques of all joints would; the smallest ones.

    Where the drives do not `suffice`, those of the passive joints are left out.
    """
    if not suffice:
        return [x if c in tree.driven else 0.0 for c, x in enumerate(tau)]
    Phi = closure_terms(tree, q, [0.0] * tree.n).Phi
    return drive_torques(Phi, tau, tree.driven, [1.0] * len(tree.driven)).values


def every_row(tree: Tree, values: Sequence[Any]) -> list[Any]:
    """One value for every closure: those of the independent ones, 0 for the others."""
    found = dict(zip(tree.rows, values, strict=True))
    return [found.get(k, 0.0) for k in range(tree.closures)]


_OPEN = "[m|rad]"
LOOP_ALGORITHMS: dict[str, Algorithm] = {
    "closure": Algorithm(("q",), (("phi", "k", _OPEN),), (closure,)),
    "closure_jacobian": Algorithm(("q",), (("Phi", "kn", f"{_OPEN} per [rad|m]"),), (closure_jacobian,)),
    "closure_bias": Algorithm(("q", "qd"), (("bias", "k", "[m/s2|rad/s2]"),), (closure_bias,)),
    "constrained_forward_dynamics": Algorithm(
        ("q", "qd", "tau"),
        (("qdd", "n", ACCELERATION), ("multipliers", "m", "[N|N m]"), ("opening", "k", "[m/s2|rad/s2]")),
        (constrained_forward_dynamics,),
        True,
    ),
    "constrained_torque": Algorithm(
        ("q", "qd", "qdd", "weight"),
        (("tau", "n", TORQUE), ("multipliers", "m", "[N|N m]"), ("residual", "n", TORQUE)),
        (constrained_torque,),
        True,
    ),
    "constrained_regressor": Algorithm(("q", "qd", "qdd"), (("Y", "fp", f"{TORQUE} per unit"),), (constrained_regressor,)),
    "freedom_basis": Algorithm(("q",), (("N", "nf", "[-]"),), (freedom_basis,), True),
}
