"""A scalar in normal form: a sum of rational number * monomial * sine or cosine of a sum of angles. Equal quantities have equal terms.

Algorithms run on it as on any other scalar. Products of sines and cosines are turned into sums at once, so that sin^2 + cos^2 is 1, a
difference of equal expressions is nothing, and what is left is the closed form. Made for arms of two or three joints: the number of terms
grows fast with the joints.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from .fourier_terms import ONE, Wave, product, signed

Monomial = tuple[tuple[int, int], ...]  # (number of the atom, power), by rising number
Term = tuple[Monomial, Wave]


class Atom(NamedTuple):
    """An indeterminate: a name, or an operation of the graph's on normal forms that has no normal form of its own (sign, tanh, ...)."""

    name: str
    arguments: tuple[Normal, ...] = ()


class Ring:
    """The atoms that normal forms are made of."""

    def __init__(self) -> None:
        self.atoms: list[Atom] = []
        self._numbers: dict[Any, int] = {}

    def symbol(self, name: str) -> Normal:
        """A new indeterminate."""
        return self._atom(Atom(name), name)

    def apply(self, operation: str, *arguments: Any) -> Normal:
        """An operation that stays as it is."""
        forms = tuple(x if isinstance(x, Normal) else self.number(x) for x in arguments)
        return self._atom(Atom(operation, forms), (operation, *(frozenset(x.terms.items()) for x in forms)))

    def number(self, x: Any) -> Normal:
        value = exact(x)
        return Normal(self, {((), ONE): value} if value else {})

    def _atom(self, atom: Atom, key: Any) -> Normal:
        number = self._numbers.setdefault(key, len(self.atoms))
        if number == len(self.atoms):
            self.atoms.append(atom)
        return Normal(self, {(((number, 1),), ONE): Fraction(1)})


def exact(x: Any) -> Fraction:
    """A number read as the decimal that it prints as, to 15 digits: 0.1 + 0.2 is three tenths. What is below 1e-15 is zero."""
    if isinstance(x, Fraction | int):
        return Fraction(x)
    return Fraction(0) if abs(x) < 1e-15 else Fraction(f"{float(x):.15g}")


@dataclass(frozen=True, eq=False, slots=True)
class Normal:
    """A sum of terms: (monomial, wave) -> rational number, none of them zero."""

    ring: Ring
    terms: dict[Term, Fraction]

    __array_ufunc__ = None

    def _plus(self, other: Any, sense: int) -> Normal:
        total = dict(self.terms)
        for term, c in self._form(other).terms.items():
            c = total.get(term, Fraction(0)) + sense * c
            if c:
                total[term] = c
            else:
                del total[term]
        return Normal(self.ring, total)

    def __add__(self, other: Any) -> Normal:
        return self._plus(other, 1) if _scalar(other) else NotImplemented

    __radd__ = __add__

    def __sub__(self, other: Any) -> Normal:
        return self._plus(other, -1) if _scalar(other) else NotImplemented

    def __rsub__(self, other: Any) -> Normal:
        return (-self)._plus(other, 1) if _scalar(other) else NotImplemented

    def __neg__(self) -> Normal:
        return Normal(self.ring, {term: -c for term, c in self.terms.items()})

    def __mul__(self, other: Any) -> Normal:
        if not _scalar(other):
            return NotImplemented
        return Normal(self.ring, _summed((*_times(a, b), x * y) for a, x in self.terms.items() for b, y in self._form(other).terms.items()))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Normal:
        return self * self._form(other).inverse() if _scalar(other) else NotImplemented

    def __rtruediv__(self, other: Any) -> Normal:
        return self.inverse() * other if _scalar(other) else NotImplemented

    def inverse(self) -> Normal:
        """1 over a number or a monomial; an operation of its own for anything else."""
        if not self.terms:
            raise ZeroDivisionError("a normal form is divided by zero")
        ((monomial, wave), c), *rest = self.terms.items()
        if rest or wave != ONE:
            return self.ring.apply("div", 1, self)
        return Normal(self.ring, {(tuple((atom, -power) for atom, power in monomial), ONE): 1 / c})

    def sin(self) -> Normal:
        return self._turn(True)

    def cos(self) -> Normal:
        return self._turn(False)

    def _turn(self, odd: bool) -> Normal:
        angle, phase = [], 0.0
        for (monomial, wave), c in self.terms.items():
            if wave != ONE or (monomial and (len(monomial) > 1 or monomial[0][1] != 1)):
                return self.ring.apply("sin" if odd else "cos", self)
            angle += [(monomial[0][0], c)] if monomial else []
            phase = phase if monomial else float(c)
        sine, cosine = (_wave(self.ring, kind, tuple(sorted(angle))) for kind in (True, False))
        s, k = _sine_cosine(phase)
        return sine * k + cosine * s if odd else cosine * k - sine * s

    def sqrt(self) -> Normal:
        return self.ring.apply("sqrt", self)

    def exp(self) -> Normal:
        return self.ring.apply("exp", self)

    def tanh(self) -> Normal:
        return self.ring.apply("tanh", self)

    def absolute(self) -> Normal:
        return self.ring.apply("abs", self)

    __abs__ = absolute

    def sign(self) -> Normal:
        return self.ring.apply("sign", self)

    def __lt__(self, other: Any) -> Normal:
        return self.ring.apply("lt", self, other)

    def __le__(self, other: Any) -> Normal:
        return self.ring.apply("le", self, other)

    def __gt__(self, other: Any) -> Normal:
        return self.ring.apply("lt", other, self)

    def __ge__(self, other: Any) -> Normal:
        return self.ring.apply("le", other, self)

    @staticmethod
    def where(condition: Any, yes: Any, no: Any) -> Normal:
        ring = next(x.ring for x in (condition, yes, no) if isinstance(x, Normal))
        return ring.apply("select", condition, yes, no)

    def __bool__(self) -> bool:
        raise TypeError("a normal form has no truth value: branch on structure, or use where(condition, yes, no)")

    def _form(self, x: Any) -> Normal:
        return x if isinstance(x, Normal) else self.ring.number(x)


