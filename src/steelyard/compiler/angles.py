"""Sines and cosines of a block: inline for the many, by the C library for lanes whose argument is beyond the inline reduction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from .frame import library_function
from .graph import Expr
from .trig import LARGEST, sincos
from .writer import COMPARE

if TYPE_CHECKING:
    from .llvm import Body


def early_angles(steps: Sequence[Expr], known: Iterable[int]) -> list[Expr]:
    """The angles that need no sine or cosine themselves, so that one test serves them all."""
    early = set(known)
    angles = {}
    for s in steps:
        if s.op in ("sin", "cos"):
            if s.args[0].id in early:
                angles[s.args[0].id] = s.args[0]
        elif all(a.op == "const" or a.id in early for a in s.args):
            early.add(s.id)
    return list(angles.values())


def turn(body: Body, angles: Sequence[Expr], turned: dict[int, tuple[str, str]]) -> None:
    """Write sin and cos of some angles. A lane's result depends on its own argument only."""
    if not angles:
        return
    w = body.w
    xs = [body.value(a) for a in angles]
    large = [_large(body, x) for x in xs]
    some = large[0]
    for other in large[1:]:
        some = w.line(f"or {w.M} {some}, {other}")
    rare = w.line(f"icmp ne i{w.lanes} {w.line(f'bitcast {w.M} {some} to i{w.lanes}')}, 0")
    # large lanes compute sin(0), lest they raise NumPy's overflow or invalid flags
    fast = [sincos(w, w.line(f"select {w.M} {m}, {w.V} zeroinitializer, {w.V} {x}")) for m, x in zip(large, xs, strict=True)]
    before, tag = w.current, w.fresh()[1:]
    w.do(f"br i1 {rare}, label %slow{tag}, label %join{tag}, !prof !0")
    w.label(f"slow{tag}")
    slow = [_patched(body, m, x, pair) for m, x, pair in zip(large, xs, fast, strict=True)]
    w.do(f"br label %join{tag}")
    w.label(f"join{tag}")
    for angle, f, s in zip(angles, fast, slow, strict=True):
        sine, cosine = (w.line(f"phi {w.V} [ {a}, %{before} ], [ {b}, %slow{tag} ]") for a, b in zip(f, s, strict=True))
        turned[angle.id] = sine, cosine


def _large(body: Body, x: str) -> str:
    """Whether an argument is beyond the inline reduction. Quietly: NaN is not."""
    w = body.w
    size = w.line(f"call {w.V} @llvm.fabs.{w.v}({w.V} {x})")
    return w.line(COMPARE.replace("?", "olt").format(w.splat(LARGEST), size, V=w.V, v=w.v, M=w.M))


def _patched(body: Body, large: str, x: str, fast: tuple[str, str]) -> list[str]:
    """The inline values, and the C library's in the lanes whose argument is large."""
    w = body.w
    values = []
    for name, inline in zip(("sin", "cos"), fast, strict=True):
        exact = w.line(f"call {w.V} @lanes({w.V} {x}, ptr {library_function(w, body.layout, name)})")
        values.append(w.line(f"select {w.M} {large}, {w.V} {exact}, {w.V} {inline}"))
    return values
