"""sin and cos of a vector of doubles as LLVM text: one range reduction, two polynomials, no branch.

x = k pi/2 + r by Cody and Waite with three constants: where multiply and add fuse, three of 53 bits
(x - k c1 is then exact for
|k| < 2^17), else 33 + 33 + 53 bits (k times the first two is exact); then
sin r = r + r z P(z), cos r = 1 - z/2 + z^2 Q(z) with z = r^2, and the quadrant k chooses and signs.
P and Q interpolate at Chebyshev nodes of |r| <= pi/4 (errors 1.8e-17 and 8.7e-19). Within 2 ulp for
|x| <= 1e5 = LARGEST; beyond it, and for infinities, the C library. Cody and Waite, Software Manual
for the Elementary Functions, 1980, chapter 8.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import NamedTuple

from ...ir.graph import Expr
from .loop import LoopLayout, library_function
from .writer import COMPARE, Writer

Pair = tuple[str, str]
LARGEST = 1e5
NEAR = 0.0625  # [rad] largest increment for which sine and cosine are updated by sums of angles
_SIN_NEAR = (-1 / 6, 1 / 120, -1 / 5040)
_COS_NEAR = (-1 / 2, 1 / 24, -1 / 720, 1 / 40320)
_SIN = (
    -0.16666666666666666,
    0.008333333333330946,
    -0.0001984126983675497,
    2.755731610068303e-06,
    -2.5051131455427946e-08,
    1.591810123027412e-10,
)
_COS = (
    0.041666666666666664,
    -0.0013888888888887395,
    2.4801587298763433e-05,
    -2.7557317270560326e-07,
    2.0876146024689747e-09,
    -1.1382614868556325e-11,
)
_PI_2 = {
    True: ("0x1.921fb54442d18p+0", "0x1.1a62633145c07p-54", "-0x1.f1976b7ed8fbcp-110"),
    False: ("0x1.921fb54400000p+0", "0x1.0b4611a600000p-34", "0x1.3198a2e037073p-69"),
}
_2_PI = float.fromhex("0x1.45f306dc9c883p-1")
# 1.5 * 2^52: adding it rounds to an integer, which then stands in the low bits
_MAGIC = 6755399441055744.0


def _inline(w: Writer, x: str) -> Pair:
    """Emit sin and cos of a vector whose elements are at most LARGEST."""
    shifted = w.fma(x, w.splat(_2_PI), w.splat(_MAGIC))
    k = w.line(f"fsub {w.V} {shifted}, {w.splat(_MAGIC)}")
    r = _reduce_argument(w, x, k)
    z = w.mul(r, r)
    sine = w.fma(w.mul(r, z), _horner(w, z, _SIN), r)
    cosine = w.fma(w.mul(z, z), _horner(w, z, _COS), w.fma(z, w.splat(-0.5), w.splat(1.0)))
    return _quadrant(w, shifted, sine, cosine)


def _reduce_argument(w: Writer, x: str, k: str) -> str:
    """Emit x - k pi/2.

    Without fused multiply-add, the rounding error of the second difference is added to the third,
    so that the result is rounded once.
    """
    c1, c2, c3 = (w.splat(-float.fromhex(part)) for part in _PI_2[w.fused])
    if w.fused:
        return w.fma(k, c3, w.fma(k, c2, w.fma(k, c1, x)))
    first = w.fma(k, c1, x)
    step = w.mul(k, c2)
    second = w.line(f"fadd {w.V} {first}, {step}")
    lost = w.line(f"fadd {w.V} {w.line(f'fsub {w.V} {first}, {second}')}, {step}")
    return w.line(f"fadd {w.V} {second}, {w.fma(k, c3, lost)}")


def _horner(w: Writer, z: str, coefficients: tuple[float, ...]) -> str:
    value = w.splat(coefficients[-1])
    for c in coefficients[-2::-1]:
        value = w.fma(value, z, w.splat(c))
    return value


def _quadrant(w: Writer, shifted: str, sine: str, cosine: str) -> Pair:
    """Emit the quadrant's swap and signs: sine negative in 2 and 3, cosine in 1 and 2."""
    K = w.K
    bits = w.line(f"bitcast {w.V} {shifted} to {K}")
    odd = w.line(f"trunc {K} {bits} to {w.M}")
    after = w.line(f"add {K} {bits}, {w.splat_int(1)}")
    values = []
    for first, second, count in ((cosine, sine, bits), (sine, cosine, after)):
        chosen = w.line(f"select {w.M} {odd}, {w.V} {first}, {w.V} {second}")
        shift = w.line(f"shl {K} {count}, {w.splat_int(62)}")
        flip = w.line(f"and {K} {shift}, {w.splat_int(-(2**63))}")
        raw = w.line(f"bitcast {w.V} {chosen} to {K}")
        signed = w.line(f"xor {K} {raw}, {flip}")
        values.append(w.line(f"bitcast {K} {signed} to {w.V}"))
    return values[0], values[1]


