"""LLVM text of the `householder` loop for many rows, with blocked reflections.

The reflections of as many columns as a vector has lanes are applied together.
"""

from __future__ import annotations

from dataclasses import dataclass

from .householder import END, GATHER, gather_lines, reflection, splat

STEP = 4  # rows that are taken together, so that their sums do not wait for each other

_BLOCKS = (
    """reflections:
  br label %block
block:
  %b = phi i64 [ 0, %reflections ], [ %b.next, %block.end ]
  %b.far = mul i64 %b, {rows}
  %x0 = getelementptr double, ptr %scratch, i64 %b.far
  %b.left = sub i64 %k, %b
  %columns.here = call i64 @llvm.smin.i64(i64 %b.left, i64 {lanes})
  br label %column
column:
  %i = phi i64 [ 0, %block ], [ %i.next, %column.end ]
  %g.i = add i64 %b, %i
{lane}
  br label %square
square:
  %q = phi i64 [ 0, %column ], [ %q.next, %square ]
{sums}
{squares}
  %q.next = add i64 %q, {step}
  %q.more = icmp slt i64 %q.next, %active
  br i1 %q.more, label %square, label %squared
squared:
{total}
  %squares = extractelement {V} %acc, i64 %i
  %tau.p = getelementptr double, ptr %taus, i64 %i
  %s.at = mul i64 %i, {lanes}
  %s.p = getelementptr double, ptr %S, i64 %s.at
  %empty = fcmp oeq double %squares, 0.0
  br i1 %empty, label %nothing, label %reflect
nothing:
  store double 0.0, ptr %tau.p
  store {V} zeroinitializer, ptr %s.p, align {bytes}
  br label %column.end
reflect:
"""
    + reflection("%g.i")
    + """{scalars}
  %dots = fmul {V} %acc, %inverse.v
  store {V} %dots, ptr %s.p, align {bytes}
  store double %tau, ptr %tau.p
  %r.p = getelementptr double, ptr %row.p, i64 %b
  %R.b = load {V}, ptr %r.p, align 8
  %w.sum = fadd {V} %R.b, %dots
  %w.all = fmul {V} %w.sum, %tau.v
  %w = select <{lanes} x i1> %after, {V} %w.all, {V} zeroinitializer
  %R.less = fsub {V} %R.b, %w
  %R.new = select <{lanes} x i1> %own, {V} %beta.v, {V} %R.less
  store {V} %R.new, ptr %r.p, align 8
  br label %update
update:
  %u = phi i64 [ 0, %reflect ], [ %u.next, %update ]
{updates}
  %u.next = add i64 %u, {step}
  %u.more = icmp slt i64 %u.next, %active
  br i1 %u.more, label %update, label %column.end
column.end:
  %i.next = add i64 %i, 1
  %i.more = icmp slt i64 %i.next, %columns.here
  br i1 %i.more, label %column, label %beside
beside:
  %first = add i64 %b, {lanes}
  %b.next = add i64 %b, {lanes}
  %some.beside = icmp slt i64 %first, %ld
  br i1 %some.beside, label %chunk, label %block.end
chunk:
  %c = phi i64 [ %first, %beside ], [ %c.next, %chunk.end ]
  %c.far = mul i64 %c, {rows}
  %xc = getelementptr double, ptr %scratch, i64 %c.far
  br label %dot
dot:
  %d = phi i64 [ 0, %chunk ], [ %d.next, %dot ]
{dot_sums}
  %d.at = mul i64 %d, {lanes}
  %d.p = getelementptr double, ptr %xc, i64 %d.at
  %d.v = getelementptr double, ptr %x0, i64 %d.at
  %d.x = load {V}, ptr %d.p, align {bytes}
{products}
  %d.next = add i64 %d, 1
  %d.more = icmp slt i64 %d.next, %active
  br i1 %d.more, label %dot, label %solve
solve:
{solution}
  br label %apply
apply:
  %a = phi i64 [ 0, %solve ], [ %a.next, %apply ]
  %a.at = mul i64 %a, {lanes}
  %a.p = getelementptr double, ptr %xc, i64 %a.at
  %a.v = getelementptr double, ptr %x0, i64 %a.at
  %a.x = load {V}, ptr %a.p, align {bytes}
{applied}
  store {V} %a.x{lanes}, ptr %a.p, align {bytes}
  %a.next = add i64 %a, 1
  %a.more = icmp slt i64 %a.next, %active
  br i1 %a.more, label %apply, label %chunk.end
chunk.end:
  %c.next = add i64 %c, {lanes}
  %c.more = icmp slt i64 %c.next, %ld
  br i1 %c.more, label %chunk, label %block.end
block.end:
  %b.more = icmp slt i64 %b.next, %k
  br i1 %b.more, label %block, label %panel.end
"""
)


