"""Equations of motion in closed form, with values, LaTeX and derived quantities."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import CallError
from ..files import write_atomic
from .latex import body, display, document
from .quantities import Quantities


@dataclass(frozen=True, eq=False, repr=False)
class Symbolic(Quantities):
    """A robot's equations of motion in closed form, as SymPy expressions.

    It has the fields of `Quantities`. Arms of more than three joints are written in `terms`.
    Lagrangian lecture, "How it all fits together".
    """

    @property
    def values(self) -> dict[Any, float]:
        """The values of this robot's symbols."""
        return {symbol: named.value for symbol, named in self.symbols.items()}

    # the regressor's columns

    @property
    def vanishing(self) -> tuple[str, ...]:
        """The parameters without effect on the torques: their columns of Y are zero."""
        return tuple(self.parameter_names[j] for j in self.columns.vanishing)

    @property
    def dependent(self) -> dict[str, dict[str, Any]]:
        """The parameters whose column of Y is a sum of earlier ones.

        {'link2.m': {'link1.mcx': l_1, 'link1.Izz': l_1**2}}.
        """
        names = self.parameter_names
        return {
            names[j]: {names[i]: c for i, c in relation.items()}
            for j, relation in self.columns.dependent.items()
        }

    @property
    def base_parameters(self) -> Any:
        """The combinations of parameters on which torques depend, (b, 1).

        Y[:, columns.independent] base_parameters = tau.
        """
        import sympy as sp

        return sp.ImmutableMatrix(self.columns.combine(list(self.parameters)))

    # the same equations by other methods

    def euler_lagrange(self) -> Any:
        """Return the torques by the Euler-Lagrange equations, (n, 1).

        d/dt dL/dqd - dL/dq + friction, differentiated by SymPy. Independent of Newton-Euler, which
        gives `tau`. Lagrangian lecture, "Let's plug it all together".
        """
        import sympy as sp

        if self.terms:
            raise CallError(
                f"{self.name} is in named terms, which SymPy would differentiate for hours: tau has"
                " its torques, by Newton-Euler"
            )
        L, state, rates = self.L, (*self.q, *self.qd), (*self.qd, *self.qdd)
        rows = []
        for k in range(self.n):
            momentum = sp.diff(L, self.qd[k])
            change = sum(sp.diff(momentum, x) * rate for x, rate in zip(state, rates, strict=True))
            rows.append(change - sp.diff(L, self.q[k]) + self.friction[k])
        return sp.ImmutableMatrix(rows)

    def expand(self, expression: Any) -> Any:
        """Return an expression or matrix without named terms, which is long for long arms."""
        for name, value in reversed(self.needed_terms(expression).items()):
            expression = expression.xreplace({name: value})
        return expression

    def evaluate(
        self, quantity: str, q: ArrayLike, qd: ArrayLike | None = None, qdd: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """Return a quantity as numbers at one state, with the robot's own values.

        For checking; `Robot` computes the same far faster. q, qd, qdd: (n,), zero by default.
        Returns the shape of the quantity, vectors as (n,).
        """
        import sympy as sp

        expression = self.quantity(quantity)
        state = [
            np.zeros(self.n) if x is None else np.asarray(x, dtype=float) for x in (q, qd, qdd)
        ]
        for what, x in zip(("q", "qd", "qdd"), state, strict=True):
            if x.shape != (self.n,):
                raise CallError(
                    f"{what} has shape {x.shape}; expected ({self.n},): one number for each of"
                    f" {', '.join(self.joint_names)}"
                )
        arguments = [*self.q, *self.qd, *self.qdd, *self.symbols]
        terms = list(self.needed_terms(expression).items())
        function = sp.lambdify(
            arguments,
            expression,
            modules="numpy",
            cse=lambda expressions, **_: (terms, expressions),
        )
        result = np.array(function(*np.concatenate(state), *self.values.values()), dtype=float)
        return (
            result[:, 0]
            if result.ndim == 2 and result.shape[1] == 1 and quantity not in ("M", "C", "Y")
            else result
        )

    # LaTeX

    def to_latex(self, quantity: str | None = None) -> str:
        """Return LaTeX (amsmath) of one quantity with its terms, or of the whole model."""
        return body(self) if quantity is None else display(self, quantity, self.quantity(quantity))

    def write_tex(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write a LaTeX document of the whole model, atomically.

        It compiles with any TeX that has amsmath.
        """
        write_atomic(path, document(self), overwrite)

    def _repr_latex_(self) -> str:
        if self.terms:
            size = rf"n = {self.n},\ \text{{{len(self.terms)} named terms}}"
            return (
                rf"$\displaystyle M(q)\,\ddot q + C(q, \dot q)\,\dot q + g(q) = \tau,\quad {size}$"
            )
        return "$$\n" + "\n\\qquad ".join(self._matrix_latex(x) for x in ("M", "C", "g")) + "\n$$"

    def _matrix_latex(self, quantity: str) -> str:
        from sympy import latex

        return f"{quantity} = {latex(self.quantity(quantity), mat_delim='(', mat_str='matrix')}"

    def __repr__(self) -> str:
        return (
            f"Symbolic({self.name!r}, n={self.n}, {len(self.symbols)} symbols, {len(self.terms)}"
            " named terms)"
        )

    def __str__(self) -> str:
        lines = [
            repr(self),
            *(
                f"{name} = {value}"
                for name, value in self.needed_terms(self.T, self.U, self.M, self.C, self.g).items()
            ),
        ]
        lines += [f"T = {self.T}", f"U = {self.U}"]
        for letter in ("M", "C"):
            lines += [
                f"{letter}[{i + 1},{j + 1}] = {self.quantity(letter)[i, j]}"
                for i in range(self.n)
                for j in range(self.n)
            ]
        return "\n".join(lines + [f"g[{i + 1}] = {self.g[i]}" for i in range(self.n)])
