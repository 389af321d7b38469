"""The built-in models of well-known robots against numbers that come from elsewhere.

Pinocchio's models of the URDFs of example-robot-data, tables of the makers that the files do not
use, masses of data sheets, and MuJoCo on what we write.
"""

from __future__ import annotations

import math
import warnings
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import steelyard as sy
from steelyard.algebra.spatial import at_com
from steelyard.algebra.vector import full
from steelyard.mechanism import load
from steelyard.mechanism.formats.toml.read_toml import read_toml

WELL_KNOWN = (
    "fr3", "gen3", "iiwa14", "panda", "so101", "ur10e", "ur3e", "ur5e", "xarm6", "xarm7",
)  # fmt: skip

# mass [kg] of the whole robot by its data sheet, and of its base where the maker's model has it
PUBLISHED_MASS = {
    "fr3": (17.8, 2.3966), "gen3": (8.2, 1.697), "iiwa14": (29.9, None), "panda": (18.0, 0.629769),
    "ur10e": (33.5, 4.0), "ur3e": (11.2, 2.0), "ur5e": (20.6, None), "xarm6": (12.2, 2.7),
    "xarm7": (13.7, None),
}  # fmt: skip

# frame of our robot -> (URDF of example-robot-data, its frame), joint by joint in the same order
PINOCCHIO = {
    "panda": ("panda_description/urdf/panda.urdf", "panda_link7", "panda_link7"),
    "xarm7": ("xarm_description/urdf/xarm7.urdf", "link7", "link7"),
    "so101": ("so_arm_description/urdf/so101.urdf", "gripper_link", "gripper_link"),
}

# DH tables that the makers publish and the files do not use: (alpha, a, d, theta) of modified rows
MODIFIED_DH = {
    "fr3": [
        (0, 0, 0.333, 0), (-90, 0, 0, 0), (90, 0, 0.316, 0), (90, 0.0825, 0, 0),
        (-90, -0.0825, 0.384, 0), (90, 0, 0, 0), (90, 0.088, 0.107, 0),
    ],
    # S-R-S arm of 360, 420, 400 and 126 mm
    "iiwa14": [
        (0, 0, 0.36, 0), (-90, 0, 0, 0), (90, 0, 0.42, 0), (90, 0, 0, 0), (-90, 0, 0.4, 0),
        (-90, 0, 0, 0), (90, 0, 0.126, 0),
    ],
    # UFACTORY, modified DH parameters of the xArm 6: a2 and the offsets of joints 2 and 3
    "xarm6": [
        (0, 0, 0.267, 0), (-90, 0, 0, -math.atan(284.5 / 53.5)),
        (0, math.hypot(0.2845, 0.0535), 0, math.atan(284.5 / 53.5)),
        (-90, 0.0775, 0.3425, 0), (90, 0, 0, 0), (-90, 0.076, 0.097, 0),
    ],
}  # fmt: skip
FLANGES = {"fr3": "tool", "iiwa14": "flange", "xarm6": "link6"}


def states(robot: sy.Robot, count: int = 20) -> np.ndarray:
    return np.random.default_rng(26).uniform(-1.5, 1.5, (count, robot.n))


def modified(alpha: float, a: float, d: float, angle: float) -> np.ndarray:
    """Rx(alpha) Tx(a) Rz(angle) Tz(d), written out."""
    ca, sa = math.cos(math.radians(alpha)), math.sin(math.radians(alpha))
    c, s = math.cos(angle), math.sin(angle)
    return np.array(
        [
            [c, -s, 0, a],
            [s * ca, c * ca, -sa, -sa * d],
            [s * sa, c * sa, ca, ca * d],
            [0, 0, 0, 1],
        ]
    )


@pytest.mark.parametrize("name", MODIFIED_DH)
def test_poses_are_those_of_the_published_table(name: str) -> None:
    robot = sy.load(name)
    for q in states(robot, 5):
        pose = np.eye(4)
        for row, angle in zip(MODIFIED_DH[name], q, strict=True):
            pose = pose @ modified(*row[:3], angle + row[3])
        got = robot.forward_kinematics(q, FLANGES[name])
        np.testing.assert_allclose(got[:3, 3], pose[:3, 3], atol=1e-12)
        np.testing.assert_allclose(got[:3, 2], pose[:3, 2], atol=1e-12)


# standard DH tables of the controller, in the project's list of reference numbers
UNIVERSAL_ROBOTS = {
    "ur10e": ((-0.6127, -0.57155), (0.1807, 0.17415, 0.11985, 0.11655)),
    "ur5e": ((-0.425, -0.3922), (0.1625, 0.1333, 0.0997, 0.0996)),
    "ur3e": ((-0.24355, -0.2132), (0.15185, 0.13105, 0.08535, 0.0921)),
}


@pytest.mark.parametrize("name", UNIVERSAL_ROBOTS)
def test_the_flange_of_a_universal_robot(name: str) -> None:
    """Position of the flange in closed form: Hawkins 2013, "Analytic inverse kinematics"."""
    (a2, a3), (d1, d4, d5, d6) = UNIVERSAL_ROBOTS[name]
    robot = sy.load(name)
    for q in states(robot, 5):
        q1, q2, q3, q4, q5, _ = q
        q23, q234 = q2 + q3, q2 + q3 + q4
        along = a2 * math.cos(q2) + a3 * math.cos(q23) + d5 * math.sin(q234)
        along -= d6 * math.cos(q234) * math.sin(q5)
        across = d4 + d6 * math.cos(q5)
        height = d1 + a2 * math.sin(q2) + a3 * math.sin(q23) - d5 * math.cos(q234)
        height -= d6 * math.sin(q234) * math.sin(q5)
        position = [
            math.cos(q1) * along + math.sin(q1) * across,
            math.sin(q1) * along - math.cos(q1) * across,
            height,
        ]
        np.testing.assert_allclose(robot.forward_kinematics(q)[:3, 3], position, atol=1e-12)