def render(lanes: int, rows: int, fused: bool) -> str:
    """Return the module of `householder.render` for `rows` samples at a time, a multiple of STEP.

    Within a block of `lanes` columns, columns are reflected one by one. Their entries become the
    entries of v; the products of v with earlier ones are stored in S. A chunk x of further columns
    then has w_i = tau_i (R_i + v_i^T x - sum_{l<i} S_il w_l), R_i -= w_i, x -= V w. Golub and Van
    Loan, "Matrix Computations", 4th ed., section 5.2.3 (block reflections).
    """
    write = HouseholderWriter(lanes, fused)
    every, V, places = range(lanes), write.V, ", ".join(f"i64 {lane}" for lane in range(lanes))
    parts = {
        **gather_lines(lanes),
        "lane": [
            *splat("i.v", "%i", lanes, "i64"),
            f"  %after = icmp sgt <{lanes} x i64> <{places}>, %i.v",
            f"  %own = icmp eq <{lanes} x i64> <{places}>, %i.v",
        ],
        "sums": [
            f"  %acc{u} = phi {V} [ zeroinitializer, %column ], [ %acc{u}.next, %square ]"
            for u in range(STEP)
        ],
        "squares": [line for u in range(STEP) for line in write.square(u)],
        "total": [
            f"  %acc.a = fadd {V} %acc0.next, %acc1.next",
            f"  %acc.b = fadd {V} %acc2.next, %acc3.next",
            f"  %acc = fadd {V} %acc.a, %acc.b",
        ],
        "scalars": [
            line
            for name in ("inverse", "tau", "beta")
            for line in splat(f"{name}.v", f"%{name}", lanes)
        ],
        "updates": [line for u in range(STEP) for line in write.update(u)],
        "dot_sums": [
            f"  %dots{i} = phi {V} [ zeroinitializer, %chunk ], [ %dots{i}.next, %dot ]"
            for i in every
        ],
        "products": [line for i in every for line in write.product(i)],
        "solution": [line for i in every for line in write.solve_w(i)],
        "applied": [line for i in every for line in write.apply_w(i)],
    }
    text = {name: "\n".join(lines) for name, lines in parts.items()}
    shape = {
        "lanes": lanes,
        "bytes": 8 * lanes,
        "last": lanes - 1,
        "rows": rows,
        "step": STEP,
        "before": STEP - 1,
        "V": V,
    }
    text_of_module = (GATHER + _BLOCKS + END).format(**shape, **text)
    memory = [
        f"  %{name} = alloca double, i64 {size}, align {8 * lanes}\n"
        for name, size in (("S", lanes * lanes), ("taus", lanes))
    ]
    return text_of_module.replace("entry:\n", "entry:\n" + "".join(memory), 1)


