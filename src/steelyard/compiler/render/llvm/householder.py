"""LLVM text of a loop that folds rows into triangular factors by Householder reflections, a panel of rows at a time."""

from __future__ import annotations

_HEAD = """define void @kernel(ptr noalias %R, ptr noalias %X, i64 %stride, i64 %panels, i64 %count, ptr noalias %table) {{
entry:
  br label %block
block:
  %b = phi i64 [ 0, %entry ], [ %b.next, %block.end ]
  %row3 = mul i64 %b, 3
  %t0 = getelementptr i64, ptr %table, i64 %row3
  %t1 = getelementptr i64, ptr %t0, i64 1
  %t2 = getelementptr i64, ptr %t0, i64 2
  %r.at = load i64, ptr %t0
  %x.at = load i64, ptr %t1
  %k = load i64, ptr %t2
  %k.up = add i64 %k, {last}
  %ld = and i64 %k.up, -{lanes}
  %r0 = getelementptr double, ptr %R, i64 %r.at
  %x0 = getelementptr double, ptr %X, i64 %x.at
  br label %panel
panel:
  %p = phi i64 [ 0, %block ], [ %p.next, %panel.end ]
  %p.rows = mul i64 %p, {rows}
  %p.at = mul i64 %p.rows, %stride
{starts}
  br label %column
column:
  %i = phi i64 [ 0, %panel ], [ %i.next, %column.end ]
{entries}
  %empty = fcmp oeq double %sum{rows}, 0.0
  br i1 %empty, label %column.end, label %reflect
reflect:
  %i.row = mul i64 %i, %ld
  %row = getelementptr double, ptr %r0, i64 %i.row
  %diagonal = getelementptr double, ptr %row, i64 %i
  %alpha = load double, ptr %diagonal
  %alpha2 = fmul double %alpha, %alpha
  %norm2 = fadd double %alpha2, %sum{rows}
  %norm = call double @llvm.sqrt.f64(double %norm2)
  %opposite = fneg double %norm
  %positive = fcmp oge double %alpha, 0.0
  %beta = select i1 %positive, double %opposite, double %norm
  %lead = fsub double %alpha, %beta
  %inverse = fdiv double 1.0, %lead
  %share = fdiv double %lead, %norm
  %tau = call double @llvm.fabs.f64(double %share)
{splat_tau}
{vectors}
  %start = and i64 %i, -{lanes}
  br label %chunk
chunk:
  %c = phi i64 [ %start, %reflect ], [ %c.next, %chunk ]
  %r.c = getelementptr double, ptr %row, i64 %c
  %w0 = load {V}, ptr %r.c, align 8
{products}
  %w = fmul {V} %w{rows}, %tau.v
  %r.new = fsub {V} %w0, %w
  store {V} %r.new, ptr %r.c, align 8
{updates}
  %c.next = add i64 %c, {lanes}
  %more = icmp slt i64 %c.next, %ld
  br i1 %more, label %chunk, label %zero
zero:
  store double %beta, ptr %diagonal
{zeros}
  br label %column.end
column.end:
  %i.next = add i64 %i, 1
  %i.more = icmp slt i64 %i.next, %k
  br i1 %i.more, label %column, label %panel.end
panel.end:
  %p.next = add i64 %p, 1
  %p.more = icmp slt i64 %p.next, %panels
  br i1 %p.more, label %panel, label %block.end
block.end:
  %b.next = add i64 %b, 1
  %b.more = icmp slt i64 %b.next, %count
  br i1 %b.more, label %block, label %done
done:
  ret void
}}
declare double @llvm.sqrt.f64(double)
declare double @llvm.fabs.f64(double)
declare {V} @llvm.fma.v{lanes}f64({V}, {V}, {V})
"""


def render(lanes: int, rows: int, fused: bool) -> str:
    """Return the module of a function kernel(R, X, stride, panels, count, table): `rows` rows of X at a time go into `count` factors.

    Row b of the table (count, 3) has where factor b begins in R, where its columns begin in a row of X, and their number k, all counted in
    doubles. A factor has k rows of k columns, padded to whole vectors; X has `panels` times `rows` rows of `stride` doubles, the padding
    of each factor's columns zero, and is used up. Column i is reflected onto the diagonal: beta = -sign(alpha) |(alpha, x)|,
    v = (1, x / (alpha - beta)), tau = (beta - alpha) / beta. A column that is zero costs nothing.
    Golub and Van Loan, "Matrix Computations", 4th ed., sections 5.1.3 and 6.5.3.
    """
    V = f"<{lanes} x double>"
    every = range(rows)
    starts = ["  %x.0 = getelementptr double, ptr %x0, i64 %p.at"]
    starts += [f"  %x.{r + 1} = getelementptr double, ptr %x.{r}, i64 %stride" for r in range(rows - 1)]
    parts = {
        "starts": starts,
        "entries": ["  %sum0 = fadd double 0.0, 0.0", *(line for r in every for line in _entry(r))],
        "splat_tau": _splat("tau.v", "%tau", lanes),
        "vectors": [line for r in every for line in (f"  %v{r}.s = fmul double %e{r}, %inverse", *_splat(f"v{r}", f"%v{r}.s", lanes))],
        "products": [line for r in every for line in _product(r, V, lanes, fused)],
        "updates": [line for r in every for line in _update(r, V, lanes, fused)],
        "zeros": [f"  store double 0.0, ptr %e{r}.p" for r in every],
    }
    text = {name: "\n".join(lines) for name, lines in parts.items()}
    return _HEAD.format(lanes=lanes, last=lanes - 1, rows=rows, V=V, **text)


def _entry(r: int) -> list[str]:
    """The entry of row r in the column, and the sum of squares with it."""
    return [
        f"  %e{r}.p = getelementptr double, ptr %x.{r}, i64 %i",
        f"  %e{r} = load double, ptr %e{r}.p",
        f"  %e{r}.2 = fmul double %e{r}, %e{r}",
        f"  %sum{r + 1} = fadd double %sum{r}, %e{r}.2",
    ]


def _splat(name: str, value: str, lanes: int) -> list[str]:
    V = f"<{lanes} x double>"
    first = f"  %{name}.1 = insertelement {V} poison, double {value}, i64 0"
    return [first, f"  %{name} = shufflevector {V} %{name}.1, {V} poison, <{lanes} x i32> zeroinitializer"]


def _product(r: int, V: str, lanes: int, fused: bool) -> list[str]:
    """w += v_r x_r over a chunk of columns."""
    head = [f"  %c{r}.p = getelementptr double, ptr %x.{r}, i64 %c", f"  %c{r} = load {V}, ptr %c{r}.p, align 8"]
    if fused:
        return [*head, f"  %w{r + 1} = call {V} @llvm.fma.v{lanes}f64({V} %v{r}, {V} %c{r}, {V} %w{r})"]
    return [*head, f"  %m{r} = fmul {V} %v{r}, %c{r}", f"  %w{r + 1} = fadd {V} %w{r}, %m{r}"]


def _update(r: int, V: str, lanes: int, fused: bool) -> list[str]:
    """x_r -= v_r w over a chunk of columns."""
    if fused:
        made = [f"  %n{r} = fneg {V} %v{r}", f"  %u{r} = call {V} @llvm.fma.v{lanes}f64({V} %n{r}, {V} %w, {V} %c{r})"]
    else:
        made = [f"  %n{r} = fmul {V} %v{r}, %w", f"  %u{r} = fsub {V} %c{r}, %n{r}"]
    return [*made, f"  store {V} %u{r}, ptr %c{r}.p, align 8"]
