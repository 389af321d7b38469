"""The vector pi of dynamic parameters: base parameters, other conventions, physical consistency."""

from __future__ import annotations

from .base import BaseParameters, base_parameters
from .orders import reorder
from .pseudo_inertia import from_pseudo_inertia, is_consistent, nearest_consistent, pseudo_inertia

__all__ = [
    "BaseParameters",
    "base_parameters",
    "from_pseudo_inertia",
    "is_consistent",
    "nearest_consistent",
    "pseudo_inertia",
    "reorder",
]
