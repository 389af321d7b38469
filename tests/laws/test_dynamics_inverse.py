"""Inverse and forward dynamics, the mass matrix and the regressor say the same thing about every tree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from steelyard.algebra.spatial import Pose
from steelyard.dynamics.aba import articulated
from steelyard.dynamics.crba import mass_matrix
from steelyard.dynamics.forward_by_crba import composite_forward
from steelyard.dynamics.gravity import gravity_torque
from steelyard.dynamics.joint_torques import friction_torque
from steelyard.dynamics.kinematics import jacobian
from steelyard.dynamics.parametric import parameter_names, parameter_vector, with_scalars
from steelyard.dynamics.regressor import regressor
from steelyard.dynamics.rnea import bias_torque, inverse_dynamics, newton_euler
from steelyard.errors import CallError, ModelError
from steelyard.mechanism.tree import Frame, Tree
from tests.random_robots import close, random_state, random_tree, samples

SEEDS = range(12)


def weightless(tree: Tree) -> Tree:
    return replace(tree, gravity=(0.0, 0.0, 0.0))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("forward", [articulated, composite_forward])
def test_forward_dynamics_undoes_inverse_dynamics(seed, forward):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 7)
    q, qd, qdd = random_state(rng, tree)
    wrench = rng.normal(size=(7, 6, 4))
    tau = inverse_dynamics(tree, q, qd, qdd, wrench)
    close(forward(tree, q, qd, tau, wrench), qdd, 1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_forward_dynamics_undoes_inverse_dynamics_of_tied_joints(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 8, tied=True)
    q, qd, qdd = random_state(rng, tree)
    close(composite_forward(tree, q, qd, inverse_dynamics(tree, q, qd, qdd)), qdd, 1e-9)


def test_inverse_dynamics_undoes_forward_dynamics(rng):
    tree = random_tree(rng, 6)
    q, qd, tau = random_state(rng, tree)
    close(inverse_dynamics(tree, q, qd, articulated(tree, q, qd, tau)), tau, 1e-9)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_columns_of_the_mass_matrix_are_torques_of_unit_accelerations(seed, tied):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 7, tied=tied)
    q, _, _ = random_state(rng, tree)
    M = samples(mass_matrix(tree, q))
    still = replace(weightless(tree), friction=tuple(replace(f, offset=None) for f in tree.friction))
    for i in range(tree.n):
        column = inverse_dynamics(still, q, [0.0] * tree.n, [1.0 if j == i else 0.0 for j in range(tree.n)])
        close(M[:, i], samples(column), 1e-11)
    close(M, np.swapaxes(M, 0, 1))
    assert np.linalg.eigvalsh(np.moveaxis(M, 2, 0)).min() > 0


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_regressor_times_parameters_is_inverse_dynamics(seed, tied):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 7, tied=tied)
    q, qd, qdd = random_state(rng, tree)
    Y, pi = samples(regressor(tree, q, qd, qdd)), np.array(parameter_vector(tree))
    assert Y.shape[:2] == (tree.n, len(pi)) == (tree.n, len(parameter_names(tree)))
    close(np.einsum("ijb,j->ib", Y, pi), inverse_dynamics(tree, q, qd, qdd))


def test_regressor_is_zero_where_a_joint_does_not_carry_the_body(rng):
    tree = random_tree(rng, 8)
    Y = regressor(tree, *random_state(rng, tree))
    for i in range(8):
        carriers, j = set(), i
        while j >= 0:
            carriers.add(tree.bodies[j].coordinate)
            j = tree.bodies[j].parent
        for row in set(range(tree.n)) - carriers:
            assert all(isinstance(y, float) and y == 0.0 for y in Y[row][10 * i : 10 * i + 10])


def test_parameters_go_in_and_come_out(rng):
    tree = random_tree(rng, 5)
    pi = list(rng.normal(size=len(parameter_vector(tree))))
    assert parameter_vector(with_scalars(tree, pi)) == pi
    assert with_scalars(tree, parameter_vector(tree)) == tree
    assert parameter_names(tree)[10] == "link1.m"


def test_parameters_of_the_wrong_number_are_refused(rng):
    tree = random_tree(rng, 3)
    with pytest.raises(CallError, match="pi has 2 entries, expected"):
        with_scalars(tree, [1.0, 2.0])


def test_batched_parameters_give_what_each_set_gives(rng):
    tree = random_tree(rng, 5)
    q, qd, qdd = random_state(rng, tree, 3)
    pis = np.array(parameter_vector(tree))[:, None] * rng.uniform(0.9, 1.1, size=(1, 3))
    together = samples(inverse_dynamics(with_scalars(tree, list(pis)), q, qd, qdd))
    for k in range(3):
        close(together[:, k], inverse_dynamics(with_scalars(tree, list(pis[:, k])), q[:, k], qd[:, k], qdd[:, k]))


@pytest.mark.parametrize("seed", SEEDS)
def test_wrench_acts_through_the_jacobian(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 6, tied=seed % 2 == 1)
    q, qd, qdd = random_state(rng, tree)
    wrench = rng.normal(size=(6, 6, 4))
    difference = samples(newton_euler(tree, q, qd, qdd)) - samples(newton_euler(tree, q, qd, qdd, wrench))
    expected = sum(np.einsum("knb,kb->nb", samples(jacobian(tree, q, Frame(i, Pose()))), wrench[i]) for i in range(6))
    close(difference, expected)


def test_terms_add_up(rng):
    tree = random_tree(rng, 6)
    q, qd, qdd = random_state(rng, tree)
    moving = samples(newton_euler(weightless(tree), q, qd, [0.0] * tree.n))
    bias = moving + samples(gravity_torque(tree, q)) + samples(friction_torque(tree, qd))
    close(bias_torque(tree, q, qd), bias)
    close(inverse_dynamics(tree, q, qd, qdd), np.einsum("ijb,jb->ib", samples(mass_matrix(tree, q)), qdd) + bias)


def test_coulomb_friction_rests_at_rest(rng):
    tree = random_tree(rng, 4)
    offsets = [f.offset or 0.0 for f in tree.friction]
    close(friction_torque(tree, [0.0] * tree.n), offsets)


def test_articulated_refuses_tied_joints(rng):
    tree = random_tree(rng, 8, tied=True)
    with pytest.raises(ModelError, match=r"move together with 'joint\d+'.*composite_forward"):
        articulated(tree, *random_state(rng, tree))
