"""sin and cos of the kernels.

Within 2 ulp up to 1e5, the C library's beyond, every lane on its own.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from mpmath import mp, mpf

from steelyard.algebra.scalar import cos, sin
from steelyard.compiler.ir.program import Operand, Program, trace
from steelyard.compiler.render.llvm.sincos import LARGEST, NEAR, near_arguments
from tests.renderings import hosts, ufunc_of

LARGE = np.array(
    [1.0000001e5, -1e5 - 1e-9, 1e7, 1e15, 1e22, -1e22, 1e200, 1.7e308, np.inf, -np.inf]
)


def program() -> Program:
    return trace(
        "turn", lambda a: [a[0].sin(), a[0].cos()], [Operand("a", (1,))], [Operand("z", (2,))]
    )


@cache
def turn_on(name: str) -> np.ufunc:
    return ufunc_of(program(), hosts()[name])


@pytest.fixture(params=hosts())
def turn(request: pytest.FixtureRequest) -> np.ufunc:
    """(N, 1) angles to (N, 2): sine and cosine, in every rendering."""
    return turn_on(request.param)


def nearest_to_quarter_turns(count: int, rng: np.random.Generator) -> np.ndarray:
    """Doubles next to multiples of pi/2 up to LARGEST, where one of the two is as small as it gets.

    The small multiples all.
    """
    last = int(LARGEST / (np.pi / 2))
    k = np.concatenate([np.arange(1, 200), rng.integers(200, last, size=count)])
    with mp.workprec(200):
        nearest = np.array([float(mp.pi * int(i) / 2) for i in k])
    return np.concatenate(
        [nearest, np.nextafter(nearest, 0.0), np.nextafter(nearest, np.inf), -nearest]
    )


def smallest_remainders() -> np.ndarray:
    """Of all multiples of pi/2 up to LARGEST the hundred that lie closest to a double."""
    k = np.arange(1, int(LARGEST / (np.pi / 2)), dtype=float)
    high, low = 1.5707963267341256, 6.077100506506192e-11  # pi/2 in 33 bits and the rest
    x = k * np.pi / 2
    remainder = np.abs((x - k * high) - k * low)
    return x[np.argsort(remainder)[:100]]


def angles(rng: np.random.Generator) -> np.ndarray:
    return np.concatenate(
        [
            rng.uniform(-LARGEST, LARGEST, 1500),
            rng.uniform(-np.pi, np.pi, 1500),
            rng.uniform(-1, 1, 300) * 10.0 ** rng.uniform(-320, -1, 300),
            nearest_to_quarter_turns(600, rng),
            smallest_remainders(),
            [
                0.0,
                -0.0,
                5e-324,
                LARGEST,
                -LARGEST,
                np.pi / 4,
                np.nextafter(np.pi / 4, 1.0),
                3 * np.pi / 4,
            ],
        ]
    )


def error_in_ulp(got: float, exact: mpf) -> float:
    return float(abs(mpf(got) - exact) / mpf(float(np.spacing(abs(float(exact))))))


def test_within_two_ulp(turn: np.ufunc, rng: np.random.Generator) -> None:
    x = angles(rng)
    result = turn(x[:, None])
    with mp.workprec(160):
        worst = [
            max((error_in_ulp(g, f(mpf(a))), a) for g, a in zip(result[:, j], x, strict=True))
            for j, f in enumerate((mp.sin, mp.cos))
        ]
    for name, (error, point) in zip(("sin", "cos"), worst, strict=True):
        assert error <= 2.0, f"{name}({point!r}) is {error} ulp off"


def test_beyond_is_the_c_library(turn: np.ufunc) -> None:
    with np.errstate(invalid="ignore"):
        got = turn(LARGE[:, None])
        np.testing.assert_allclose(
            got, np.stack([np.sin(LARGE), np.cos(LARGE)], axis=1), rtol=1e-15
        )


def test_large_and_correct(turn: np.ufunc) -> None:
    with mp.workprec(1200):
        for x in LARGE[np.isfinite(LARGE)]:
            sine, cosine = turn([x])
            assert error_in_ulp(sine, mp.sin(mpf(x))) <= 1.0
            assert error_in_ulp(cosine, mp.cos(mpf(x))) <= 1.0


def test_nan_stays_and_infinity_is_invalid(turn: np.ufunc) -> None:
    assert np.isnan(turn([np.nan])).all()
    with pytest.warns(RuntimeWarning, match="invalid value"):
        assert np.isnan(turn([np.inf])).all()


def test_large_arguments_raise_no_flag(turn: np.ufunc) -> None:
    """np.sin(1e300) warns of nothing; neither do we, though the inline reduction would overflow."""
    with np.errstate(all="raise"):
        turn(LARGE[np.isfinite(LARGE)][:, None])


def test_lanes_do_not_know_each_other(turn: np.ufunc, rng: np.random.Generator) -> None:
    """A sample's bits do not depend on its neighbours: small, large, infinite or NaN."""
    small = angles(rng)[::7]
    alone = np.array([turn([x]) for x in small])
    np.testing.assert_array_equal(turn(small[:, None]), alone)
    for neighbour in (1e7, 1e300, np.inf, np.nan):
        mixed = np.full((2 * len(small), 1), neighbour)
        mixed[::2, 0] = small
        with np.errstate(invalid="ignore"):
            np.testing.assert_array_equal(turn(mixed)[::2], alone)