def early_arguments(steps: Sequence[Expr], known: Iterable[int]) -> list[Expr]:
    """Return the arguments of sines and cosines that depend on no sine or cosine.

    One branch serves them all.
    """
    early = set(known)
    arguments = {}
    for s in steps:
        if s.op in ("sin", "cos"):
            if s.args[0].id in early:
                arguments[s.args[0].id] = s.args[0]
        elif all(a.op == "const" or a.id in early for a in s.args):
            early.add(s.id)
    return list(arguments.values())


class Near(NamedTuple):
    """An argument that is another one, `start`, plus a small increment.

    Arguments of a group do not depend on each other's sine or cosine.
    """

    group: int
    angle: Expr
    start: Expr


def near_arguments(steps: Sequence[Expr], scalars: Container[int]) -> dict[int, Near]:
    """Return the arguments that are another argument plus a small increment, by their ids.

    A small increment is a sum of products with the scalar operands numbered `scalars`: rates times
    the step of an integrator.
    """
    depth: dict[int, int] = {}
    still: dict[frozenset[int], Expr] = {}
    moved: list[tuple[Expr, frozenset[int]]] = []
    for s in steps:
        depth[s.id] = max((depth.get(a.id, 0) for a in s.args), default=0)
        if s.op in ("sin", "cos"):
            terms = list(_terms(s.args[0]))
            rest = frozenset(t.id for t in terms if not _is_scaled_by(t, scalars))
            if len(rest) == len(terms):
                still.setdefault(rest, s.args[0])
            else:
                moved.append((s.args[0], rest))
            depth[s.id] += 1
    return {x.id: Near(depth.get(x.id, 0), x, still[rest]) for x, rest in moved if rest in still}


def _terms(x: Expr) -> Iterable[Expr]:
    """Return the terms of a sum."""
    if x.op == "add":
        for a in x.args:
            yield from _terms(a)
    else:
        yield x


def _is_scaled_by(x: Expr, scalars: Container[int]) -> bool:
    """Return whether a node is a product with a scalar operand, or with a multiple of one."""
    if x.op == "input":
        return x.payload[0] in scalars
    return x.op == "mul" and any(_is_scaled_by(a, scalars) for a in x.args)


def sincos(w: Writer, layout: LoopLayout, xs: Sequence[str]) -> list[Pair]:
    """Emit (sin x, cos x) of some vectors.

    The result of a lane depends on its own argument only.
    """
    return _by_size(
        w,
        [_is_beyond(w, x, LARGEST) for x in xs],
        lambda: [_inline(w, x) for x in xs],
        lambda: [_rarely(w, layout, x) for x in xs],
    )


def sincos_near(
    w: Writer, layout: LoopLayout, xs: Sequence[str], starts: Sequence[str], pairs: Sequence[Pair]
) -> list[Pair]:
    """Emit (sin x, cos x) of vectors near others with known sines and cosines.

    sin(y + d) = sin y + (sin y (cos d - 1) + cos y sin d) with d = x - y, which is exact for x near
    y, and Taylor polynomials of sin d and cos d - 1 for |d| <= NEAR; the error is 2^-52. Lanes
    further away use the sine and cosine of x itself.
    """
    apart = [w.line(f"fsub {w.V} {x}, {y}") for x, y in zip(xs, starts, strict=True)]

    def slow() -> list[Pair]:
        values = []
        for x, d, pair in zip(xs, apart, pairs, strict=True):
            far = _is_beyond(w, d, NEAR)
            near = _rotate(w, pair, w.line(f"select {w.M} {far}, {w.V} zeroinitializer, {w.V} {d}"))
            whole = _rarely(w, layout, x)
            a, b = (
                w.line(f"select {w.M} {far}, {w.V} {whole[i]}, {w.V} {near[i]}") for i in range(2)
            )
            values.append((a, b))
        return values

    fast = lambda: [_rotate(w, pair, d) for d, pair in zip(apart, pairs, strict=True)]  # noqa: E731
    return _by_size(w, [_is_beyond(w, d, NEAR) for d in apart], fast, slow)


