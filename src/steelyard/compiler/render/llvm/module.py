"""A program as an LLVM module: a loop over blocks of samples, one sample a lane, in the form that NumPy's generalised ufuncs call.

Every row of an operand is a sample; a block has as many samples as a vector register has doubles. A block is transposed into vectors, one
per column, computed without branches, and transposed back into rows. In the last block the lanes that have no sample repeat the last one:
they read and write the same row again. Operands whose core is not contiguous pass through a buffer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...ir.graph import Expr
from ...ir.program import Program
from .atan2 import acos, asin, atan2
from .loop import Layout, call_by_lane, loop, row_pointers
from .sincos import Near, early_arguments, near_arguments, sincos, sincos_near, sincos_rarely
from .split import Part, pair, slot_count, split
from .transpose import pair_columns, read_pair, write_pair
from .writer import COMPARE, Writer
from .zero_runs import covered, fill_zeros, zero_runs

BUDGET = 12000  # nodes of a program that is one function: it runs a little faster than parts
PART = 2000  # nodes of a part of a longer one: parts of this size compile in linear time, and run no slower than larger ones


def render(program: Program, lanes: int, fused: bool, budget: int | None = None) -> str:
    """The text of a module whose function `kernel` is a NumPy ufunc loop over the program.

    `lanes`: doubles in a vector register; `fused`: the processor multiplies and adds in one instruction; `budget`: nodes of a function.
    """
    budget = budget or (BUDGET if len(program.steps) <= BUDGET else PART)
    runs = zero_runs(program)
    pairs = [(k, c) for k, o in enumerate(program.outputs) for c in pair_columns(o.size) if not covered(runs.get(k, ()), c)]
    parts = split(program, len(program.steps) if program.carries else budget, pairs)
    layout = Layout(program.inputs, program.outputs, lanes, slot_count(parts))
    constants: dict[str, int] = {}
    functions = [_part(program, part, layout, Writer(lanes, fused, constants), f"part{i}") for i, part in enumerate(parts)]
    functions += [sincos_rarely(Writer(lanes, fused, constants))] if program.counts["sin"] + program.counts["cos"] else []
    functions += [fill_zeros(Writer(lanes, fused), layout, k, runs[k]) for k in runs]
    block = [f"call void @part{i}(ptr %context, ptr %work)" for i in range(len(parts))]
    block += [f"call void @zeros.{k}(ptr %context)" for k in runs]
    support = _SUPPORT.replace("@V@", f"<{lanes} x double>").replace("@v@", f"v{lanes}f64").replace("@W@", str(lanes))
    return "\n".join([support, Writer(lanes, fused, constants).table(), *functions, loop(layout, block)])


def _part(program: Program, part: Part, layout: Layout, w: Writer, name: str) -> str:
    """One function: reads its inputs and slots, runs its steps, stores what later parts need and writes the results that are ready."""
    body = Body(program, layout, w)
    w.label("entry")
    body.read_inputs(part.leaves)
    for node, slot in part.loads.items():
        body.values[node] = w.load(w.V, w.at("%slots", slot, w.V), 8 * w.lanes)
    (body.repeat if program.carries else body.run)(part.steps)
    for node, slot in part.stores.items():
        w.store(w.V, body.values[node], w.at("%slots", slot, w.V), 8 * w.lanes)
    for k, c in part.writes:
        write_pair(w, body.rows(len(program.inputs) + k), c, [body.value(r) for r in pair(program, k, c)])
    w.do("ret void")
    return w.function(f"internal void @{name}(ptr noalias %context, ptr noalias %slots) noinline #1")


class Body:
    """Writes the instructions of a part; `values` maps a node's id to its LLVM value."""

    def __init__(self, program: Program, layout: Layout, writer: Writer) -> None:
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
        wanted, self._leaves = {leaf.payload: leaf for leaf in leaves}, leaves
        for k, operand in enumerate(self.program.inputs):
            for c in pair_columns(operand.size):
                if (k, c) in wanted or (k, c + 1) in wanted:
                    for value, column in zip(read_pair(self.w, self.rows(k), c, operand.size), (c, c + 1), strict=False):
                        if (k, column) in wanted:
                            self.values[wanted[k, column].id] = value

    def run(self, steps: Sequence[Expr]) -> None:
        """All steps in order; the sines and cosines of inputs come first, behind a single branch for large arguments."""
        self._near = near_arguments(steps, [k for k, operand in enumerate(self.program.inputs) if operand.shape == ()])
        arguments = [self.value(x) for x in early_arguments(steps, self.values) if x.id not in self._near]
        self._sincos.update(zip(arguments, sincos(self.w, self.layout, arguments), strict=True))
        for s in steps:
            self.value(s)

    def repeat(self, steps: Sequence[Expr]) -> None:
        """All steps as often as the last input of the first lane says, at least once, with what is carried on in registers."""
        w, before = self.w, self.w.current
        count = w.line(f"fptosi double {w.load('double', self.rows(len(self.program.inputs) - 1)[0])} to i64")
        w.do("br label %again")
        w.label("again")
        top, turn = len(w.lines), w.fresh()
        carried = [(leaf, self.program.carried[leaf.payload]) for leaf in self._leaves if leaf.payload in self.program.carried]
        starts = [self.values[leaf.id] for leaf, _ in carried]
        self.values.update((leaf.id, w.fresh()) for leaf, _ in carried)
        names = [self.values[leaf.id] for leaf, _ in carried]
        self.run(steps)
        ends, after = [self.value(x) for _, x in carried], w.line(f"add i64 {turn}, 1")
        phis = [f"  {turn} = phi i64 [ 0, %{before} ], [ {after}, %{w.current} ]"]
        phis += [f"  {x} = phi {w.V} [ {a}, %{before} ], [ {b}, %{w.current} ]" for x, a, b in zip(names, starts, ends, strict=True)]
        w.lines[top:top] = phis
        w.do(f"br i1 {w.line(f'icmp slt i64 {after}, {count}')}, label %again, label %finished")
        w.label("finished")

    def value(self, x: object) -> str:
        """The LLVM value of a node or a float, computed if it is not there yet."""
        if not isinstance(x, Expr):
            return self.w.splat(float(x))  # type: ignore[arg-type]
        if x.op == "const":
            return self.w.splat(x.payload)
        if x.id not in self.values:
            if x.op in ("sin", "cos") and x.args[0].id in self._near:
                self.turn(x.args[0])
            args, operation = [self.value(a) for a in x.args], OPERATIONS[x.op]
            self.values[x.id] = operation(self, *args) if callable(operation) else self.instruction(operation, *args)
        return self.values[x.id]

    def turn(self, angle: Expr) -> None:
        """The sines and cosines of all angles of a group that are near others, behind a single branch."""
        near = [each for each in self._near.values() if each.group == self._near[angle.id].group]
        xs, starts = [self.value(each.angle) for each in near], [self.value(each.start) for each in near]
        self._sincos.update(zip(xs, sincos_near(self.w, self.layout, xs, starts, [self.sincos(y) for y in starts]), strict=True))
        for each in near:
            del self._near[each.angle.id]

    def instruction(self, template: str, *args: str) -> str:
        return self.w.line(template.format(*args, V=self.w.V, v=self.w.v, M=self.w.M))

    def sincos(self, x: str) -> tuple[str, str]:
        if x not in self._sincos:
            (self._sincos[x],) = sincos(self.w, self.layout, [x])
        return self._sincos[x]


