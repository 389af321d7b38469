"""The Robotics Toolbox says the same of DH tables, standard and modified.

Frames, torques with motors and friction.
"""

from __future__ import annotations

import numpy as np
import pytest
import roboticstoolbox as rtb

from steelyard.mechanism import load, reduce
from steelyard.mechanism.formats.toml.read_toml import read_toml
from tests.plain_recursion import frame_pose, torques


@pytest.fixture(scope="module")
def puma() -> rtb.DHRobot:
    return rtb.models.DH.Puma560()


def test_every_frame_of_the_puma(puma: rtb.DHRobot, rng: np.random.Generator) -> None:
    tree, q = reduce(load("puma560")), rng.uniform(-2, 2, 6)
    for i, theirs in enumerate(puma.fkine_all(q).A[1:], start=1):
        np.testing.assert_allclose(frame_pose(tree, q, f"frame{i}"), theirs, atol=1e-12)


def test_torques_of_the_puma_with_motors_and_friction(
    puma: rtb.DHRobot, rng: np.random.Generator
) -> None:
    """Its Coulomb friction differs by direction: our Coulomb term and offset together are that."""
    tree = reduce(load("puma560"))
    for q, qd, qdd in rng.uniform(-2, 2, (20, 3, 6)):
        theirs = puma.rne_python(q, qd, qdd, gravity=[0, 0, -9.81])
        np.testing.assert_allclose(torques(tree, q, qd, qdd), theirs, rtol=1e-9, atol=1e-9)


def test_limits_of_the_puma(puma: rtb.DHRobot) -> None:
    tree = reduce(load("puma560"))
    np.testing.assert_allclose(
        [(limit.lower, limit.upper) for limit in tree.limits], puma.qlim.T, rtol=1e-15
    )


def test_the_elbow_arm_is_a_modified_table(rng: np.random.Generator) -> None:
    tree = reduce(load("elbow_6r"))
    d, a = [0.45, 0, 0, 0.62, 0, 0], [0, 0.15, 0.6, 0.12, 0, 0]
    alpha, offset = np.radians([0, -90, 0, -90, 90, -90]), np.radians([0, -90, 0, 0, 0, 0])
    theirs = rtb.DHRobot(
        [rtb.RevoluteMDH(d=d[i], a=a[i], alpha=alpha[i], offset=offset[i]) for i in range(6)]
    )
    q = rng.uniform(-2, 2, 6)
    for i, X in enumerate(theirs.fkine_all(q).A[1:], start=1):
        np.testing.assert_allclose(frame_pose(tree, q, f"link{i}"), X, atol=1e-12)
    np.testing.assert_allclose(
        frame_pose(tree, q, "tool")[:3, 3], (X @ [0, 0, 0.1, 1])[:3], atol=1e-12
    )


MIXED = """
convention = "{convention}"
base = {{ xyz = [0.1, 0.2, 0.3], rpy = [0.4, 0.5, 0.6] }}
[[joints]]
a = 0.3
alpha = 0.7
d = 0.2
theta = 0.5
link = {{ mass = 2, com = [0.1, -0.2, 0.05], inertia = [0.1, 0.01, 0.02, 0.12, 0.03, 0.09] }}
[[joints]]
kind = "prismatic"
a = -0.1
alpha = -1.1
d = 0.4
theta = 0.9
offset = 0.05
link = {{ mass = 1.5, com = [-0.1, 0.02, 0.3], inertia = [0.05, 0.04, 0.06] }}
[[joints]]
a = 0.2
alpha = 0.3
offset = -0.4
link = {{ mass = 0.7, com = [0, 0.1, 0.1], inertia = [0.011, 0, 0.001, 0.01, 0, 0.012] }}
"""


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_a_table_with_a_sliding_joint_and_any_angles(
    convention: str, rng: np.random.Generator
) -> None:
    tree = reduce(read_toml(MIXED.format(convention=convention)))
    turn, slide = (
        (rtb.RevoluteDH, rtb.PrismaticDH)
        if convention == "standard"
        else (rtb.RevoluteMDH, rtb.PrismaticMDH)
    )
    I2 = np.array([[0.1, 0.01, 0.02], [0.01, 0.12, 0.03], [0.02, 0.03, 0.09]])
    I4 = np.array([[0.011, 0, 0.001], [0, 0.01, 0], [0.001, 0, 0.012]])
    rows = [
        turn(a=0.3, alpha=0.7, d=0.2, offset=0.5, m=2, r=[0.1, -0.2, 0.05], I=I2),
        slide(
            a=-0.1,
            alpha=-1.1,
            theta=0.9,
            offset=0.45,
            m=1.5,
            r=[-0.1, 0.02, 0.3],
            I=np.diag([0.05, 0.04, 0.06]),
        ),
        turn(a=0.2, alpha=0.3, d=0, offset=-0.4, m=0.7, r=[0, 0.1, 0.1], I=I4),
    ]
    robot = rtb.DHRobot(rows)
    q, qd, qdd = rng.uniform(-1, 1, (3, 3))
    R = frame_pose(tree, q, "base")
    names = (
        [f"frame{i}" for i in (1, 2, 3)]
        if convention == "standard"
        else [f"link{i}" for i in (1, 2, 3)]
    )
    base = np.eye(4)
    base[:3, 3] = 0.1, 0.2, 0.3
    base[:3, :3] = (
        rtb.ET.Rz(0.6).A()[:3, :3] @ rtb.ET.Ry(0.5).A()[:3, :3] @ rtb.ET.Rx(0.4).A()[:3, :3]
    )
    for name, X in zip(names, robot.fkine_all(q).A[1:], strict=True):
        np.testing.assert_allclose(frame_pose(tree, q, name), base @ X, atol=1e-12)
    np.testing.assert_array_equal(R, np.eye(4))
    gravity = base[:3, :3].T @ [0, 0, -9.81]
    np.testing.assert_allclose(
        torques(tree, q, qd, qdd),
        robot.rne_python(q, qd, qdd, gravity=gravity),
        rtol=1e-9,
        atol=1e-9,
    )
