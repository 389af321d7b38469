"""Partial pooling: laws of the estimate, what it is in closed form, and that spreads and chances
are those that are told.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from steelyard.experiments.fleet.fleet_thresholds import THRESHOLDS
from steelyard.experiments.fleet.outliers import find_outliers, probability_of
from steelyard.experiments.fleet.partial_pooling import pool, pool_with_spread

Array = np.ndarray[Any, np.dtype[np.float64]]
NAMES = ("joint1.Fv", "joint1.Fc", "joint2.Fv", "joint2.Fc", "link2.m")
CENTER = np.array([2.0, 3.0, 1.0, 4.0, 5.0])
SPREAD = np.array([0.2, 0.3, 0.1, 0.4, 0.1])
SIZES = CENTER


def fleet(
    seed: int, robots: int, rows: int = 60, planted: dict[tuple[int, int], float] | None = None
) -> tuple[Array, Array]:
    """Factors (R, b + 1, b + 1) of [Y tau] with unit noise, and the true parameters (R, b)."""
    rng = np.random.default_rng(seed)
    true = CENTER + SPREAD * rng.normal(size=(robots, 5))
    for (robot, parameter), times in (planted or {}).items():
        true[robot, parameter] += times * SPREAD[parameter]
    Y = rng.normal(size=(robots, rows, 5)) * 3.0
    tau = np.einsum("rij,rj->ri", Y, true) + rng.normal(size=(robots, rows))
    return (
        np.array(
            [np.linalg.qr(np.column_stack([a, b]), mode="r") for a, b in zip(Y, tau, strict=True)]
        ),
        true,
    )


def pooled(triangles: Array, free: Array | None = None) -> Any:
    none = np.zeros((len(triangles), 5), bool)
    return pool(
        triangles,
        CENTER * 1.1,
        SIZES,
        [name.rpartition(".")[2] for name in NAMES],
        none if free is None else free,
    )


def test_the_estimate_is_that_of_the_normal_distribution_of_everything() -> None:
    """Center and deviations against the joint normal distribution of all robots, solved in one
    system.
    """
    triangles, _ = fleet(0, 6)
    R, b = 6, 5
    spread = np.array([0.1, 0.2, 0.1, 0.05, 0.3])
    rows = triangles[:, :, :-1] * SIZES
    A, h = rows.transpose(0, 2, 1) @ rows, np.einsum("rji,rj->ri", rows, triangles[:, :, -1])
    start = np.full(b, 1.1)
    center, d, C = pool_with_spread(A, h, start, spread, np.zeros((R, b), bool))
    whole = np.zeros(((R + 1) * b, (R + 1) * b))
    right = np.zeros((R + 1) * b)
    whole[:b, :b], right[:b] = A.sum(axis=0) + np.eye(b) / 100.0, h.sum(axis=0) + start / 100.0
    for r in range(R):
        index = slice((r + 1) * b, (r + 2) * b)
        whole[:b, index], whole[index, :b], whole[index, index], right[index] = (
            A[r],
            A[r],
            A[r] + np.diag(spread**-2.0),
            h[r],
        )
    joint = np.linalg.solve(whole, right)
    assert np.allclose(center, joint[:b], rtol=1e-9)
    assert np.allclose(d.ravel(), joint[b:], atol=1e-9)
    assert np.allclose(C[2], np.linalg.inv(A[2] + np.diag(spread**-2.0)))


def test_the_spread_is_found() -> None:
    mean = np.mean([pooled(fleet(seed, 60)[0]).spread for seed in range(4)], axis=0)
    assert np.allclose(mean, SPREAD, rtol=0.2)


def test_deviations_are_as_certain_as_is_told() -> None:
    scores = []
    for seed in range(10, 14):
        triangles, true = fleet(seed, 40)
        pooled_fit = pooled(triangles)
        scores.append((pooled_fit.values - true) / pooled_fit.values_std)
    assert 0.85 < np.sqrt(np.mean(np.square(scores))) < 1.2


def test_pooled_is_nearer_to_the_truth_than_each_by_itself_and_than_the_type() -> None:
    triangles, true = fleet(20, 40, rows=12)
    pooled_fit = pooled(triangles)
    alone = np.array([np.linalg.lstsq(T[:, :-1], T[:, -1], rcond=None)[0] for T in triangles])
    error = [
        np.sqrt(np.mean(((x - true) / SPREAD) ** 2))
        for x in (pooled_fit.values, alone, pooled_fit.center)
    ]
    assert error[0] < 0.8 * error[1]
    assert error[0] < 0.8 * error[2]


def test_long_logs_speak_for_themselves_and_short_ones_for_the_type() -> None:
    triangles, _ = fleet(30, 20)
    triangles[0] *= 1e4
    triangles[1] *= 1e-4
    pooled_fit = pooled(triangles)
    alone = np.linalg.lstsq(triangles[0][:, :-1], triangles[0][:, -1], rcond=None)[0]
    assert np.allclose(pooled_fit.values[0], alone, rtol=1e-6)
    assert np.allclose(pooled_fit.deviations[1], 0.0, atol=1e-5)
    assert np.allclose(pooled_fit.std[1], pooled_fit.spread, rtol=1e-4)
    assert np.all(pooled_fit.values_std >= pooled_fit.std)


def test_what_stands_out_is_found_and_nothing_else() -> None:
    planted = {(3, 1): 9.0, (17, 2): -9.0, (30, 4): 10.0}
    triangles, _ = fleet(40, 50, planted=planted)
    _, free, chance = find_outliers(triangles, CENTER, SIZES, NAMES)
    results = {
        (int(r), NAMES[i].rpartition(".")[0]) for r, i in zip(*np.nonzero(free), strict=True)
    }
    assert results == {(3, "joint1"), (17, "joint2"), (30, "link2")}
    assert np.all(chance[free] < THRESHOLDS.false_alarm / 130)


@pytest.mark.parametrize("robots", [8, 12])
def test_what_stands_out_in_a_small_fleet_does_not_hide_behind_its_own_share_of_the_spread(
    robots: int,
) -> None:
    for seed in range(45, 50):
        triangles, _ = fleet(seed, robots, planted={(1, 0): 10.0, (1, 1): 10.0})
        _, free, _ = find_outliers(triangles, CENTER, SIZES, NAMES)
        assert np.argwhere(free).tolist() == [[1, 0], [1, 1]]


def test_a_fleet_without_any_that_stands_out_is_told_so() -> None:
    """In one of a hundred such fleets something may."""
    alarms = [
        find_outliers(fleet(seed, 30)[0], CENTER, SIZES, NAMES)[1].any() for seed in range(100, 130)
    ]
    assert sum(alarms) <= 2
    small = [
        find_outliers(fleet(seed, 6)[0], CENTER, SIZES, NAMES)[1].any() for seed in range(130, 190)
    ]
    assert sum(small) <= 3


def test_the_chance_of_a_deviation_is_what_is_told() -> None:
    """Over robots that are like the others chances are spread evenly."""
    p = []
    for seed in range(200, 206):
        pooled_fit = pooled(fleet(seed, 50)[0])
        p += [
            probability_of(pooled_fit, robot, np.array(point))
            for robot in range(50)
            for point in ([0, 1], [2, 3], [4])
        ]
    assert abs(np.mean(np.array(p) < 0.1) - 0.1) < 0.03
    assert abs(np.mean(p) - 0.5) < 0.05


def test_the_chance_of_a_deviation_that_was_left_out_is_what_is_told() -> None:
    """The spread is then that of the others alone, and the chance still even."""
    p = []
    for seed in range(210, 214):
        triangles = fleet(seed, 20)[0]
        for robot in range(0, 20, 2):
            for index in ([0, 1], [4]):
                free = np.zeros((20, 5), bool)
                free[robot, index] = True
                p.append(
                    probability_of(pooled(triangles, free), robot, np.array(index), freed=True)
                )
    assert abs(np.mean(np.array(p) < 0.2) - 0.2) < 0.1
    assert abs(np.mean(p) - 0.5) < 0.12


@pytest.mark.parametrize("robots", [3, 5])
def test_a_small_fleet_is_pooled_too(robots: int) -> None:
    pooled_fit = pooled(fleet(50, robots)[0])
    assert np.all(np.isfinite(pooled_fit.values))
    assert np.all(pooled_fit.spread > 0)
