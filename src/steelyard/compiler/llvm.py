"""A program as LLVM text: a loop over blocks of samples, one sample a lane, in the form that NumPy's generalised ufuncs call.

Every row of an operand is a sample; a block holds as many samples as a vector register has doubles. A block reads its rows in pairs of
columns and turns them into vectors of lanes, computes straight through, and turns the results back into rows. In the last block the lanes
that have no sample repeat the last one: they read and write the same row again. Operands whose core is not contiguous pass through a
buffer. Programs past a budget are cut into parts that hand values on in memory: compile time grows faster than the length of a function.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from . import frame as fr
from .graph import Expr
from .program import Operand, Program
from .trig import LARGEST, sincos

# An operation's instruction; {V} is the vector type, {0}.. the arguments. Functions that LLVM has no vector form of are called lane by lane.
INSTRUCTIONS = {
    "add": "fadd contract {V} {0}, {1}",
    "sub": "fsub contract {V} {0}, {1}",
    "mul": "fmul contract {V} {0}, {1}",
    "div": "fdiv {V} {0}, {1}",
    "neg": "fneg {V} {0}",
    "abs": "call {V} @llvm.fabs.{v}({V} {0})",
    "sqrt": "call {V} @llvm.sqrt.{v}({V} {0})",
    "lt": "fcmp olt {V} {0}, {1}",
    "le": "fcmp ole {V} {0}, {1}",
    "select": "select {M} {0}, {V} {1}, {V} {2}",
    "exp": "call {V} @lanes({V} {0}, ptr %exp)",
    "tanh": "call {V} @lanes({V} {0}, ptr %tanh)",
}
LIBRARY = ("sin", "cos", "exp", "tanh")  # the C functions that a kernel is handed, in this order
BUDGET = 2500  # nodes in one function


@dataclass
class Writer:
    """Collects the lines of one function; values get fresh names."""

    lanes: int
    fused: bool
    lines: list[str] = field(default_factory=list)
    count: int = 0
    current: str = "entry"

    def __post_init__(self) -> None:
        self.V, self.v = f"<{self.lanes} x double>", f"v{self.lanes}f64"
        self.K, self.M = f"<{self.lanes} x i64>", f"<{self.lanes} x i1>"

    def fresh(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def line(self, instruction: str) -> str:
        name = self.fresh()
        self.lines.append(f"  {name} = {instruction}")
        return name

    def do(self, instruction: str) -> None:
        self.lines.append(f"  {instruction}")

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")
        self.current = name

    def splat(self, value: float) -> str:
        return f"splat (double 0x{struct.pack('>d', value).hex().upper()})"

    def splat_int(self, value: int) -> str:
        return f"splat (i64 {value})"

    def mul(self, a: str, b: str) -> str:
        return self.line(f"fmul contract {self.V} {a}, {b}")

    def fma(self, a: str, b: str, c: str) -> str:
        if self.fused:
            return self.line(f"call {self.V} @llvm.fma.{self.v}({self.V} {a}, {self.V} {b}, {self.V} {c})")
        return self.line(f"fadd {self.V} {self.mul(a, b)}, {c}")

    def shuffle(self, a: str, b: str, order: Iterable[int], width: int | None = None) -> str:
        mask = ", ".join(f"i32 {i}" for i in order)
        size = len(mask.split(","))
        kind = self.V if width is None else f"<{width} x double>"
        return self.line(f"shufflevector {kind} {a}, {kind} {b}, <{size} x i32> <{mask}>")


def render(program: Program, lanes: int, fused: bool, budget: int = BUDGET) -> str:
    """The text of a module whose function `kernel` is a NumPy ufunc loop over the program.

    `lanes` is the number of doubles in a vector register; `fused` tells whether the processor multiplies and adds in one instruction.
    """
    operands = (*program.inputs, *program.outputs)
    layout = fr.Layout(len(operands), lanes)
    parts = cut(program, budget)
    functions = [_part(program, part, layout, Writer(lanes, fused), f"part{i}") for i, part in enumerate(parts)]
    loop = fr.loop(program.inputs, program.outputs, layout, [f"part{i}" for i in range(len(parts))], slots(parts))
    return "\n".join([_SUPPORT.replace("@V@", f"<{lanes} x double>").replace("@v@", f"v{lanes}f64").replace("@W@", str(lanes)), *functions, loop])


@dataclass(frozen=True)
class Part:
    """Consecutive steps of a program; `loads` and `stores` map values that cross its borders to slots of memory; `writes` are the
    (output, first column) pairs that can be written once it has run."""

    steps: tuple[Expr, ...]
    loads: dict[int, int]
    stores: dict[int, int]
    writes: tuple[tuple[int, int], ...]


def slots(parts: Sequence[Part]) -> int:
    return max((slot + 1 for part in parts for slot in (*part.loads.values(), *part.stores.values())), default=0)


_FREE = ("const", "input", "lt", "le")  # made anew in the part that needs them


def cut(program: Program, budget: int) -> list[Part]:
    """Cut the steps into parts of at most `budget` nodes and give every value that crosses a border a slot of memory."""
    steps = [s for s in program.steps if s.op not in _FREE]
    pieces = [steps[i : i + budget] for i in range(0, len(steps), budget)] or [[]]
    home = {s.id: i for i, piece in enumerate(pieces) for s in piece}
    writes = _writes(program, home, len(pieces))
    needs: list[dict[int, None]] = [{} for _ in pieces]
    for i, piece in enumerate(pieces):
        wanted = [a for s in piece for a in _values(s.args)]
        wanted += [r for k, c in writes[i] for r in _values(_pair(program, k, c))]
        for a in wanted:
            if home[a.id] != i:
                needs[i][a.id] = None
    return _allocate(program, pieces, home, needs, writes)


def _values(args: Iterable[object]) -> Iterable[Expr]:
    """The values among arguments that live in registers or slots, looking through comparisons."""
    for a in args:
        if isinstance(a, Expr) and a.op not in ("const", "input"):
            if a.op in _FREE:
                yield from _values(a.args)
            else:
                yield a


def _pair(program: Program, k: int, column: int) -> tuple[object, ...]:
    return program.results[k][column : column + 2]


def _columns(operand: Operand) -> list[int]:
    """First columns of the pairs that cover an operand's row; the last pair overlaps where the row is odd."""
    size = operand.size
    return sorted({min(c, max(size - 2, 0)) for c in range(0, size, 2)})


