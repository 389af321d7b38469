"""A program as LLVM text: a loop over blocks of samples, one sample a lane, in the form that NumPy's generalised ufuncs call.

Every row of an operand is a sample; a block holds as many samples as a vector register has doubles. A block turns its rows into vectors of
lanes, computes straight through, and turns the results back into rows. In the last block the lanes that have no sample repeat the last one:
they read and write the same row again. Operands whose core is not contiguous pass through a buffer.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.graph import Expr
from ...ir.program import Program
from .loop import Layout, library_function, loop, row_pointers
from .sincos import early_angles, turn
from .split import Part, cut, pair, slots
from .transpose import pair_columns, read_pair, write_pair
from .writer import COMPARE, Writer, sign
from .zero_runs import blank, blank_runs, covered

# An operation's instruction; {V} is the vector type, {M} a vector of conditions, {0}.. the arguments.
INSTRUCTIONS = {
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
}
COMPOSED = {"sign": sign}  # operations that take several instructions
BY_LANE = ("exp", "tanh")  # functions of the C library that are called lane by lane
TURNING = ("sin", "cos")  # made together, see trig.py
BUDGET = 12000  # nodes in one function: longer ones run a little faster, and compile in time that is still linear


def render(program: Program, lanes: int, fused: bool, budget: int = BUDGET) -> str:
    """The text of a module whose function `kernel` is a NumPy ufunc loop over the program.

    `lanes` is the number of doubles in a vector register; `fused` tells whether the processor multiplies and adds in one instruction.
    """
    runs = blank_runs(program)
    pairs = [(k, c) for k, operand in enumerate(program.outputs) for c in pair_columns(operand.size) if not covered(runs[k], c)]
    parts = cut(program, budget, pairs)
    layout = Layout(program.inputs, program.outputs, lanes, slots(parts))
    functions = [_part(program, part, layout, Writer(lanes, fused), f"part{i}") for i, part in enumerate(parts)]
    functions += [blank(Writer(lanes, fused), layout, k, runs[k]) for k in runs if runs[k]]
    block = [f"call void @part{i}(ptr %frame, ptr %work)" for i in range(len(parts))]
    block += [f"call void @blank.{k}(ptr %frame)" for k in runs if runs[k]]
    support = _SUPPORT.replace("@V@", f"<{lanes} x double>").replace("@v@", f"v{lanes}f64").replace("@W@", str(lanes))
    return "\n".join([support, *functions, loop(layout, block)])


def _part(program: Program, part: Part, layout: Layout, w: Writer, name: str) -> str:
    """One function: reads its inputs and slots, runs its steps, stores and writes what is ready."""
    body = Body(program, layout, w)
    w.label("entry")
    body.read_inputs(part.leaves)
    for value, slot in part.loads.items():
        body.names[value] = w.load(w.V, w.at("%slots", slot, w.V), 8 * w.lanes)
    body.run(part.steps)
    for value, slot in part.stores.items():
        w.store(w.V, body.names[value], w.at("%slots", slot, w.V), 8 * w.lanes)
    for k, c in part.writes:
        write_pair(w, body.rows(len(program.inputs) + k), c, [body.value(r) for r in pair(program, k, c)])
    w.do("ret void")
    return w.function(f"internal void @{name}(ptr noalias %frame, ptr noalias %slots) noinline #1")


class Body:
    """Writes the instructions of a part; `names` maps a node's id to its LLVM value."""

    def __init__(self, program: Program, layout: Layout, writer: Writer) -> None:
        self.program, self.layout, self.w = program, layout, writer
        self.names: dict[int, str] = {}
        self._rows: dict[int, list[str]] = {}

    def rows(self, operand: int) -> list[str]:
        if operand not in self._rows:
            self._rows[operand] = row_pointers(self.w, self.layout, operand)
        return self._rows[operand]

    def read_inputs(self, leaves: Sequence[Expr]) -> None:
        wanted = {leaf.payload: leaf for leaf in leaves}
        for k, operand in enumerate(self.program.inputs):
            for c in pair_columns(operand.size):
                if (k, c) in wanted or (k, c + 1) in wanted:
                    for value, column in zip(read_pair(self.w, self.rows(k), c, operand.size), (c, c + 1), strict=False):
                        if (k, column) in wanted:
                            self.names[wanted[k, column].id] = value

    def value(self, x: object) -> str:
        """The LLVM value of a node or a float; comparisons are made where they are needed."""
        if not isinstance(x, Expr):
            return self.w.splat(float(x))  # type: ignore[arg-type]
        if x.op == "const":
            return self.w.splat(x.payload)
        if x.id not in self.names:
            self.compute(x)
        return self.names[x.id]

    def compute(self, x: Expr) -> None:
        w = self.w
        args = [self.value(a) for a in x.args]
        if x.op in COMPOSED:
            self.names[x.id] = COMPOSED[x.op](w, *args)
        elif x.op in BY_LANE:
            self.names[x.id] = w.line(f"call {w.V} @lanes({w.V} {args[0]}, ptr {library_function(w, self.layout, x.op)})")
        else:
            self.names[x.id] = w.line(INSTRUCTIONS[x.op].format(*args, V=w.V, v=w.v, M=w.M))

    def run(self, steps: Sequence[Expr]) -> None:
        """All steps in order; the sines and cosines of inputs come first, behind a single test for large arguments."""
        turned: dict[int, tuple[str, str]] = {}
        turn(self, early_angles(steps, self.names), turned)
        for s in steps:
            if s.op in TURNING:
                if s.args[0].id not in turned:
                    turn(self, [s.args[0]], turned)
                self.names[s.id] = turned[s.args[0].id][s.op == "cos"]
            elif s.id not in self.names:
                self.compute(s)


_SUPPORT = """
declare @V@ @llvm.fabs.@v@(@V@)
declare @V@ @llvm.sqrt.@v@(@V@)
declare @V@ @llvm.fma.@v@(@V@, @V@, @V@)
declare @V@ @llvm.copysign.@v@(@V@, @V@)
declare <@W@ x i1> @llvm.experimental.constrained.fcmp.@v@(@V@, @V@, metadata, metadata)

define internal @V@ @lanes(@V@ %x, ptr %function) noinline #1 {
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
"""
