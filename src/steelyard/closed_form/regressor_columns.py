"""Columns of a regressor that vanish or depend on others, exactly or by sampling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..mechanism.parameter_vector import parameter_names
from ..mechanism.tree import Tree
from ..parameters.base import group_parameters, sampled_regressor
from .normal_form import WaveTerms, readable_number

# a dependent column -> the columns of which it is a sum, with coefficients
Relations = dict[int, dict[int, Any]]


@dataclass(frozen=True)
class RegressorColumns:
    """Zero and dependent columns of Y, by index.

    A dependent column has the coefficients of the earlier columns of which it is a sum. `exact` is
    True if coefficients are exact expressions, False if they are numbers from random states.
    Gautier and Khalil 1990; lecture "Structure and identification", minimal set of dynamic
    coefficients.
    """

    vanishing: tuple[int, ...]
    dependent: Mapping[int, Mapping[int, Any]]
    count: int
    exact: bool

    @property
    def independent(self) -> tuple[int, ...]:
        """Columns that are neither zero nor dependent."""
        return tuple(
            j for j in range(self.count) if j not in self.vanishing and j not in self.dependent
        )

    def combine(self, parameters: Sequence[Any]) -> list[Any]:
        """Return the base parameters pi_b + K pi_d."""
        shares = [
            [relation[i] * parameters[j] for j, relation in self.dependent.items() if i in relation]
            for i in self.independent
        ]
        return [
            parameters[i] + sum(share) for i, share in zip(self.independent, shares, strict=True)
        ]


def exact_columns(Y: Sequence[Sequence[WaveTerms]], constants: Sequence[Any]) -> RegressorColumns:
    """Return the column relations of a regressor in normal form.

    `constants` are the symbols that do not change with the motion. Monomials and waves are
    independent functions of the motion, so that a relation between columns holds for each of them
    alone. That is a linear problem over the field of rational functions of the constants, solved by
    elimination.
    """
    from sympy import QQ
    from sympy.polys.matrices import DomainMatrix

    used = [
        x
        for x in constants
        if any(x in monomial.free_symbols for row in Y for terms in row for monomial, _ in terms)
    ]
    field, count = QQ.frac_field(*used) if used else QQ, len(Y[0])
    rows = coefficient_rows(Y, field, used)
    reduced, pivots = DomainMatrix(dict(enumerate(rows)), (len(rows), count), field).rref()
    relations: Relations = {}
    for (i, j), value in sorted(
        reduced.to_dok().items(), key=lambda item: (item[0][1], item[0][0])
    ):
        if j not in pivots and value:
            relations.setdefault(j, {})[pivots[i]] = field.to_sympy(value)
    return _columns(count, pivots, relations, exact=True)


def coefficient_rows(
    Y: Sequence[Sequence[WaveTerms]], field: Any, constants: Sequence[Any]
) -> list[dict[int, Any]]:
    """Return one row per joint, monomial and wave, with the coefficient of each column."""
    rows: dict[Any, dict[int, Any]] = {}
    for joint, row in enumerate(Y):
        for j, terms in enumerate(row):
            for (monomial, wave), c in terms.items():
                motion, factor = (
                    monomial.as_independent(*constants, as_Add=False)
                    if constants
                    else (monomial, 1)
                )
                cells = rows.setdefault((joint, motion, wave), {})
                cells[j] = cells.get(j, field.zero) + field.from_sympy(c * factor)
    distinct = {
        tuple(sorted((j, str(c)) for j, c in cells.items())): cells for cells in rows.values()
    }
    return [{j: c for j, c in cells.items() if c} for cells in distinct.values()]


def sampled_columns(tree: Tree) -> RegressorColumns:
    """Return the column relations of a tree's regressor at random states. Gautier 1991."""
    names = parameter_names(tree)
    base = group_parameters(sampled_regressor(tree), names, names)
    relations: Relations = {}
    for j in range(len(names)):
        if j not in base.columns and base.matrix[:, j].any():
            relations[j] = {
                base.columns[i]: readable_number(f"{base.matrix[i, j]:.12g}")
                for i in base.matrix[:, j].nonzero()[0]
            }
    return _columns(len(names), base.columns, relations, exact=False)


def _columns(
    count: int, independent: Sequence[int], dependent: Relations, exact: bool
) -> RegressorColumns:
    vanishing = tuple(j for j in range(count) if j not in independent and j not in dependent)
    return RegressorColumns(vanishing, dependent, count, exact)
