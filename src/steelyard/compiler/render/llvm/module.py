"""LLVM module of a program, in the form of a NumPy generalised ufunc loop.

Every row of an operand is a sample; a block has as many samples as a vector register has doubles. A
block is transposed into vectors, one per column, computed without branches, and transposed back
into rows. In the last block the lanes without a sample repeat the last one: they read and write the
same row again. Operands whose core is not contiguous pass through a buffer.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.program import Program
from .body import FunctionBody
from .loop import LoopLayout, loop
from .outline import Outline, outline
from .shapes import calls, shape_functions
from .sincos import sincos_rarely
from .split import Part, result_pair, slot_count, split_program
from .transpose import pair_columns, write_pair
from .writer import Writer
from .zero_runs import fill_zeros, is_covered, zero_runs

BUDGET = 12000  # nodes of a program that is one function: it runs a little faster than parts
# an outline runs faster than one function for programs of more nodes, and if it compiles less than
# this share of them
LONG, ALIKE = 6000, 0.4
# nodes of a part of a longer one: parts of this size compile in linear time, and run no slower than
# larger ones
PART = 2000


def render(program: Program, lanes: int, fused: bool, budget: int | None = None) -> str:
    """Return the text of a module whose function `kernel` is a NumPy ufunc loop over the program.

    `lanes`: doubles in a vector register; `fused`: the processor has a fused multiply-add;
    `budget`: largest number of nodes of a function.
    """
    runs = zero_runs(program)
    pairs = [
        (k, c)
        for k, o in enumerate(program.outputs)
        for c in pair_columns(o.size)
        if not is_covered(runs.get(k, ()), c)
    ]
    outlined = _try_outline(program, pairs) if budget is None else None
    outlined = outlined or _straight(program, budget, pairs)
    layout = LoopLayout(program.inputs, program.outputs, lanes, outlined.slots)
    constants: dict[str, int] = {}
    parts = [part for part in outlined.parts if isinstance(part, Part)]
    functions = [
        _part(program, part, layout, Writer(lanes, fused, constants), f"part{i}")
        for i, part in enumerate(parts)
    ]
    functions += shape_functions(program, outlined, layout, lambda: Writer(lanes, fused, constants))
    functions += (
        [sincos_rarely(Writer(lanes, fused, constants))]
        if program.counts["sin"] + program.counts["cos"]
        else []
    )
    functions += [fill_zeros(Writer(lanes, fused), layout, k, runs[k]) for k in runs]
    block = [*calls(outlined), *(f"call void @zeros.{k}(ptr %context)" for k in runs)]
    support = (
        _SUPPORT.replace("@V@", f"<{lanes} x double>")
        .replace("@v@", f"v{lanes}f64")
        .replace("@W@", str(lanes))
    )
    return "\n".join(
        [support, Writer(lanes, fused, constants).table(), *functions, loop(layout, block)]
    )


def _try_outline(program: Program, pairs: Sequence[tuple[int, int]]) -> Outline | None:
    """Return the outline of a long program with iterations, else None.

    A program that fits one function is outlined only if most of its iterations are alike.
    """
    length = len(program.steps)
    if not program.iterations or program.carries or length <= LONG:
        return None
    outlined = outline(program, PART, pairs)
    return outlined if length > BUDGET or outlined.length < ALIKE * length else None


def _straight(program: Program, budget: int | None, pairs: Sequence[tuple[int, int]]) -> Outline:
    """Return a program as functions of at most `budget` nodes, or as one if it carries values."""
    length = len(program.steps)
    parts = split_program(
        program,
        length if program.carries else budget or (BUDGET if length <= BUDGET else PART),
        pairs,
    )
    return Outline(tuple(parts), slot_count(parts), {})


def _part(program: Program, part: Part, layout: LoopLayout, w: Writer, name: str) -> str:
    """Return a function that reads inputs and slots, runs its steps and stores its results."""
    body = FunctionBody(program, layout, w)
    w.label("entry")
    body.read_inputs(part.leaves)
    for node, slot in part.loads.items():
        body.values[node] = w.load(w.V, w.at("%slots", slot, w.V), 8 * w.lanes)
    (body.repeat if program.carries else body.run)(part.steps)
    for node, slot in part.stores.items():
        w.store(w.V, body.values[node], w.at("%slots", slot, w.V), 8 * w.lanes)
    for k, c in part.writes:
        write_pair(
            w,
            body.rows(len(program.inputs) + k),
            c,
            [body.value(r) for r in result_pair(program, k, c)],
        )
    w.do("ret void")
    return w.function(
        f"internal void @{name}(ptr noalias %context, ptr noalias %slots) noinline #1"
    )


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
