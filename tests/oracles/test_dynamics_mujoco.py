"""MuJoCo agrees on random trees, with rotors and viscous friction."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from benchmarks.mujoco_model import model_of
from steelyard.algebra.spatial import Pose
from steelyard.dynamics.crba import mass_matrix
from steelyard.dynamics.forward.by_crba import forward_by_crba
from steelyard.dynamics.kinematics import jacobian, jacobian_rate, poses
from steelyard.dynamics.rnea import bias_torque, inverse_dynamics
from steelyard.mechanism.joint_terms import Terms
from steelyard.mechanism.tree import Frame, Tree
from tests.random_robots import close, random_state, random_tree


def viscous_only(tree: Tree) -> Tree:
    return replace(
        tree,
        terms=tuple(
            Terms.of({key: terms.get(key) for key in ("armature", "viscous")})
            for terms in tree.terms
        ),
    )


@pytest.mark.parametrize("seed", range(4))
def test_random_trees(seed):
    rng = np.random.default_rng(seed)
    tree = viscous_only(random_tree(rng, 6))
    model = model_of(tree)
    data = mujoco.MjData(model)
    # MuJoCo's place of each of our coordinates
    indices = [model.joint(body.joint).dofadr[0] for body in tree.bodies]
    q, qd, qdd = (x[:, 0] for x in random_state(rng, tree, 1))
    data.qpos[indices], data.qvel[indices], data.qacc[indices] = q, qd, qdd
    mujoco.mj_inverse(model, data)
    close(inverse_dynamics(tree, q, qd, qdd), data.qfrc_inverse[indices], 1e-9)
    close(bias_torque(tree, q, qd), (data.qfrc_bias - data.qfrc_passive)[indices], 1e-9)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    close(mass_matrix(tree, q), M[np.ix_(indices, indices)], 1e-9)
    data.qfrc_applied[indices] = data.qfrc_inverse[indices]
    mujoco.mj_forward(model, data)
    close(forward_by_crba(tree, q, qd, list(data.qfrc_applied[indices])), data.qacc[indices], 1e-7)


@pytest.mark.parametrize("seed", range(2))
def test_poses_and_jacobians(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 6)
    model = model_of(tree)
    data = mujoco.MjData(model)
    indices = [model.joint(body.joint).dofadr[0] for body in tree.bodies]
    q, qd, _ = (x[:, 0] for x in random_state(rng, tree, 1))
    data.qpos[indices], data.qvel[indices] = q, qd
    mujoco.mj_forward(model, data)
    for i, (body, pose) in enumerate(zip(tree.bodies, poses(tree, q), strict=True)):
        number, o = model.body(body.name).id, data.body(body.name).xpos
        close(pose.p, o, 1e-9)
        close(pose.R, data.body(body.name).xmat.reshape(3, 3), 1e-9)
        J, Jd = np.zeros((6, model.nv)), np.zeros((6, model.nv))
        mujoco.mj_jac(model, data, J[:3], J[3:], o, number)
        mujoco.mj_jacDot(model, data, Jd[:3], Jd[3:], o, number)
        close(jacobian(tree, q, Frame(i, Pose())), J[:, indices], 1e-9)
        close(jacobian_rate(tree, q, qd, Frame(i, Pose())), Jd[:, indices], 1e-9)
