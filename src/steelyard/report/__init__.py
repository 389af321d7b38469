"""Results to read: tables, figures, one page. Compute, then draw."""

from .fit_tables import base_table, error_table, full_table, truth_table
from .html import report
from .tables import Table

__all__ = ["Table", "base_table", "error_table", "full_table", "report", "truth_table"]
