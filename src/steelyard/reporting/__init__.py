"""Results to read: tables, figures, one page. Compute, then draw."""

from ..drawing.table import Table
from .page import report
from .tables import base_table, error_table, full_table, truth_table

__all__ = ["Table", "base_table", "error_table", "full_table", "report", "truth_table"]
