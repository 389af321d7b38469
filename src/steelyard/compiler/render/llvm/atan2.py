"""atan2, asin and acos of vectors of doubles as LLVM text: one division, one polynomial, no branch.

With a <= b the absolute values of the two arguments in order, a / b is at most 1; beyond tan(pi/8)
the identity atan(a/b) = pi/4 + atan((a - b) / (a + b)) brings it below. Then atan t = t + t z P(z)
with z = t^2, where P interpolates at Chebyshev nodes of |t| <= tan(pi/8) (error 4.7e-18), and the
octant adds k pi/4, in two parts of which the first has 50 bits, so that k times it is exact. Within
2.5 ulp up to 8.9e307, where a + b overflows; asin x = atan2(x, sqrt((1 - x)(1 + x))) and acos x,
its arguments exchanged, within 4. Zeros, infinities and NaN are NumPy's. Muller, Elementary
Functions, 3rd ed. 2016, section 11.3.
"""

from __future__ import annotations

from .writer import COMPARE, Writer

_ATAN = (
    -0.3333333333333333,
    0.1999999999999552,
    -0.14285714284666542,
    0.11111111015256361,
    -0.09090904578123873,
    0.07692183190825433,
    -0.06664511447372731,
    0.058581489127221394,
    -0.0508544973752125,
    0.03923165828348216,
    -0.019176887104237525,
)
_TAN_PI_8 = 0.41421356237309503
_PI_4 = (float.fromhex("0x1.921fb54442d10p-1"), float.fromhex("0x1.08d313198a2e0p-50"))
_LARGEST = 1.7976931348623157e308


def atan2(w: Writer, y: str, x: str) -> str:
    """Emit the angle of the point (x, y), in [-pi, pi]."""
    size_x, size_y = (w.line(f"call {w.V} @llvm.fabs.{w.v}({w.V} {a})") for a in (x, y))
    steep = _less(w, size_x, size_y)
    short, long = _finite(w, _select(w, steep, size_x, size_y), _select(w, steep, size_y, size_x))
    beyond = _less(w, w.mul(long, w.splat(_TAN_PI_8)), short)
    above = _select(w, beyond, w.line(f"fsub {w.V} {short}, {long}"), short)
    below = _select(w, beyond, w.line(f"fadd {w.V} {short}, {long}"), long)
    # 0 / 2 for atan2(0, 0); LLVM would divide by 0 for 0 / 1
    below = _select(w, _less(w, below, w.splat(5e-324)), w.splat(2.0), below)
    r = _atan(w, w.line(f"fdiv {w.V} {above}, {below}"))
    x_negative = _negative(w, x)
    k = _select(w, beyond, w.splat(1.0), w.splat(0.0))
    k = _select(w, steep, w.line(f"fsub {w.V} {w.splat(2.0)}, {k}"), k)
    k = _select(w, x_negative, w.line(f"fsub {w.V} {w.splat(4.0)}, {k}"), k)
    r = _select(w, w.line(f"xor {w.M} {steep}, {x_negative}"), w.line(f"fneg {w.V} {r}"), r)
    angle = w.fma(k, w.splat(_PI_4[0]), w.fma(k, w.splat(_PI_4[1]), r))
    return w.line(f"call {w.V} @llvm.copysign.{w.v}({w.V} {angle}, {w.V} {y})")


def asin(w: Writer, x: str) -> str:
    return atan2(w, x, _other_side(w, x))


def acos(w: Writer, x: str) -> str:
    return atan2(w, _other_side(w, x), x)


def _other_side(w: Writer, x: str) -> str:
    """Emit sqrt((1 - x)(1 + x)), NaN for |x| > 1."""
    one = w.splat(1.0)
    product = w.line(
        f"fmul {w.V} {w.line(f'fsub {w.V} {one}, {x}')}, {w.line(f'fadd {w.V} {one}, {x}')}"
    )
    return w.line(f"call {w.V} @llvm.sqrt.{w.v}({w.V} {product})")


def _finite(w: Writer, short: str, long: str) -> tuple[str, str]:
    """Emit two finite numbers of the same ratio: 1 and 1 where both are infinite."""
    endless = w.line(
        f"and {w.M} {_less(w, w.splat(_LARGEST), short)}, {_less(w, w.splat(_LARGEST), long)}"
    )
    one = w.splat(1.0)
    return _select(w, endless, one, short), _select(w, endless, one, long)


def _atan(w: Writer, t: str) -> str:
    z = w.mul(t, t)
    square = w.mul(z, z)
    # two short chains instead of a long one
    even, odd = (_horner(w, square, _ATAN[first::2]) for first in (0, 1))
    return w.fma(w.mul(t, z), w.fma(odd, z, even), t)


def _horner(w: Writer, z: str, coefficients: tuple[float, ...]) -> str:
    value = w.splat(coefficients[-1])
    for c in coefficients[-2::-1]:
        value = w.fma(value, z, w.splat(c))
    return value


def _negative(w: Writer, x: str) -> str:
    """Emit whether the sign bit is set: -0.0 is negative."""
    return w.line(f"icmp slt {w.K} {w.line(f'bitcast {w.V} {x} to {w.K}')}, zeroinitializer")


def _less(w: Writer, a: str, b: str) -> str:
    return w.line(COMPARE.replace("?", "olt").format(a, b, V=w.V, v=w.v, M=w.M))


def _select(w: Writer, condition: str, yes: str, no: str) -> str:
    return w.line(f"select {w.M} {condition}, {w.V} {yes}, {w.V} {no}")
