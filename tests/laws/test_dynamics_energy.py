"""Energy, momentum, gravity and the Coriolis matrix obey mechanics. Derivatives are complex steps, exact to rounding."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from steelyard.dynamics.coriolis import christoffel, coriolis_matrix
from steelyard.dynamics.crba import mass_matrix
from steelyard.dynamics.energy import kinetic_energy
from steelyard.dynamics.gravity import gravity_torque, potential_energy
from steelyard.dynamics.momentum import momentum
from steelyard.dynamics.rnea import inverse_dynamics, newton_euler
from steelyard.mechanism.model import Friction
from steelyard.mechanism.tree import Tree
from tests.random_robots import close, complex_step, random_state, random_tree, samples

CASES = [(seed, seed % 3 == 2) for seed in range(12)]


def frictionless(tree: Tree) -> Tree:
    return replace(tree, friction=(Friction(),) * tree.n)


@pytest.mark.parametrize(("seed", "tied"), CASES)
def test_power_is_the_rate_of_energy(seed, tied):
    rng = np.random.default_rng(seed)
    tree = frictionless(random_tree(rng, 7, tied=tied))
    q, qd, qdd = random_state(rng, tree)
    power = (samples(inverse_dynamics(tree, q, qd, qdd)) * qd).sum(axis=0)
    rate = complex_step(lambda x, xd: kinetic_energy(tree, x, xd) + potential_energy(tree, x), (q, qd), (qd, qdd))
    close(power, rate)


@pytest.mark.parametrize(("seed", "tied"), CASES)
def test_gravity_torque_is_the_slope_of_potential_energy(seed, tied):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 7, tied=tied)
    q, _, _ = random_state(rng, tree)
    slope = [complex_step(lambda x: potential_energy(tree, x), (q, np.eye(tree.n)[i][:, None])) for i in range(tree.n)]
    close(gravity_torque(tree, q), slope)
    close(gravity_torque(tree, q), newton_euler(tree, q, [0.0] * tree.n, [0.0] * tree.n))


@pytest.mark.parametrize(("seed", "tied"), CASES)
def test_momentum_and_kinetic_energy_belong_to_the_mass_matrix(seed, tied):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 7, tied=tied)
    q, qd, _ = random_state(rng, tree)
    p = np.einsum("ijb,jb->ib", samples(mass_matrix(tree, q)), qd)
    close(momentum(tree, q, qd), p)
    close(kinetic_energy(tree, q, qd), 0.5 * (p * qd).sum(axis=0))


@pytest.mark.parametrize(("seed", "tied"), CASES)
def test_mass_rate_less_twice_coriolis_is_skew(seed, tied):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 7, tied=tied)
    q, qd, _ = random_state(rng, tree)
    rate = complex_step(lambda x: mass_matrix(tree, x), (q, qd))
    C = samples(coriolis_matrix(tree, q, qd))
    close(rate - C, np.swapaxes(C, 0, 1))


@pytest.mark.parametrize(("seed", "tied"), CASES)
def test_coriolis_matrix_gives_the_velocity_torques(seed, tied):
    rng = np.random.default_rng(seed)
    tree = replace(random_tree(rng, 7, tied=tied), gravity=(0.0, 0.0, 0.0))
    q, qd, _ = random_state(rng, tree)
    C = samples(coriolis_matrix(tree, q, qd))
    close(np.einsum("ijb,jb->ib", C, qd), newton_euler(tree, q, qd, [0.0] * tree.n))


@pytest.mark.parametrize(("seed", "tied"), CASES[:4])
def test_christoffel_symbols_are_slopes_of_the_mass_matrix(seed, tied):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 5, tied=tied)
    q, qd, _ = random_state(rng, tree)
    slope = np.stack([complex_step(lambda x: mass_matrix(tree, x), (q, np.eye(tree.n)[k][:, None])) for k in range(tree.n)], axis=2)
    symbols = samples(christoffel(tree, q))
    close(symbols, 0.5 * (slope + np.swapaxes(slope, 1, 2) - np.moveaxis(slope, 2, 0)))
    close(np.einsum("ijkb,kb->ijb", symbols, qd), samples(coriolis_matrix(tree, q, qd)))
