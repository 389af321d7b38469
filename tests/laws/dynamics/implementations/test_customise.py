"""Frames and inertias chosen for few operations change nothing in joint space."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.algebra.spatial import Inertia
from steelyard.dynamics.coriolis import coriolis_matrix
from steelyard.dynamics.crba import mass_matrix
from steelyard.dynamics.customise.base_inertias import with_base_inertias
from steelyard.dynamics.customise.canonical_frames import in_canonical_frames
from steelyard.dynamics.energy import kinetic_energy, momentum
from steelyard.dynamics.forward.aba import aba
from steelyard.dynamics.forward.by_crba import forward_by_crba
from steelyard.dynamics.gravity import gravity_torque
from steelyard.dynamics.rnea import inverse_dynamics
from steelyard.mechanism.parameter_vector import parameters, with_scalars
from tests.random_robots import close, random_state, random_tree

CASES = [(seed, seed % 3 == 2, seed % 4 == 1) for seed in range(24)]


@pytest.mark.parametrize(
    "change",
    [
        in_canonical_frames,
        with_base_inertias,
        lambda tree: with_base_inertias(in_canonical_frames(tree)),
    ],
    ids=["canonical", "regrouped", "both"],
)
@pytest.mark.parametrize(("seed", "tied", "chain"), CASES)
def test_joint_space_does_not_notice(seed, tied, chain, change):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 7, tied=tied, chain=chain)
    q, qd, qdd = random_state(rng, tree)
    new = change(tree)
    close(inverse_dynamics(new, q, qd, qdd), inverse_dynamics(tree, q, qd, qdd))
    close(mass_matrix(new, q), mass_matrix(tree, q))
    close(coriolis_matrix(new, q, qd), coriolis_matrix(tree, q, qd))
    close(gravity_torque(new, q), gravity_torque(tree, q))
    close(momentum(new, q, qd), momentum(tree, q, qd))
    close(kinetic_energy(new, q, qd), kinetic_energy(tree, q, qd))
    tau = inverse_dynamics(tree, q, qd, qdd)
    close(forward_by_crba(new, q, qd, tau), qdd, 1e-9)
    if not tied:
        close(aba(new, q, qd, tau), qdd, 1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_canonical_frames_stand_on_the_axes(seed):
    tree = in_canonical_frames(random_tree(np.random.default_rng(seed), 7, chain=True))
    assert tree.gravity[:2] == (0.0, 0.0)
    assert not tree.frames
    for i, body in enumerate(tree.bodies):
        assert body.axis == (0.0, 0.0, 1.0)
        if body.kind == "revolute" and i and tree.bodies[i - 1].kind == "revolute":
            assert body.placement.R[0] == (1.0, 0.0, 0.0), "x is the common normal"
            assert body.placement.p[1] == 0.0 or body.placement.p[2] == 0.0


@pytest.mark.parametrize("seed", range(6))
def test_regrouping_leaves_exact_zeros(seed):
    tree = with_base_inertias(in_canonical_frames(random_tree(np.random.default_rng(seed), 7)))
    assert any(body.kind == "revolute" for body in tree.bodies)
    for i, body in enumerate(tree.bodies):
        slides_on_it = any(other.kind == "prismatic" and other.parent == i for other in tree.bodies)
        if body.kind == "revolute":
            assert body.inertia.h[2] == 0.0
            assert body.inertia.second_moments().zz == 0.0
            assert body.inertia.m == 0.0 or slides_on_it
        else:
            assert body.inertia == Inertia(body.inertia.m, body.inertia.h)


def test_canonical_takes_parameters_that_are_scalars(rng):
    tree = random_tree(rng, 5)
    q, qd, qdd = random_state(rng, tree, 3)
    pi = np.array(parameters(tree))[:, None] * rng.uniform(0.9, 1.1, size=(1, 3))
    free = with_scalars(tree, list(pi))
    close(
        inverse_dynamics(with_base_inertias(in_canonical_frames(free)), q, qd, qdd),
        inverse_dynamics(free, q, qd, qdd),
    )


def test_a_robot_without_weight_has_canonical_frames_too(rng):
    from dataclasses import replace

    tree = replace(random_tree(rng, 5), gravity=(0.0, 0.0, 0.0))
    q, qd, qdd = random_state(rng, tree)
    close(
        inverse_dynamics(in_canonical_frames(tree), q, qd, qdd), inverse_dynamics(tree, q, qd, qdd)
    )
