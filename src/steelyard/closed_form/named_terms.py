"""A program in named common terms: every value that is used more than once, or that has grown long, gets a name of its own.

The graph has computed and shared already; SymPy only spells it. The cost grows linearly with the program: six joints take a second.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ..compiler.ir.graph import Expr
from ..compiler.ir.program import Program
from ..compiler.render.sympy_expressions import operations
from .shortest_form import number

LONG = 24  # operations in one expression before it is cut


class NamedTerms:
    """The terms of a program, in an order in which each needs only earlier ones, and what the program's results are in them."""

    def __init__(self, program: Program, symbols: Sequence[Sequence[Any]]) -> None:
        import sympy as sp

        self.sp, self.table, self.program, self.symbols = sp, operations(), program, symbols
        self.terms: dict[Any, Any] = {}
        self._uses = uses(program)
        self._angles: Counter[str] = Counter()
        self._values: dict[int, Any] = {}
        self._sizes: dict[int, int] = {}
        for step in program.steps:
            self._take(step)

    def results(self) -> list[list[Any]]:
        """Per output its scalars."""
        return [[self._values[r.id] if isinstance(r, Expr) else number(r) for r in result] for result in self.program.results]

    def _take(self, step: Expr) -> None:
        if step.op == "const":
            value, size = number(step.payload), 0
        elif step.op == "input":
            value, size = self.symbols[step.payload[0]][step.payload[1]], 0
        else:
            value = self.table[step.op](*(self._values[a.id] for a in step.args))
            size = 1 + sum(self._sizes[a.id] for a in step.args)
            if self._worth_a_name(step, value, size):
                name = self._name(step)
                self.terms[name], value, size = value, name, 0
        self._values[step.id], self._sizes[step.id] = value, size

    def _worth_a_name(self, step: Expr, value: Any, size: int) -> bool:
        if step.op in ("lt", "le", "neg") or value.is_Atom or (value.is_Mul and len(value.args) == 2 and value.args[0] == -1):
            return False
        return step.op in ("sin", "cos") or self._uses[step.id] > 1 or size > LONG

    def _name(self, step: Expr) -> Any:
        """s_i and c_i for the sine and cosine of q_i, x_k for all else."""
        if step.op in ("sin", "cos") and step.args[0].op == "input":
            operand, index = step.args[0].payload
            return self.sp.Symbol(f"{step.op[0]}_{index + 1}" if operand == 0 else f"x_{self._next()}", real=True)
        return self.sp.Symbol(f"x_{self._next()}", real=True)

    def _next(self) -> int:
        self._angles["x"] += 1
        return self._angles["x"]


def uses(program: Program) -> Counter[int]:
    """How often each node is used, by other nodes and by results."""
    count = Counter(argument.id for step in program.steps for argument in step.args)
    count.update({r.id for result in program.results for r in result if isinstance(r, Expr)})
    return count


def needed(terms: Mapping[Any, Any], expressions: Sequence[Any]) -> dict[Any, Any]:
    """The terms that some expressions need, through other terms, in their order."""
    wanted = {s for e in expressions for s in e.free_symbols}
    for name in reversed(terms):
        if name in wanted:
            wanted |= terms[name].free_symbols
    return {name: value for name, value in terms.items() if name in wanted}
