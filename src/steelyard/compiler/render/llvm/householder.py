"""LLVM text of a loop that folds samples into triangular factors by Householder reflections."""

from __future__ import annotations

CHAINS = 4  # sums over rows that run beside each other

GATHER = """define void @kernel(ptr noalias %R, ptr noalias %scratch, ptr noalias %Y, i64 %y.step,
                    ptr noalias %T, i64 %t.step, ptr noalias %W, i64 %w.step, i64 %samples,
                    i64 %count, ptr noalias %table, ptr noalias %index) {{
entry:
  %some = icmp sgt i64 %samples, 0
  br i1 %some, label %factor, label %done
factor:
  %f = phi i64 [ 0, %entry ], [ %f.next, %factor.end ]
  %f.row = mul i64 %f, 7
{facts}
  %k.up = add i64 %k, {last}
  %ld = and i64 %k.up, -{lanes}
  %columns = sub i64 %k, 1
  %r0 = getelementptr double, ptr %R, i64 %r.at
  %i0 = getelementptr i64, ptr %index, i64 %i.at
  %y0 = getelementptr double, ptr %Y, i64 %y.at
  %t0 = getelementptr double, ptr %T, i64 %t.at
  %w0 = getelementptr double, ptr %W, i64 %w.at
  %size = mul i64 %ld, {rows}
  br label %clear
clear:
  %z = phi i64 [ 0, %factor ], [ %z.next, %clear ]
  %z.p = getelementptr double, ptr %scratch, i64 %z
  store {V} zeroinitializer, ptr %z.p, align {bytes}
  %z.next = add i64 %z, {lanes}
  %z.more = icmp slt i64 %z.next, %size
  br i1 %z.more, label %clear, label %panel
panel:
  %p = phi i64 [ 0, %clear ], [ %p.next, %panel.end ]
  %left = sub i64 %samples, %p
  %fewer = call i64 @llvm.smin.i64(i64 %left, i64 {rows})
  %whole = add i64 %fewer, {before}
  %active = and i64 %whole, -{step}
  br label %row
row:
  %r = phi i64 [ 0, %panel ], [ %r.next, %row.end ]
  %s = add i64 %p, %r
  %there = icmp slt i64 %s, %samples
  %s.in = select i1 %there, i64 %s, i64 0
  %y.s = mul i64 %s.in, %y.step
  %t.s = mul i64 %s.in, %t.step
  %w.s = mul i64 %s.in, %w.step
  %y.row = getelementptr double, ptr %y0, i64 %y.s
  %t.p = getelementptr double, ptr %t0, i64 %t.s
  %w.p = getelementptr double, ptr %w0, i64 %w.s
  %w.given = load double, ptr %w.p
  %weight = select i1 %there, double %w.given, double 0.0
  %used = fcmp one double %weight, 0.0
  %x.at = mul i64 %r, {lanes}
  %x.row = getelementptr double, ptr %scratch, i64 %x.at
  %is.dense = icmp ne i64 %dense, 0
  br i1 %is.dense, label %copies, label %gather
copies:
{weights}
  br label %copy
copy:
  %h = phi i64 [ 0, %copies ], [ %h.next, %copy ]
  %h.from = getelementptr double, ptr %y.row, i64 %h
{there}
  %h.raw = call {V} @llvm.masked.load.v{lanes}f64.p0(
                      ptr %h.from, i32 8, <{lanes} x i1> %h.there, {V} zeroinitializer)
  %h.weighed = fmul {V} %h.raw, %weight.v
  %h.value = select <{lanes} x i1> %used.v, {V} %h.weighed, {V} zeroinitializer
  %h.at = mul i64 %h, {rows}
  %h.p = getelementptr double, ptr %x.row, i64 %h.at
  store {V} %h.value, ptr %h.p, align {bytes}
  %h.next = add i64 %h, {lanes}
  %h.more = icmp slt i64 %h.next, %ld
  br i1 %h.more, label %copy, label %gather
gather:
  %g = phi i64 [ 0, %row ], [ %columns, %copy ], [ %g.next, %gather.end ]
  %g.chunk = and i64 %g, -{lanes}
  %g.lane = and i64 %g, {last}
  %g.far = mul i64 %g.chunk, {rows}
  %g.at = add i64 %g.far, %g.lane
  %x.p = getelementptr double, ptr %x.row, i64 %g.at
  %is.last = icmp eq i64 %g, %columns
  br i1 %is.last, label %torque, label %entry.of
entry.of:
  %g.p = getelementptr i64, ptr %i0, i64 %g
  %g.index = load i64, ptr %g.p
  %y.p = getelementptr double, ptr %y.row, i64 %g.index
  br label %gather.end
torque:
  br label %gather.end
gather.end:
  %from = phi ptr [ %y.p, %entry.of ], [ %t.p, %torque ]
  %x.raw = load double, ptr %from
  %x.weighed = fmul double %x.raw, %weight
  %x.value = select i1 %used, double %x.weighed, double 0.0
  store double %x.value, ptr %x.p
  %g.next = add i64 %g, 1
  %g.more = icmp slt i64 %g.next, %k
  br i1 %g.more, label %gather, label %row.end
row.end:
  %r.next = add i64 %r, 1
  %r.more = icmp slt i64 %r.next, %active
  br i1 %r.more, label %row, label %reflections
"""
"""Loops over factors, panels and rows.

A panel is in scratch, column c of row r at (c // lanes rows + r) lanes + c % lanes.
"""


