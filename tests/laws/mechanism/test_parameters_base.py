"""Base parameters: torques depend on them and on nothing else."""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy
from steelyard.mechanism.parameter_vector import parameter_names, parameters
from steelyard.parameters.base import (
    base_parameters,
    group_parameters,
    sampled_regressor,
    short_names,
)
from tests.random_robots import random_tree


class Holder:
    """What base_parameters asks of a robot."""

    def __init__(self, tree):
        self.tree = tree


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("tied", [False, True])
def test_torques_are_the_base_columns_times_the_base_parameters(seed, tied):
    tree = random_tree(np.random.default_rng(seed), 5, tied=tied)
    base = base_parameters(Holder(tree))
    Y = sampled_regressor(tree, samples=300, seed=99)
    pi = np.random.default_rng(seed + 100).normal(size=Y.shape[1])
    torque = Y @ pi
    assert np.allclose(
        Y[:, list(base.columns)] @ base.values(pi), torque, atol=1e-7 * np.abs(torque).max()
    )
    assert (
        np.linalg.matrix_rank(Y / np.maximum(np.linalg.norm(Y, axis=0), 1e-300), tol=1e-7)
        == base.n_base
        == base.rank
    )


def test_what_has_no_effect_may_be_anything():
    robot = sy.load("spatial_3r")
    base = sy.base_parameters(robot)
    assert base.unidentifiable
    pi = robot.parameters.copy()
    pi[[robot.parameter_names.index(name) for name in base.unidentifiable]] += 7.0
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 20, 3))
    assert np.allclose(
        robot.regressor(q, qd, qdd) @ pi, robot.inverse_dynamics(q, qd, qdd), atol=1e-9
    )
    assert np.allclose(base.values(pi), base.values(robot.parameters))


def test_the_planar_arm_has_the_combinations_of_the_books():
    """m2 moves to the first link.

    Izz1 + l1^2 m2, mcx1 + l1 m2 with l1 = 1 (Khalil and Dombre 2002, section 9.5).
    """
    robot = sy.load("planar_2r")
    base = sy.base_parameters(robot)
    assert set(base.expressions) == {"mcx1 + m2", "mcy1", "Izz1 + m2", "mcx2", "mcy2", "Izz2"}
    assert "6 base parameters of 20" in str(base)


def test_names_are_short_and_follow_the_tree():
    names = ["upper.m", "upper.mcx", "fore.Ixx", "elbow.Fv", "odd"]
    assert short_names(names, ["upper", "fore"], ["shoulder", "elbow"]) == (
        "m1",
        "mcx1",
        "Ixx2",
        "Fv2",
        "odd",
    )


def test_a_matrix_of_rank_two_has_two_combinations():
    rng = np.random.default_rng(3)
    A = rng.normal(size=(30, 2))
    Y = np.column_stack([A[:, 0], np.zeros(30), A[:, 1], 2 * A[:, 0] - 3 * A[:, 1]])
    base = group_parameters(Y, list("abcd"), list("abcd"))
    assert base.columns == (0, 2)
    assert np.allclose(base.matrix, [[1, 0, 0, 2], [0, 0, 1, -3]])
    assert base.expressions == ("a + 2*d", "c - 3*d")
    assert base.unidentifiable == ("b",)
    assert base.alone == ()


def test_the_tree_and_the_robot_agree_on_names():
    robot = sy.load("elbow_6r")
    base = sy.base_parameters(robot)
    assert base.parameter_names == tuple(parameter_names(robot.tree)) == robot.parameter_names
    assert base.matrix.shape == (base.n_base, len(parameters(robot.tree)))
    assert not base.matrix.flags.writeable
