"""The base parameters of a fit as a table of text."""

from __future__ import annotations

from ...drawing.numbers import percent, with_uncertainty
from ...drawing.table import Column, Table
from .uncertainty import Uncertainty


def base_lines(uncertainty: Uncertainty) -> list[str]:
    """Return a table of the base parameters with two standard deviations, line by line."""
    columns = (Column("parameter", numeric=False), Column("value"), Column("± 2σ"), Column("σ/|value|", "%"), Column("is", numeric=False))
    rows = zip(
        uncertainty.base.names, uncertainty.values, uncertainty.std, uncertainty.relative_std, uncertainty.base.expressions, strict=True
    )
    cells = tuple((name, *with_uncertainty(value, 2 * std), percent(share), text) for name, value, std, share, text in rows)
    lines = Table("Base parameters", columns, cells).to_text().splitlines()
    return [*lines, "", f"not shown by these samples: {', '.join(uncertainty.unexcited) or 'nothing'}"]
