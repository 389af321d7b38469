"""The equations of motion as a program: energies, M, C, g, friction, tau, Y and pi of the motion and the robot's symbols."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..compiler.ir.differentiate import derivative
from ..compiler.ir.graph import Expr, Graph, flatten
from ..compiler.ir.program import Operand, Program, program
from ..dynamics.crba import mass_matrix
from ..dynamics.energy import kinetic_energy
from ..dynamics.gravity import potential_energy
from ..dynamics.joint_torques import friction_torque
from ..dynamics.regressor import regressor
from ..dynamics.rnea import inverse_dynamics
from ..mechanism.parameter_vector import parameters as parameter_values
from ..mechanism.tree import Tree
from .naming import Named, Naming, named_tree

MOTION = ("q", "qdot", "qddot")  # SymPy prints a name that ends in dot with a dot
NAMES = ("T", "U", "M", "C", "g", "friction", "tau", "Y", "parameters")
Nodes = Sequence[Any]


@dataclass(frozen=True)
class Traced:
    """A program of q, qdot, qddot, the named parameters and the named lengths (gravity among them), with one output per name in NAMES."""

    program: Program
    parameters: tuple[Named, ...]
    lengths: tuple[Named, ...]


def trace_equations(tree: Tree, parameters: str, geometry: str) -> Traced:
    """Trace the equations of motion on a tree with symbols in place of its numbers; see `named_tree`.

    Energies and M come from their algorithms, C from the Christoffel symbols of M, g = dU/dq, tau and Y from Newton-Euler.
    Lagrangian lecture, "How it all fits together": D(q) qdd + C(q, qd) qd + G(q) = tau.
    """
    graph = Graph()
    q, qd, qdd = ([graph.input(k, i) for i in range(tree.n)] for k in range(3))
    parameter, length = Naming(partial(graph.input, 3)), Naming(partial(graph.input, 4))
    model = named_tree(tree, parameters, geometry, parameter, length)
    M, U = mass_matrix(model, q), potential_energy(model, q)
    values = [
        [kinetic_energy(model, q, qd)],
        [U],
        M,
        christoffel_matrix(M, q, qd),
        [derivative([U], {x: 1.0})[0] for x in q],
        friction_torque(model, qd, q),
        inverse_dynamics(model, q, qd, qdd),
        regressor(model, q, qd, qdd),
        list(parameter_values(model)),
    ]
    inputs = [Operand(name, (tree.n,)) for name in MOTION]
    inputs += [Operand(name, (len(x.named),)) for name, x in (("parameters", parameter), ("lengths", length))]
    outputs = [Operand(name, (len(list(flatten(value))),)) for name, value in zip(NAMES, values, strict=True)]
    return Traced(program("closed_form", graph, inputs, outputs, values), tuple(parameter.named), tuple(length.named))


def christoffel_matrix(M: Sequence[Nodes], q: Nodes, qd: Nodes) -> list[list[Expr | float]]:
    """c_kj = sum over i of (dM_kj/dq_i + dM_ki/dq_j - dM_ij/dq_k)/2 qd_i, which is C = (dM/dt + A - A^T)/2 with A = d(M qd)/dq.

    The second form takes n + 1 derivatives in place of n^3. Lagrangian lecture, "Christoffel symbols".
    """
    n = len(q)
    momentum = [sum((m * rate for m, rate in zip(row, qd, strict=True)), 0.0) for row in M]
    columns = [derivative(momentum, {x: 1.0}) for x in q]  # columns[j][k] = A_kj
    rates = derivative([M[k][j] for k in range(n) for j in range(n)], dict(zip(q, qd, strict=True)))
    return [[0.5 * (rates[n * k + j] + columns[j][k] - columns[k][j]) for j in range(n)] for k in range(n)]
