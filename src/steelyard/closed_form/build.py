"""Closed form of a tree: in full for short arms, in named common terms for long ones."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

from ..compiler.ir.differentiate import derivative
from ..compiler.ir.graph import Expr, Graph, flatten
from ..compiler.ir.program import Operand, Program, program
from ..compiler.render.sympy_expressions import expressions, operations
from ..dynamics.crba import mass_matrix
from ..dynamics.energy import kinetic_energy
from ..dynamics.gravity import potential_energy
from ..dynamics.joint import principal
from ..dynamics.joint_torques import friction_torque
from ..dynamics.regressor import regressor
from ..dynamics.rnea import inverse_dynamics
from ..errors import CallError
from ..mechanism.parameter_vector import parameter_names
from ..mechanism.parameter_vector import parameters as parameter_values
from ..mechanism.tree import Tree
from .naming import GEOMETRY, PARAMETERS, Named, Naming, apply_names, named_tree
from .normal_form import normal_forms, rational, readable_number, shortest_form
from .regressor_columns import exact_columns, sampled_columns
from .symbolic import Symbolic

FORMS = ("expanded", "terms")
READABLE = 3  # joints up to which the expanded form is short enough to read


def symbolic(
    tree: Tree,
    name: str,
    *,
    parameters: str = "symbolic",
    geometry: str | None = None,
    names: Mapping[str, str] | None = None,
    form: str | None = None,
) -> Symbolic:
    """Return the closed form of a tree.

    parameters: "symbolic" (the vector pi; what is zero in this robot stays zero), "all" (also what
    is zero), "barycentric" (masses, centres of mass and inertias about them, as in textbooks) or
    "numeric". geometry: "symbolic" (l_1, ..., g_0) or "numeric"; by default as the parameters.
    names: other names for symbols, such as {"l_1": "a_1"}. form: "expanded" or "terms"; by default
    "expanded" for up to three joints whose axes are parallel or at right angles, or two joints of
    any kind.
    """
    operations()  # raises MissingExtra before anything is computed
    geometry = geometry or ("numeric" if parameters == "numeric" else "symbolic")
    chosen = form or ("expanded" if is_readable(tree) else "terms")
    for what, word, known in (
        ("parameters", parameters, PARAMETERS),
        ("geometry", geometry, GEOMETRY),
        ("form", chosen, FORMS),
    ):
        if word not in known:
            raise CallError(f"{what}={word!r}; expected one of {', '.join(map(repr, known))}")
    if tree.n == 0:
        raise CallError(f"{name} has no joint that moves: there is no equation of motion")
    return (expanded if chosen == "expanded" else in_terms)(
        tree, name, parameters, geometry, names or {}
    )


def is_readable(tree: Tree) -> bool:
    """Return whether the expanded form is short enough to be read."""
    return len(tree.bodies) <= 2 or (len(tree.bodies) <= READABLE and is_rectangular(tree))


def is_rectangular(tree: Tree) -> bool:
    """Return whether all axes and placements rotate by right angles only.

    Then the constants of the equations are exact.
    """
    directions = [row for body in tree.bodies for row in body.placement.R] + [
        rotor.axis for rotor in tree.rotors
    ]
    turned = all(x in (0.0, 1.0, -1.0) for row in directions for x in row)
    quarters = all(
        abs(math.sin(2 * body.offset)) < 1e-12 for body in tree.bodies if body.kind == "revolute"
    )
    return turned and quarters and all(principal(body.axis) is not None for body in tree.bodies)


def expanded(
    tree: Tree, name: str, parameters: str, geometry: str, names: Mapping[str, str]
) -> Symbolic:
    """Return every quantity in full, in sines and cosines of the joint angles.

    A numeric robot is traced in symbols too, and the numbers are substituted as rationals: no
    rounding hides that two terms are equal.
    """
    traced = trace_equations(
        tree, "symbolic" if parameters == "numeric" else parameters, "symbolic"
    )
    shown = [(traced.parameters, parameters != "numeric"), (traced.lengths, geometry != "numeric")]
    named = apply_names([x for group, is_shown in shown for x in group if is_shown], names)
    symbols = {
        x.name: _symbol(new.name)
        for x, new in zip((x for group, s in shown if s for x in group), named, strict=True)
    }
    motion = _motion(tree.n)
    scalars = [[symbols[x.name] if s else rational(x.value) for x in group] for group, s in shown]
    forms = _normal_forms(expressions(traced.program, [*motion, *scalars], rational))
    outer = {"T": motion[1], "tau": motion[2]}
    by_name = {
        quantity: [shortest_form(terms, outer.get(quantity, ())) for terms in forms[quantity]]
        for quantity in NAMES
    }
    if is_rectangular(tree):
        columns = exact_columns(_rows(forms["Y"], tree.n), list(symbols.values()))
    else:
        columns = sampled_columns(tree)
    return Symbolic(
        **_common(tree, name, motion, named), **_as_matrices(by_name, tree.n), columns=columns
    )


def _normal_forms(values: Sequence[Sequence[Any]]) -> dict[str, list[Any]]:
    """Return the normal forms of the scalars of each quantity."""
    forms = iter(normal_forms([x for value in values for x in value]))
    return {
        quantity: [next(forms) for _ in value]
        for quantity, value in zip(NAMES, values, strict=True)
    }


def in_terms(
    tree: Tree, name: str, parameters: str, geometry: str, names: Mapping[str, str]
) -> Symbolic:
    """Return every quantity in terms of named common subexpressions."""
    traced: Traced = trace_equations(tree, parameters, geometry)
    named = apply_names([*traced.parameters, *traced.lengths], names)
    symbols, motion = [_symbol(x.name) for x in named], _motion(tree.n)
    count = len(traced.parameters)
    terms = NamedTerms(traced.program, [*motion, symbols[:count], symbols[count:]])
    results = dict(zip(NAMES, terms.results(), strict=True))
    return Symbolic(
        **_common(tree, name, motion, named),
        **_as_matrices(results, tree.n),
        columns=sampled_columns(tree),
        terms=terms.terms,
    )


def _common(
    tree: Tree, name: str, motion: Sequence[Sequence[Any]], named: Sequence[Named]
) -> dict[str, Any]:
    q, qd, qdd = map(tuple, motion)
    symbols = {_symbol(x.name): x for x in named}
    about = {
        "name": name,
        "joint_names": tree.coordinates,
        "parameter_names": tuple(parameter_names(tree)),
    }
    return {**about, "q": q, "qd": qd, "qdd": qdd, "symbols": symbols}


def _as_matrices(values: Mapping[str, list[Any]], n: int) -> dict[str, Any]:
    """Return energies as scalars, other quantities as matrices: (n, n), (n, p), or one column."""
    import sympy as sp

    shapes = {name: (n, len(values[name]) // n) for name in ("M", "C", "Y")}
    matrices = {
        k: sp.ImmutableMatrix(*shapes.get(k, (len(v), 1)), v)
        for k, v in values.items()
        if k not in ("T", "U")
    }
    return {"T": values["T"][0], "U": values["U"][0], **matrices}


def _rows(values: Sequence[Any], n: int) -> list[Sequence[Any]]:
    width = len(values) // n
    return [values[i * width : (i + 1) * width] for i in range(n)]


def _motion(n: int) -> list[list[Any]]:
    return [[_symbol(f"{letter}_{i + 1}") for i in range(n)] for letter in MOTION]


def _symbol(name: str) -> Any:
    import sympy as sp

    return sp.Symbol(name, real=True)


MOTION = ("q", "qdot", "qddot")  # SymPy prints a name that ends in dot with a dot
NAMES = ("T", "U", "M", "C", "g", "friction", "tau", "Y", "parameters")
Nodes = Sequence[Any]


@dataclass(frozen=True)
class Traced:
    """A program of q, qdot, qddot, named parameters and named lengths, with one output per NAMES.

    Gravity is among the lengths.
    """

    program: Program
    parameters: tuple[Named, ...]
    lengths: tuple[Named, ...]


def trace_equations(tree: Tree, parameters: str, geometry: str) -> Traced:
    """Trace the equations of motion on a tree with symbols in place of its numbers (`named_tree`).

    Energies and M come from their algorithms, C from the Christoffel symbols of M, g = dU/dq, tau
    and Y from Newton-Euler. Lagrangian lecture, "How it all fits together": D(q) qdd + C(q, qd) qd
    + G(q) = tau.
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
    inputs += [
        Operand(name, (len(x.named),))
        for name, x in (("parameters", parameter), ("lengths", length))
    ]
    outputs = [
        Operand(name, (len(list(flatten(value))),))
        for name, value in zip(NAMES, values, strict=True)
    ]
    return Traced(
        program("closed_form", graph, inputs, outputs, values),
        tuple(parameter.named),
        tuple(length.named),
    )