def _rotate(w: Writer, pair: Pair, d: str) -> Pair:
    """Emit sin(a + d) and cos(a + d), |d| <= NEAR, from the pair sin(a), cos(a)."""
    sine, cosine = pair
    z = w.mul(d, d)
    less = w.mul(z, _horner(w, z, _COS_NEAR))
    turn = w.fma(d, w.mul(z, _horner(w, z, _SIN_NEAR)), d)
    back = w.line(f"fneg {w.V} {turn}")
    return w.fma(cosine, turn, w.fma(sine, less, sine)), w.fma(
        sine, back, w.fma(cosine, less, cosine)
    )


def _by_size(
    w: Writer, beyond: Sequence[str], fast: Callable[[], list[Pair]], slow: Callable[[], list[Pair]]
) -> list[Pair]:
    """Emit the pairs of `fast`, or of `slow` if a lane of some vector is `beyond`."""
    if not beyond:
        return []
    some = beyond[0]
    for other in beyond[1:]:
        some = w.line(f"or {w.M} {some}, {other}")
    rare = w.line(f"icmp ne i{w.lanes} {w.line(f'bitcast {w.M} {some} to i{w.lanes}')}, 0")
    tag = w.fresh()[1:]
    w.do(f"br i1 {rare}, label %slow{tag}, label %fast{tag}, !prof !0")
    pairs = []
    for name, write in (("slow", slow), ("fast", fast)):
        w.label(f"{name}{tag}")
        pairs.append((write(), w.current))
        w.do(f"br label %join{tag}")
    w.label(f"join{tag}")
    (a, at_a), (b, at_b) = pairs
    both = [
        [w.line(f"phi {w.V} [ {x[i]}, %{at_a} ], [ {y[i]}, %{at_b} ]") for i in range(2)]
        for x, y in zip(a, b, strict=True)
    ]
    return [(one, two) for one, two in both]


def _is_beyond(w: Writer, x: str, limit: float) -> str:
    """Emit whether |x| exceeds a limit; false for NaN, without a floating-point exception."""
    size = w.line(f"call {w.V} @llvm.fabs.{w.v}({w.V} {x})")
    return w.line(COMPARE.replace("?", "olt").format(w.splat(limit), size, V=w.V, v=w.v, M=w.M))


def _rarely(w: Writer, layout: LoopLayout, x: str) -> Pair:
    """Emit sine and cosine by a call, in a branch that is rarely taken."""
    kind = f"{{ {w.V}, {w.V} }}"
    functions = ", ".join(f"ptr {library_function(w, layout, name)}" for name in ("sin", "cos"))
    both = w.line(f"call {w.keeping} {kind} @sincos_rarely({w.V} {x}, {functions})")
    return w.line(f"extractvalue {kind} {both}, 0"), w.line(f"extractvalue {kind} {both}, 1")


def sincos_rarely(w: Writer) -> str:
    """Return the function for a vector with a large lane.

    It combines inline values with the C library's values in the large lanes. For these it computes
    sin(0) inline, which raises no overflow or invalid flag. Its calls preserve registers if
    possible.
    """
    w.label("entry")
    large = _is_beyond(w, "%x", LARGEST)
    inline = _inline(w, w.line(f"select {w.M} {large}, {w.V} zeroinitializer, {w.V} %x"))
    kind, both = f"{{ {w.V}, {w.V} }}", "undef"
    for i, name in enumerate(("sin", "cos")):
        exact = w.line(f"call {w.V} @by_lane({w.V} %x, ptr %{name})")
        chosen = w.line(f"select {w.M} {large}, {w.V} {exact}, {w.V} {inline[i]}")
        both = w.line(f"insertvalue {kind} {both}, {w.V} {chosen}, {i}")
    w.do(f"ret {kind} {both}")
    return w.function(
        f"internal {w.keeping} {kind} @sincos_rarely({w.V} %x, ptr %sin, ptr %cos) noinline cold #1"
    )