def reflection(column: str) -> str:
    """Return the lines that compute %beta, %inverse and %tau of the reflection of a column.

    `column` is the register with the column's number; %squares is the sum below the diagonal.
    """
    return f"""  %i.row = mul i64 {column}, %ld
  %row.p = getelementptr double, ptr %r0, i64 %i.row
  %diagonal = getelementptr double, ptr %row.p, i64 {column}
  %alpha = load double, ptr %diagonal
  %alpha2 = fmul double %alpha, %alpha
  %norm2 = fadd double %alpha2, %squares
  %norm = call double @llvm.sqrt.f64(double %norm2)
  %opposite = fneg double %norm
  %positive = fcmp oge double %alpha, 0.0
  %beta = select i1 %positive, double %opposite, double %norm
  %lead = fsub double %alpha, %beta
  %inverse = fdiv double 1.0, %lead
  %share = fdiv double %lead, %norm
  %tau = call double @llvm.fabs.f64(double %share)
"""


_REFLECT = (
    """reflections:
  br label %column
column:
  %i = phi i64 [ 0, %reflections ], [ %i.next, %column.end ]
  %start = and i64 %i, -{lanes}
  %lane = and i64 %i, {last}
  %far = mul i64 %start, {rows}
  %near = add i64 %far, %lane
  %x.i = getelementptr double, ptr %scratch, i64 %near
{entries}
  %empty = fcmp oeq double %squares, 0.0
  br i1 %empty, label %column.end, label %reflect
reflect:
"""
    + reflection("%i")
    + """{splats}
{vectors}
  br label %chunk
chunk:
  %c = phi i64 [ %start, %reflect ], [ %c.next, %chunk ]
  %r.c = getelementptr double, ptr %row.p, i64 %c
  %c.far = mul i64 %c, {rows}
  %x.c = getelementptr double, ptr %scratch, i64 %c.far
  %R.c = load {V}, ptr %r.c, align 8
{products}
  %w.sum = fadd {V} %R.c, %dots
  %w.all = fmul {V} %w.sum, %tau.v
{after}
  %w = select <{lanes} x i1> %after, {V} %w.all, {V} zeroinitializer
  %r.new = fsub {V} %R.c, %w
  store {V} %r.new, ptr %r.c, align 8
{updates}
  %c.next = add i64 %c, {lanes}
  %more = icmp slt i64 %c.next, %ld
  br i1 %more, label %chunk, label %zero
zero:
  store double %beta, ptr %diagonal
  br label %column.end
column.end:
  %i.next = add i64 %i, 1
  %i.more = icmp slt i64 %i.next, %k
  br i1 %i.more, label %column, label %panel.end
"""
)
END = """panel.end:
  %p.next = add i64 %p, {rows}
  %p.more = icmp slt i64 %p.next, %samples
  br i1 %p.more, label %panel, label %factor.end
factor.end:
  %f.next = add i64 %f, 1
  %f.more = icmp slt i64 %f.next, %count
  br i1 %f.more, label %factor, label %done
done:
  ret void
}}
declare i64 @llvm.smin.i64(i64, i64)
declare {V} @llvm.masked.load.v{lanes}f64.p0(ptr, i32, <{lanes} x i1>, {V})
declare double @llvm.sqrt.f64(double)
declare double @llvm.fabs.f64(double)
declare {V} @llvm.fma.v{lanes}f64({V}, {V}, {V})
"""
FACTS = ("r.at", "k", "i.at", "y.at", "t.at", "w.at", "dense")