def _writes(program: Program, home: dict[int, int], count: int) -> list[list[tuple[int, int]]]:
    """For every part, the pairs of output columns that are complete with it."""
    writes: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    for k, operand in enumerate(program.outputs):
        for c in _columns(operand):
            writes[max((home[r.id] for r in _values(_pair(program, k, c))), default=0)].append((k, c))
    return writes


def _allocate(program, pieces, home, needs, writes) -> list[Part]:  # type: ignore[no-untyped-def]
    """Slots by linear scan: a slot is free again after the last part that needs it."""
    last: dict[int, int] = {}
    for i, need in enumerate(needs):
        for v in need:
            last[v] = i
    slot: dict[int, int] = {}
    free: list[int] = []
    expiring: dict[int, list[int]] = {}
    parts, top = [], 0
    for i, piece in enumerate(pieces):
        stores = {}
        for s in piece:
            if s.id in last:
                if free:
                    slot[s.id] = free.pop()
                else:
                    slot[s.id], top = top, top + 1
                stores[s.id] = slot[s.id]
                expiring.setdefault(last[s.id], []).append(slot[s.id])
        parts.append(Part(tuple(piece), {v: slot[v] for v in needs[i]}, stores, tuple(writes[i])))
        free += expiring.pop(i, [])
    return parts


# one part ---------------------------------------------------------------------------------------------------------------------------------


def _part(program: Program, part: Part, layout: fr.Layout, w: Writer, name: str) -> str:
    body = _Body(program, layout, w)
    w.label("entry")
    for f, function in enumerate(LIBRARY):
        w.lines.append(f"  %{function}.at = getelementptr i8, ptr %frame, i64 {layout.library + 8 * f}")
        w.lines.append(f"  %{function} = load ptr, ptr %{function}.at")
    body.read_inputs(part)
    for value, slot in part.loads.items():
        address = w.line(f"getelementptr {w.V}, ptr %slots, i64 {slot}")
        body.names[value] = w.line(f"load {w.V}, ptr {address}, align 64")
    body.run(part.steps)
    for value, slot in part.stores.items():
        address = w.line(f"getelementptr {w.V}, ptr %slots, i64 {slot}")
        w.do(f"store {w.V} {body.names[value]}, ptr {address}, align 64")
    body.write_outputs(part.writes)
    w.do("ret void")
    return f"define internal void @{name}(ptr noalias %frame, ptr noalias %slots) #1 {{\n" + "\n".join(w.lines) + "\n}\n"


