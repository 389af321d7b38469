"""Intervals: what a function takes on within a box lies within the interval that it returns."""

from __future__ import annotations

from typing import Any

import numpy as np

import steelyard as sy
from steelyard.algebra import scalar
from steelyard.algebra.interval import Interval
from steelyard.dynamics.rnea import inverse_dynamics

FUNCTIONS = [
    lambda x, y: x + y - 2.0 * x * y + 1.5,
    lambda x, y: scalar.sin(x) * scalar.cos(3.0 * y),
    lambda x, y: x / (y * y + 1.0) - 1.0 / (3.0 + scalar.exp(x)),
    lambda x, y: scalar.sqrt(x * x + 0.1) + scalar.absolute(y) - y * y,
    lambda x, y: scalar.sign(x) + scalar.tanh(y) - scalar.where(x > y, x, 2.0 - y),
    lambda x, y: scalar.where(x * x <= 0.3, scalar.where(y < 0.1, x, y), x <= 5.0),
    lambda x, y: 1.0 - x - (-y) * x,
]


def within(result: Any, values: np.ndarray) -> bool:
    slack = 1e-12 * (1 + np.abs(values))
    return bool(
        np.all(result.low[:, None] <= values + slack)
        and np.all(result.high[:, None] >= values - slack)
    )


def test_values_lie_within(rng: np.random.Generator) -> None:
    middle, reach = rng.normal(size=(2, 200)) * 3, rng.uniform(0, 1, (2, 200)) ** 3 * 4
    points = middle[..., None] + reach[..., None] * rng.uniform(-1, 1, (2, 200, 50))
    x, y = (Interval(m - r, m + r) for m, r in zip(middle, reach, strict=True))
    for function in FUNCTIONS:
        assert within(function(x, y), np.asarray(function(*points), dtype=float))


def test_narrow_intervals_give_narrow_results(rng: np.random.Generator) -> None:
    middle = rng.normal(size=(2, 100))
    x, y = (Interval(m - 1e-9, m + 1e-9) for m in middle)
    for function in FUNCTIONS[:4]:
        result = function(x, y)
        assert np.max(result.high - result.low) < 1e-6


def test_a_quotient_by_what_may_be_zero_is_unbounded() -> None:
    result = 1.0 / Interval([-1.0, 1.0], [1.0, 2.0])
    assert result.magnitude[0] == np.inf
    np.testing.assert_allclose([result.low[1], result.high[1]], [0.5, 1.0])


def test_torques_lie_within(rng: np.random.Generator) -> None:
    robot = sy.load("spatial_3r").with_friction(coulomb=1.0, viscous=0.3)
    middle = rng.normal(size=(3, 3, 40))
    boxes = [[Interval(x - 0.05, x + 0.05) for x in rows] for rows in middle]
    result = inverse_dynamics(robot.tree, *boxes)
    points = middle[..., None] + rng.uniform(-0.05, 0.05, (3, 3, 40, 30))
    tau = robot.inverse_dynamics(*np.moveaxis(points, 1, -1))
    for i, each in enumerate(result):
        assert within(each, tau[..., i])
