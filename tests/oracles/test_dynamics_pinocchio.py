"""Pinocchio says the same, to 1e-9, of random trees and of robots read from their URDF."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from steelyard.algebra.spatial import at_com
from steelyard.dynamics.coriolis import coriolis_matrix
from steelyard.dynamics.crba import mass_matrix
from steelyard.dynamics.customise.base_inertias import with_base_inertias
from steelyard.dynamics.customise.canonical_frames import in_canonical_frames
from steelyard.dynamics.forward.aba import aba
from steelyard.dynamics.forward.by_crba import forward_by_crba
from steelyard.dynamics.gravity import gravity_torque
from steelyard.dynamics.kinematics import forward_kinematics, jacobian, jacobian_rate, poses
from steelyard.dynamics.regressor import regressor
from steelyard.dynamics.rnea import inverse_dynamics, rnea
from steelyard.mechanism.formats.urdf.read_urdf import read_urdf
from steelyard.mechanism.reduce import reduce
from steelyard.mechanism.tree import Tree
from tests.random_robots import close, random_state, random_tree

TOLERANCE = 1e-9
# files with impossible inertias
pytestmark = pytest.mark.filterwarnings("ignore::steelyard.errors.SteelyardWarning")
ROBOTS = {
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "ur10": "ur_description/urdf/ur10_robot.urdf",
    "xarm7": "xarm_description/urdf/xarm7.urdf",
    "z1": "z1_description/urdf/z1.urdf",
    "kinova": "kinova_description/robots/kinova.urdf",
    "so101": "so_arm_description/urdf/so101.urdf",
    "panda": "panda_description/urdf/panda.urdf",  # mimic
    "tiago": "tiago_description/robots/tiago_no_hand.urdf",
    "allegro": "allegro_hand_description/urdf/allegro_right_hand.urdf",
    "baxter": "baxter_description/urdf/baxter.urdf",
    "talos": "talos_data/robots/talos_reduced.urdf",
    "icub": "icub_description/robots/icub.urdf",
}


class Oracle:
    """A Pinocchio model with one joint per body, and the map from coordinates to its joints.

    q_joint = G q + offset; a result of n coordinates is G^T result of joints.
    """

    def __init__(self, tree: Tree, model: pin.Model, order: list[int]) -> None:
        # order: joint id of each body
        self.tree, self.model, self.data, self.order = tree, model, model.createData(), order
        self.G, self.offset = np.zeros((model.nv, tree.n)), np.zeros(model.nv)
        for body, joint in zip(tree.bodies, order, strict=True):
            row = model.joints[joint].idx_v
            self.G[row, body.coordinate], self.offset[row] = body.multiplier, body.offset

    def configuration(self, q: np.ndarray) -> np.ndarray:
        """Pinocchio's q; a continuous joint has cosine and sine there."""
        joints, out = self.G @ q + self.offset, np.zeros(self.model.nq)
        for joint in self.model.joints:
            if joint.nv == 1 and joint.nq == 2:
                out[joint.idx_q : joint.idx_q + 2] = (
                    np.cos(joints[joint.idx_v]),
                    np.sin(joints[joint.idx_v]),
                )
            elif joint.nv == 1:
                out[joint.idx_q] = joints[joint.idx_v]
        return out


def from_tree(tree: Tree) -> Oracle:
    """A Pinocchio model built joint by joint from a tree's numbers, depth first.

    Its Coriolis matrix relies on that order.
    """
    model = pin.Model()
    model.gravity.linear = np.array(tree.gravity)
    order = {-1: 0}
    for i in depth_first(tree):
        body = tree.bodies[i]
        kind = (
            pin.JointModelRevoluteUnaligned
            if body.kind == "revolute"
            else pin.JointModelPrismaticUnaligned
        )
        placement = pin.SE3(np.array(body.placement.R), np.array(body.placement.p))
        order[i] = model.addJoint(
            order[body.parent], kind(np.array(body.axis)), placement, body.joint
        )
        origin = (0.0, 0.0, 0.0)
        m, c, I_c = at_com(body.inertia) if body.inertia.m else (0.0, origin, body.inertia.I)
        rows = [[I_c.xx, I_c.xy, I_c.xz], [I_c.xy, I_c.yy, I_c.yz], [I_c.xz, I_c.yz, I_c.zz]]
        full = np.array(rows)
        model.appendBodyToJoint(order[i], pin.Inertia(m, np.array(c), full), pin.SE3.Identity())
    return Oracle(tree, model, [order[i] for i in range(len(tree.bodies))])


def depth_first(tree: Tree, i: int = -1) -> list[int]:
    below = [j for j, body in enumerate(tree.bodies) if body.parent == i]
    return ([i] if i >= 0 else []) + [k for j in below for k in depth_first(tree, j)]


def from_urdf(path) -> Oracle:
    """Pinocchio's own reading of a URDF beside ours.

    Its reader drops mimic, so those joints stay free in it.
    """
    model = pin.buildModelFromUrdf(str(path))
    tree = reduce(read_urdf(path.read_text(encoding="utf-8"), str(path)))
    return Oracle(tree, model, [model.getJointId(body.joint) for body in tree.bodies])


