"""Equations of motion in closed form: SymPy expressions and LaTeX.

The algorithms are traced on a tree whose numbers are symbols. SymPy writes the result in full for
arms of two or three joints, and in named common terms for longer ones.
"""

from __future__ import annotations

from .build import symbolic
from .symbolic import Symbolic

__all__ = ["Symbolic", "symbolic"]
