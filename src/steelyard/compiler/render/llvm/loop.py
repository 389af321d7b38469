"""LLVM text of the loop over blocks of samples, and the layout of its memory.

Context: a pointer per operand to the first row of the block, then a pointer to the table of C
functions, then for every operand and lane the offset of its row. Work memory: values that one
function stores and a later one loads, and a buffer per operand for rows that are not contiguous. It
is on the stack if it is small, else allocated by the C library, so that threads with a small stack
are safe.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...ir.program import Operand
from .writer import Writer

# the C functions in the table that a kernel gets as its data
LIBRARY = ("sin", "cos", "exp", "tanh", "malloc", "free", "memset")
STACK = 1 << 16  # bytes of work memory that are taken from the stack


@dataclass(frozen=True)
class LoopLayout:
    """Offsets in the context and in the work memory, in bytes."""

    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    lanes: int
    slots: int = 0  # vectors that one function stores and a later one loads

    @property
    def operands(self) -> tuple[Operand, ...]:
        return self.inputs + self.outputs

    @property
    def library(self) -> int:
        return 8 * len(self.operands)

    def offset(self, operand: int, lane: int) -> int:
        return self.library + 8 + 8 * (operand * self.lanes + lane)

    def buffer(self, operand: int) -> int:
        """Return the offset of an operand's buffer in the work memory."""
        return 8 * self.lanes * (self.slots + sum(o.size for o in self.operands[:operand]))

    @property
    def work(self) -> int:
        return self.buffer(len(self.operands))


def row_pointers(w: Writer, layout: LoopLayout, operand: int) -> list[str]:
    """Emit the address of every lane's row of an operand."""
    base = w.load("ptr", w.at("%context", 8 * operand, "i8"))
    offsets = [
        w.load("i64", w.at("%context", layout.offset(operand, lane), "i8"))
        for lane in range(w.lanes)
    ]
    return [w.line(f"getelementptr i8, ptr {base}, i64 {offset}") for offset in offsets]


def library_function(w: Writer, layout: LoopLayout, name: str) -> str:
    """Emit the address of a C function."""
    table = w.load("ptr", w.at("%context", layout.library, "i8"))
    return w.load("ptr", w.at(table, 8 * LIBRARY.index(name), "i8"))


def call_by_lane(w: Writer, layout: LoopLayout, name: str, x: str) -> str:
    """Emit calls of a C function for each lane of a vector."""
    return w.line(f"call {w.V} @by_lane({w.V} {x}, ptr {library_function(w, layout, name)})")


def loop(layout: LoopLayout, block: Sequence[str]) -> str:
    """Return `kernel(args, dimensions, steps, data)`, a NumPy ufunc loop.

    It fills the context, then runs the lines `block` for every block.
    """
    operands = range(len(layout.operands))
    core = len(operands)
    setup: list[str] = []
    for k, operand in enumerate(layout.operands):
        setup += _operand(layout, k, operand, core)
        core += len(operand.shape)
    lines = [
        *(
            _copy_function(operand, k, out=k >= len(layout.inputs))
            for k, operand in enumerate(layout.operands)
        ),
        "define void @kernel(ptr %args, ptr %dimensions, ptr %steps, ptr %data) #1 {",
        "entry:",
        *_memory(layout),
        *setup,
        "  br label %from",
        "from:",
        "  br label %head",
        *_head(operands),
        *_rows(layout),
        "ready:",
        *(f"  store ptr %use.{k}, ptr %context.{k}" for k in operands),
        *_copies(operands[: len(layout.inputs)], "in", "run"),
        "run:",
        *(f"  {line}" for line in block),
        *_copies(operands[len(layout.inputs) :], "out", "copied"),
        "copied:",
        f"  %next = add i64 %start, {layout.lanes}",
        *(f"  %moved.{k} = getelementptr i8, ptr %at.{k}, i64 %block_stride.{k}" for k in operands),
        "  br label %head",
        "done:",
        *(["  call void %free(ptr %block)"] if layout.work > STACK else []),
        "  ret void",
        "}",
        "declare i64 @llvm.smin.i64(i64, i64)",
        "declare void @llvm.trap() noreturn",
    ]
    return "\n".join(lines)


