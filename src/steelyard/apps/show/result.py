"""A fit on the terminal: errors, parameters, verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType

from ...reporting import base_table, error_table
from .terminal import judgement, terminal_table

if TYPE_CHECKING:
    from ...identification import Fit, Validation


def outcome(fit: Fit, validation: Validation | None = None) -> RenderableType:
    """Torque errors before, after and, if there is one, on another motion; base parameters; verdict."""
    return Group(terminal_table(error_table(fit, validation)), terminal_table(base_table(fit), skip=("combination",)), verdict(fit))


def verdict(fit: Fit) -> RenderableType:
    """The fit's verdict on itself, and the reasons."""
    first, *reasons = fit.check()
    return judgement(first, first.startswith("This fit can be trusted"), reasons)
