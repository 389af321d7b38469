"""Rendering of a program as CasADi SX expressions.

Andersson, Gillis, Horn, Rawlings and Diehl, "CasADi", Math. Prog. Comp. 11, 2019, section 3 (SX: a
graph of scalars).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...errors import needs_extra
from ..ir.program import Operand, Program
from .evaluate import ARITHMETIC, Table, evaluate


def casadi() -> Any:
    """Return the package `casadi`; MissingExtra if it is not installed."""
    try:
        import casadi
    except ImportError:
        raise needs_extra("casadi", "casadi", "to_casadi()") from None
    return casadi


def operations(ca: Any) -> Table:
    """Return the table of operations as CasADi functions."""
    functions = {
        name: getattr(ca, name)
        for name in ("sin", "cos", "sqrt", "exp", "tanh", "asin", "acos", "atan2", "sign")
    }
    return functions | ARITHMETIC | {"abs": ca.fabs, "select": ca.if_else}


def expressions(program: Program, symbols: Sequence[Any]) -> list[Any]:
    """Return per output an SX of the shape of `extent`.

    `symbols` has one SX of that shape for each input. Zeros are structural.
    """
    ca = casadi()
    scalars = [_entries(x, operand) for x, operand in zip(symbols, program.inputs, strict=True)]
    outputs = evaluate(program, operations(ca), scalars, ca.SX)
    return [
        _matrix(ca, values, extent(operand))
        for values, operand in zip(outputs, program.outputs, strict=True)
    ]


def extent(operand: Operand) -> tuple[int, int]:
    """Return the number of rows and columns, since CasADi has matrices only.

    A vector is a column; of more than two axes, all but the first are columns.
    """
    rows = operand.shape[0] if operand.shape else 1
    return rows, operand.size // max(rows, 1)


def _entries(x: Any, operand: Operand) -> list[Any]:
    rows, columns = extent(operand)
    return [x[i, j] for i in range(rows) for j in range(columns)]


def _matrix(ca: Any, values: Sequence[Any], shape: tuple[int, int]) -> Any:
    """Return scalars in row-major order as a matrix; CasADi stores columns."""
    rows, columns = shape
    return (
        ca.sparsify(ca.reshape(ca.vertcat(*values), columns, rows).T)
        if values
        else ca.SX(rows, columns)
    )