def christoffel_matrix(M: Sequence[Nodes], q: Nodes, qd: Nodes) -> list[list[Expr | float]]:
    """Return c_kj = sum over i of (dM_kj/dq_i + dM_ki/dq_j - dM_ij/dq_k)/2 qd_i.

    It is computed as C = (dM/dt + A - A^T)/2 with A = d(M qd)/dq, which takes n + 1 derivatives in
    place of n^3. Lagrangian lecture, "Christoffel symbols".
    """
    n = len(q)
    momentum = [sum((m * rate for m, rate in zip(row, qd, strict=True)), 0.0) for row in M]
    columns = [derivative(momentum, {x: 1.0}) for x in q]  # columns[j][k] = A_kj
    rates = derivative([M[k][j] for k in range(n) for j in range(n)], dict(zip(q, qd, strict=True)))
    return [
        [0.5 * (rates[n * k + j] + columns[j][k] - columns[k][j]) for j in range(n)]
        for k in range(n)
    ]


LONG = 24  # operations in one expression before it gets a name


class NamedTerms:
    """Common terms of a program in order of dependence, and the program's results in them.

    `symbols` has one list per input.
    """

    def __init__(self, program: Program, symbols: Sequence[Sequence[Any]]) -> None:
        self.terms: dict[Any, Any] = {}
        self._operations, self._program, self._symbols = operations(), program, symbols
        self._uses = count_uses(program)
        self._numbers = count(1)
        self._values: dict[int, Any] = {}
        self._sizes: dict[int, int] = {}
        for step in program.steps:
            self._add(step)

    def results(self) -> list[list[Any]]:
        """Return the scalars of each output, as SymPy expressions."""
        return [
            [self._values[r.id] if isinstance(r, Expr) else readable_number(r) for r in result]
            for result in self._program.results
        ]

    def _add(self, step: Expr) -> None:
        if step.op == "const":
            value, size = readable_number(step.payload), 0
        elif step.op == "input":
            value, size = self._symbols[step.payload[0]][step.payload[1]], 0
        else:
            value = self._operations[step.op](*(self._values[a.id] for a in step.args))
            size = 1 + sum(self._sizes[a.id] for a in step.args)
            if self._gets_a_name(step, value, size):
                name = self._name(step)
                self.terms[name], value, size = value, name, 0
        self._values[step.id], self._sizes[step.id] = value, size

    def _gets_a_name(self, step: Expr, value: Any, size: int) -> bool:
        if (
            step.op in ("lt", "le", "neg")
            or value.is_Atom
            or (value.is_Mul and len(value.args) == 2 and value.args[0] == -1)
        ):
            return False
        return step.op in ("sin", "cos") or self._uses[step.id] > 1 or size > LONG

    def _name(self, step: Expr) -> Any:
        """Return s_i and c_i for the sine and cosine of q_i, x_k for other terms."""
        import sympy as sp

        of_joint = (
            step.op in ("sin", "cos")
            and step.args[0].op == "input"
            and step.args[0].payload[0] == 0
        )
        return sp.Symbol(
            (
                f"{step.op[0]}_{step.args[0].payload[1] + 1}"
                if of_joint
                else f"x_{next(self._numbers)}"
            ),
            real=True,
        )


def count_uses(program: Program) -> Counter[int]:
    """Return how often each node is used, by other nodes and by results."""
    times = Counter(argument.id for step in program.steps for argument in step.args)
    times.update({r.id for result in program.results for r in result if isinstance(r, Expr)})
    return times
