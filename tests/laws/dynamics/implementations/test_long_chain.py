"""A chain of 24 joints: compiled kernels in the base frame against body-frame algorithms."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmarks.chains import chain
from steelyard.compiler.ir.program import trace
from steelyard.dynamics.coriolis import coriolis_matrix
from steelyard.dynamics.crba import mass_matrix
from steelyard.dynamics.rnea import inverse_dynamics
from steelyard.kernels import ALGORITHMS, on_moving_base, program
from steelyard.kernels import graph_derivatives as derived
from steelyard.mechanism.parameter_vector import parameters
from tests.interpret import run
from tests.laws.dynamics.law import close
from tests.random_robots import random_tree
from tests.renderings import ufunc_of

TREE = random_tree(np.random.default_rng(24), 24, chain=True)
SAMPLES = 9  # a full block of a kernel and a tail


@pytest.fixture
def state(rng: np.random.Generator) -> list[np.ndarray]:
    return list(rng.uniform(0.2, 1.0, (3, SAMPLES, TREE.n)))


def compiled(name: str, arrays: list[np.ndarray]) -> Any:
    scaled = program(TREE, name)
    assert scaled.iterations
    return ufunc_of(scaled, budget=None)(*arrays)


def stacked(values: Any) -> np.ndarray:
    """A matrix of arrays of samples, samples first."""
    return np.moveaxis(
        np.array([[np.broadcast_to(x, SAMPLES) for x in row] for row in values], dtype=float), -1, 0
    )


def test_matrices(state: list[np.ndarray]) -> None:
    q, qd, _ = state
    close(compiled("mass_matrix", [q]), stacked(mass_matrix(TREE, list(q.T))), 1e-12)
    C = stacked(coriolis_matrix(TREE, list(q.T), list(qd.T)))
    close(compiled("coriolis_matrix", [q, qd]), C, 1e-12)
    close(np.einsum("sijk,sk->sij", compiled("christoffel", [q]), qd), C, 1e-12)


def test_regressor(state: list[np.ndarray]) -> None:
    tau = np.stack(inverse_dynamics(TREE, *(list(x.T) for x in state)), axis=-1)
    close(compiled("regressor", state) @ np.array(parameters(TREE)), tau, 1e-12)


@pytest.mark.parametrize(
    "way", [derived.inverse_dynamics_derivatives, derived.forward_dynamics_derivatives]
)
def test_derivatives(way: Any, state: list[np.ndarray]) -> None:
    name = way.__name__
    other = trace(name, lambda *nodes: way(TREE, *nodes), *ALGORITHMS[name].operands(TREE, []))
    expected = run(other, [x.T for x in state])
    for a, b, o in zip(compiled(name, state), expected, other.outputs, strict=True):
        close(
            a,
            np.stack([np.broadcast_to(x, SAMPLES) for x in b], axis=-1).reshape(-1, *o.shape),
            1e-9,
        )


def test_derivatives_of_accelerations_take_no_solution_for_every_column() -> None:
    """54 multiplications for a pair of joints, and some for each joint.

    The operations of a chain may become fewer, not more.
    """
    lengths = {
        n: program(chain(n).tree, "forward_dynamics_derivatives").operations for n in (24, 36)
    }
    assert lengths[24] <= 63_000
    assert lengths[36] <= 119_000


@pytest.mark.parametrize("seed", range(4))
def test_every_way_of_the_forward_derivatives_takes_branches_and_wrenches(
    seed: int, rng: np.random.Generator
) -> None:
    """Branching trees with slides, friction, drives, any coordinate order and a moving base."""
    tree = random_tree(np.random.default_rng(seed), 10)
    order = rng.permutation(tree.n)
    tree = replace(
        tree,
        bodies=tuple(replace(body, coordinate=int(order[body.coordinate])) for body in tree.bodies),
    )
    name = "forward_dynamics_derivatives"
    arrays = [
        *rng.uniform(0.2, 1.0, (3, SAMPLES, tree.n)),
        rng.normal(size=(SAMPLES, len(tree.bodies), 6)),
    ]
    arrays.append(rng.normal(size=(SAMPLES, 9)))
    inputs, outputs = ALGORITHMS[name].operands(tree, ["wrench", "base"])

    def found(method: Any) -> list[np.ndarray]:
        result = trace(
            name,
            lambda *nodes: method(on_moving_base(tree, nodes[-1]), *nodes[:-1]),
            inputs,
            outputs,
        )
        values = run(result, [x.reshape(SAMPLES, -1).T for x in arrays])
        return [np.stack([np.broadcast_to(x, SAMPLES) for x in each]) for each in values]

    first, *others = [found(method.function) for method in ALGORITHMS[name].implementations]
    assert len(others) == 2
    for other in others:
        for a, b in zip(other, first, strict=True):
            close(a, b, 1e-9)
