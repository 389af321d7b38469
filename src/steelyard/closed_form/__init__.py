"""A robot's equations in closed form: SymPy expressions and LaTeX of energies, M, C, g, torques and the regressor.

The algorithms are traced on a tree whose numbers are symbols. SymPy writes the result out for arms of two or three joints, and in named
common terms for longer ones.
"""

from __future__ import annotations

from .build import symbolic
from .symbolic import Symbolic

__all__ = ["Symbolic", "symbolic"]
