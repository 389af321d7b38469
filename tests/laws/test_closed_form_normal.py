"""The normal form is a scalar like any other, exact, and equal only to itself."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from steelyard.algebra import scalar
from steelyard.closed_form.fourier_terms import halves, product
from steelyard.closed_form.normal_form import Normal, Ring, derivative
from steelyard.closed_form.shortest_form import Readable

ANGLES = {0: 0.7, 1: -1.3, 2: 2.1}


def ring_and_symbols() -> tuple[Ring, list[Normal]]:
    ring = Ring()
    return ring, [ring.symbol(name) for name in "xyz"]


def value(wave: tuple) -> float:
    angle = sum(float(k) * ANGLES[a] for a, k in wave[1])
    return float(np.sin(angle) if wave[0] else np.cos(angle))


def waves() -> list[tuple]:
    frequencies = [(), ((0, Fraction(1)),), ((0, Fraction(2)),), ((1, Fraction(1)),), ((0, Fraction(1)), (1, Fraction(1))),
                   ((0, Fraction(1)), (1, Fraction(-3)), (2, Fraction(1)))]  # fmt: skip
    return [(odd, f) for f in frequencies for odd in (False, True) if f or not odd]


@pytest.mark.parametrize("a", waves())
@pytest.mark.parametrize("b", waves())
def test_products_of_waves_are_sums(a: tuple, b: tuple) -> None:
    assert sum(float(c) * value(w) for c, w in product(a, b)) == pytest.approx(value(a) * value(b), abs=1e-14)


@pytest.mark.parametrize("same", [True, False])
@pytest.mark.parametrize("a", waves())
@pytest.mark.parametrize("b", waves())
def test_sums_of_waves_are_products(a: tuple, b: tuple, same: bool) -> None:
    joined = halves(a, b, same)
    if joined is None:
        parities = [{angle: k % 2 for angle, k in w[1] if k % 2} for w in (a, b)]
        assert a[0] != b[0] or parities[0] != parities[1], "only half angles or unlike waves may be refused"
        return
    sign, factors = joined
    expected = value(a) + value(b) if same else value(a) - value(b)
    assert 2 * sign * np.prod([value(w) for w in factors]) == pytest.approx(expected, abs=1e-14)


def formula(x, y, z):
    """One of everything that has a normal form."""
    return (x * scalar.sin(y + 2.0 * z) - 0.5) * (scalar.cos(y) + x * x / 4.0) - scalar.cos(z - y) * scalar.sin(y) * y / x + (1.0 - z) * 3.0


def test_it_computes_what_floats_do() -> None:
    ring, symbols = ring_and_symbols()
    numbers = 1.7, -0.4, 0.9
    expression = Readable(ring, sp.symbols("x y z"))(formula(*symbols))
    assert float(expression.subs(dict(zip(sp.symbols("x y z"), numbers, strict=True)))) == pytest.approx(formula(*numbers), rel=1e-13)


def test_equal_quantities_have_equal_terms() -> None:
    ring, (x, y, _) = ring_and_symbols()
    s, c = x.sin(), x.cos()
    assert (s * s + c * c).terms == ring.number(1).terms
    assert ((x + y).sin() - (s * y.cos() + c * y.sin())).terms == {}
    assert ((x + 1.5707963267948966).sin() - c).terms == {}
    assert (0.1 * x + 0.2 * x - 0.3 * x).terms == {}


def test_derivatives_are_those_of_sympy() -> None:
    ring, symbols = ring_and_symbols()
    plain = sp.symbols("x y z")
    render = Readable(ring, plain)
    form = formula(*symbols)
    for k in range(3):
        (slope,) = derivative([form], {symbols[k]: 1.0})
        assert sp.expand(sp.expand(render(slope) - sp.diff(render(form), plain[k])).rewrite(sp.exp)) == 0


def test_operations_without_a_normal_form_stay_as_they_are() -> None:
    ring, (x, y, z) = ring_and_symbols()
    form = (
        scalar.tanh(x)
        + scalar.sign(y) * scalar.absolute(z)
        + scalar.exp(x) / (1.0 + y)
        + scalar.where(x < y, x, scalar.sqrt(z))
        + (x * y).cos()
    )
    a, b, c = sp.symbols("x y z")
    expected = sp.tanh(a) + sp.sign(b) * sp.Abs(c) + sp.exp(a) / (1 + b) + sp.Piecewise((a, a < b), (sp.sqrt(c), True)) + sp.cos(a * b)
    assert sp.simplify(Readable(ring, (a, b, c))(form) - expected) == 0


def test_numbers_are_read_as_decimals() -> None:
    ring, (x, _, _) = ring_and_symbols()
    render = Readable(ring, sp.symbols("x y z"))
    assert str(render((0.1 + 0.2) * x)) == "0.3*x"
    assert str(render(0.5 * x)) == "x/2"
    assert str(render(x * 6e-17)) == "0"


def test_structure_may_not_depend_on_values() -> None:
    _, (x, y, _) = ring_and_symbols()
    with pytest.raises(TypeError, match="where"):
        bool(x < y)
    with pytest.raises(ZeroDivisionError):
        1.0 / (x - x)
    assert x.__add__("one") is NotImplemented
