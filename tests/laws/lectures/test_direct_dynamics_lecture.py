"""The lecture on recursive direct dynamics.

The cost of the recursions grows with the number of bodies, that of the mass matrix faster.
"""

from __future__ import annotations

from itertools import pairwise

import pytest

from steelyard.algebra.spatial import Inertia, Pose
from steelyard.algebra.vector import Symmetric
from steelyard.compiler.ir.program import Operand, trace
from steelyard.dynamics.crba import mass_matrix
from steelyard.dynamics.forward.aba import aba
from steelyard.dynamics.forward.by_crba import forward_by_crba
from steelyard.dynamics.rnea import rnea
from steelyard.mechanism.joint_terms import Terms
from steelyard.mechanism.tree import Body, Tree

SIZES = (4, 8, 16, 32)
INERTIA = Inertia(2.0, (0.1, 0.2, 0.3), Symmetric(0.5, 0.01, 0.02, 0.6, 0.03, 0.7))
QUARTER_TURN = ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))


def chain(n: int) -> Tree:
    """n equal links, each joint at a right angle to the one before it."""
    placement = Pose(QUARTER_TURN, (0.3, 0.1, 0.2))
    bodies = [
        Body(f"link{i}", f"joint{i}", i - 1, "revolute", placement, (0.0, 0.0, 1.0), INERTIA, i)
        for i in range(n)
    ]
    names = tuple(body.joint for body in bodies)
    return Tree(tuple(bodies), names, (0.0, 0.0, -9.81), (Terms(),) * n, {})


def operations(algorithm, n: int, inputs: int, shape: tuple[int, ...]) -> int:
    tree = chain(n)
    operands = [Operand(name, (n,)) for name in ("q", "qd", "last")[:inputs]]
    return trace(
        "cost", lambda *arrays: algorithm(tree, *arrays), operands, [Operand("out", shape)]
    ).operations


def steps(counts: list[int]) -> list[float]:
    """Operations that each further body costs, between one size and the next."""
    return [(b - a) / (n - m) for (m, a), (n, b) in pairwise(zip(SIZES, counts, strict=True))]


@pytest.mark.parametrize("algorithm", [rnea, aba])
def test_recursions_cost_the_same_for_every_further_body(algorithm) -> None:
    """O(n): inverse dynamics by Newton-Euler, and direct dynamics in three phases."""
    costs = steps([operations(algorithm, n, 3, (n,)) for n in SIZES])
    assert max(costs) <= 1.02 * min(costs), costs


def test_the_mass_matrix_and_its_solution_cost_more_for_every_further_body() -> None:
    """O(n^2) for the mass matrix: at twice the size twice the cost per body.

    O(n^3) for the solution with it: its share grows.
    """
    matrix = steps([operations(mass_matrix, n, 1, (n, n)) for n in SIZES])
    solution = steps([operations(forward_by_crba, n, 3, (n,)) for n in SIZES])
    assert all(1.6 < after / before <= 2.0 for before, after in pairwise(matrix)), matrix
    growth = [after / before for before, after in pairwise(solution)]
    assert 1.6 < growth[0] < growth[1], growth
    assert growth[1] > 2.1, growth


def test_the_recursion_overtakes_the_mass_matrix() -> None:
    """The composite method is cheaper for six joints, the recursion for long chains."""
    recursive, composite = (
        {n: operations(a, n, 3, (n,)) for n in (6, 32)} for a in (aba, forward_by_crba)
    )
    assert composite[6] < recursive[6]
    assert recursive[32] < composite[32] / 2
