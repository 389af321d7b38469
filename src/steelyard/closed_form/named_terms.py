"""A program in named common terms: each value that is used more than once, or whose expression is long, gets a name.

The cost grows linearly with the program: six joints take about a second.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import count
from typing import Any

from ..compiler.ir.graph import Expr
from ..compiler.ir.program import Program
from ..compiler.render.sympy_expressions import operations
from .normal_form import readable_number

LONG = 24  # operations in one expression before it gets a name


class NamedTerms:
    """The terms of a program, each after those that it needs, and the program's results in them. `symbols`: one list per input."""

    def __init__(self, program: Program, symbols: Sequence[Sequence[Any]]) -> None:
        self.terms: dict[Any, Any] = {}
        self._operations, self._program, self._symbols = operations(), program, symbols
        self._uses = uses(program)
        self._numbers = count(1)
        self._values: dict[int, Any] = {}
        self._sizes: dict[int, int] = {}
        for step in program.steps:
            self._add(step)

    def results(self) -> list[list[Any]]:
        """The scalars of each output, as SymPy expressions."""
        return [[self._values[r.id] if isinstance(r, Expr) else readable_number(r) for r in result] for result in self._program.results]

    def _add(self, step: Expr) -> None:
        if step.op == "const":
            value, size = readable_number(step.payload), 0
        elif step.op == "input":
            value, size = self._symbols[step.payload[0]][step.payload[1]], 0
        else:
            value = self._operations[step.op](*(self._values[a.id] for a in step.args))
            size = 1 + sum(self._sizes[a.id] for a in step.args)
            if self._gets_a_name(step, value, size):
                name = self._name(step)
                self.terms[name], value, size = value, name, 0
        self._values[step.id], self._sizes[step.id] = value, size

    def _gets_a_name(self, step: Expr, value: Any, size: int) -> bool:
        if step.op in ("lt", "le", "neg") or value.is_Atom or (value.is_Mul and len(value.args) == 2 and value.args[0] == -1):
            return False
        return step.op in ("sin", "cos") or self._uses[step.id] > 1 or size > LONG

    def _name(self, step: Expr) -> Any:
        """s_i and c_i for the sine and cosine of q_i, x_k for all else."""
        import sympy as sp

        of_joint = step.op in ("sin", "cos") and step.args[0].op == "input" and step.args[0].payload[0] == 0
        return sp.Symbol(f"{step.op[0]}_{step.args[0].payload[1] + 1}" if of_joint else f"x_{next(self._numbers)}", real=True)


def uses(program: Program) -> Counter[int]:
    """How often each node is used, by other nodes and by results."""
    times = Counter(argument.id for step in program.steps for argument in step.args)
    times.update({r.id for result in program.results for r in result if isinstance(r, Expr)})
    return times