@dataclass(frozen=True)
class HouseholderWriter:
    """Writer of the lines for each row or column, with vectors of `lanes` doubles."""

    lanes: int
    fused: bool

    @property
    def V(self) -> str:
        return f"<{self.lanes} x double>"

    def fma(self, to: str, a: str, b: str, c: str, minus: bool = False) -> list[str]:
        """Emit to = c + a b, or c - a b."""
        V = self.V
        if self.fused:
            negated = [f"  {to}.n = fneg {V} {a}"] if minus else []
            return [
                *negated,
                (
                    f"  {to} = call {V} @llvm.fma.v{self.lanes}f64({V} {to + '.n' if minus else a},"
                    f" {V} {b}, {V} {c})"
                ),
            ]
        return [
            f"  {to}.m = fmul {V} {a}, {b}",
            f"  {to} = {'fsub' if minus else 'fadd'} {V} {c}, {to}.m",
        ]

    def spread(self, name: str, base: str, index: str) -> list[str]:
        """Emit the number at an index after a pointer, in all lanes."""
        pointer = f"  %{name}.p = getelementptr double, ptr {base}, i64 {index}"
        return [
            pointer,
            f"  %{name}.s = load double, ptr %{name}.p",
            *splat(name, f"%{name}.s", self.lanes),
        ]

    def row(self, letter: str, number: int) -> list[str]:
        """Emit a row of the block, `number` rows after the letter's, and its entry of column i."""
        register = f"%{letter}{number}"
        return [
            f"  {register}.r = add i64 %{letter}, {number}",
            f"  {register}.at = mul i64 {register}.r, {self.lanes}",
            f"  {register}.x.p = getelementptr double, ptr %x0, i64 {register}.at",
            f"  {register}.x = load {self.V}, ptr {register}.x.p, align {8 * self.lanes}",
            *self.spread(f"{letter}{number}.e", f"{register}.x.p", "%i"),
        ]

    def square(self, u: int) -> list[str]:
        """Emit acc += e x: the square of the column in lane i, products with others elsewhere."""
        return [*self.row("q", u), *self.fma(f"%acc{u}.next", f"%q{u}.e", f"%q{u}.x", f"%acc{u}")]

    def update(self, u: int) -> list[str]:
        """Emit x -= v w in the lanes after i, and v in lane i."""
        return [
            *self.row("u", u),
            f"  %u{u}.v = fmul {self.V} %u{u}.e, %inverse.v",
            *self.fma(f"%u{u}.y", f"%u{u}.v", "%w", f"%u{u}.x", minus=True),
            f"  %u{u}.z = select <{self.lanes} x i1> %own, {self.V} %u{u}.v, {self.V} %u{u}.y",
            f"  store {self.V} %u{u}.z, ptr %u{u}.x.p, align {8 * self.lanes}",
        ]

    def product(self, i: int) -> list[str]:
        """Emit v_i^T x, a row at a time."""
        return [
            *self.spread(f"d{i}.e", "%d.v", str(i)),
            *self.fma(f"%dots{i}.next", f"%d{i}.e", "%d.x", f"%dots{i}"),
        ]

    def solve_w(self, i: int) -> list[str]:
        """Emit w_i = tau_i (R_i + v_i^T x - sum_{l<i} S_il w_l), and R_i -= w_i."""
        lines = [
            f"  %n{i} = add i64 %b, {i}",
            f"  %n{i}.row = mul i64 %n{i}, %ld",
            f"  %n{i}.at = add i64 %n{i}.row, %c",
            f"  %n{i}.p = getelementptr double, ptr %r0, i64 %n{i}.at",
            f"  %n{i}.R = load {self.V}, ptr %n{i}.p, align 8",
            f"  %n{i}.0 = fadd {self.V} %n{i}.R, %dots{i}.next",
        ]
        for before in range(i):
            lines += self.spread(f"s{i}.{before}", "%S", str(self.lanes * i + before))
            lines += self.fma(
                f"%n{i}.{before + 1}",
                f"%s{i}.{before}",
                f"%move{before}",
                f"%n{i}.{before}",
                minus=True,
            )
        return [
            *lines,
            *self.spread(f"tau{i}", "%taus", str(i)),
            f"  %move{i} = fmul {self.V} %n{i}.{i}, %tau{i}",
            f"  %n{i}.new = fsub {self.V} %n{i}.R, %move{i}",
            f"  store {self.V} %n{i}.new, ptr %n{i}.p, align 8",
            f"  %move{i}.less = fneg {self.V} %move{i}",
        ]

    def apply_w(self, i: int) -> list[str]:
        """Emit x -= v_i w_i, a row at a time."""
        return [
            *self.spread(f"a{i}.e", "%a.v", str(i)),
            *self.fma(f"%a.x{i + 1}", f"%a{i}.e", f"%move{i}.less", f"%a.x{i}" if i else "%a.x"),
        ]
