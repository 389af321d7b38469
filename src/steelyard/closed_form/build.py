"""From a tree to its closed form: in normal form where that is readable, in named terms where it would be long."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..algebra.scalar import Scalar
from ..compiler.ir import differentiate
from ..compiler.ir.graph import Graph
from ..compiler.ir.program import Operand, program
from ..compiler.render.sympy_expressions import operations
from ..dynamics.crba import mass_matrix
from ..dynamics.energy import kinetic_energy
from ..dynamics.gravity import potential_energy
from ..dynamics.joint import principal
from ..dynamics.joint_torques import friction_torque
from ..dynamics.parametric import parameter_names, parameter_vector
from ..dynamics.regressor import regressor
from ..dynamics.rnea import inverse_dynamics
from ..errors import CallError
from ..mechanism.tree import Tree
from . import normal_form as normal
from .columns import exact_columns, sampled_columns
from .named_terms import NamedTerms
from .naming import Named, Naming, named_tree
from .normal_form import Ring
from .shortest_form import Readable
from .symbolic import Symbolic

FORMS = ("expanded", "terms")
MOTION = ("q", "qdot", "qddot")  # SymPy writes a name that ends in dot with a dot
READABLE = 3  # joints up to which the expanded form is one that people read


def symbolic(
    tree: Tree,
    name: str,
    *,
    parameters: str = "symbolic",
    geometry: str | None = None,
    names: Mapping[str, str] | None = None,
    form: str | None = None,
) -> Symbolic:
    """The closed form of a tree.

    parameters: "symbolic" (the vector pi; what is zero in this robot stays zero), "all" (also what is zero), "barycentric" (masses, centres
    of mass and inertias about them, as textbooks have it) or "numeric". geometry: "symbolic" (l_1, ..., g_0) or "numeric"; as the
    parameters where nothing is said. names: other names for symbols, such as {"l_1": "a_1"}. form: "expanded" or "terms"; expanded for up
    to three joints whose axes are parallel or at right angles, or two joints of any kind.
    """
    operations()  # says which extra is missing before anything is computed
    geometry = geometry or ("numeric" if parameters == "numeric" else "symbolic")
    chosen = form or ("expanded" if readable(tree) else "terms")
    if chosen not in FORMS:
        raise CallError(f"form={form!r}; expected 'expanded', 'terms' or None, which chooses by the number of joints")
    if tree.n == 0:
        raise CallError(f"{name} has no joint that moves: there is no equation of motion")
    make = expanded if chosen == "expanded" else in_terms
    return make(tree, name, parameters, geometry, names or {})


def readable(tree: Tree) -> bool:
    """Whether the expanded form is short enough to be read."""
    return len(tree.bodies) <= 2 or (len(tree.bodies) <= READABLE and square(tree))


def square(tree: Tree) -> bool:
    """Whether all axes and placements turn by right angles only, and angles by whole multiples: then constants are exact."""
    directions = [row for body in tree.bodies for row in body.placement.R] + [gear.axis for gear in tree.gears]
    turned = all(x in (0.0, 1.0, -1.0) for row in directions for x in row)
    quarters = all(abs(math.sin(2 * body.offset)) < 1e-12 for body in tree.bodies if body.kind == "revolute")
    return turned and quarters and all(principal(body.axis) is not None for body in tree.bodies)


def expanded(tree: Tree, name: str, parameters: str, geometry: str, names: Mapping[str, str]) -> Symbolic:
    """Every quantity written out in sines and cosines of the joints' angles."""
    ring = Ring()
    motion = [[ring.symbol(f"{letter}_{i + 1}") for i in range(tree.n)] for letter in MOTION]
    naming = Naming(lambda named: ring.symbol(named.name), names)
    model = named_tree(tree, parameters, geometry, naming)
    made = equations(model, motion[0], motion[1], motion[2], normal.derivative)
    symbols = [_symbol(atom.name) for atom in ring.atoms[: 3 * tree.n + len(naming.named)]]
    right = square(tree)
    render = Readable(ring, symbols, Fraction(0) if right else Fraction(1, 10**12))
    constants = {k: symbols[k] for k in range(3 * tree.n, len(symbols))}
    rates, accelerations = range(tree.n, 2 * tree.n), range(2 * tree.n, 3 * tree.n)
    return Symbolic(
        **_common(tree, name, symbols, naming.named),
        **_matrices(made, render, lambda x: render(x, rates), lambda x: render(x, accelerations)),
        parameters=_column([render(x) for x in parameter_vector(model)]),
        columns=exact_columns(made.Y, constants) if right else sampled_columns(tree),
    )


