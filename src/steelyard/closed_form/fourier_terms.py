"""Sines and cosines of linear combinations of angles, and how their products become sums and sums become products.

A wave is (odd, frequencies): the sine (odd) or cosine of the sum of frequency * angle, the first frequency positive. The cosine of nothing
is 1.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

Frequencies = tuple[tuple[int, Fraction], ...]  # (number of the angle, how often it is counted), by rising number, none zero
Wave = tuple[bool, Frequencies]
ONE: Wave = (False, ())
HALF = Fraction(1, 2)


def combine(a: Frequencies, b: Frequencies, sense: int) -> Frequencies:
    """a + sense * b."""
    total = dict(a)
    for angle, k in b:
        total[angle] = total.get(angle, Fraction(0)) + sense * k
    return tuple(sorted((angle, k) for angle, k in total.items() if k))


def signed(odd: bool, frequencies: Frequencies) -> tuple[int, Wave]:
    """The wave with a positive first frequency, and the sign (0 for the sine of nothing) that this takes."""
    if not frequencies:
        return (0 if odd else 1), ONE
    if frequencies[0][1] > 0:
        return 1, (odd, frequencies)
    return (-1 if odd else 1), (odd, tuple((angle, -k) for angle, k in frequencies))


@lru_cache(maxsize=65536)
def product(a: Wave, b: Wave) -> tuple[tuple[Fraction, Wave], ...]:
    """The product of two waves as a sum of at most two: cos a cos b = cos(a - b)/2 + cos(a + b)/2 and its like.

    Abramowitz and Stegun 1964, 4.3.31 to 4.3.33.
    """
    if a == ONE:
        return ((Fraction(1), b),)
    if b == ONE:
        return ((Fraction(1), a),)
    odd = a[0] != b[0]
    plus, minus = signed(odd, combine(a[1], b[1], 1)), signed(odd, combine(a[1], b[1], -1))
    senses = {(False, False): (1, 1), (True, True): (-1, 1), (True, False): (1, 1), (False, True): (1, -1)}[a[0], b[0]]
    both = [(sense * HALF * sign, wave) for sense, (sign, wave) in zip(senses, (plus, minus), strict=True)]
    return tuple((c, wave) for c, wave in both if c)


def halves(a: Wave, b: Wave, same: bool) -> tuple[int, tuple[Wave, ...]] | None:
    """a + b (same) or a - b as twice a sign times a product of waves, or None where half-angles would be needed.

    cos a + cos b = 2 cos((a + b)/2) cos((a - b)/2) and its like; 1 is the cosine of nothing. Abramowitz and Stegun 1964, 4.3.34 to 4.3.37.
    """
    if a[0] != b[0]:
        return None
    plus, minus = combine(a[1], b[1], 1), combine(a[1], b[1], -1)
    if any((k * HALF).denominator != 1 for _, k in (*plus, *minus)):
        return None
    kinds = {(False, True): (False, False), (False, False): (True, True), (True, True): (True, False), (True, False): (False, True)}[
        a[0], same
    ]
    sign = -1 if not a[0] and not same else 1
    factors: list[Wave] = []
    for odd, frequencies in zip(kinds, (plus, minus), strict=True):
        turned, wave = signed(odd, tuple((angle, k * HALF) for angle, k in frequencies))
        sign *= turned
        factors += [wave] if wave != ONE else []
    return sign, tuple(sorted(factors))
