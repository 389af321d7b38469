"""Which columns of a regressor vanish and which are combinations of others: exactly from normal forms, by sampling from a tree."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..dynamics.parametric import parameter_names
from ..mechanism.tree import Tree
from ..parameters.base import grouped, sampled_regressor
from .normal_form import Monomial, Normal, exact
from .shortest_form import number

Relations = dict[int, dict[int, Any]]  # a dependent column -> the columns that it is made of, with coefficients


@dataclass(frozen=True)
class Columns:
    """Columns of Y by number: those that are zero, and for each dependent one the coefficients of the columns before it that make it up.

    `exact` says whether coefficients are expressions that hold to the last digit, or numbers found at random states.
    Gautier and Khalil 1990; lecture "Structure and identification", minimal set of dynamic coefficients.
    """

    vanishing: tuple[int, ...]
    dependent: Mapping[int, Mapping[int, Any]]
    count: int
    exact: bool

    @property
    def independent(self) -> tuple[int, ...]:
        """The columns that stand on their own."""
        return tuple(j for j in range(self.count) if j not in self.vanishing and j not in self.dependent)


def exact_columns(Y: Sequence[Sequence[Any]], constants: Mapping[int, Any]) -> Columns:
    """Columns of a regressor in normal form. `constants`: the atoms that do not change with the motion, with their SymPy symbols.

    Monomials and waves are independent functions of the motion, so that a relation between columns holds for each of them alone: a linear
    problem over the field of rational functions of the constants, solved by elimination.
    """
    from sympy import QQ
    from sympy.polys.matrices import DomainMatrix

    atoms = [atom for atom in constants if any(_holds(y, atom) for row in Y for y in row)]
    field = QQ.frac_field(*(constants[atom] for atom in atoms)) if atoms else QQ
    generators = dict(zip(atoms, field.gens if atoms else (), strict=True))
    rows = coefficient_rows(Y, field, generators)
    count = len(Y[0])
    reduced, pivots = DomainMatrix(dict(enumerate(rows)), (len(rows), count), field).rref()
    made: Relations = {}
    for (i, j), value in sorted(reduced.to_dok().items(), key=lambda item: (item[0][1], item[0][0])):
        if j not in pivots and value:
            made.setdefault(j, {})[pivots[i]] = field.to_sympy(value)
    vanishing = tuple(j for j in range(count) if j not in pivots and j not in made)
    return Columns(vanishing, made, count, exact=True)


def coefficient_rows(Y: Sequence[Sequence[Any]], field: Any, generators: Mapping[int, Any]) -> list[dict[int, Any]]:
    """One row per joint, monomial and wave of the motion: the coefficient of each column, an element of the field."""
    rows: dict[Any, dict[int, Any]] = {}
    for joint, row in enumerate(Y):
        for j, y in enumerate(row):
            form = y if isinstance(y, Normal) else None
            terms = form.terms if form is not None else {((), (False, ())): y} if y else {}
            for (monomial, wave), c in terms.items():
                motion = tuple(pair for pair in monomial if pair[0] not in generators)
                cells = rows.setdefault((joint, motion, wave), {})
                cells[j] = cells.get(j, field.zero) + _element(field, c, monomial, generators)
    distinct = {tuple(sorted((j, str(c)) for j, c in cells.items())): cells for cells in rows.values()}
    return [{j: c for j, c in cells.items() if c} for cells in distinct.values()]


def sampled_columns(tree: Tree) -> Columns:
    """Columns of a tree's regressor by its values at random states. Gautier 1991."""
    names = parameter_names(tree)
    base = grouped(sampled_regressor(tree), names, names)
    made: Relations = {}
    for j in range(len(names)):
        if j not in base.columns:
            found = {base.columns[i]: number(float(f"{base.matrix[i, j]:.12g}")) for i in base.matrix[:, j].nonzero()[0]}
            if found:
                made[j] = found
    vanishing = tuple(j for j in range(len(names)) if j not in base.columns and j not in made)
    return Columns(vanishing, made, len(names), exact=False)


def _element(field: Any, c: Any, monomial: Monomial, generators: Mapping[int, Any]) -> Any:
    share = exact(c)
    value = field(share.numerator) / field(share.denominator)
    for atom, power in monomial:
        if atom in generators:
            value = value * generators[atom] ** power
    return value


def _holds(y: Any, atom: int) -> bool:
    return isinstance(y, Normal) and any(a == atom for monomial, _ in y.terms for a, _ in monomial)


def combination(columns: Columns, parameters: Sequence[Any], keep: Collection[int]) -> list[Any]:
    """The base parameters: each kept parameter with the share of those whose columns depend on its own, pi_b + sum of K pi_d."""
    return [
        parameters[i] + sum(relation[i] * parameters[j] for j, relation in columns.dependent.items() if i in relation) for i in sorted(keep)
    ]
