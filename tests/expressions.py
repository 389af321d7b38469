"""Random expressions, and numbers that know how far rounding may have carried them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from steelyard.algebra.scalar import absolute, cos, exp, sign, sin, sqrt, tanh, where

EPSILON = 2.0**-52
LEAVES = 3

UNARY: dict[str, Callable[[Any], Any]] = {
    "neg": lambda a: -a,
    "sin": sin,
    "cos": cos,
    "sqrt": lambda a: sqrt(a * a + 0.5),
    "exp": lambda a: exp(sin(a)),
    "tanh": tanh,
    "abs": absolute,
    "sign": sign,
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / (b * b + 1.0),
    "less": lambda a, b: where(a < b, a, b),
    "least": lambda a, b: where(a <= b, b * 2.0, a),
}
CONSTANTS = st.sampled_from(
    [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, math.pi, -math.pi / 2, math.pi / 2, 2 * math.pi, 0.1]
) | st.floats(-8, 8)
VALUES = st.floats(-50, 50).map(lambda x: x if abs(x) > 1e-6 else 0.0)


def trees(kinks: bool = True) -> st.SearchStrategy[Any]:
    """Nested tuples: ("leaf", k), ("constant", c), (operation, arguments...)."""
    leaf = st.tuples(st.just("leaf"), st.integers(0, LEAVES - 1)) | st.tuples(
        st.just("constant"), CONSTANTS
    )
    unary = [op for op in UNARY if kinks or op not in ("abs", "sign")]
    binary = [op for op in BINARY if kinks or op not in ("less", "least")]

    def extend(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return st.tuples(st.sampled_from(unary), inner) | st.tuples(
            st.sampled_from(binary), inner, inner
        )

    return st.recursive(leaf, extend, max_leaves=14)


def build(tree: Any, leaves: Any, constant: Callable[[float], Any] = float) -> Any:
    """The expression over given leaves."""
    kind, *rest = tree
    if kind == "leaf":
        return leaves[rest[0]]
    if kind == "constant":
        return constant(rest[0])
    arguments = [build(t, leaves, constant) for t in rest]
    return (UNARY | BINARY)[kind](*arguments)


@dataclass(frozen=True)
class Rounded:
    """A number and a bound on what rounding, or a rewrite that is exact but for rounding, may have
    done to it.
    """

    value: float
    error: float = 0.0

    def _of(self, value: float, carried: float) -> Rounded:
        return Rounded(value, carried + 4 * EPSILON * abs(value) + 1e-300)

    def __add__(self, other: Any) -> Rounded:
        other = lift(other)
        return self._of(self.value + other.value, self.error + other.error)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Rounded:
        return self + -lift(other)

    def __rsub__(self, other: Any) -> Rounded:
        return lift(other) - self

    def __mul__(self, other: Any) -> Rounded:
        other = lift(other)
        carried = (
            abs(self.value) * other.error + abs(other.value) * self.error + self.error * other.error
        )
        return self._of(self.value * other.value, carried)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Rounded:
        other = lift(other)
        value = self.value / other.value
        room = abs(other.value) - other.error
        return self._of(
            value, (self.error + abs(value) * other.error) / room if room > 0 else math.inf
        )

    def __rtruediv__(self, other: Any) -> Rounded:
        return lift(other) / self

    def __neg__(self) -> Rounded:
        return Rounded(-self.value, self.error)

    def __abs__(self) -> Rounded:
        return Rounded(abs(self.value), self.error)

    absolute = __abs__

    def __lt__(self, other: Any) -> Truth:
        return Truth(self.value < lift(other).value, self._apart(other))

    def __le__(self, other: Any) -> Truth:
        return Truth(self.value <= lift(other).value, self._apart(other))

    def __gt__(self, other: Any) -> Truth:
        return lift(other) < self

    def __ge__(self, other: Any) -> Truth:
        return lift(other) <= self

    def _apart(self, other: Any) -> bool:
        other = lift(other)
        return (
            abs(self.value - other.value) > self.error + other.error
            or self.error + other.error == 0.0
        )

    def sin(self) -> Rounded:
        return self._of(math.sin(self.value), self.error + 1e-15 * (1 + abs(self.value)))

    def cos(self) -> Rounded:
        return self._of(math.cos(self.value), self.error + 1e-15 * (1 + abs(self.value)))

    def sqrt(self) -> Rounded:
        root = math.sqrt(self.value)
        return self._of(root, self.error / root if self.error < self.value else math.inf)

    def exp(self) -> Rounded:
        return self._of(
            math.exp(self.value),
            math.exp(self.value) * math.expm1(min(self.error, 1.0)) if self.error < 1 else math.inf,
        )

    def tanh(self) -> Rounded:
        return self._of(math.tanh(self.value), self.error)

    def sign(self) -> Rounded:
        return Rounded(
            float((self.value > 0) - (self.value < 0)),
            0.0 if abs(self.value) > self.error or self.error == 0.0 else 2.0,
        )

    @staticmethod
    def where(condition: Any, yes: Any, no: Any) -> Rounded:
        if not isinstance(condition, Truth):
            return lift(yes if condition else no)
        chosen = lift(yes if condition.holds else no)
        return chosen if condition.sure else Rounded(chosen.value, math.inf)


@dataclass(frozen=True)
class Truth:
    """Whether a comparison holds, and whether rounding could not have changed that."""

    holds: bool
    sure: bool
    where = Rounded.where


def lift(x: Any) -> Rounded:
    return x if isinstance(x, Rounded) else Rounded(float(x))