def atom_number(x: Normal) -> int:
    """The number of the atom that x is."""
    (((atom, _),), _), = x.terms  # fmt: skip
    return atom


def derivative(values: Sequence[Any], seeds: dict[Normal, Any]) -> list[Any]:
    """The change of each value when the seeded atoms change at the given rates, as `compiler.differentiate.derivative` has it for nodes."""
    return [sum((_partial(v, atom_number(x)) * rate for x, rate in seeds.items()), 0.0) if isinstance(v, Normal) else 0.0 for v in values]


def _partial(value: Normal, atom: int) -> Normal:
    ring = value.ring
    result = ring.number(0)
    for (monomial, wave), c in value.terms.items():
        power = dict(monomial).get(atom, 0)
        if power:
            lowered = tuple((a, p - (a == atom)) for a, p in monomial if (a, p) != (atom, 1))
            result = result + Normal(ring, {(lowered, wave): c * power})
        k = dict(wave[1]).get(atom, Fraction(0))
        if k:
            result = result + Normal(ring, {(monomial, (not wave[0], wave[1])): c * k * (1 if wave[0] else -1)})
    return result


def _sine_cosine(phase: float) -> tuple[float, float]:
    """Of a constant angle; exact where it is a multiple of a right angle but for rounding."""
    quarters = round(phase / (math.pi / 2))
    if abs(phase - quarters * (math.pi / 2)) <= 1e-12:
        return ((0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0))[quarters % 4]
    return math.sin(phase), math.cos(phase)


def _wave(ring: Ring, odd: bool, frequencies: Any) -> Normal:
    sign, wave = signed(odd, frequencies)
    return Normal(ring, {((), wave): Fraction(sign)} if sign else {})


def _times(a: Term, b: Term) -> tuple[Monomial, tuple[tuple[Fraction, Wave], ...]]:
    powers = dict(a[0])
    for atom, power in b[0]:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted((atom, power) for atom, power in powers.items() if power)), product(a[1], b[1])


def _summed(products: Iterator[tuple[Monomial, tuple[tuple[Fraction, Wave], ...], Fraction]]) -> dict[Term, Fraction]:
    total: dict[Term, Fraction] = {}
    for monomial, waves, c in products:
        for share, wave in waves:
            term = monomial, wave
            total[term] = total.get(term, Fraction(0)) + c * share
    return {term: c for term, c in total.items() if c}


def _scalar(x: Any) -> bool:
    return isinstance(x, Normal | float | int | Fraction) and not isinstance(x, bool)