def render(lanes: int, rows: int, fused: bool) -> str:
    """Return the module of a function that folds samples into `count` factors, `rows` at a time.

    kernel(R, scratch, Y, y_step, T, t_step, W, w_step, samples, count, table, index). Row b of the
    table (count, 7) has, in doubles: the begin of factor b in R, its number k of columns, the begin
    of its part of `index`, and its offsets in a sample of Y, T and W, which are y_step, t_step and
    w_step apart; and 1 if `index` counts from 0 and need not be read. The row of a sample is w
    (Y[index], t), k numbers; samples with w = 0 are skipped. A factor has k rows of k columns,
    padded to whole vectors, as has `scratch`, rows x k. Column i is reflected onto the diagonal:
    beta = -sign(alpha) |(alpha, x)|, v = (1, x / (alpha - beta)), tau = (beta - alpha) / beta. Zero
    columns are skipped. Golub and Van Loan, "Matrix Computations", 4th ed., sections 5.1.3 and
    6.5.3.
    """
    V = f"<{lanes} x double>"
    every = range(rows)
    parts = {
        **gather_lines(lanes),
        "entries": [
            *(line for r in every for line in _entry(r, lanes)),
            *_sum("squares", "double", [f"%e{r}.2" for r in every]),
        ],
        "splats": [*splat("tau.v", "%tau", lanes), *splat("i.v", "%i", lanes, "i64")],
        "vectors": [
            line
            for r in every
            for line in (
                f"  %v{r}.s = fmul double %e{r}, %inverse",
                *splat(f"v{r}", f"%v{r}.s", lanes),
            )
        ],
        "products": [
            *(line for r in every for line in _product(r, V, lanes, fused)),
            *_sum("dots", V, [f"%d{r}" for r in every][-CHAINS:]),
        ],
        "after": [
            *splat("c.v", "%c", lanes, "i64"),
            (
                f"  %at = add <{lanes} x i64> %c.v,"
                f" <{', '.join(f'i64 {lane}' for lane in range(lanes))}>"
            ),
            f"  %after = icmp sgt <{lanes} x i64> %at, %i.v",
        ],
        "updates": [line for r in every for line in _update(r, V, lanes, fused)],
    }
    text = {name: "\n".join(lines) for name, lines in parts.items()}
    shape = {
        "lanes": lanes,
        "bytes": 8 * lanes,
        "last": lanes - 1,
        "rows": rows,
        "step": rows,
        "before": rows - 1,
        "V": V,
    }
    return (GATHER + _REFLECT + END).format(**shape, **text)


