"""LLVM instructions for the steps of a program, from a table of operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...ir.graph import Expr
from ...ir.program import Program
from .atan2 import acos, asin, atan2
from .loop import LoopLayout, call_by_lane, row_pointers
from .sincos import Near, early_arguments, near_arguments, sincos, sincos_near
from .transpose import pair_columns, read_pair
from .writer import COMPARE, Writer


class FunctionBody:
    """Writer of the instructions of a part; `values` maps a node's id to its LLVM value."""

    def __init__(self, program: Program, layout: LoopLayout, writer: Writer) -> None:
        self.program, self.layout, self.w = program, layout, writer
        self.values: dict[int, str] = {}
        self._rows: dict[int, list[str]] = {}
        self._sincos: dict[str, tuple[str, str]] = {}
        self._leaves: Sequence[Expr] = ()
        self._near: dict[int, Near] = {}

    def rows(self, operand: int) -> list[str]:
        if operand not in self._rows:
            self._rows[operand] = row_pointers(self.w, self.layout, operand)
        return self._rows[operand]

    def read_inputs(self, leaves: Sequence[Expr]) -> None:
        by_position, self._leaves = {leaf.payload: leaf for leaf in leaves}, leaves
        for k, operand in enumerate(self.program.inputs):
            for c in pair_columns(operand.size):
                if (k, c) in by_position or (k, c + 1) in by_position:
                    for value, column in zip(
                        read_pair(self.w, self.rows(k), c, operand.size), (c, c + 1), strict=False
                    ):
                        if (k, column) in by_position:
                            self.values[by_position[k, column].id] = value

    def run(self, steps: Sequence[Expr]) -> None:
        """Emit all steps in order; sines and cosines of inputs come first, behind one branch.

        The branch is for large arguments.
        """
        self._near = near_arguments(
            steps, [k for k, operand in enumerate(self.program.inputs) if operand.shape == ()]
        )
        arguments = [
            self.value(x) for x in early_arguments(steps, self.values) if x.id not in self._near
        ]
        self._sincos.update(zip(arguments, sincos(self.w, self.layout, arguments), strict=True))
        for s in steps:
            self.value(s)

    def repeat(self, steps: Sequence[Expr]) -> None:
        """Emit a loop over all steps with the carried values in registers.

        The last input of the first lane is the number of runs, at least one.
        """
        w, before = self.w, self.w.current
        count = w.line(
            f"fptosi double {w.load('double', self.rows(len(self.program.inputs) - 1)[0])} to i64"
        )
        w.do("br label %again")
        w.label("again")
        top, turn = len(w.lines), w.fresh()
        carried = [
            (leaf, self.program.carried[leaf.payload])
            for leaf in self._leaves
            if leaf.payload in self.program.carried
        ]
        starts = [self.values[leaf.id] for leaf, _ in carried]
        self.values.update((leaf.id, w.fresh()) for leaf, _ in carried)
        names = [self.values[leaf.id] for leaf, _ in carried]
        self.run(steps)
        ends, after = [self.value(x) for _, x in carried], w.line(f"add i64 {turn}, 1")
        phis = [f"  {turn} = phi i64 [ 0, %{before} ], [ {after}, %{w.current} ]"]
        phis += [
            f"  {x} = phi {w.V} [ {a}, %{before} ], [ {b}, %{w.current} ]"
            for x, a, b in zip(names, starts, ends, strict=True)
        ]
        w.lines[top:top] = phis
        w.do(f"br i1 {w.line(f'icmp slt i64 {after}, {count}')}, label %again, label %finished")
        w.label("finished")

    def value(self, x: object) -> str:
        """Return the LLVM value of a node or a float, emitting it if needed."""
        if not isinstance(x, Expr):
            return self.w.splat(float(x))  # type: ignore[arg-type]
        if x.op == "const":
            return self.constant(x)
        if x.id not in self.values:
            if x.op in ("sin", "cos") and x.args[0].id in self._near:
                self.turn(x.args[0])
            args, operation = [self.value(a) for a in x.args], OPERATIONS[x.op]
            self.values[x.id] = (
                operation(self, *args)
                if callable(operation)
                else self.instruction(operation, *args)
            )
        return self.values[x.id]

    def constant(self, x: Expr) -> str:
        return self.w.splat(x.payload)

    def turn(self, angle: Expr) -> None:
        """Emit sines and cosines of the angles of a group near others, behind one branch."""
        near = [each for each in self._near.values() if each.group == self._near[angle.id].group]
        xs, starts = (
            [self.value(each.angle) for each in near],
            [self.value(each.start) for each in near],
        )
        self._sincos.update(
            zip(
                xs,
                sincos_near(self.w, self.layout, xs, starts, [self.sincos(y) for y in starts]),
                strict=True,
            )
        )
        for each in near:
            del self._near[each.angle.id]

    def instruction(self, template: str, *args: str) -> str:
        return self.w.line(template.format(*args, V=self.w.V, v=self.w.v, M=self.w.M))

    def sincos(self, x: str) -> tuple[str, str]:
        if x not in self._sincos:
            (self._sincos[x],) = sincos(self.w, self.layout, [x])
        return self._sincos[x]


def _sign(body: FunctionBody, x: str) -> str:
    """Emit -1, 0 or 1; NaN is passed on."""
    w = body.w
    nonzero = w.line(f"fcmp one {w.V} {x}, {w.splat(0.0)}")
    one = w.line(f"call {w.V} @llvm.copysign.{w.v}({w.V} {w.splat(1.0)}, {w.V} {x})")
    return w.line(f"select {w.M} {nonzero}, {w.V} {one}, {w.V} {x}")


# An operation is an instruction, in which {V} is the vector type, {M} a vector of conditions and
# {0}.. the arguments, or a function.
OPERATIONS: dict[str, str | Callable[..., str]] = {
    "add": "fadd contract {V} {0}, {1}",
    "sub": "fsub contract {V} {0}, {1}",
    "mul": "fmul contract {V} {0}, {1}",
    "div": "fdiv {V} {0}, {1}",
    "neg": "fneg {V} {0}",
    "abs": "call {V} @llvm.fabs.{v}({V} {0})",
    "sqrt": "call {V} @llvm.sqrt.{v}({V} {0})",
    "lt": COMPARE.replace("?", "olt"),
    "le": COMPARE.replace("?", "ole"),
    "select": "select {M} {0}, {V} {1}, {V} {2}",
    "sign": _sign,
    "sin": lambda body, x: body.sincos(x)[0],
    "cos": lambda body, x: body.sincos(x)[1],
    "asin": lambda body, x: asin(body.w, x),
    "acos": lambda body, x: acos(body.w, x),
    "atan2": lambda body, y, x: atan2(body.w, y, x),
    "exp": lambda body, x: call_by_lane(body.w, body.layout, "exp", x),
    "tanh": lambda body, x: call_by_lane(body.w, body.layout, "tanh", x),
}
