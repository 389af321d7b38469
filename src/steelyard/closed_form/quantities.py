"""Quantities of a robot's equations of motion, as SymPy expressions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import CallError, suggest
from .naming import Named
from .regressor_columns import RegressorColumns

QUANTITIES = ("T", "U", "L", "M", "C", "g", "friction", "tau", "Y")


@dataclass(frozen=True, eq=False, repr=False)
class Quantities:
    """M(q) qdd + C(q, qd) qd + g(q) + friction(qd) = tau, and Y(q, qd, qdd) parameters = tau.

    q, qd, qdd: n symbols each. T, U: energies [J]. M, C: (n, n); g, friction, tau: (n, 1) [N m|N];
    Y: (n, p); parameters: (p, 1), pi. `symbols` maps each symbol of the robot to its name, value,
    unit and meaning. `terms` maps the name of each common term to its expression, in order of
    dependence; it is empty for expressions in full.
    """

    name: str
    joint_names: tuple[str, ...]
    parameter_names: tuple[str, ...]
    q: tuple[Any, ...]
    qd: tuple[Any, ...]
    qdd: tuple[Any, ...]
    T: Any
    U: Any
    M: Any
    C: Any
    g: Any
    friction: Any
    tau: Any
    Y: Any
    parameters: Any
    columns: RegressorColumns
    symbols: Mapping[Any, Named] = field(default_factory=dict)
    terms: Mapping[Any, Any] = field(default_factory=dict)

    @property
    def n(self) -> int:
        return len(self.q)

    @property
    def L(self) -> Any:
        """The Lagrangian T - U [J]."""
        return self.T - self.U

    def quantity(self, name: str) -> Any:
        """Return the expression or matrix with a name of QUANTITIES."""
        if name not in QUANTITIES:
            raise CallError(f"no quantity is called {name!r}; {suggest(str(name), QUANTITIES)}")
        return getattr(self, name)

    def needed_terms(self, *expressions: Any) -> dict[Any, Any]:
        """Return the named terms on which expressions depend, in order of dependence."""
        needed = {s for e in expressions for s in e.free_symbols}
        for name in reversed(self.terms):
            if name in needed:
                needed |= self.terms[name].free_symbols
        return {name: value for name, value in self.terms.items() if name in needed}