def in_terms(tree: Tree, name: str, parameters: str, geometry: str, names: Mapping[str, str]) -> Symbolic:
    """Every quantity in terms of named values that they share."""
    graph = Graph()
    motion = [[graph.input(k, i) for i in range(tree.n)] for k in range(3)]
    naming = Naming(lambda named: graph.input(3, len(naming.named) - 1), names)
    model = named_tree(tree, parameters, geometry, naming)
    made = equations(model, motion[0], motion[1], motion[2], differentiate.derivative)
    pi = parameter_vector(model)
    inputs = [*(Operand(letter, (tree.n,)) for letter in MOTION), Operand("s", (len(naming.named),))]
    values = {**made.__dict__, "parameters": pi}
    traced = program(
        "closed_form", graph, inputs, [Operand(k, (_size(v),)) for k, v in values.items()], [_listed(v) for v in values.values()]
    )
    symbols = [_symbol(f"{letter}_{i + 1}") for letter in MOTION for i in range(tree.n)] + [_symbol(named.name) for named in naming.named]
    groups = [symbols[k * tree.n : (k + 1) * tree.n] for k in range(3)] + [symbols[3 * tree.n :]]
    terms = NamedTerms(traced, groups)
    rendered = dict(zip(values, terms.results(), strict=True))
    return Symbolic(
        **_common(tree, name, symbols, naming.named),
        **_shaped(rendered, tree.n, len(pi)),
        parameters=_column(rendered["parameters"]),
        columns=sampled_columns(tree),
        terms=terms.terms,
    )


def _common(tree: Tree, name: str, symbols: list[Any], named: list[Named]) -> dict[str, Any]:
    n = tree.n
    return {
        "name": name,
        "joint_names": tree.coordinates,
        "parameter_names": tuple(parameter_names(tree)),
        "q": tuple(symbols[:n]),
        "qd": tuple(symbols[n : 2 * n]),
        "qdd": tuple(symbols[2 * n : 3 * n]),
        "symbols": dict(zip(symbols[3 * n :], named, strict=True)),
    }


def _matrices(made: Equations, render: Any, by_rates: Any, by_accelerations: Any) -> dict[str, Any]:
    import sympy as sp

    return {
        "T": by_rates(made.T),
        "U": render(made.U),
        "M": sp.ImmutableMatrix([[render(x) for x in row] for row in made.M]),
        "C": sp.ImmutableMatrix([[render(x) for x in row] for row in made.C]),
        "g": _column([render(x) for x in made.g]),
        "friction": _column([render(x) for x in made.friction]),
        "tau": _column([by_accelerations(x) for x in made.tau]),
        "Y": sp.ImmutableMatrix([[render(x) for x in row] for row in made.Y]),
    }


def _shaped(rendered: Mapping[str, list[Any]], n: int, p: int) -> dict[str, Any]:
    import sympy as sp

    shapes = {"M": (n, n), "C": (n, n), "Y": (n, p)}
    made = {k: sp.ImmutableMatrix(*shapes.get(k, (n, 1)), rendered[k]) for k in ("M", "C", "g", "friction", "tau", "Y")}
    return {"T": rendered["T"][0], "U": rendered["U"][0], **made}


def _listed(value: Any) -> list[Any]:
    """The scalars of a quantity in one list."""
    if not isinstance(value, list):
        return [value]
    return [x for row in value for x in (row if isinstance(row, list) else [row])]


def _size(value: Any) -> int:
    return len(_listed(value))


def _symbol(name: str) -> Any:
    import sympy as sp

    return sp.Symbol(name, real=True)


def _column(entries: list[Any]) -> Any:
    import sympy as sp

    return sp.ImmutableMatrix(len(entries), 1, entries)


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
