"""The closed form of a tree: written out for short arms, in named common terms for long ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..compiler.render.sympy_expressions import expressions, operations
from ..dynamics.joint import principal
from ..errors import CallError
from ..mechanism.parameter_vector import parameter_names
from ..mechanism.tree import Tree
from .equations import MOTION, NAMES, Traced, trace_equations
from .named_terms import NamedTerms
from .naming import GEOMETRY, PARAMETERS, Named, renamed
from .normal_form import normal_forms, rational, shortest_form
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

    parameters: "symbolic" (the vector pi; what is zero in this robot stays zero), "all" (also what is zero), "barycentric" (masses, centres
    of mass and inertias about them, as in textbooks) or "numeric". geometry: "symbolic" (l_1, ..., g_0) or "numeric"; by default as the
    parameters. names: other names for symbols, such as {"l_1": "a_1"}. form: "expanded" or "terms"; by default "expanded" for up to three
    joints whose axes are parallel or at right angles, or two joints of any kind.
    """
    operations()  # raises MissingExtra before anything is computed
    geometry = geometry or ("numeric" if parameters == "numeric" else "symbolic")
    chosen = form or ("expanded" if is_readable(tree) else "terms")
    for what, word, known in (("parameters", parameters, PARAMETERS), ("geometry", geometry, GEOMETRY), ("form", chosen, FORMS)):
        if word not in known:
            raise CallError(f"{what}={word!r}; expected one of {', '.join(map(repr, known))}")
    if tree.n == 0:
        raise CallError(f"{name} has no joint that moves: there is no equation of motion")
    return (expanded if chosen == "expanded" else in_terms)(tree, name, parameters, geometry, names or {})


def is_readable(tree: Tree) -> bool:
    """Return whether the expanded form is short enough to be read."""
    return len(tree.bodies) <= 2 or (len(tree.bodies) <= READABLE and is_rectangular(tree))


def is_rectangular(tree: Tree) -> bool:
    """Return whether all axes and placements turn by right angles only: then the constants of the equations are exact."""
    directions = [row for body in tree.bodies for row in body.placement.R] + [rotor.axis for rotor in tree.rotors]
    turned = all(x in (0.0, 1.0, -1.0) for row in directions for x in row)
    quarters = all(abs(math.sin(2 * body.offset)) < 1e-12 for body in tree.bodies if body.kind == "revolute")
    return turned and quarters and all(principal(body.axis) is not None for body in tree.bodies)


def expanded(tree: Tree, name: str, parameters: str, geometry: str, names: Mapping[str, str]) -> Symbolic:
    """Every quantity written out in sines and cosines of the joints' angles.

    A robot in numbers is traced in symbols too, and the numbers are put in as rationals: no rounding hides that two terms are equal.
    """
    traced = trace_equations(tree, "symbolic" if parameters == "numeric" else parameters, "symbolic")
    shown = [(traced.parameters, parameters != "numeric"), (traced.lengths, geometry != "numeric")]
    named = renamed([x for group, is_shown in shown for x in group if is_shown], names)
    symbols = {x.name: _symbol(new.name) for x, new in zip((x for group, s in shown if s for x in group), named, strict=True)}
    motion = _motion(tree.n)
    scalars = [[symbols[x.name] if s else rational(x.value) for x in group] for group, s in shown]
    forms = _normal_forms(expressions(traced.program, [*motion, *scalars], rational))
    outer = {"T": motion[1], "tau": motion[2]}
    made = {quantity: [shortest_form(terms, outer.get(quantity, ())) for terms in forms[quantity]] for quantity in NAMES}
    if is_rectangular(tree):
        columns = exact_columns(_rows(forms["Y"], tree.n), list(symbols.values()))
    else:
        columns = sampled_columns(tree)
    return Symbolic(**_common(tree, name, motion, named), **_shaped(made, tree.n), columns=columns)


def _normal_forms(values: Sequence[Sequence[Any]]) -> dict[str, list[Any]]:
    """Per quantity the normal forms of its scalars."""
    made = iter(normal_forms([x for value in values for x in value]))
    return {quantity: [next(made) for _ in value] for quantity, value in zip(NAMES, values, strict=True)}


def in_terms(tree: Tree, name: str, parameters: str, geometry: str, names: Mapping[str, str]) -> Symbolic:
    """Every quantity in terms of named values that they share."""
    traced: Traced = trace_equations(tree, parameters, geometry)
    named = renamed([*traced.parameters, *traced.lengths], names)
    symbols, motion = [_symbol(x.name) for x in named], _motion(tree.n)
    count = len(traced.parameters)
    terms = NamedTerms(traced.program, [*motion, symbols[:count], symbols[count:]])
    made = dict(zip(NAMES, terms.results(), strict=True))
    return Symbolic(**_common(tree, name, motion, named), **_shaped(made, tree.n), columns=sampled_columns(tree), terms=terms.terms)


def _common(tree: Tree, name: str, motion: Sequence[Sequence[Any]], named: Sequence[Named]) -> dict[str, Any]:
    q, qd, qdd = map(tuple, motion)
    symbols = {_symbol(x.name): x for x in named}
    about = {"name": name, "joint_names": tree.coordinates, "parameter_names": tuple(parameter_names(tree))}
    return {**about, "q": q, "qd": qd, "qdd": qdd, "symbols": symbols}


def _shaped(values: Mapping[str, list[Any]], n: int) -> dict[str, Any]:
    """The energies as scalars, all else as matrices: (n, n), (n, p), or one column."""
    import sympy as sp

    shapes = {name: (n, len(values[name]) // n) for name in ("M", "C", "Y")}
    matrices = {k: sp.ImmutableMatrix(*shapes.get(k, (len(v), 1)), v) for k, v in values.items() if k not in ("T", "U")}
    return {"T": values["T"][0], "U": values["U"][0], **matrices}


def _rows(values: Sequence[Any], n: int) -> list[Sequence[Any]]:
    width = len(values) // n
    return [values[i * width : (i + 1) * width] for i in range(n)]


def _motion(n: int) -> list[list[Any]]:
    return [[_symbol(f"{letter}_{i + 1}") for i in range(n)] for letter in MOTION]


def _symbol(name: str) -> Any:
    import sympy as sp

    return sp.Symbol(name, real=True)
