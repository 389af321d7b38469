"""The normal form of a trigonometric polynomial, and the shortest expression for it.

A normal form is a sum of rational number * monomial * wave, where a wave is 1 or the sine or cosine of a sum of angles. Two expressions are
equal exactly if their normal forms have the same terms, so that sin^2 + cos^2 is 1 and every cancellation is found. SymPy's polynomial ring
multiplies out, and its rule TR8 turns products of sines and cosines into sums. See docs/design/010.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from math import pi
from typing import Any

WaveTerms = dict[tuple[Any, Any], Any]  # (monomial, wave) -> rational number, none of them zero; all of them SymPy's
TINY = 1e-12  # of the largest coefficient: what rounded rotations leave in the place of zero


def normal_forms(expressions: Sequence[Any]) -> list[WaveTerms]:
    """The normal form of each SymPy expression, whose numbers are rational.

    Any function other than sine and cosine (sign, tanh, ...) counts as an indeterminate.
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
            terms[monomial, wave] = terms.get((monomial, wave), 0) + sp.Rational(c.numerator, c.denominator) * share
    return {term: c for term, c in terms.items() if c}


@lru_cache(maxsize=4096)
def sum_of_waves(product: Any) -> tuple[tuple[Any, Any], ...]:
    """A product of sines and cosines as a sum: pairs of wave and rational number."""
    import sympy as sp

    total: dict[Any, Any] = {sp.Integer(1): sp.Integer(1)}
    for factor, power in product.as_powers_dict().items():
        for _ in range(int(power)):
            parts = [(wave, c * share) for each, c in total.items() for wave, share in _times(each, factor)]
            total = dict.fromkeys((wave for wave, _ in parts), sp.Integer(0))
            for wave, c in parts:
                total[wave] += c
    return tuple((wave, c) for wave, c in total.items() if c)


@lru_cache(maxsize=4096)
def _times(a: Any, b: Any) -> tuple[tuple[Any, Any], ...]:
    """The product of two waves as a sum. TR8 alone leaves products behind in a product of many. Abramowitz and Stegun 1964, 4.3.31-33."""
    import sympy as sp
    from sympy.simplify.fu import TR8

    return tuple(sp.expand(TR8(a * b)).as_coefficients_dict().items())


def without_phase(wave: Any) -> Any:
    """sin(x + phase) as sin(x) cos(phase) + cos(x) sin(phase), and the cosine likewise; exact for multiples of a right angle."""
    import sympy as sp

    phase, angle = wave.args[0].as_independent(*wave.free_symbols, as_Add=True)
    if not phase:
        return wave
    quarters = round(float(phase) / (pi / 2))
    right = abs(float(phase) - quarters * (pi / 2)) <= 1e-12
    exact = quarters * sp.pi / 2 if right else phase
    s, c = (f(exact) if right else rational(float(f(exact))) for f in (sp.sin, sp.cos))
    return sp.sin(angle) * c + sp.cos(angle) * s if isinstance(wave, sp.sin) else sp.cos(angle) * c - sp.sin(angle) * s


def rational(x: float) -> Any:
    """A float as the decimal that it prints as, to 15 digits: 0.1 + 0.2 is three tenths. What is below 1e-15 is zero."""
    import sympy as sp

    return sp.Integer(0) if abs(x) < 1e-15 else sp.Rational(f"{x:.15g}")


def readable_number(x: Any) -> Any:
    """Integers and fractions of halves, quarters, eighths and sixteenths exactly, other numbers as decimals of 15 digits."""
    import sympy as sp

    x = x if isinstance(x, sp.Rational) else sp.Rational(float(x))
    return x if 16 % x.q == 0 and abs(x) < 10**9 else sp.Float(float(x), 15)


