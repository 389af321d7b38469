"""Equal expressions have equal normal forms, and the shortest form of each is the expression it
came from.
"""

from __future__ import annotations

from itertools import product

import pytest
import sympy as sp

from steelyard.closed_form.normal_form import (
    by_product,
    normal_forms,
    pair_waves,
    product_of_waves,
    rational,
    readable_number,
    shortest_form,
    sum_of_waves,
    without_phase,
)

x, y, z = sp.symbols("x y z", real=True)
ANGLES = (x, 2 * x, y, x + y, x - 3 * y + z)
WAVES = [sp.Integer(1), *(f(angle) for angle in ANGLES for f in (sp.cos, sp.sin))]
VALUES = {x: 0.7, y: -1.3, z: 2.1}


def value(expression: sp.Expr) -> float:
    return float(expression.subs(VALUES))


def form_of(expression: sp.Expr) -> dict:
    return normal_forms([expression, x, y])[0]


@pytest.mark.parametrize(("a", "b"), list(product(WAVES, WAVES)), ids=str)
def test_products_of_waves_are_sums(a: sp.Expr, b: sp.Expr) -> None:
    terms = sum_of_waves(a * b)
    assert sum(float(c) * value(wave) for wave, c in terms) == pytest.approx(
        value(a) * value(b), abs=1e-14
    )
    assert all(wave == 1 or isinstance(wave, sp.sin | sp.cos) for wave, _ in terms), (
        "one wave in each term"
    )


@pytest.mark.parametrize("add", [True, False])
@pytest.mark.parametrize(("a", "b"), list(product(WAVES, WAVES)), ids=str)
def test_sums_of_waves_are_products(a: sp.Expr, b: sp.Expr, add: bool) -> None:
    joined = product_of_waves(a, b, add)
    if joined is None:
        angles = [wave.args[0] if wave != 1 else sp.Integer(0) for wave in (a, b)]
        halves = [k / 2 for k in (angles[0] + angles[1]).as_coefficients_dict().values()]
        assert isinstance(a, sp.sin) != isinstance(b, sp.sin) or any(
            not k.is_Integer for k in halves
        )
        return
    assert value(joined) == pytest.approx(
        value(a) + value(b) if add else value(a) - value(b), abs=1e-14
    )


FORMULAS = {
    "polynomial": (
        (x * sp.sin(y + 2 * z) - sp.Rational(1, 2)) * (sp.cos(y) + x * x / 4)
        - sp.cos(z - y) * sp.sin(y) * y / x
        + (1 - z) * 3
    ),
    "powers": sp.sin(x) ** 4 * sp.cos(x) ** 3 * sp.cos(y) ** 2 * z**2,
    "fractions of angles": sp.sin(x / 2) * sp.cos(sp.Rational(7, 10) * y) * sp.sin(x),
    "phases": sp.sin(x + rational(1.5707963267948966)) * sp.cos(y + rational(0.3)),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_the_shortest_form_has_the_same_value(name: str) -> None:
    assert value(shortest_form(form_of(FORMULAS[name]))) == pytest.approx(
        value(FORMULAS[name]), rel=1e-13
    )


def test_equal_expressions_have_equal_terms() -> None:
    s, c = sp.sin(x), sp.cos(x)
    assert form_of(s * s + c * c) == {(1, 1): 1}
    assert form_of(sp.sin(x + y) - (s * sp.cos(y) + c * sp.sin(y))) == {}
    assert form_of(sp.sin(x + rational(1.5707963267948966)) - c) == {}
    assert form_of(sp.cos(x + rational(3.141592653589793)) + c) == {}
    assert form_of((rational(0.1) + rational(0.2) - rational(0.3)) * x) == {}


def test_a_phase_that_is_no_right_angle_is_a_decimal() -> None:
    turned = without_phase(sp.sin(2 * x + rational(0.3)))
    assert turned.atoms(sp.sin, sp.cos) == {sp.sin(2 * x), sp.cos(2 * x)}
    assert value(turned) == pytest.approx(value(sp.sin(2 * x + 0.3)), abs=1e-14)


def test_other_functions_are_left_as_they_are() -> None:
    expression = (
        sp.tanh(x)
        + sp.sign(y) * sp.Abs(z)
        + sp.exp(x) / (1 + y)
        + sp.Piecewise((x, x < y), (sp.sqrt(z), True))
        + sp.cos(x * y)
    )
    assert sp.simplify(shortest_form(form_of(expression)) - expression) == 0


def test_pairs_with_equal_coefficients_become_products() -> None:
    assert pair_waves({sp.Integer(1): 3, sp.cos(2 * x): 3}) == {sp.cos(x) ** 2: 6}
    assert pair_waves({sp.Integer(1): 3, sp.cos(2 * x): -3}) == {sp.sin(x) ** 2: 6}
    assert pair_waves({sp.sin(x): 1, sp.sin(y): 1}) == {
        sp.sin(x): 1,
        sp.sin(y): 1,
    }, "half angles are not wanted"
    assert by_product({(z, sp.Integer(1)): 1, (z, sp.cos(2 * x)): 1, (y, sp.cos(x)): 5}) == {
        sp.cos(x) ** 2: {z: 2},
        sp.cos(x): {y: 5},
    }


def test_the_shorter_spelling_is_taken() -> None:
    assert shortest_form(form_of(z * sp.sin(x) ** 2)) == z * sp.sin(x) ** 2
    assert shortest_form(form_of(2 * z * sp.sin(x) * sp.cos(x))) == z * sp.sin(2 * x)
    assert shortest_form(form_of(x * y * z + x * y**2)) == x * y * (y + z)


def test_terms_are_collected_by_powers_of_the_outer_symbols() -> None:
    expression = shortest_form(form_of(x**2 * y / 2 + x**2 * z / 2 + x * z), outer=[x])
    assert expression == x**2 * (y + z) / 2 + x * z


def test_numbers_are_read_and_written_as_decimals() -> None:
    assert str(shortest_form(form_of(rational(0.1 + 0.2) * x))) == "0.3*x"
    assert str(shortest_form(form_of(rational(0.5) * x))) == "x/2"
    assert rational(6e-17) == 0
    assert str(readable_number(0.1)) == "0.100000000000000"
    assert readable_number(2.0) == 2


def test_what_rounding_leaves_is_dropped() -> None:
    assert shortest_form(form_of(3 * x + sp.Rational(1, 10**13) * y)) == 3 * x
