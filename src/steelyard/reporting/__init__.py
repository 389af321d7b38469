"""An identification to read: tables, figures, one page, a folder of results."""

from .page import report
from .tables import accuracy_table, base_table, cause_table, error_table, full_table

__all__ = ["accuracy_table", "base_table", "cause_table", "error_table", "full_table", "report"]