def _memory(layout: LoopLayout) -> list[str]:
    lines = [f"  %context = alloca i8, i64 {layout.offset(len(layout.operands), 0)}, align 64"]
    if layout.work <= STACK:
        lines.append(f"  %work = alloca i8, i64 {max(layout.work, 1)}, align 64")
    else:
        for name in ("malloc", "free", "memset"):
            lines.append(
                f"  %{name}.at = getelementptr i8, ptr %data, i64 {8 * LIBRARY.index(name)}"
            )
            lines.append(f"  %{name} = load ptr, ptr %{name}.at")
        lines += [
            f"  %block = call ptr %malloc(i64 {layout.work + 64})",
            "  %null = icmp eq ptr %block, null",
            "  br i1 %null, label %no_memory, label %allocated",
            "no_memory:",
            "  call void @llvm.trap()",
            "  unreachable",
            "allocated:",
            "  %block.i = ptrtoint ptr %block to i64",
            "  %block.up = add i64 %block.i, 63",
            "  %block.aligned = and i64 %block.up, -64",
            "  %work = inttoptr i64 %block.aligned to ptr",
        ]
    lines += [
        f"  %library = getelementptr i8, ptr %context, i64 {layout.library}",
        "  store ptr %data, ptr %library",
        "  %n = load i64, ptr %dimensions",
    ]
    return lines


def _operand(layout: LoopLayout, k: int, operand: Operand, core: int) -> list[str]:
    """Return lines for an operand: base pointer, stride, whether contiguous, and buffer if not."""
    lines = [
        f"  %base.at.{k} = getelementptr ptr, ptr %args, i64 {k}",
        f"  %base.{k} = load ptr, ptr %base.at.{k}",
        f"  %stride.at.{k} = getelementptr i64, ptr %steps, i64 {k}",
        f"  %stride.{k} = load i64, ptr %stride.at.{k}",
        f"  %block_stride.{k} = mul i64 %stride.{k}, {layout.lanes}",
        f"  %buffer.{k} = getelementptr i8, ptr %work, i64 {layout.buffer(k)}",
        f"  %core.{k} = getelementptr i64, ptr %steps, i64 {core}",
        f"  %context.{k} = getelementptr i8, ptr %context, i64 {8 * k}",
    ]
    direct, expected = "true", 8
    for d in reversed(range(len(operand.shape))):
        if operand.shape[d] != 1:
            lines += [
                f"  %c.at.{k}.{d} = getelementptr i64, ptr %core.{k}, i64 {d}",
                f"  %c.{k}.{d} = load i64, ptr %c.at.{k}.{d}",
                f"  %c.is.{k}.{d} = icmp eq i64 %c.{k}.{d}, {expected}",
                f"  %c.all.{k}.{d} = and i1 {direct}, %c.is.{k}.{d}",
            ]
            direct = f"%c.all.{k}.{d}"
        expected *= operand.shape[d]
    lines.append(f"  %direct.{k} = or i1 {direct}, false")
    lines.append(f"  %row.{k} = select i1 %direct.{k}, i64 %stride.{k}, i64 {8 * operand.size}")
    return lines


def _head(operands: range) -> list[str]:
    """Return the lines of the next block: begin of its rows and number of samples."""
    return [
        "head:",
        "  %start = phi i64 [ 0, %from ], [ %next, %copied ]",
        "  %width.old = phi i64 [ 0, %from ], [ %width, %copied ]",
        *(f"  %at.{k} = phi ptr [ %base.{k}, %from ], [ %moved.{k}, %copied ]" for k in operands),
        "  %left = sub i64 %n, %start",
        "  %some = icmp sgt i64 %left, 0",
        "  br i1 %some, label %block.begin, label %done",
    ]