def _sign(body: Body, x: str) -> str:
    """-1, 0 or 1; NaN stays."""
    w = body.w
    nonzero = w.line(f"fcmp one {w.V} {x}, {w.splat(0.0)}")
    one = w.line(f"call {w.V} @llvm.copysign.{w.v}({w.V} {w.splat(1.0)}, {w.V} {x})")
    return w.line(f"select {w.M} {nonzero}, {w.V} {one}, {w.V} {x}")


# An operation is an instruction, in which {V} is the vector type, {M} a vector of conditions and {0}.. the arguments, or a function.
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

_SUPPORT = """
declare @V@ @llvm.fabs.@v@(@V@)
declare @V@ @llvm.sqrt.@v@(@V@)
declare @V@ @llvm.fma.@v@(@V@, @V@, @V@)
declare @V@ @llvm.copysign.@v@(@V@, @V@)
declare <@W@ x i1> @llvm.experimental.constrained.fcmp.@v@(@V@, @V@, metadata, metadata)

define internal @V@ @by_lane(@V@ %x, ptr %function) noinline #1 {
entry:
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %after, %next ]
  %y = phi @V@ [ %x, %entry ], [ %z, %next ]
  %a = extractelement @V@ %x, i64 %i
  %b = call double %function(double %a)
  %z = insertelement @V@ %y, double %b, i64 %i
  %after = add i64 %i, 1
  %more = icmp ult i64 %after, @W@
  br i1 %more, label %next, label %done
done:
  ret @V@ %z
}

attributes #1 = { nounwind "min-legal-vector-width"="512" "prefer-vector-width"="512" }
!0 = !{!"branch_weights", i32 1, i32 100000}
!1 = !{}
"""
