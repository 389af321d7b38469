"""atan2, asin and acos of the kernels.

Within a few ulp, NumPy's at zeros, infinities and NaN, and as quiet as NumPy.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from mpmath import mp, mpf

from steelyard.algebra.scalar import acos, asin, atan2
from steelyard.compiler.ir.program import Operand, Program, trace
from tests.renderings import hosts, ufunc_of

SPECIAL = (
    0.0,
    -0.0,
    1.0,
    -1.0,
    5e-324,
    -1e-310,
    1e-300,
    0.5,
    1e200,
    -8.9e307,
    8.9e307,
    np.inf,
    -np.inf,
    np.nan,
)
TURN = math.tan(math.pi / 8)  # where the reduction changes


def program() -> Program:
    return trace(
        "angles",
        lambda a: [atan2(a[0], a[1]), asin(a[2]), acos(a[2])],
        [Operand("a", (3,))],
        [Operand("z", (3,))],
    )


@cache
def angles_on(name: str) -> np.ufunc:
    return ufunc_of(program(), hosts()[name])


@pytest.fixture(params=hosts())
def angles(request: pytest.FixtureRequest) -> np.ufunc:
    """(N, 3) numbers y, x, s to (N, 3): atan2(y, x), asin(s), acos(s), in every rendering."""
    return angles_on(request.param)


def ordinary(rng: np.random.Generator) -> np.ndarray:
    """Points in all octants and of all sizes, next to the borders of the reduction."""
    direction = np.concatenate(
        [
            rng.uniform(-np.pi, np.pi, 900),
            np.arange(-8, 9) * np.pi / 8 + 1e-16,
            10.0 ** rng.uniform(-300, 0, 83),
        ]
    )
    size = 10.0 ** rng.uniform(-5, 5, len(direction))
    s = np.concatenate(
        [
            rng.uniform(-1, 1, 500),
            1.0 - 10.0 ** rng.uniform(-16, 0, 250),
            10.0 ** rng.uniform(-300, 0, 250),
        ]
    )
    points = np.stack([size * np.sin(direction), size * np.cos(direction), s], axis=1)
    points[:3, :2] = (TURN, 1.0), (np.nextafter(TURN, 0.0), 1.0), (1.0, TURN)
    return points


def error_in_ulp(got: float, exact: mpf) -> float:
    return float(abs(mpf(got) - exact) / mpf(float(np.spacing(abs(float(exact))))))


def test_within_a_few_ulp(angles: np.ufunc, rng: np.random.Generator) -> None:
    points = ordinary(rng)
    got = angles(points)
    with mp.workprec(160):
        exact = [(mp.atan2(mpf(y), mpf(x)), mp.asin(mpf(s)), mp.acos(mpf(s))) for y, x, s in points]
        worst = [
            max(error_in_ulp(g[j], e[j]) for g, e in zip(got, exact, strict=True)) for j in range(3)
        ]
    assert worst[0] <= 2.5
    assert max(worst[1:]) <= 4.0


def test_zeros_and_infinities_are_numpys(angles: np.ufunc) -> None:
    points = np.array([(y, x, y) for y in SPECIAL for x in SPECIAL])
    with np.errstate(all="ignore"):
        got = angles(points)
        expected = np.stack(
            [
                np.arctan2(points[:, 0], points[:, 1]),
                np.arcsin(points[:, 2]),
                np.arccos(points[:, 2]),
            ],
            axis=1,
        )
    np.testing.assert_allclose(got, expected, rtol=5e-16, atol=5e-324)
    np.testing.assert_array_equal(
        np.signbit(got[:, 0]),
        np.signbit(expected[:, 0]) | (np.isnan(expected[:, 0]) & np.signbit(got[:, 0])),
    )


def test_atan2_raises_no_flag(angles: np.ufunc) -> None:
    points = np.array([(y, x, 0.5) for y in SPECIAL for x in SPECIAL])
    with np.errstate(all="raise", under="ignore"):
        angles(points)


@pytest.mark.parametrize("outside", [1.0000001, -2.0, np.inf])
def test_no_angle_has_a_sine_beyond_one(angles: np.ufunc, outside: float) -> None:
    with pytest.warns(RuntimeWarning, match="invalid value"):
        assert np.isnan(angles([0.0, 1.0, outside])[1:]).all()


def test_lanes_do_not_know_each_other(angles: np.ufunc, rng: np.random.Generator) -> None:
    points = ordinary(rng)[::9]
    np.testing.assert_array_equal(angles(points), np.array([angles(point) for point in points]))
