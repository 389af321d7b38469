"""Results to read: tables, figures, one page. Compute, then draw."""

from .html import report
from .tables import Table

__all__ = ["Table", "report"]
