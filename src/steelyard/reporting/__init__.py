"""An identification to read: tables, figures, one page, a folder of results."""

from typing import TYPE_CHECKING, Any

from .tables import accuracy_table, base_table, cause_table, error_table, full_table

if TYPE_CHECKING:
    from .page import report

__all__ = ["accuracy_table", "base_table", "cause_table", "error_table", "full_table", "report"]


def __getattr__(name: str) -> Any:
    """Import `report` when it is first used: tables need none of its figures."""
    if name == "report":
        from .page import report

        return report
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