def test_an_angle_that_is_computed(rng: np.random.Generator) -> None:
    """The sine of a sine, and of a sum, take the same way."""
    result = trace(
        "nested",
        lambda a: [(a[0].sin() * 1e6).cos(), (a[0] + a[1]).sin()],
        [Operand("a", (2,))],
        [Operand("z", (2,))],
    )
    x = rng.normal(size=(50, 2)) * 10.0 ** rng.uniform(0, 6, size=(50, 1))
    expected = np.stack([np.cos(np.sin(x[:, 0]) * 1e6), np.sin(x[:, 0] + x[:, 1])], axis=1)
    # 1e6 times the rounding of the inner sine
    np.testing.assert_allclose(ufunc_of(result)(x), expected, rtol=0, atol=4e-10)


def stepped() -> Program:
    """Angles a, after a step h of the rates b, after two of different rates, and with an offset."""

    def run(h, a, b):
        ends = (
            a[0],
            a[0] + h * b[0],
            a[0] + h * 0.5 * b[0] + h * b[1],
            0.3 + (a[0] + h * b[1]),
            0.3 + a[0],
        )
        return [f(x) for x in ends for f in (sin, cos)]

    return trace(
        "stepped",
        run,
        [Operand("h", ()), Operand("a", (1,)), Operand("b", (2,))],
        [Operand("z", (10,))],
    )


def test_angles_near_others_are_found() -> None:
    result = stepped()
    near = near_arguments(result.steps, [0])
    assert len(near) == 3
    assert {str(each.start) for each in near.values()} == {"x1[0]", str(result.steps[-2].args[0])}
    assert not near_arguments(result.steps, []), "without a step there is no small motion"


@pytest.mark.parametrize("host", hosts().values(), ids=hosts().keys())
def test_turned_by_a_step(host, rng: np.random.Generator) -> None:
    """Small steps and large ones side by side.

    All within 2^-51, and the bits of a lane are its own.
    """
    h, a = 1e-3, angles(rng)[::5][:, None]
    a = np.concatenate([a, [[1e7], [-1e9]]])
    b = rng.uniform(-1, 1, (len(a), 2)) * 10.0 ** rng.uniform(-6, 6, (len(a), 1))
    b[:8] = np.array(
        [NEAR, -NEAR, np.nextafter(NEAR, 0), np.nextafter(NEAR, 1), 0.0, -0.0, 1e300, 62.0]
    )[:, None] * [1 / h, 0.0]
    step = ufunc_of(stepped(), host)
    with np.errstate(all="raise", under="ignore"):
        got = step(h, a, b)
    x = a[:, 0]
    ends = [
        x,
        x + h * b[:, 0],
        x + h * 0.5 * b[:, 0] + h * b[:, 1],
        0.3 + (x + h * b[:, 1]),
        0.3 + x,
    ]
    fine = np.abs(b).max(axis=1) < 1e5  # else the rounding of the sum is what one would see
    for k, end in enumerate(ends):
        slack = 2.0**-51 + (np.spacing(np.abs(x) + h * np.abs(b).sum(axis=1)) if k else 0.0)
        for i, function in enumerate((np.sin, np.cos)):
            assert (np.abs(got[:, 2 * k + i] - function(end)) <= slack)[fine].all(), (k, function)
    # angles, starts and their sines in different functions: turned or anew
    for budget in (2, 3, 5):
        np.testing.assert_allclose(
            ufunc_of(stepped(), host, budget)(h, a[:8], b[:8]), got[:8], atol=1e-14
        )
    np.testing.assert_array_equal(
        got[::3], np.array([step(h, p, r) for p, r in zip(a[::3], b[::3], strict=True)])
    )
    assert np.isnan(step(h, [0.5], [np.nan, 0.0])[2:6]).all()
