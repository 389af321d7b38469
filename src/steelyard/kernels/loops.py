"""Dynamics of mechanisms with loops: closures, constrained dynamics and reduced equations.

The derivatives of closures come from the graph, so that these functions run on expression nodes
only. `robot.loop_structure` decides once which closures are independent (`tree.rows`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..algebra.scalar import dot
from ..compiler.ir.differentiate import derivative, graph_jacobian, substitute
from ..compiler.ir.graph import Expr
from ..dynamics.crba import mass_matrix
from ..dynamics.loops.closure import closure
from ..dynamics.loops.constrained import (
    constrained_accelerations,
    dependent_acceleration,
    drive_torques,
    motion_basis,
    project_onto_constraints,
    transposed_rows,
)
from ..dynamics.regressor import regressor
from ..dynamics.rnea import bias_torque, inverse_dynamics
from ..mechanism.tree import Tree
from .algorithms import ACCELERATION, TORQUE, Algorithm, algorithm

Nodes = Sequence[Any]
Wrenches = Sequence[Nodes] | None
# operand numbers of placeholder inputs while closures are differentiated
_EXTRA = 2_000_000


class ClosureTerms(NamedTuple):
    """Independent closures phi (r), Phi = dphi/dq (r x n) and bias = (dPhi/dt) qd (r)."""

    phi: list[Any]
    Phi: list[list[Any]]
    bias: list[Any]


def closure_terms(tree: Tree, q: Nodes, qd: Nodes) -> ClosureTerms:
    """Return the independent closures and their derivatives.

    They are differentiated at placeholder inputs, for which q and qd are substituted afterwards.
    """
    graph = next(x.graph for x in (*q, *qd) if isinstance(x, Expr))
    position, rate = ([graph.input(_EXTRA + i, k) for k in range(tree.n)] for i in range(2))
    phi = closure(tree, position)
    first = derivative(phi, dict(zip(position, rate, strict=True)))
    second = derivative(first, dict(zip(position, rate, strict=True)))
    Phi = graph_jacobian(phi, position)
    r, n = len(phi), tree.n
    flat = substitute(
        [*phi, *second, *(x for row in Phi for x in row)],
        dict(zip([*position, *rate], [*q, *qd], strict=True)),
    )
    return ClosureTerms(
        flat[:r], [flat[2 * r + i * n : 2 * r + (i + 1) * n] for i in range(r)], flat[r : 2 * r]
    )


def closure_jacobian(tree: Tree, q: Nodes) -> list[list[Any]]:
    """Return Phi(q) = dphi/dq, m x n; Phi qd is the rate at which the loops open."""
    return closure_terms(tree, q, [0.0] * tree.n).Phi


def closure_bias(tree: Tree, q: Nodes, qd: Nodes) -> list[Any]:
    """Return (dPhi/dt) qd, m; the loops stay closed where Phi qdd + (dPhi/dt) qd = 0."""
    return closure_terms(tree, q, qd).bias


def constrained_forward_dynamics(
    tree: Tree, q: Nodes, qd: Nodes, tau: Nodes, wrench: Wrenches = None
) -> tuple[list[Any], list[Any], list[Any]]:
    """Return accelerations (n), multipliers (m) and the closure residual Phi qdd + bias (r).

    Multipliers of dependent closures are 0.
    """
    terms = closure_terms(tree, q, qd)
    force = [a - b for a, b in zip(tau, bias_torque(tree, q, qd, wrench), strict=True)]
    solved = constrained_accelerations(mass_matrix(tree, q), terms.Phi, terms.bias, force)
    opening = [dot(row, solved.values) + b for row, b in zip(terms.Phi, terms.bias, strict=True)]
    return solved.values, every_row(tree, solved.multipliers), opening


def constrained_torque(
    tree: Tree, q: Nodes, qd: Nodes, qdd: Nodes, weight: Nodes, wrench: Wrenches = None
) -> tuple[list[Any], list[Any], list[Any]]:
    """Return drive torques (n), multipliers (m) and residuals (n) of a motion.

    Torques of passive joints are 0.
    """
    Phi = closure_terms(tree, q, [0.0] * tree.n).Phi
    force = inverse_dynamics(tree, q, qd, qdd, wrench)
    solved = drive_torques(Phi, force, tree.driven, weight)
    residual = [
        a - (b + dot(column, solved.multipliers))
        for a, b, column in zip(force, solved.values, transposed_rows(Phi), strict=True)
    ]
    return solved.values, every_row(tree, solved.multipliers), residual


def constrained_regressor(tree: Tree, q: Nodes, qd: Nodes, qdd: Nodes) -> list[list[Any]]:
    """Return N^T Y, f x p: the regressor in the independent coordinates, without multipliers."""
    N = transposed_rows(freedom_basis(tree, q))
    Y = transposed_rows(regressor(tree, q, qd, qdd))
    return [[dot(column, y) for y in Y] for column in N]


def freedom_basis(tree: Tree, q: Nodes) -> list[list[Any]]:
    """Return N(q), n x f, with qd = N qd_independent."""
    return motion_basis(closure_terms(tree, q, [0.0] * tree.n).Phi, tree.independent)


class ReducedEquations(NamedTuple):
    """M a = force - friction for the independent coordinates, f x f.

    qd = N rates and qdd = N a + gamma for all coordinates.
    """

    M: list[list[Any]]
    force: list[Any]
    N: list[list[Any]]
    gamma: list[Any]


def reduced_equations(tree: Tree, q: Nodes, qd: Nodes, tau: Nodes) -> ReducedEquations:
    """Return the equations of the independent coordinates without friction of their joints."""
    terms = closure_terms(tree, q, qd)
    N = motion_basis(terms.Phi, tree.independent)
    gamma = dependent_acceleration(terms.Phi, terms.bias, tree.independent)
    M = mass_matrix(tree, q)
    bias = bias_torque(tree.without_friction(tree.independent), q, qd)
    force = [a - b - dot(row, gamma) for a, b, row in zip(tau, bias, M, strict=True)]
    M_N = [[dot(row, column) for column in transposed_rows(N)] for row in M]
    return ReducedEquations(
        [[dot(a, b) for b in transposed_rows(M_N)] for a in transposed_rows(N)],
        [dot(a, force) for a in transposed_rows(N)],
        N,
        gamma,
    )


def closed_state(
    tree: Tree, q: Nodes, qd: Nodes, precise: bool = False
) -> tuple[list[Any], list[Any]]:
    """Project a state onto the closures: a Newton step for q, then velocities with Phi qd = 0.

    Velocities use the Jacobian before the step, so that their error is of the order of the closure
    error. With `precise`, two more steps are taken and the Jacobian is recomputed.
    """
    terms = closure_terms(tree, q, [0.0] * tree.n)
    closed, Phi = project_onto_constraints(terms.Phi, terms.phi, q), terms.Phi
    for _ in range(2 if precise else 0):
        again = closure_terms(tree, closed, [0.0] * tree.n)
        closed, Phi = project_onto_constraints(again.Phi, again.phi, closed), again.Phi
    return closed, project_onto_constraints(Phi, [dot(row, qd) for row in Phi], qd)


def constrained_acceleration(tree: Tree, q: Nodes, qd: Nodes, tau: Nodes) -> list[Any]:
    """Return only the accelerations of `constrained_forward_dynamics`."""
    return constrained_forward_dynamics(tree, q, qd, tau)[0]


def as_drive_torques(tree: Tree, q: Nodes, tau: Nodes, suffice: bool) -> list[Any]:
    """Return the smallest drive torques that accelerate the mechanism as torques of all joints do.

    If the drives do not `suffice` for all motions, the torques of passive joints are set to 0.
    """
    if not suffice:
        return [x if c in tree.driven else 0.0 for c, x in enumerate(tau)]
    Phi = closure_terms(tree, q, [0.0] * tree.n).Phi
    return drive_torques(Phi, tau, tree.driven, [1.0] * len(tree.driven)).values


def every_row(tree: Tree, values: Sequence[Any]) -> list[Any]:
    """Return one value for every closure: 0 for the dependent ones."""
    by_row = dict(zip(tree.rows, values, strict=True))
    return [by_row.get(k, 0.0) for k in range(tree.closures)]


_OPEN = "[m|rad]"
LOOP_ALGORITHMS: dict[str, Algorithm] = {
    "closure": algorithm(("q",), (("phi", "k", _OPEN),), closure),
    "closure_jacobian": algorithm(
        ("q",), (("Phi", "kn", f"{_OPEN} per [rad|m]"),), closure_jacobian
    ),
    "closure_bias": algorithm(("q", "qd"), (("bias", "k", "[m/s2|rad/s2]"),), closure_bias),
    "constrained_forward_dynamics": algorithm(
        ("q", "qd", "tau"),
        (
            ("qdd", "n", ACCELERATION),
            ("multipliers", "m", "[N|N m]"),
            ("opening", "k", "[m/s2|rad/s2]"),
        ),
        constrained_forward_dynamics,
        joint_space=True,
    ),
    "constrained_torque": algorithm(
        ("q", "qd", "qdd", "weight"),
        (("tau", "n", TORQUE), ("multipliers", "m", "[N|N m]"), ("residual", "n", TORQUE)),
        constrained_torque,
        joint_space=True,
    ),
    "constrained_regressor": algorithm(
        ("q", "qd", "qdd"), (("Y", "fp", f"{TORQUE} per unit"),), constrained_regressor
    ),
    "freedom_basis": algorithm(("q",), (("N", "nf", "[-]"),), freedom_basis, joint_space=True),
}
