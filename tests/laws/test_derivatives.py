"""Derivatives of the dynamics by three routes: composite bodies, and the graph of inverse dynamics forward and in reverse."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.compiler.ir.program import Operand, trace
from steelyard.compiler.render.numpy_source import function
from steelyard.dynamics.forward_by_crba import composite_forward
from steelyard.dynamics.rnea import inverse_dynamics
from steelyard.kernels import derived
from tests.laws.test_gears import geared
from tests.random_robots import random_tree

SEEDS = range(6)


def evaluated(way, tree, last: str, *arrays: np.ndarray):
    inputs = [Operand(name, (tree.n,)) for name in ("q", "qd", last)]
    outputs = [Operand(name, (tree.n, tree.n)) for name in ("by_q", "by_qd", "by_last")]
    return function(trace("slopes", lambda *x: way(tree, *x), inputs, outputs))(*arrays)


def trees(seed: int):
    rng = np.random.default_rng(seed)
    return geared(seed)[0] if seed % 2 else random_tree(rng, 6, tied=seed % 4 == 0)


@pytest.mark.parametrize("seed", SEEDS)
def test_three_routes_agree(seed):
    tree = trees(seed)
    arrays = np.random.default_rng(seed).uniform(-1, 1, (3, 7, tree.n))
    ways = (
        derived.inverse_dynamics_derivatives,
        derived.inverse_dynamics_derivatives_forward,
        derived.inverse_dynamics_derivatives_reverse,
    )
    first, *others = (evaluated(way, tree, "qdd", *arrays) for way in ways)
    for other in others:
        for a, b in zip(first, other, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-11 * max(1.0, np.abs(b).max()))


@pytest.mark.parametrize("seed", SEEDS)
def test_slopes_of_torques_are_differences_of_torques(seed):
    tree = trees(seed)
    q, qd, qdd = np.random.default_rng(seed).uniform(0.1, 1, (3, tree.n))
    slopes = evaluated(derived.inverse_dynamics_derivatives, tree, "qdd", q, qd, qdd)
    check(slopes, lambda *x: inverse_dynamics(tree, *x), (q, qd, qdd))


@pytest.mark.parametrize("seed", SEEDS)
def test_slopes_of_accelerations_are_differences_of_accelerations(seed):
    tree = trees(seed)
    q, qd, qdd = np.random.default_rng(seed).uniform(0.1, 1, (3, tree.n))
    tau = np.array(inverse_dynamics(tree, q, qd, qdd), dtype=float)
    slopes = evaluated(derived.forward_dynamics_derivatives, tree, "tau", q, qd, tau)
    check(slopes, lambda *x: composite_forward(tree, *x), (q, qd, tau))


def check(slopes, f, point, h: float = 1e-6) -> None:
    for k, slope in enumerate(slopes):
        for j, e in enumerate(h * np.eye(len(point[k]))):
            up, down = ([*point[:k], point[k] + s * e, *point[k + 1 :]] for s in (1, -1))
            difference = (np.array(f(*up), dtype=float) - np.array(f(*down), dtype=float)) / (2 * h)
            np.testing.assert_allclose(slope[:, j], difference, atol=2e-6 * max(1.0, np.abs(difference).max()))