class _Body:
    """Writes the instructions of a part; `names` maps a node's id to its LLVM value."""

    def __init__(self, program: Program, layout: fr.Layout, writer: Writer) -> None:
        self.program, self.layout, self.w = program, layout, writer
        self.names: dict[int, str] = {}
        self.rows: dict[int, list[str]] = {}

    # rows and lanes

    def row_pointers(self, operand: int) -> list[str]:
        if operand not in self.rows:
            w = self.w
            at = w.line(f"getelementptr i8, ptr %frame, i64 {8 * operand}")
            base = w.line(f"load ptr, ptr {at}")
            self.rows[operand] = []
            for lane in range(w.lanes):
                at = w.line(f"getelementptr i8, ptr %frame, i64 {self.layout.offset(operand, lane)}")
                offset = w.line(f"load i64, ptr {at}")
                self.rows[operand].append(w.line(f"getelementptr i8, ptr {base}, i64 {offset}"))
        return self.rows[operand]

    def column(self, row: str, c: int) -> str:
        return self.w.line(f"getelementptr double, ptr {row}, i64 {c}") if c else row

    def read_inputs(self, part: Part) -> None:
        leaves = _leaves(self.program, part)
        for k, operand in enumerate(self.program.inputs):
            wanted = {leaf.payload[1]: leaf for leaf in leaves if leaf.payload[0] == k}
            for c in _columns(operand):
                if c in wanted or c + 1 in wanted:
                    for value, column in zip(self.read_pair(k, c, operand.size), (c, c + 1), strict=False):
                        if column in wanted:
                            self.names[wanted[column].id] = value

    def read_pair(self, k: int, c: int, size: int) -> tuple[str, ...]:
        """Columns c and c + 1 of every row, as two vectors of lanes."""
        w, rows = self.w, self.row_pointers(k)
        if size == 1:
            value = "poison"
            for lane, row in enumerate(rows):
                x = w.line(f"load double, ptr {row}, align 8")
                value = w.line(f"insertelement {w.V} {value}, double {x}, i64 {lane}")
            return (value,)
        pairs = [w.line(f"load <2 x double>, ptr {self.column(row, c)}, align 8") for row in rows]
        even, odd = self.concatenate(pairs[0::2]), self.concatenate(pairs[1::2])
        n = w.lanes
        low = [i + j for i in range(0, n, 2) for j in (0, n)]
        return w.shuffle(even, odd, low), w.shuffle(even, odd, [i + 1 for i in low])

    def concatenate(self, values: list[str]) -> str:
        width = 2
        while len(values) > 1:
            order = range(2 * width)
            values = [self.w.shuffle(a, b, order, width) for a, b in zip(values[0::2], values[1::2], strict=True)]
            width *= 2
        return values[0]

    def write_outputs(self, writes: Sequence[tuple[int, int]]) -> None:
        for k, c in writes:
            rows = self.row_pointers(len(self.program.inputs) + k)
            self.write_pair(rows, c, [self.value(r) for r in _pair(self.program, k, c)])

    def write_pair(self, rows: list[str], c: int, values: list[str]) -> None:
        w, n = self.w, self.w.lanes
        if len(values) == 1:
            for lane, row in enumerate(rows):
                x = w.line(f"extractelement {w.V} {values[0]}, i64 {lane}")
                w.do(f"store double {x}, ptr {row}, align 8")
            return
        low = [i + j for i in range(0, n, 2) for j in (0, n)]
        for parity, order in enumerate((low, [i + 1 for i in low])):
            mixed = w.shuffle(values[0], values[1], order)
            for pair in range(n // 2):
                x = w.shuffle(mixed, "poison", (2 * pair, 2 * pair + 1), n)
                w.do(f"store <2 x double> {x}, ptr {self.column(rows[2 * pair + parity], c)}, align 8")

    # values

    def value(self, x: object) -> str:
        if not isinstance(x, Expr):
            return self.w.splat(float(x))  # type: ignore[arg-type]
        if x.op == "const":
            return self.w.splat(x.payload)
        if x.id not in self.names:
            self.compute(x)  # a comparison
        return self.names[x.id]

    def compute(self, x: Expr) -> None:
        w = self.w
        args = [self.value(a) for a in x.args]
        if x.op == "sign":
            zero = w.splat(0.0)
            negative = w.line(f"fcmp olt {w.V} {args[0]}, {zero}")
            below = w.line(f"select {w.M} {negative}, {w.V} {w.splat(-1.0)}, {w.V} {args[0]}")
            positive = w.line(f"fcmp ogt {w.V} {args[0]}, {zero}")
            self.names[x.id] = w.line(f"select {w.M} {positive}, {w.V} {w.splat(1.0)}, {w.V} {below}")
        else:
            self.names[x.id] = w.line(INSTRUCTIONS[x.op].format(*args, V=w.V, v=w.v, M=w.M))

    def run(self, steps: Sequence[Expr]) -> None:
        """All steps in order; the sines and cosines of inputs come first, behind a single test for large arguments."""
        turned: dict[int, tuple[str, str]] = {}
        self.turn(self.early_angles(steps), turned)
        for s in steps:
            if s.id in self.names:
                continue
            if s.op in ("sin", "cos"):
                if s.args[0].id not in turned:
                    self.turn([s.args[0]], turned)
                self.names[s.id] = turned[s.args[0].id][s.op == "cos"]
            else:
                self.compute(s)

    def early_angles(self, steps: Sequence[Expr]) -> list[Expr]:
        """The angles that need no sine or cosine themselves."""
        early = set(self.names)
        angles = {}
        for s in steps:
            if s.op in ("sin", "cos"):
                if s.args[0].id in early:
                    angles[s.args[0].id] = s.args[0]
            elif all(a.op == "const" or a.id in early for a in s.args):
                early.add(s.id)
        return list(angles.values())

    def turn(self, angles: Sequence[Expr], turned: dict[int, tuple[str, str]]) -> None:
        """sin and cos of some angles: inline, or by the C library when any lane of any of them is large."""
        if not angles:
            return
        w = self.w
        xs = [self.value(a) for a in angles]
        large = [w.line(f"fcmp ogt {w.V} {w.line(f'call {w.V} @llvm.fabs.{w.v}({w.V} {x})')}, {w.splat(LARGEST)}") for x in xs]
        some = large[0]
        for other in large[1:]:
            some = w.line(f"or {w.M} {some}, {other}")
        packed = w.line(f"bitcast {w.M} {some} to i{w.lanes}")
        rare = w.line(f"icmp ne i{w.lanes} {packed}, 0")
        fast = [sincos(w, x) for x in xs]
        tag = w.fresh()[1:]
        before = w.current
        w.do(f"br i1 {rare}, label %slow{tag}, label %join{tag}, !prof !0")
        w.label(f"slow{tag}")
        slow = [[self.patched(m, x, f, name) for name, f in zip(("sin", "cos"), pair, strict=True)] for m, x, pair in zip(large, xs, fast, strict=True)]
        last = w.current
        w.do(f"br label %join{tag}")
        w.label(f"join{tag}")
        for angle, f, s in zip(angles, fast, slow, strict=True):
            sine, cosine = (w.line(f"phi {w.V} [ {a}, %{before} ], [ {b}, %{last} ]") for a, b in zip(f, s, strict=True))
            turned[angle.id] = sine, cosine

    def patched(self, large: str, x: str, fast: str, function: str) -> str:
        """The inline value, and the C library's in the lanes whose argument is large."""
        w = self.w
        exact = w.line(f"call {w.V} @lanes({w.V} {x}, ptr %{function})")
        return w.line(f"select {w.M} {large}, {w.V} {exact}, {w.V} {fast}")


def _leaves(program: Program, part: Part) -> list[Expr]:
    """The inputs that a part reads."""
    found: dict[int, Expr] = {}
    stack: list[object] = [a for s in part.steps for a in s.args]
    stack += [r for k, c in part.writes for r in _pair(program, k, c)]
    while stack:
        a = stack.pop()
        if isinstance(a, Expr) and a.op in _FREE:
            if a.op == "input":
                found[a.id] = a
            stack += a.args
    return list(found.values())


_SUPPORT = """
declare @V@ @llvm.fabs.@v@(@V@)
declare @V@ @llvm.sqrt.@v@(@V@)
declare @V@ @llvm.fma.@v@(@V@, @V@, @V@)

define internal @V@ @lanes(@V@ %x, ptr %function) noinline cold #1 {
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
