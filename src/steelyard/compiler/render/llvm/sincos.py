"""sin and cos of a vector of doubles as LLVM text: one range reduction, two polynomials, no branch.

x = k pi/2 + r by Cody and Waite with three constants: where multiply and add fuse, three of 53 bits (x - k c1 is then exact for
|k| < 2^17), else 33 + 33 + 53 bits (k times the first two is exact); then
sin r = r + r z P(z), cos r = 1 - z/2 + z^2 Q(z) with z = r^2, and the quadrant k chooses and signs. P and Q interpolate at Chebyshev
nodes of |r| <= pi/4 (errors 1.8e-17 and 8.7e-19). Within 2 ulp for |x| <= 1e5 = LARGEST; beyond it, and for infinities, the C library.
Cody and Waite, Software Manual for the Elementary Functions, 1980, chapter 8.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...ir.graph import Expr
from .loop import Layout, call_rarely
from .writer import COMPARE, Writer

LARGEST = 1e5
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
_MAGIC = 6755399441055744.0  # 1.5 * 2^52: adding it rounds to an integer, which then stands in the low bits


def _inline(w: Writer, x: str) -> tuple[str, str]:
    """sin and cos of a vector whose elements are at most LARGEST."""
    shifted = w.fma(x, w.splat(_2_PI), w.splat(_MAGIC))
    k = w.line(f"fsub {w.V} {shifted}, {w.splat(_MAGIC)}")
    r = _reduced(w, x, k)
    z = w.mul(r, r)
    sine = w.fma(w.mul(r, z), _horner(w, z, _SIN), r)
    cosine = w.fma(w.mul(z, z), _horner(w, z, _COS), w.fma(z, w.splat(-0.5), w.splat(1.0)))
    return _quadrant(w, shifted, sine, cosine)


def _reduced(w: Writer, x: str, k: str) -> str:
    """x - k pi/2. Where nothing fuses, what the second difference rounds off is put back with the third: one rounding and not two."""
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


def _quadrant(w: Writer, shifted: str, sine: str, cosine: str) -> tuple[str, str]:
    """Odd quadrants swap; the sine is negative in quadrants 2 and 3, the cosine in 1 and 2."""
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
    """The arguments of sines and cosines that depend on no sine or cosine, so that one branch serves them all."""
    early = set(known)
    arguments = {}
    for s in steps:
        if s.op in ("sin", "cos"):
            if s.args[0].id in early:
                arguments[s.args[0].id] = s.args[0]
        elif all(a.op == "const" or a.id in early for a in s.args):
            early.add(s.id)
    return list(arguments.values())


def sincos(w: Writer, layout: Layout, xs: Sequence[str]) -> list[tuple[str, str]]:
    """The values (sin x, cos x) of some vectors. A lane's result depends on its own argument only."""
    if not xs:
        return []
    large = [_is_large(w, x) for x in xs]
    some = large[0]
    for other in large[1:]:
        some = w.line(f"or {w.M} {some}, {other}")
    rare = w.line(f"icmp ne i{w.lanes} {w.line(f'bitcast {w.M} {some} to i{w.lanes}')}, 0")
    # large lanes compute sin(0), so that they raise no overflow or invalid flag
    fast = [_inline(w, w.line(f"select {w.M} {m}, {w.V} zeroinitializer, {w.V} {x}")) for m, x in zip(large, xs, strict=True)]
    before, tag = w.current, w.fresh()[1:]
    w.do(f"br i1 {rare}, label %slow{tag}, label %join{tag}, !prof !0")
    w.label(f"slow{tag}")
    slow = [_with_library(w, layout, x, pair) for x, pair in zip(xs, fast, strict=True)]
    w.do(f"br label %join{tag}")
    w.label(f"join{tag}")
    return [
        (
            w.line(f"phi {w.V} [ {f[0]}, %{before} ], [ {s[0]}, %slow{tag} ]"),
            w.line(f"phi {w.V} [ {f[1]}, %{before} ], [ {s[1]}, %slow{tag} ]"),
        )
        for f, s in zip(fast, slow, strict=True)
    ]


def _is_large(w: Writer, x: str) -> str:
    """Whether an argument is beyond the inline reduction; false for NaN, without a flag."""
    size = w.line(f"call {w.V} @llvm.fabs.{w.v}({w.V} {x})")
    return w.line(COMPARE.replace("?", "olt").format(w.splat(LARGEST), size, V=w.V, v=w.v, M=w.M))


def _with_library(w: Writer, layout: Layout, x: str, inline: tuple[str, str]) -> list[str]:
    """The inline values, and the C library's in the lanes whose argument is large. Conditions do not pass between blocks for nothing."""
    large = _is_large(w, x)
    pairs = zip(("sin", "cos"), inline, strict=True)
    return [w.line(f"select {w.M} {large}, {w.V} {call_rarely(w, layout, name, x)}, {w.V} {value}") for name, value in pairs]
