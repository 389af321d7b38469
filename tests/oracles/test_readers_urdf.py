"""Pinocchio reads the same bodies, placements, inertias, axes, limits and frames from URDF."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from steelyard.algebra.vector import full
from steelyard.mechanism import load, reduce
from tests.plain_recursion import body_poses, homogeneous

# some have impossible inertias: told, not refused
pytestmark = pytest.mark.filterwarnings("ignore::steelyard.errors.SteelyardWarning")
ROBOTS = {
    "ur3": "ur_description/urdf/ur3_robot.urdf",
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "ur10": "ur_description/urdf/ur10_robot.urdf",
    "panda": "panda_description/urdf/panda.urdf",  # a mimic joint
    "xarm7": "xarm_description/urdf/xarm7.urdf",
    "z1": "z1_description/urdf/z1.urdf",
    "kinova": "kinova_description/robots/kinova.urdf",
    "so101": "so_arm_description/urdf/so101.urdf",
    "allegro": "allegro_hand_description/urdf/allegro_right_hand.urdf",  # a hand
    "baxter": "baxter_description/urdf/baxter.urdf",  # two arms
    "tiago": "tiago_description/robots/tiago.urdf",
    "pr2": "pr2_description/urdf/pr2.urdf",  # prismatic and mimic
    "romeo": "romeo_description/urdf/romeo.urdf",  # 55 bodies, 33 coordinates
    "icub": "icub_description/robots/icub.urdf",
    "talos": "talos_data/robots/talos_full_v2.urdf",
    "g1": "g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf",
}
TOLERANCE = 1e-13


@pytest.fixture(params=ROBOTS, scope="module")
def pair(request: pytest.FixtureRequest, example_robots: Path):
    path = example_robots / ROBOTS[request.param]
    mechanism = load(path)
    return mechanism, reduce(mechanism), pin.buildModelFromUrdf(str(path))


def test_every_body_is_one_of_pinocchios(pair) -> None:
    mechanism, tree, model = pair
    assert {body.joint for body in tree.bodies} == set(model.names) - {"universe"}
    assert tree.n == model.nv - sum(joint.mimic is not None for joint in mechanism.joints)


def test_placements_and_parents(pair) -> None:
    _, tree, model = pair
    for body in tree.bodies:
        joint = model.getJointId(body.joint)
        parent = "universe" if body.parent < 0 else tree.bodies[body.parent].joint
        assert model.names[model.parents[joint]] == parent
        np.testing.assert_allclose(
            homogeneous(body.placement),
            model.jointPlacements[joint].homogeneous,
            atol=TOLERANCE,
            err_msg=body.name,
        )


def test_inertias_with_fixed_links_merged(pair) -> None:
    _, tree, model = pair
    for body in tree.bodies:
        theirs = model.inertias[model.getJointId(body.joint)]
        shift = pin.skew(theirs.lever)
        np.testing.assert_allclose(body.inertia.m, theirs.mass, rtol=1e-12, err_msg=body.name)
        np.testing.assert_allclose(
            body.inertia.h, theirs.mass * theirs.lever, atol=TOLERANCE, err_msg=body.name
        )
        about_origin = theirs.inertia - theirs.mass * shift @ shift
        np.testing.assert_allclose(
            full(body.inertia.I), about_origin, atol=TOLERANCE, err_msg=body.name
        )


def test_axes(pair) -> None:
    _, tree, model = pair
    data = model.createData()
    pin.computeJointJacobians(model, data, pin.neutral(model))
    for body in tree.bodies:
        joint = model.getJointId(body.joint)
        column = pin.getJointJacobian(model, data, joint, pin.LOCAL)[:, model.joints[joint].idx_v]
        axis = np.concatenate(
            [body.axis, np.zeros(3)] if body.kind == "prismatic" else [np.zeros(3), body.axis]
        )
        np.testing.assert_allclose(axis, column, atol=TOLERANCE, err_msg=body.name)


def test_the_pose_of_every_link_at_random_positions(pair, rng: np.random.Generator) -> None:
    mechanism, tree, model = pair
    data, q = model.createData(), rng.uniform(-2, 2, tree.n)
    theirs = pin.neutral(model)
    for body in tree.bodies:
        joint, position = (
            model.joints[model.getJointId(body.joint)],
            body.multiplier * q[body.coordinate] + body.offset,
        )
        theirs[joint.idx_q : joint.idx_q + joint.nq] = (
            position if joint.nq == 1 else [math.cos(position), math.sin(position)]
        )
    pin.framesForwardKinematics(model, data, theirs)
    ours = [*body_poses(tree, q), np.eye(4)]  # -1 is the base
    for link in mechanism.links:
        body, pose = tree.frames[link.name]
        frame = data.oMf[model.getBodyId(link.name)].homogeneous
        np.testing.assert_allclose(
            ours[body] @ homogeneous(pose), frame, atol=1e-9, err_msg=link.name
        )


def test_limits_and_damping(pair) -> None:
    mechanism, _, model = pair
    for joint in mechanism.joints:
        if joint.kind == "fixed":
            continue
        theirs = model.joints[model.getJointId(joint.name)]
        q, v = theirs.idx_q, theirs.idx_v
        np.testing.assert_allclose(joint.terms.get("viscous", 0.0), model.damping[v], rtol=1e-15)
        np.testing.assert_allclose(
            joint.terms.get("coulomb", 0.0), model.upperDryFrictionLimit[v], rtol=1e-15
        )
        if theirs.nq == 1 and not math.isinf(joint.limits.lower):
            assert (joint.limits.lower, joint.limits.upper) == (
                model.lowerPositionLimit[q],
                model.upperPositionLimit[q],
            )
        if not math.isinf(joint.limits.velocity):
            assert joint.limits.velocity == model.upperVelocityLimit[v]
        if not math.isinf(joint.limits.effort):
            assert joint.limits.effort == model.upperEffortLimit[v]


def test_total_mass(pair) -> None:
    mechanism, _, model = pair
    ours = sum(link.inertia.m for link in mechanism.links if link.inertia is not None)
    assert ours == pytest.approx(sum(inertia.mass for inertia in model.inertias), rel=1e-12)