def shortest_form(terms: WaveTerms, outer: Collection[Any] = ()) -> Any:
    """The shortest of several expressions for a normal form. Terms are first collected by their powers of the symbols in `outer`.

    Coefficients below 1e-12 of the largest are left out.
    """
    import sympy as sp

    least = TINY * max((abs(c) for c in terms.values()), default=0)
    parts: dict[Any, WaveTerms] = {}
    for (monomial, wave), c in terms.items():
        if abs(c) > least:
            inner, power = monomial.as_independent(*outer, as_Add=False) if outer else (monomial, sp.Integer(1))
            parts.setdefault(power, {})[inner, wave] = c
    return sp.Add(*(_shortest(part, power) for power, part in parts.items()))


def _shortest(terms: WaveTerms, power: Any) -> Any:
    """The shorter of two expressions for power * terms, one in single waves and one in products of waves."""
    import sympy as sp

    return min((_sum(groups, power) for groups in (by_wave(terms), by_product(terms))), key=sp.count_ops)


def _sum(groups: Mapping[Any, Mapping[Any, Any]], power: Any) -> Any:
    """power * sum of coefficient * wave, with the simple number that divides all coefficients next to a power other than 1."""
    import sympy as sp

    content = sp.Integer(1) if power == 1 else simple_divisor([c for p in groups.values() for c in p.values()])
    return content * power * sp.Add(*(_factored({m: c / content for m, c in p.items()}) * wave for wave, p in groups.items()))


def _factored(coefficient: Mapping[Any, Any]) -> Any:
    """A coefficient, given as monomial -> number, with its common factors in front; as a product of sums if that is shorter."""
    import sympy as sp

    content = simple_divisor(coefficient.values())
    plain = sp.factor_terms(sp.Add(*(readable_number(c / content) * monomial for monomial, c in coefficient.items())))
    if 1 < len(coefficient) <= 10 and all((c / content).is_Integer and abs(c / content) <= 64 for c in coefficient.values()):
        plain = min((plain, sp.factor(plain)), key=sp.count_ops)
    return content * plain


def simple_divisor(numbers: Iterable[Any]) -> Any:
    """The greatest rational that divides all numbers into integers, if it is 16 or less and a fraction of sixteenths; else 1."""
    import sympy as sp

    divisor = sp.gcd_list(list(numbers))
    return divisor if 16 % divisor.q == 0 and 0 < divisor <= 16 else sp.Integer(1)


def by_wave(terms: WaveTerms) -> dict[Any, dict[Any, Any]]:
    """Wave -> its coefficient, as monomial -> number."""
    groups: dict[Any, dict[Any, Any]] = {}
    for (monomial, wave), c in terms.items():
        groups.setdefault(wave, {})[monomial] = c
    return groups


def by_product(terms: WaveTerms) -> dict[Any, dict[Any, Any]]:
    """Product of waves -> its coefficient, after pairs with equal coefficients have become products: a + a cos 2x is 2 a cos^2 x."""
    of_monomial: dict[Any, dict[Any, Any]] = {}
    for (monomial, wave), c in terms.items():
        of_monomial.setdefault(monomial, {})[wave] = c
    return by_wave({(monomial, product): c for monomial, waves in of_monomial.items() for product, c in paired(waves).items()})


def paired(waves: Mapping[Any, Any]) -> dict[Any, Any]:
    """Wave -> coefficient as product -> coefficient: each wave is joined with the first that makes a product with it."""
    left = sorted(waves.items(), key=lambda item: (len(item[0].free_symbols), str(item[0])))
    result: dict[Any, Any] = {}
    while left:
        wave, c = left.pop(0)
        partners = ((other, product_of_waves(wave, other, c == k)) for other, k in left if abs(k) == abs(c))
        other, product = next((found for found in partners if found[1] is not None), (None, wave))
        left = [item for item in left if item[0] is not other]
        for factor, share in product.as_coefficients_dict().items():
            result[factor] = result.get(factor, 0) + c * share
    return {product: c for product, c in result.items() if c}


@lru_cache(maxsize=4096)
def product_of_waves(a: Any, b: Any, add: bool) -> Any:
    """a + b (or a - b) of two cosines or two sines as a product; 1 is a cosine. None for unlike waves, or if half angles would be needed.

    cos a + cos b = 2 cos((a + b)/2) cos((a - b)/2), and so on. Abramowitz and Stegun 1964, 4.3.34 to 4.3.37.
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
