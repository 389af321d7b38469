"""Closed configurations, and the structure of loops.

Which closures are redundant, conflict, or leave no freedom.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from steelyard.errors import ModelError, ProblemError
from tests.laws.loops.test_loops import dot, loops_of
from tests.loop_robots import four_bar_with, motion, robot
from tests.random_robots import close


def test_assemble_finds_the_nearest_closed_configuration() -> None:
    result, start = robot("four_bar"), np.array([0.2, -0.15, 0.1])
    positions = result.assemble(start)
    best = minimize(
        lambda q: float(np.sum((q - start) ** 2)),
        start,
        constraints={"type": "eq", "fun": lambda q: result.closure(q)[:2]},
        tol=1e-14,
    )
    assert np.abs(result.closure(positions)).max() < 1e-14
    close(positions, best.x, 1e-6)
    assert np.linalg.norm(positions - start) <= np.linalg.norm(best.x - start) * (1 + 1e-9)


@loops_of
def test_a_batch_is_assembled_as_its_rows_are(name: str) -> None:
    arm = robot(name)
    q = 0.1 * np.random.default_rng(3).normal(size=(2, 2, arm.n))
    positions = arm.assemble(q)
    assert np.abs(arm.closure(positions)).max() < 1e-12
    close(positions[1, 0], arm.assemble(q[1, 0]), 1e-9)
    close(arm.assemble(positions), positions, 1e-12)


def test_joints_that_are_held_stay() -> None:
    arm = robot("four_bar")
    crank = np.linspace(0, 2 * np.pi, 9)
    q = np.zeros((9, 3))
    q[:, 0] = crank
    positions = arm.assemble(q, hold=["crank"])
    assert np.array_equal(positions[:, 0], crank)
    qd = arm.consistent_velocity(positions, np.ones_like(q), hold=["crank"])
    qdd = arm.consistent_acceleration(positions, qd, np.zeros_like(q), hold=["crank"])
    assert np.all(qd[:, 0] == 1.0)
    assert np.all(qdd[:, 0] == 0.0)
    assert np.abs(dot(arm.closure_jacobian(positions), qd)).max() < 1e-12
    assert (
        np.abs(dot(arm.closure_jacobian(positions), qdd) + arm.closure_bias(positions, qd)).max()
        < 1e-11
    )


def test_a_configuration_that_cannot_be_closed_is_said_and_leaves_others_alone() -> None:
    # with the crank at a quarter turn the rocker's end comes nearer than that
    outcome = four_bar_with("distance", length=0.9)
    q = np.array([[0.3, 0.0, 0.0], [np.nan, 0.0, 0.0]])
    result = outcome.assembly(q)
    assert result.closed.tolist() == [True, False]
    assert "1 of 2 configurations cannot be closed" in result.status
    with pytest.raises(ProblemError, match="the positions are not finite"):
        outcome.assemble(q)


@pytest.mark.parametrize(("kind", "rows"), [("point", 3), ("axis", 5)])
def test_redundant_closures_of_a_planar_loop_are_named(kind: str, rows: int) -> None:
    structure = four_bar_with(kind).loop_structure
    assert len(structure.closures) == rows
    assert [structure.closures[k] for k in structure.rows] == ["pin.x", "pin.y"]
    assert structure.redundant == structure.closures[2:]
    assert structure.freedoms == 1
    assert "closures that follow from the others: pin.z" in str(structure)


def test_a_rigid_loop_has_no_freedom() -> None:
    structure = four_bar_with("weld").loop_structure
    assert (len(structure.rows), structure.freedoms, structure.case) == (3, 0, "redundant")


def test_a_loop_that_is_there_twice_changes_nothing() -> None:
    twice = robot("four_bar").with_loop(
        "again", "point", "rocker_link", "coupler_link", (-0.1, 0.4, 0.0), (0.4, 0.2, 0.0)
    )
    x = motion("four_bar")
    assert {name.split(".")[0] for name in twice.loop_structure.redundant} == {"pin", "again"}
    assert len(twice.loop_structure.rows) == 2
    close(twice.constrained_forward_dynamics(x.q, x.qd, x.tau)[0], x.qdd, 1e-10)


def test_conflicting_loops_are_named() -> None:
    result = robot("four_bar").with_loop(
        "rod", "distance", "ground", "coupler_link", (0, 0, 0), (0.1, 0, 0), length=3.0
    )
    with pytest.raises(
        ModelError,
        match=r"loop 'rod' cannot be closed together with pin: it conflicts; the gap stays 1.48 m",
    ):
        result.loop_structure  # noqa: B018
    with pytest.raises(ModelError, match="loop 'rod' cannot be closed"):
        result.constrained_forward_dynamics(np.zeros(3), np.zeros(3), np.zeros(3))
    alone = four_bar_with("distance", length=5.0)
    with pytest.raises(ModelError, match="loop 'pin' cannot be closed at any position"):
        alone.loop_structure  # noqa: B018