def check(oracle: Oracle, rng: np.random.Generator, tolerance: float = TOLERANCE) -> None:
    tree, model, data, G = oracle.tree, oracle.model, oracle.data, oracle.G
    q, qd, qdd = (x[:, 0] for x in random_state(rng, tree, 1))
    x, xd, xdd = oracle.configuration(q), G @ qd, G @ qdd
    tau = G.T @ pin.rnea(model, data, x, xd, xdd)
    M = pin.crba(model, data, x)
    M = G.T @ (np.triu(M) + np.triu(M, 1).T) @ G + np.diag(
        [terms.get("armature", 0.0) for terms in tree.terms]
    )
    C = G.T @ pin.computeCoriolisMatrix(model, data, x, xd) @ G
    fast = with_base_inertias(in_canonical_frames(tree))
    for form in (tree, fast):
        close(rnea(form, q, qd, qdd), tau, tolerance)
        close(
            gravity_torque(form, q), G.T @ pin.computeGeneralizedGravity(model, data, x), tolerance
        )
        close(_dense(mass_matrix(form, q)), M, tolerance)
        close(_dense(coriolis_matrix(form, q, qd)), C, tolerance)
    check_regressor(oracle, q, qd, qdd, tolerance)
    check_kinematics(oracle, q, qd, tolerance)


def check_forward(oracle: Oracle, rng: np.random.Generator) -> None:
    """Accelerations, where each joint is its own coordinate.

    Rotors and friction are not in Pinocchio's model.
    """
    tree, model, data = oracle.tree, oracle.model, oracle.data
    q, qd, qdd = (x[:, 0] for x in random_state(rng, tree, 1))
    full, rigid = inverse_dynamics(tree, q, qd, qdd), np.array(rnea(tree, q, qd, qdd))
    expected = oracle.G.T @ pin.aba(
        model, data, oracle.configuration(q), oracle.G @ qd, oracle.G @ rigid
    )
    assert not any("armature" in terms for terms in tree.terms)
    for forward in (aba, forward_by_crba):
        for form in (tree, with_base_inertias(in_canonical_frames(tree))):
            close(forward(form, q, qd, full), expected, TOLERANCE)


def check_regressor(
    oracle: Oracle, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, tolerance: float
) -> None:
    """Pinocchio's columns are m, h, then Ixx, Ixy, Iyy, Ixz, Iyz, Izz of each joint."""
    tree, G = oracle.tree, oracle.G
    theirs = G.T @ pin.computeJointTorqueRegressor(
        oracle.model, oracle.data, oracle.configuration(q), G @ qd, G @ qdd
    )
    ours = _dense(regressor(tree, q, qd, qdd))
    for i, joint in enumerate(oracle.order):
        block = theirs[:, 10 * (joint - 1) : 10 * joint][:, [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]]
        close(ours[:, 10 * i : 10 * i + 10], block, tolerance)


def check_kinematics(oracle: Oracle, q: np.ndarray, qd: np.ndarray, tolerance: float) -> None:
    tree, model, data, G = oracle.tree, oracle.model, oracle.data, oracle.G
    x, world = oracle.configuration(q), pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    pin.computeJointJacobiansTimeVariation(model, data, x, G @ qd)
    pin.computeJointJacobians(model, data, x)
    pin.forwardKinematics(model, data, x, G @ qd)
    for pose, joint in zip(poses(tree, q), oracle.order, strict=True):
        close(_dense(pose.R), data.oMi[joint].rotation, tolerance)
        close(_dense([pose.p]), data.oMi[joint].translation[None], tolerance)
    tips = {body.name: joint for body, joint in zip(tree.bodies, oracle.order, strict=True)}
    for name, joint in list(tips.items())[:: max(1, len(tips) // 4)]:
        if name not in tree.frames:
            continue
        close(
            _dense(jacobian(tree, q, name)),
            pin.getJointJacobian(model, data, joint, world) @ G,
            tolerance,
        )
        close(
            _dense(jacobian_rate(tree, q, qd, name)),
            pin.getJointJacobianTimeVariation(model, data, joint, world) @ G,
            tolerance,
        )


def _dense(rows) -> np.ndarray:
    return np.array([[float(x) for x in row] for row in rows])


@pytest.mark.parametrize("seed", range(6))
def test_random_trees(seed):
    rng = np.random.default_rng(seed)
    oracle = from_tree(random_tree(rng, 7, tied=seed % 3 == 2))
    check(oracle, rng, 1e-11)


@pytest.mark.parametrize("seed", range(4))
def test_random_trees_accelerate_alike(seed):
    rng = np.random.default_rng(seed)
    check_forward(from_tree(random_tree(rng, 7, joint_terms=False)), rng)


@pytest.mark.parametrize("name", ROBOTS)
def test_robots_of_urdf_files(name, example_robots, rng):
    oracle = from_urdf(example_robots / ROBOTS[name])
    assert oracle.tree.n >= 5
    check(oracle, rng)


@pytest.mark.parametrize("name", ["ur5", "xarm7", "z1", "allegro", "talos", "icub"])
def test_robots_of_urdf_files_accelerate_alike(name, example_robots, rng):
    check_forward(from_urdf(example_robots / ROBOTS[name]), rng)


def test_frames_that_are_fixed_to_links(example_robots, rng):
    oracle = from_urdf(example_robots / ROBOTS["ur5"])
    q, _, _ = (x[:, 0] for x in random_state(rng, oracle.tree, 1))
    pin.framesForwardKinematics(oracle.model, oracle.data, oracle.configuration(q))
    for name in ("tool0", "ee_link", "base_link"):
        theirs, ours = (
            oracle.data.oMf[oracle.model.getFrameId(name)],
            forward_kinematics(oracle.tree, q, name),
        )
        close(_dense(ours.R), theirs.rotation, TOLERANCE)
        close(_dense([ours.p]), theirs.translation[None], TOLERANCE)