@pytest.mark.parametrize("name", PINOCCHIO)
def test_poses_are_those_of_an_independent_model(name: str, example_robots: Path) -> None:
    path, ours, theirs = PINOCCHIO[name]
    model = pin.buildModelFromUrdf(str(example_robots / path))
    data, robot = model.createData(), sy.load(name)
    for q in states(robot, 5):
        whole = np.zeros(model.nq)
        whole[[model.joints[model.getJointId(joint)].idx_q for joint in robot.joint_names]] = q
        pin.framesForwardKinematics(model, data, whole)
        pose = data.oMf[model.getFrameId(theirs)].homogeneous
        # their file rounds right angles to four decimals
        np.testing.assert_allclose(robot.forward_kinematics(q, ours), pose, atol=3e-5)


@pytest.mark.parametrize("name", PINOCCHIO)
def test_torques_are_those_of_an_independent_model(name: str, example_robots: Path) -> None:
    """The hand in the URDF of the Panda has no mass here."""
    model = pin.buildModelFromUrdf(str(example_robots / PINOCCHIO[name][0]))
    robot = sy.load(name).without_friction().without_rotors()
    fixed = [j for j in range(1, model.njoints) if model.names[j] not in robot.joint_names]
    if name == "panda":
        hand = next(frame for frame in model.frames if frame.name == "panda_hand")
        for j in fixed:
            model.inertias[j] = pin.Inertia.Zero()
        last = model.getJointId("panda_joint7")
        model.inertias[last] = pin.Inertia(
            0.735522,
            np.array([0.010517, -0.004252, 0.061597]),
            np.array(
                [
                    [0.012516, -0.000428, -0.001196],
                    [-0.000428, 0.010027, -0.000741],
                    [-0.001196, -0.000741, 0.004815],
                ]
            ),
        )
        assert hand.parentJoint == last
    model = pin.buildReducedModel(model, fixed, pin.neutral(model))
    order = [model.joints[model.getJointId(joint)].idx_v for joint in robot.joint_names]
    rng = np.random.default_rng(7)
    for q, qd, qdd in rng.uniform(-1.5, 1.5, (5, 3, robot.n)):
        there = np.zeros((3, model.nv))
        there[:, order] = q, qd, qdd
        expected = pin.rnea(model, model.createData(), *there)[order]
        scale = np.abs(expected).max()
        np.testing.assert_allclose(robot.inverse_dynamics(q, qd, qdd), expected, atol=2e-4 * scale)


@pytest.mark.parametrize("name", PUBLISHED_MASS)
def test_masses_add_up_to_the_data_sheet(name: str) -> None:
    """Cables, covers and the base account for the rest."""
    whole, base = PUBLISHED_MASS[name]
    moving = sum(body.inertia.m for body in sy.load(name).tree.bodies)
    assert 0.7 * whole < moving < 0.93 * whole
    if base is not None:
        assert moving + base == pytest.approx(whole, rel=0.08)


@pytest.mark.parametrize("name", WELL_KNOWN)
def test_every_link_is_a_body_that_can_exist(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_toml(load(name).source.text, warn=True)
    for body in sy.load(name).tree.bodies:
        moments = np.linalg.eigvalsh(full(at_com(body.inertia)[2]))
        assert moments[0] > 0
        assert moments[2] <= (moments[0] + moments[1]) * (1 + 1e-6)


@pytest.mark.parametrize("name", WELL_KNOWN)
def test_drives_hold_the_arm_with_torque_to_spare(name: str) -> None:
    robot = sy.load(name)
    lower, upper = np.clip(robot.limits.position, -math.pi, math.pi).T
    q = np.random.default_rng(3).uniform(lower, upper, (2000, robot.n))
    share = np.abs(robot.gravity_torque(q)).max(axis=0) / robot.limits.effort
    assert 0.1 < share.max() < 0.7
    assert np.all(np.isfinite(robot.limits.velocity))


@pytest.mark.parametrize("name", WELL_KNOWN)
def test_files_cite_their_sources(name: str) -> None:
    sheet = load(name).data_sheet
    assert len(sheet.source) > 60
    assert sheet.estimated
    assert sheet.description


def test_ratings_of_the_franka_arms() -> None:
    ratings = load("panda").data_sheet.ratings
    np.testing.assert_allclose(
        [each.acceleration for each in ratings], [15, 7.5, 10, 12.5, 15, 20, 20], rtol=1e-8
    )
    np.testing.assert_allclose(
        [each.jerk for each in ratings], [7500, 3750, 5000, 6250, 7500, 1e4, 1e4], rtol=1e-8
    )
    assert {each.effort_rate for each in ratings} == {1000.0}
    limits = sy.load("fr3").limits
    np.testing.assert_allclose(limits.velocity, [2.62] * 4 + [5.26, 4.18, 5.26], rtol=1e-8)
    np.testing.assert_allclose(limits.position[3], [-3.0421, -0.1518], rtol=1e-8)


def test_torque_constants_are_those_of_the_data_set() -> None:
    """Drive gains in the published log of a UR10."""
    names = sy.load("ur10e").joint_names
    expected = (13.5841, 14.2959, 11.3716, 11.2408, 11.7681, 11.7682)
    assert load("ur10e").data_sheet.torque_constants(names) == expected
    assert load("ur5e").data_sheet.torque_constants(names) is None