def gather_lines(lanes: int) -> dict[str, list[str]]:
    """Return the lines of GATHER that depend on the vector length."""
    places = ", ".join(f"i64 {lane}" for lane in range(lanes))
    return {
        "facts": [line for index, name in enumerate(FACTS) for line in fact(index, name)],
        "weights": [
            *splat("weight.v", "%weight", lanes),
            *splat("used.v", "%used", lanes, "i1"),
            *splat("columns.v", "%columns", lanes, "i64"),
        ],
        "there": [
            *splat("h.v", "%h", lanes, "i64"),
            f"  %h.lane = add <{lanes} x i64> %h.v, <{places}>",
            f"  %h.there = icmp slt <{lanes} x i64> %h.lane, %columns.v",
        ],
    }


def fact(index: int, name: str) -> list[str]:
    """Return the lines that load one number of the table's row."""
    return [
        f"  %{name}.n = add i64 %f.row, {index}",
        f"  %{name}.p = getelementptr i64, ptr %table, i64 %{name}.n",
        f"  %{name} = load i64, ptr %{name}.p",
    ]


def _entry(r: int, lanes: int) -> list[str]:
    """Return the lines of the entry of row r in the column, and its square."""
    return [
        f"  %e{r}.p = getelementptr double, ptr %x.i, i64 {r * lanes}",
        f"  %e{r} = load double, ptr %e{r}.p",
        f"  %e{r}.2 = fmul double %e{r}, %e{r}",
    ]


def _sum(name: str, kind: str, values: list[str]) -> list[str]:
    """Return the lines of a pairwise sum, which shortens the dependency chain."""
    lines = list[str]()
    while len(values) > 1:
        half = len(values) // 2
        sums = [f"%{name}.{len(values)}.{i}" for i in range(half)]
        lines += [
            f"  {to} = fadd {kind} {a}, {b}"
            for to, a, b in zip(sums, values[:half], values[half:], strict=False)
        ]
        values = [*sums, *values[2 * half :]]
    nothing = "-0.0" if kind == "double" else "zeroinitializer"
    return [*lines, f"  %{name} = fadd {kind} {values[0]}, {nothing}"]


def splat(name: str, value: str, lanes: int, kind: str = "double") -> list[str]:
    V = f"<{lanes} x {kind}>"
    first = f"  %{name}.1 = insertelement {V} poison, {kind} {value}, i64 0"
    return [
        first,
        f"  %{name} = shufflevector {V} %{name}.1, {V} poison, <{lanes} x i32> zeroinitializer",
    ]


def _product(r: int, V: str, lanes: int, fused: bool) -> list[str]:
    """Return the lines of d_r = v_r x_r over a chunk of columns, plus d of CHAINS rows before."""
    head = [
        f"  %c{r}.p = getelementptr double, ptr %x.c, i64 {r * lanes}",
        f"  %c{r} = load {V}, ptr %c{r}.p, align {8 * lanes}",
    ]
    if r < CHAINS:
        return [*head, f"  %d{r} = fmul {V} %v{r}, %c{r}"]
    if fused:
        return [
            *head,
            f"  %d{r} = call {V} @llvm.fma.v{lanes}f64({V} %v{r}, {V} %c{r}, {V} %d{r - CHAINS})",
        ]
    return [*head, f"  %m{r} = fmul {V} %v{r}, %c{r}", f"  %d{r} = fadd {V} %d{r - CHAINS}, %m{r}"]


def _update(r: int, V: str, lanes: int, fused: bool) -> list[str]:
    """Return the lines of x_r -= v_r w over a chunk of columns."""
    if fused:
        lines = [
            f"  %n{r} = fneg {V} %v{r}",
            f"  %u{r} = call {V} @llvm.fma.v{lanes}f64({V} %n{r}, {V} %w, {V} %c{r})",
        ]
    else:
        lines = [f"  %n{r} = fmul {V} %v{r}, %w", f"  %u{r} = fsub {V} %c{r}, %n{r}"]
    return [*lines, f"  store {V} %u{r}, ptr %c{r}.p, align {8 * lanes}"]
