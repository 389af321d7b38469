"""The laws of physics, checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from .console import table

if TYPE_CHECKING:
    from ...checks.laws import SelfCheck


def check_table(result: SelfCheck) -> RenderableType:
    """One row per law, and the verdict."""
    made = table("Laws", ["", "law", "statement", ">worst", ">allowed"], "worst: the largest violation, relative to the size of the terms")
    for law in result.laws:
        mark = Text("holds", style="green") if law.ok else Text("FAILS", style="bold red")
        made.add_row(mark, law.name, law.statement, f"{law.violation:.1e}", f"{law.bound:.0e}")
    return Group(made, Text(result.verdict, style="green" if result.ok else "bold red"))
