"""Normal form of a trigonometric polynomial, and its shortest expression.

A normal form is a sum of rational number * monomial * wave, where a wave is 1 or the sine or cosine
of a sum of angles. Two expressions are equal exactly if their normal forms have the same terms, so
that sin^2 + cos^2 is 1 and every cancellation is found. SymPy's polynomial ring multiplies out, and
its rule TR8 turns products of sines and cosines into sums. See docs/design/010.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from math import pi
from typing import Any

# (monomial, wave) -> rational number, none of them zero; all of them SymPy's
WaveTerms = dict[tuple[Any, Any], Any]
TINY = 1e-12  # relative to the largest coefficient: rounding errors of rotations


def normal_forms(expressions: Sequence[Any]) -> list[WaveTerms]:
    """Return the normal form of each SymPy expression, whose numbers are rational.

    Functions other than sine and cosine (sign, tanh, ...) count as indeterminates.
    """
    import sympy as sp
    from sympy.polys.rings import sring

    waves = {wave for expression in expressions for wave in expression.atoms(sp.sin, sp.cos)}
    turned = {wave: without_phase(wave) for wave in waves}
    ring, polynomials = sring([expression.xreplace(turned) for expression in expressions])
    symbols = [x.as_expr() for x in ring.gens]
    angular = [isinstance(x, sp.sin | sp.cos) for x in symbols]
    return [_terms(polynomial, symbols, angular) for polynomial in polynomials]


def _terms(polynomial: Any, symbols: Sequence[Any], angular: Sequence[bool]) -> WaveTerms:
    import sympy as sp

    terms: WaveTerms = {}
    for powers, c in polynomial.terms():
        used = [(symbols[k], power, angular[k]) for k, power in enumerate(powers) if power]
        monomial = sp.Mul(*(x**power for x, power, turns in used if not turns))
        for wave, share in sum_of_waves(sp.Mul(*(x**power for x, power, turns in used if turns))):
            terms[monomial, wave] = (
                terms.get((monomial, wave), 0) + sp.Rational(c.numerator, c.denominator) * share
            )
    return {term: c for term, c in terms.items() if c}


@lru_cache(maxsize=4096)
def sum_of_waves(product: Any) -> tuple[tuple[Any, Any], ...]:
    """Return a product of sines and cosines as a sum: pairs of wave and rational number."""
    import sympy as sp

    total: dict[Any, Any] = {sp.Integer(1): sp.Integer(1)}
    for factor, power in product.as_powers_dict().items():
        for _ in range(int(power)):
            parts = [
                (wave, c * share)
                for each, c in total.items()
                for wave, share in _times(each, factor)
            ]
            total = dict.fromkeys((wave for wave, _ in parts), sp.Integer(0))
            for wave, c in parts:
                total[wave] += c
    return tuple((wave, c) for wave, c in total.items() if c)


@lru_cache(maxsize=4096)
def _times(a: Any, b: Any) -> tuple[tuple[Any, Any], ...]:
    """Return the product of two waves as a sum.

    TR8 alone leaves products behind in a product of many. Abramowitz and Stegun 1964, 4.3.31-33.
    """
    import sympy as sp
    from sympy.simplify.fu import TR8

    return tuple(sp.expand(TR8(a * b)).as_coefficients_dict().items())


def without_phase(wave: Any) -> Any:
    """Return sin(x + phase) as sin(x) cos(phase) + cos(x) sin(phase), and the cosine likewise.

    Exact for multiples of a right angle.
    """
    import sympy as sp

    phase, angle = wave.args[0].as_independent(*wave.free_symbols, as_Add=True)
    if not phase:
        return wave
    quarters = round(float(phase) / (pi / 2))
    right = abs(float(phase) - quarters * (pi / 2)) <= 1e-12
    exact = quarters * sp.pi / 2 if right else phase
    s, c = (f(exact) if right else rational(float(f(exact))) for f in (sp.sin, sp.cos))
    return (
        sp.sin(angle) * c + sp.cos(angle) * s
        if isinstance(wave, sp.sin)
        else sp.cos(angle) * c - sp.sin(angle) * s
    )


def rational(x: float) -> Any:
    """Return a float as the decimal that it prints as, to 15 digits: 0.1 + 0.2 is three tenths.

    Numbers below 1e-15 are zero.
    """
    import sympy as sp

    return sp.Integer(0) if abs(x) < 1e-15 else sp.Rational(f"{x:.15g}")


def readable_number(x: Any) -> Any:
    """Return integers and fractions of sixteenths exactly, other numbers as 15-digit decimals."""
    import sympy as sp

    x = x if isinstance(x, sp.Rational) else sp.Rational(float(x))
    return x if 16 % x.q == 0 and abs(x) < 10**9 else sp.Float(float(x), 15)


def shortest_form(terms: WaveTerms, outer: Collection[Any] = ()) -> Any:
    """Return the shortest of several expressions for a normal form.

    Terms are first collected by their powers of the symbols in `outer`. Coefficients below 1e-12 of
    the largest are dropped.
    """
    import sympy as sp

    least = TINY * max((abs(c) for c in terms.values()), default=0)
    parts: dict[Any, WaveTerms] = {}
    for (monomial, wave), c in terms.items():
        if abs(c) > least:
            inner, power = (
                monomial.as_independent(*outer, as_Add=False)
                if outer
                else (monomial, sp.Integer(1))
            )
            parts.setdefault(power, {})[inner, wave] = c
    return sp.Add(*(_shortest(part, power) for power, part in parts.items()))


def _shortest(terms: WaveTerms, power: Any) -> Any:
    """Return the shorter expression for power * terms, in single waves or in products of waves."""
    import sympy as sp

    return min(
        (_sum(groups, power) for groups in (by_wave(terms), by_product(terms))), key=sp.count_ops
    )


def _sum(groups: Mapping[Any, Mapping[Any, Any]], power: Any) -> Any:
    """Return power * sum of coefficient * wave.

    The simple divisor of all coefficients stands next to a power other than 1.
    """
    import sympy as sp

    content = (
        sp.Integer(1)
        if power == 1
        else simple_divisor([c for p in groups.values() for c in p.values()])
    )
    return (
        content
        * power
        * sp.Add(
            *(_factor({m: c / content for m, c in p.items()}) * wave for wave, p in groups.items())
        )
    )


def _factor(coefficient: Mapping[Any, Any]) -> Any:
    """Return a coefficient, given as monomial -> number, with its common factors in front.

    It is a product of sums if that is shorter.
    """
    import sympy as sp

    content = simple_divisor(coefficient.values())
    plain = sp.factor_terms(
        sp.Add(*(readable_number(c / content) * monomial for monomial, c in coefficient.items()))
    )
    if 1 < len(coefficient) <= 10 and all(
        (c / content).is_Integer and abs(c / content) <= 64 for c in coefficient.values()
    ):
        plain = min((plain, sp.factor(plain)), key=sp.count_ops)
    return content * plain


def simple_divisor(numbers: Iterable[Any]) -> Any:
    """Return the greatest common divisor of the numbers if it is simple, else 1.

    Simple means at most 16 and a fraction of sixteenths.
    """
    import sympy as sp

    divisor = sp.gcd_list(list(numbers))
    return divisor if 16 % divisor.q == 0 and 0 < divisor <= 16 else sp.Integer(1)


def by_wave(terms: WaveTerms) -> dict[Any, dict[Any, Any]]:
    """Return wave -> its coefficient, as monomial -> number."""
    groups: dict[Any, dict[Any, Any]] = {}
    for (monomial, wave), c in terms.items():
        groups.setdefault(wave, {})[monomial] = c
    return groups


def by_product(terms: WaveTerms) -> dict[Any, dict[Any, Any]]:
    """Return product of waves -> its coefficient: a + a cos 2x becomes 2 a cos^2 x."""
    of_monomial: dict[Any, dict[Any, Any]] = {}
    for (monomial, wave), c in terms.items():
        of_monomial.setdefault(monomial, {})[wave] = c
    return by_wave(
        {
            (monomial, product): c
            for monomial, waves in of_monomial.items()
            for product, c in pair_waves(waves).items()
        }
    )


def pair_waves(waves: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return wave -> coefficient as product -> coefficient.

    Each wave is joined with the first that makes a product with it.
    """
    remaining = sorted(waves.items(), key=lambda item: (len(item[0].free_symbols), str(item[0])))
    result: dict[Any, Any] = {}
    while remaining:
        wave, c = remaining.pop(0)
        partners = (
            (other, product_of_waves(wave, other, c == k))
            for other, k in remaining
            if abs(k) == abs(c)
        )
        other, product = next(
            (candidate for candidate in partners if candidate[1] is not None), (None, wave)
        )
        remaining = [item for item in remaining if item[0] is not other]
        for factor, share in product.as_coefficients_dict().items():
            result[factor] = result.get(factor, 0) + c * share
    return {product: c for product, c in result.items() if c}


@lru_cache(maxsize=4096)
def product_of_waves(a: Any, b: Any, add: bool) -> Any:
    """Return a + b (or a - b) of two cosines or two sines as a product; 1 is a cosine.

    None for unlike waves, or if half angles would be needed.
    cos a + cos b = 2 cos((a + b)/2) cos((a - b)/2), and so on. Abramowitz and Stegun 1964, 4.3.34
    to 4.3.37.
    """
    import sympy as sp

    odd = isinstance(a, sp.sin)
    if odd != isinstance(b, sp.sin):
        return None
    x, y = (wave.args[0] if wave != 1 else sp.Integer(0) for wave in (a, b))
    half, rest = sp.expand((x + y) / 2), sp.expand((x - y) / 2)
    if not all(k.is_Integer for k in _frequencies(half, rest)):
        return None
    if odd:
        return 2 * sp.sin(half) * sp.cos(rest) if add else 2 * sp.cos(half) * sp.sin(rest)
    return 2 * sp.cos(half) * sp.cos(rest) if add else -2 * sp.sin(half) * sp.sin(rest)


def _frequencies(*angles: Any) -> Iterable[Any]:
    return (k for angle in angles for k in angle.as_coefficients_dict().values())
