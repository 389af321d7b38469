"""Poses, Jacobians and their rates belong together. Derivatives are complex steps."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.dynamics.kinematics import forward_kinematics, jacobian, jacobian_rate, poses
from steelyard.errors import CallError
from tests.random_robots import close, complex_step, random_state, random_tree, samples

CASES = [(seed, seed % 3 == 2) for seed in range(9)]


@pytest.mark.parametrize(("seed", "tied"), CASES)
def test_jacobian_times_rates_is_the_velocity_of_the_frame(seed, tied):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 6, tied=tied)
    q, qd, _ = random_state(rng, tree)
    for frame in tree.frames:
        velocity = np.einsum("knb,nb->kb", samples(jacobian(tree, q, frame)), qd)
        R = samples(forward_kinematics(tree, q, frame).R)
        Rd = complex_step(lambda x, frame=frame: list(forward_kinematics(tree, x, frame).R), (q, qd))
        spin = np.einsum("ij...,kj...->ik...", Rd, R)
        pd = complex_step(lambda x, frame=frame: list(forward_kinematics(tree, x, frame).p), (q, qd))
        close(velocity[:3], pd)
        close(velocity[3:], np.stack([spin[2, 1], spin[0, 2], spin[1, 0]]))


@pytest.mark.parametrize(("seed", "tied"), CASES)
def test_jacobian_rate_is_the_rate_of_the_jacobian(seed, tied):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 6, tied=tied)
    q, qd, _ = random_state(rng, tree)
    for frame in tree.frames:
        rate = complex_step(lambda x, frame=frame: jacobian(tree, x, frame), (q, qd))
        close(samples(jacobian_rate(tree, q, qd, frame)), rate)


def test_rotations_of_poses_are_rotations(rng):
    tree = random_tree(rng, 8)
    q, _, _ = random_state(rng, tree)
    for pose in poses(tree, q):
        R = np.moveaxis(samples(pose.R), -1, 0)
        close(R @ np.swapaxes(R, 1, 2), np.broadcast_to(np.eye(3), R.shape))
        close(np.linalg.det(R), np.ones(len(R)))


def test_an_unknown_frame_is_named_with_those_that_exist(rng):
    tree = random_tree(rng, 3)
    with pytest.raises(CallError, match=r"'tool9'.*tool0"):
        jacobian(tree, [0.0] * tree.n, "tool9")
