"""A normal form as the SymPy expression that a person would write: of several spellings the shortest."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import Any

from ..compiler.render.sympy_expressions import operations
from .fourier_terms import ONE, Wave, halves
from .normal_form import Monomial, Normal, Ring

Waves = tuple[Wave, ...]  # a product
Polynomial = dict[Monomial, Fraction]


class Readable:
    """Renders the normal forms of a ring, whose first atoms are the given SymPy symbols.

    Terms below `tiny` of the largest are left out: where a robot's constants are rounded, their squares do not cancel to the last digit.
    """

    def __init__(self, ring: Ring, symbols: Sequence[Any], tiny: Fraction = Fraction(0)) -> None:
        import sympy

        self.sp, self.ring, self.table = sympy, ring, operations()
        self.symbols: list[Any] = list(symbols)
        self.tiny = tiny

    def __call__(self, x: Any, collect: Collection[int] = ()) -> Any:
        """The expression of a normal form or number; terms are gathered by their monomial in the atoms of `collect` first."""
        if not isinstance(x, Normal):
            return number(x)
        least = self.tiny * max(map(abs, x.terms.values()), default=Fraction(0))
        parts: dict[Monomial, dict[tuple[Monomial, Wave], Fraction]] = {}
        for (monomial, wave), c in x.terms.items():
            if abs(c) <= least:
                continue
            outer = tuple(pair for pair in monomial if pair[0] in collect)
            inner = tuple(pair for pair in monomial if pair[0] not in collect)
            parts.setdefault(outer, {})[inner, wave] = c
        return self.sp.Add(*(self._part(outer, terms) for outer, terms in parts.items()))

    def _part(self, outer: Monomial, terms: dict[tuple[Monomial, Wave], Fraction]) -> Any:
        if not outer:
            return self._sum(terms)
        content = shared(terms.values())
        return self.sp.Mul(number(content), self._monomial(outer), self._sum({term: c / content for term, c in terms.items()}))

    def _sum(self, terms: dict[tuple[Monomial, Wave], Fraction]) -> Any:
        spellings = [self._grouped(groups) for groups in (as_sums(terms), as_products(terms))]
        return min(spellings, key=self.sp.count_ops)

    def _grouped(self, groups: dict[Waves, Polynomial]) -> Any:
        """Sum over products of waves of coefficient * product."""
        return self.sp.Add(*(self._polynomial(p) * self.sp.Mul(*map(self._wave, waves)) for waves, p in groups.items()))

    def _polynomial(self, p: Polynomial) -> Any:
        """A coefficient, with what its terms have in common in front; factored where that is shorter."""
        if len(p) == 1:
            ((monomial, c),) = p.items()
            return number(c) * self._monomial(monomial)
        common, content, rest = divided(p)
        inner = self.sp.Add(*(number(c) * self._monomial(monomial) for monomial, c in rest.items()))
        if len(rest) <= 10 and all(c.denominator == 1 and abs(c) <= 64 for c in rest.values()):
            inner = min((inner, self.sp.factor(inner)), key=self.sp.count_ops)
        return self.sp.Mul(number(content), self._monomial(common), inner, evaluate=True)

    def _monomial(self, monomial: Monomial) -> Any:
        return self.sp.Mul(*(self._atom(atom) ** power for atom, power in monomial))

    def _atom(self, atom: int) -> Any:
        while atom >= len(self.symbols):
            name, arguments = self.ring.atoms[len(self.symbols)]
            self.symbols.append(self.table[name](*map(self._argument, arguments)))
        return self.symbols[atom]

    def _argument(self, x: Normal) -> Any:
        """What an operation is applied to; a condition stays one, where a sum of one term would be taken for a number."""
        if len(x.terms) == 1:
            ((monomial, wave), c), *_ = x.terms.items()
            if wave == ONE and c == 1 and len(monomial) == 1 and monomial[0][1] == 1:
                return self._atom(monomial[0][0])
        return self(x)

    def _wave(self, wave: Wave) -> Any:
        odd, frequencies = wave
        angle = self.sp.Add(*(number(k) * self._atom(atom) for atom, k in frequencies))
        return self.sp.sin(angle) if odd else self.sp.cos(angle)


def as_sums(terms: dict[tuple[Monomial, Wave], Fraction]) -> dict[Waves, Polynomial]:
    """Coefficients by wave, each wave on its own."""
    groups: dict[Waves, Polynomial] = {}
    for (monomial, wave), c in terms.items():
        groups.setdefault(() if wave == ONE else (wave,), {})[monomial] = c
    return groups


def as_products(terms: dict[tuple[Monomial, Wave], Fraction]) -> dict[Waves, Polynomial]:
    """Coefficients by product of waves, after pairs with the same coefficient have become products: a + a cos 2x is 2 a cos^2 x."""
    by_monomial: dict[Monomial, dict[Wave, Fraction]] = {}
    for (monomial, wave), c in terms.items():
        by_monomial.setdefault(monomial, {})[wave] = c
    groups: dict[Waves, Polynomial] = {}
    for monomial, waves in by_monomial.items():
        for factors, c in paired(waves).items():
            groups.setdefault(factors, {})[monomial] = c
    return groups


def paired(waves: dict[Wave, Fraction]) -> dict[Waves, Fraction]:
    """Waves with coefficients, those that make a product without half angles joined."""
    left, result = dict(sorted(waves.items(), key=lambda item: len(item[0][1]))), dict[Waves, Fraction]()
    while left:
        wave = next(iter(left))
        c = left.pop(wave)
        partners = [(halves(wave, other, c == k), other) for other, k in left.items() if abs(k) == abs(c)]
        found = next(((joined, other) for joined, other in partners if joined is not None), None)
        if found is None:
            factors: Waves = () if wave == ONE else (wave,)
        else:
            (sign, factors), other = found
            left.pop(other)
            c = 2 * sign * c
        result[factors] = result.get(factors, Fraction(0)) + c
    return {factors: c for factors, c in result.items() if c}


def divided(p: Polynomial) -> tuple[Monomial, Fraction, Polynomial]:
    """The monomial and the number that all terms share (its sign that of the most), and what is left of the polynomial."""
    powers = [dict(monomial) for monomial in p]
    common = {atom: min(each[atom] for each in powers) for atom in set(powers[0]).intersection(*powers[1:])}
    content = shared(p.values())
    if 2 * sum(c < 0 for c in p.values()) > len(p):
        content = -content
    rest = {}
    for monomial, c in p.items():
        left = tuple((atom, power - common.get(atom, 0)) for atom, power in monomial if power != common.get(atom, 0))
        rest[left] = c / content
    return tuple(sorted((atom, power) for atom, power in common.items() if power)), content, rest


def shared(numbers: Collection[Fraction]) -> Fraction:
    """The greatest number that divides all into whole ones, where it is simple; else 1."""
    content = Fraction(gcd(*(c.numerator for c in numbers)), lcm(*(c.denominator for c in numbers)))
    return content if content.denominator <= 16 and content.numerator <= 16 else Fraction(1)


def number(x: Any) -> Any:
    """A number for people: whole numbers and simple fractions exactly, others as decimals of 15 digits."""
    import sympy as sp

    if isinstance(x, Fraction):
        return sp.Rational(x.numerator, x.denominator) if 16 % x.denominator == 0 and abs(x) < 10**9 else sp.Float(float(x), 15)
    return sp.Integer(int(x)) if float(x).is_integer() and abs(x) < 1e9 else sp.Float(float(x), 15)
