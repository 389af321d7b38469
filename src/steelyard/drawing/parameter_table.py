"""The table of base parameters.

Each with its value, two standard deviations and the combination that it is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .numbers import percent, with_uncertainty
from .table import Column, Table

Array = NDArray[np.float64]
COLUMNS = (
    Column("parameter", numeric=False),
    Column("value"),
    Column("± 2σ"),
    Column("σ/|value|", "%"),
    Column("is", numeric=False),
)


def parameter_table(
    title: str,
    names: Sequence[str],
    values: Array,
    std: Array,
    expressions: Sequence[str],
    note: str = "",
) -> Table:
    """Return the table of parameters with values and standard deviations (b,) in their units."""
    rows = zip(names, values, std, relative_std(std, values), expressions, strict=True)
    cells = tuple(
        (name, *with_uncertainty(value, 2 * spread), percent(share), text)
        for name, value, spread, share, text in rows
    )
    data = {"parameter": names, "value": values, "std": std, "is": expressions}
    return Table(title, COLUMNS, cells, note, data=data)


def typeset(expression: str) -> str:
    """Return a combination of parameters with typographic signs, as a page shows it."""
    return expression.replace("*", "·").replace(" - ", " − ").replace("-", "−")


def relative_std(std: Array, value: Array) -> Array:
    """Return std / |value|, a fraction: 0 where std is 0, infinite where only the value is."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(std == 0, 0.0, std / np.abs(value))


def correlation(covariance: Array) -> tuple[NDArray[np.intp], Array]:
    """Return the parameters with a variance, (k,), and their correlations (k, k), of (b, b)."""
    size = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    known = np.flatnonzero(np.isfinite(size) & (size > 0))
    return known, covariance[np.ix_(known, known)] / np.outer(size[known], size[known])