def _rows(layout: LoopLayout) -> list[str]:
    """Return the lines that compute the offsets of the lanes' rows if the block length changed.

    Lanes without a sample repeat the last.
    """
    operands = range(len(layout.operands))
    lines = [
        "block.begin:",
        f"  %width = call i64 @llvm.smin.i64(i64 %left, i64 {layout.lanes})",
        *(f"  %use.{k} = select i1 %direct.{k}, ptr %at.{k}, ptr %buffer.{k}" for k in operands),
        "  %same = icmp eq i64 %width, %width.old",
        "  br i1 %same, label %ready, label %place",
        "place:",
        "  %last = sub i64 %width, 1",
    ]
    for lane in range(layout.lanes):
        lines.append(f"  %lane.{lane} = call i64 @llvm.smin.i64(i64 {lane}, i64 %last)")
        for k in operands:
            lines += [
                f"  %off.{k}.{lane} = mul i64 %lane.{lane}, %row.{k}",
                (
                    f"  %off.at.{k}.{lane} = getelementptr i8, ptr %context, i64"
                    f" {layout.offset(k, lane)}"
                ),
                f"  store i64 %off.{k}.{lane}, ptr %off.at.{k}.{lane}",
            ]
    return [*lines, "  br label %ready"]


def _copies(operands: range, direction: str, end: str) -> list[str]:
    """Return branches that copy operands whose core is not contiguous to or from their buffers."""
    names = [f"{direction}.{k}" for k in operands]
    lines = [f"  br label %{f'test.{names[0]}' if names else end}"]
    for k, name, after in zip(operands, names, [*names[1:], None], strict=True):
        following = f"test.{after}" if after else end
        lines += [
            f"test.{name}:",
            f"  br i1 %direct.{k}, label %{following}, label %copy.{name}",
            f"copy.{name}:",
            (
                f"  call void @copy.{k}(ptr %buffer.{k}, ptr %at.{k}, i64 %stride.{k}, ptr"
                f" %core.{k}, i64 %width)"
            ),
            f"  br label %{following}",
        ]
    return lines


def _copy_function(operand: Operand, k: int, out: bool) -> str:
    """Return a function that copies rows of any strides into a packed buffer, or back."""
    dims = len(operand.shape)
    head = (
        f"define internal void @copy.{k}(ptr %buffer, ptr %rows, i64 %stride, ptr %core, i64"
        " %width) noinline cold #1 {"
    )
    if operand.size == 0:
        return f"{head}\n  ret void\n}}"
    lines = [head, "entry:"]
    for d in range(dims):
        lines += [
            f"  %s.at.{d} = getelementptr i64, ptr %core, i64 {d}",
            f"  %s.{d} = load i64, ptr %s.at.{d}",
        ]
    lines.append("  br label %l0")
    extents = ["%width", *map(str, operand.shape)]
    steps = ["%stride", *(f"%s.{d}" for d in range(dims))]
    strides = [8 * operand.size]
    for extent in operand.shape:
        strides.append(strides[-1] // extent)
    for d in range(dims + 1):
        source, target = (f"%from.{d - 1}", f"%to.{d - 1}") if d else ("%rows", "%buffer")
        lines += [
            f"l{d}:",
            f"  %i.{d} = phi i64 [ 0, {f'%l{d - 1}' if d else '%entry'} ], [ %j.{d}, %e{d} ]",
            f"  %from.off.{d} = mul i64 %i.{d}, {steps[d]}",
            f"  %from.{d} = getelementptr i8, ptr {source}, i64 %from.off.{d}",
            f"  %to.off.{d} = mul i64 %i.{d}, {strides[d]}",
            f"  %to.{d} = getelementptr i8, ptr {target}, i64 %to.off.{d}",
            *([f"  br label %l{d + 1}"] if d < dims else []),
        ]
    a, b = (f"%to.{dims}", f"%from.{dims}") if out else (f"%from.{dims}", f"%to.{dims}")
    lines += [
        f"  %x = load double, ptr {a}, align 8",
        f"  store double %x, ptr {b}, align 8",
        f"  br label %e{dims}",
    ]
    for d in reversed(range(dims + 1)):
        lines += [
            f"e{d}:",
            f"  %j.{d} = add i64 %i.{d}, 1",
            f"  %m.{d} = icmp slt i64 %j.{d}, {extents[d]}",
        ]
        lines.append(f"  br i1 %m.{d}, label %l{d}, label %{f'e{d - 1}' if d else 'done'}")
    return "\n".join([*lines, "done:", "  ret void", "}"])
