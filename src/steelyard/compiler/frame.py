"""The loop around a kernel's parts as LLVM text, and the frame in memory through which it hands them rows and functions.

Frame: a pointer per operand to the first row of the block, then the C functions, then for every operand and lane the offset of its row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .program import Operand

FUNCTIONS = 4


@dataclass(frozen=True)
class Layout:
    """Byte positions in the frame."""

    operands: int
    lanes: int

    @property
    def library(self) -> int:
        return 8 * self.operands

    def offset(self, operand: int, lane: int) -> int:
        return self.library + 8 * FUNCTIONS + 8 * (operand * self.lanes + lane)

    @property
    def size(self) -> int:
        return self.offset(self.operands, 0)


def loop(inputs: Sequence[Operand], outputs: Sequence[Operand], layout: Layout, parts: Sequence[str], slots: int) -> str:
    """`kernel(args, dimensions, steps, data)`: for every block, fill the frame and run the parts."""
    operands = (*inputs, *outputs)
    lanes = layout.lanes
    text: list[str] = []
    for k, operand in enumerate(operands):
        text.append(_copier(operand, k, lanes, out=k >= len(inputs)))
    w = text.append
    w("define void @kernel(ptr %args, ptr %dimensions, ptr %steps, ptr %data) #1 {")
    w("entry:")
    w(f"  %frame = alloca i8, i64 {layout.size}, align 64")
    w(f"  %slots = alloca <{lanes} x double>, i64 {max(slots, 1)}, align 64")
    w("  %n = load i64, ptr %dimensions")
    for f in range(FUNCTIONS):
        w(f"  %lib.from.{f} = getelementptr i8, ptr %data, i64 {8 * f}")
        w(f"  %lib.{f} = load ptr, ptr %lib.from.{f}")
        w(f"  %lib.to.{f} = getelementptr i8, ptr %frame, i64 {layout.library + 8 * f}")
        w(f"  store ptr %lib.{f}, ptr %lib.to.{f}")
    core = len(operands)
    for k, operand in enumerate(operands):
        text += _operand_setup(k, operand, core, lanes)
        core += len(operand.shape)
    w("  br label %head")
    w("head:")
    w("  %start = phi i64 [ 0, %entry ], [ %next, %copied ]")
    w("  %width.old = phi i64 [ 0, %entry ], [ %width, %copied ]")
    for k in range(len(operands)):
        w(f"  %at.{k} = phi ptr [ %base.{k}, %entry ], [ %moved.{k}, %copied ]")
    w("  %left = sub i64 %n, %start")
    w("  %some = icmp sgt i64 %left, 0")
    w("  br i1 %some, label %block, label %done")
    w("block:")
    w(f"  %width = call i64 @llvm.smin.i64(i64 %left, i64 {lanes})")
    w("  %same = icmp eq i64 %width, %width.old")
    w("  br i1 %same, label %ready, label %place")
    w("place:")
    w("  %last = sub i64 %width, 1")
    for lane in range(lanes):
        w(f"  %lane.{lane} = call i64 @llvm.smin.i64(i64 {lane}, i64 %last)")
        for k in range(len(operands)):
            w(f"  %off.{k}.{lane} = mul i64 %lane.{lane}, %row.{k}")
            w(f"  %off.at.{k}.{lane} = getelementptr i8, ptr %frame, i64 {layout.offset(k, lane)}")
            w(f"  store i64 %off.{k}.{lane}, ptr %off.at.{k}.{lane}")
    w("  br label %ready")
    w("ready:")
    for k in range(len(operands)):
        w(f"  %use.{k} = select i1 %direct.{k}, ptr %at.{k}, ptr %buffer.{k}")
        w(f"  %frame.{k} = getelementptr i8, ptr %frame, i64 {8 * k}")
        w(f"  store ptr %use.{k}, ptr %frame.{k}")
    text += _staged(range(len(inputs)), "in", "ready", "run")
    w("run:")
    for part in parts:
        w(f"  call void @{part}(ptr %frame, ptr %slots)")
    text += _staged(range(len(inputs), len(operands)), "out", "run", "copied")
    w("copied:")
    w(f"  %next = add i64 %start, {lanes}")
    for k in range(len(operands)):
        w(f"  %moved.{k} = getelementptr i8, ptr %at.{k}, i64 %hop.{k}")
    w("  br label %head")
    w("done:")
    w("  ret void")
    w("}")
    w("declare i64 @llvm.smin.i64(i64, i64)")
    return "\n".join(text)


def _operand_setup(k: int, operand: Operand, core: int, lanes: int) -> list[str]:
    """Base pointer, stride between samples, whether the core is contiguous, and a buffer for when it is not."""
    lines = [
        f"  %base.at.{k} = getelementptr ptr, ptr %args, i64 {k}",
        f"  %base.{k} = load ptr, ptr %base.at.{k}",
        f"  %stride.at.{k} = getelementptr i64, ptr %steps, i64 {k}",
        f"  %stride.{k} = load i64, ptr %stride.at.{k}",
        f"  %hop.{k} = mul i64 %stride.{k}, {lanes}",
        f"  %buffer.{k} = alloca double, i64 {max(operand.size, 1) * lanes}, align 64",
        f"  %core.{k} = getelementptr i64, ptr %steps, i64 {core}",
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


def _staged(operands: range, way: str, start: str, end: str) -> list[str]:
    """Branches that copy the operands whose core is not contiguous to or from their buffers."""
    lines = []
    names = [f"{way}.{k}" for k in operands]
    for k, name, after in zip(operands, names, [*names[1:], None], strict=True):
        following = f"test.{after}" if after else end
        if name == names[0]:
            lines.append(f"  br label %test.{name}")
        lines += [
            f"test.{name}:",
            f"  br i1 %direct.{k}, label %{following}, label %copy.{name}",
            f"copy.{name}:",
            f"  call void @copy.{k}(ptr %buffer.{k}, ptr %at.{k}, i64 %stride.{k}, ptr %core.{k}, i64 %width)",
            f"  br label %{following}",
        ]
    return lines or [f"  br label %{end}"]


def _copier(operand: Operand, k: int, lanes: int, out: bool) -> str:
    """A function that copies rows of any strides into a packed buffer, or back."""
    dims = len(operand.shape)
    lines = [f"define internal void @copy.{k}(ptr %buffer, ptr %rows, i64 %stride, ptr %core, i64 %width) noinline cold #1 {{", "entry:"]
    for d in range(dims):
        lines += [f"  %s.at.{d} = getelementptr i64, ptr %core, i64 {d}", f"  %s.{d} = load i64, ptr %s.at.{d}"]
    lines.append("  br label %l0")
    extents = ["%width", *map(str, operand.shape)]
    steps = ["%stride", *(f"%s.{d}" for d in range(dims))]
    packed = [8 * operand.size]
    for extent in operand.shape:
        packed.append(packed[-1] // extent)
    for d in range(dims + 1):
        source, target = (f"%from.{d - 1}", f"%to.{d - 1}") if d else ("%rows", "%buffer")
        before = f"%l{d - 1}" if d else "%entry"
        lines += [
            f"l{d}:",
            f"  %i.{d} = phi i64 [ 0, {before} ], [ %j.{d}, %e{d} ]",
            f"  %from.off.{d} = mul i64 %i.{d}, {steps[d]}",
            f"  %from.{d} = getelementptr i8, ptr {source}, i64 %from.off.{d}",
            f"  %to.off.{d} = mul i64 %i.{d}, {packed[d]}",
            f"  %to.{d} = getelementptr i8, ptr {target}, i64 %to.off.{d}",
        ]
        if d < dims:
            lines.append(f"  br label %l{d + 1}")
    a, b = (f"%to.{dims}", f"%from.{dims}") if out else (f"%from.{dims}", f"%to.{dims}")
    lines += [f"  %x = load double, ptr {a}, align 8", f"  store double %x, ptr {b}, align 8", f"  br label %e{dims}"]
    for d in reversed(range(dims + 1)):
        lines += [f"e{d}:", f"  %j.{d} = add i64 %i.{d}, 1", f"  %m.{d} = icmp slt i64 %j.{d}, {extents[d]}"]
        lines.append(f"  br i1 %m.{d}, label %l{d}, label %{f'e{d - 1}' if d else 'done'}")
    lines += ["done:", "  ret void", "}"]
    return "\n".join(lines)
