"""Interval arithmetic: bounds of an algorithm's values over boxes of arguments.

The bounds are exact in real arithmetic; rounding errors of the ends, some 1e-15 of their size, are
not added. Moore, Kearfott and Cloud, Introduction to Interval Analysis, 2009, chapters 2 and 5.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


class Interval:
    """The numbers between `low` and `high`, arrays of one shape."""

    __slots__ = ("high", "low")
    __array_ufunc__ = None  # array + interval is left to the interval

    def __init__(self, low: ArrayLike, high: ArrayLike) -> None:
        self.low: Array = np.asarray(low, dtype=np.float64)
        self.high: Array = np.asarray(high, dtype=np.float64)

    @property
    def magnitude(self) -> Array:
        """The largest absolute value."""
        return np.maximum(np.abs(self.low), np.abs(self.high))

    def __neg__(self) -> Interval:
        return Interval(-self.high, -self.low)

    def __add__(self, other: Any) -> Interval:
        low, high = _ends(other)
        return Interval(self.low + low, self.high + high)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Interval:
        low, high = _ends(other)
        return Interval(self.low - high, self.high - low)

    def __rsub__(self, other: Any) -> Interval:
        return -self + other

    def __mul__(self, other: Any) -> Interval:
        if other is self:
            return self._square()
        low, high = _ends(other)
        if low is high:
            return _ordered(self.low * low, self.high * low)
        products = (self.low * low, self.low * high, self.high * low, self.high * high)
        return Interval(np.minimum.reduce(products), np.maximum.reduce(products))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Interval:
        low, high = _ends(other)
        within = (low <= 0) & (high >= 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            inverse = Interval(
                np.where(within, -np.inf, 1.0 / high), np.where(within, np.inf, 1.0 / low)
            )
        return self * inverse

    def __rtruediv__(self, other: Any) -> Interval:
        return Interval(*_ends(other)) / self

    def _square(self) -> Interval:
        ends = _ordered(self.low**2, self.high**2)
        return Interval(np.where((self.low <= 0) & (self.high >= 0), 0.0, ends.low), ends.high)

    def sin(self) -> Interval:
        """Return the range of the sine."""
        return _wave(np.sin, self.low, self.high, 0.5 * math.pi)

    def cos(self) -> Interval:
        """Return the range of the cosine."""
        return _wave(np.cos, self.low, self.high, 0.0)

    def sqrt(self) -> Interval:
        """Return the range of the square root of the nonnegative part."""
        return self._monotone(lambda x: np.sqrt(np.maximum(x, 0.0)))

    def exp(self) -> Interval:
        """Return the range of the exponential function."""
        return self._monotone(np.exp)

    def tanh(self) -> Interval:
        """Return the range of the hyperbolic tangent."""
        return self._monotone(np.tanh)

    def sign(self) -> Interval:
        """Return the range of the sign: -1, 0, 1, or [-1, 1] where 0 lies within."""
        return self._monotone(np.sign)

    def absolute(self) -> Interval:
        """Return the range of |x|."""
        ends = _ordered(np.abs(self.low), np.abs(self.high))
        return Interval(np.where((self.low <= 0) & (self.high >= 0), 0.0, ends.low), ends.high)

    def _monotone(self, function: Callable[[Array], Array]) -> Interval:
        return Interval(function(self.low), function(self.high))

    def __lt__(self, other: Any) -> Interval:
        low, high = _ends(other)
        # 1 where it holds for all, 0 where for none
        return Interval(self.high < low, self.low < high)

    def __le__(self, other: Any) -> Interval:
        low, high = _ends(other)
        return Interval(self.high <= low, self.low <= high)

    def __gt__(self, other: Any) -> Interval:
        return -self < -other

    def __ge__(self, other: Any) -> Interval:
        return -self <= -other

    @staticmethod
    def where(condition: Any, yes: Any, no: Any) -> Interval:
        """Return `yes` or `no` where the condition is certain, else the hull of both."""
        (least, most), (yes_low, yes_high), (no_low, no_high) = map(_ends, (condition, yes, no))
        low = np.where(least > 0, yes_low, np.where(most > 0, np.minimum(yes_low, no_low), no_low))
        return Interval(
            low,
            np.where(
                least > 0, yes_high, np.where(most > 0, np.maximum(yes_high, no_high), no_high)
            ),
        )


def _ends(x: Any) -> tuple[Any, Any]:
    return (x.low, x.high) if isinstance(x, Interval) else (x, x)


def _ordered(a: Array, b: Array) -> Interval:
    return Interval(np.minimum(a, b), np.maximum(a, b))


def _wave(function: Callable[[Array], Array], low: Array, high: Array, crest: float) -> Interval:
    """Return the range of a sine with a maximum at `crest`.

    It is given by the values at the ends, and by +-1 where a maximum or minimum lies within.
    """
    ends = _ordered(function(low), function(high))
    turns = 2.0 * math.pi

    def holds(point: float) -> NDArray[np.bool_]:
        return np.asarray(np.floor((high - point) / turns) >= np.ceil((low - point) / turns))

    return Interval(
        np.where(holds(crest + math.pi), -1.0, ends.low), np.where(holds(crest), 1.0, ends.high)
    )
