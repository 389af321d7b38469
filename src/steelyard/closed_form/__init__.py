"""A robot's equations in closed form: SymPy expressions and LaTeX of energies, M, C, g, torques and the regressor.

Two ways to the same equations, both by running the algorithms on a scalar of their own: a normal form, which is what people read of arms
of two or three joints, and nodes of the graph, which are spelled in named common terms. SymPy renders; it computes nothing.
"""

from __future__ import annotations

from .build import symbolic
from .symbolic import Symbolic

__all__ = ["Symbolic", "symbolic"]
