"""MuJoCo's own numbers for models with every feature that the reader supports."""

from __future__ import annotations

import re
from pathlib import Path

import mujoco
import numpy as np
import pytest

from steelyard.errors import SteelyardWarning
from steelyard.mechanism import Mechanism, Tree, load, reduce
from steelyard.mechanism.edit import with_friction, with_rotors
from steelyard.mechanism.formats.urdf.write_urdf import urdf
from tests.plain_recursion import frame_pose, torques

ARM = """
<mujoco model="arm">
  <compiler angle="degree" meshdir="nowhere"/>
  <option gravity="0.3 -1 -9.5"/>
  <asset>
    <mesh name="shell" file="absent.stl"/><texture name="paint" type="2d" file="absent.png"/>
    <material name="skin" texture="paint"/>
  </asset>
  <default><joint damping="0.4" armature="0.05"/></default>
  <worldbody>
    <body name="stand" pos="0.1 0.2 0.3" euler="10 20 30">
      <inertial pos="0 0 0.1" mass="5" diaginertia="0.1 0.1 0.1"/>
      <body name="shoulder" pos="0 0 0.4" quat="0.9 0.1 0.2 0.3">
        <inertial pos="0.01 0.02 0.03" mass="2" fullinertia="0.03 0.02 0.04 0.001 0.002 0.003"/>
        <geom type="mesh" mesh="shell" material="skin" contype="0" conaffinity="0"/>
        <joint name="pan" axis="0 0 1" range="-120 120"/>
        <joint name="lift" axis="0 2 1" pos="0.1 0 0.05" ref="25"/>
        <joint name="reach" type="slide" axis="1 1 0" ref="0.2" range="-0.1 0.6" armature="0.7"/>
        <body name="elbow" pos="0.5 0 0">
          <inertial pos="0.1 0 0" mass="1.5" diaginertia="0.01 0.02 0.025" euler="0 45 0"/>
          <joint name="bend" axis="0 1 0" pos="-0.05 0.02 0"/>
          <site name="tip" pos="0.3 0 0" euler="0 90 0"/>
          <body pos="0.2 0 0.1"><geom size="0.05 0.1" type="capsule" density="700"/>
          <joint axis="1 0 0"/></body>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
COUPLED = """
<mujoco model="gripper">
  <compiler angle="radian"/>
  <worldbody>
    <body name="palm"><inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>
    <joint name="roll" axis="0 0 1"/>
      <body name="left" pos="0 0.1 0">
      <inertial pos="0 0.1 0.02" mass="0.3" diaginertia="0.01 0.01 0.01"/>
        <joint name="left" axis="1 0 0" ref="0.4" armature="0.02" damping="0.1"/></body>
      <body name="right" pos="0 -0.1 0">
      <inertial pos="0 -0.1 0.02" mass="0.3" diaginertia="0.01 0.01 0.01"/>
        <joint name="right" axis="1 0 0" ref="-0.1" armature="0.03" damping="0.2"/></body>
    </body>
  </worldbody>
  <equality><joint joint1="right" joint2="left" polycoef="0.05 -1.5 0 0 0"/></equality>
</mujoco>
"""


@pytest.fixture
def arm(tmp_path: Path) -> tuple[Mechanism, Tree, mujoco.MjModel]:
    path = tmp_path / "arm.xml"
    path.write_text(ARM)
    mechanism = load(path)
    bare = re.sub(r"<asset>.*</asset>|<geom type=.mesh.*?/>", "", ARM, flags=re.DOTALL)
    return mechanism, reduce(mechanism), mujoco.MjModel.from_xml_string(bare)


def test_coordinates_are_mujocos_in_mujocos_order(arm) -> None:
    mechanism, tree, _ = arm
    assert tree.coordinates == ("pan", "lift", "reach", "bend", "joint4")
    assert mechanism.name == "arm"
    assert tree.gravity == (0.3, -1.0, -9.5)
    assert [joint.kind for joint in mechanism.joints if joint.kind != "fixed"] == [
        "revolute",
        "continuous",
        "prismatic",
        "continuous",
        "continuous",
    ]


def test_frames_of_bodies_and_sites(arm, rng: np.random.Generator) -> None:
    _, tree, model = arm
    data = mujoco.MjData(model)
    data.qpos[:] = rng.uniform(-1, 1, model.nq)
    mujoco.mj_kinematics(model, data)
    for name in ("stand", "shoulder", "elbow"):
        X = frame_pose(tree, data.qpos, name)
        np.testing.assert_allclose(X[:3, 3], data.body(name).xpos, atol=1e-12)
        np.testing.assert_allclose(X[:3, :3].ravel(), data.body(name).xmat, atol=1e-12)
    X = frame_pose(tree, data.qpos, "tip")
    np.testing.assert_allclose(X[:3, 3], data.site("tip").xpos, atol=1e-12)
    np.testing.assert_allclose(X[:3, :3].ravel(), data.site("tip").xmat, atol=1e-12)


def test_torques_are_those_of_mj_inverse(arm, rng: np.random.Generator) -> None:
    _, tree, model = arm
    data = mujoco.MjData(model)
    model.jnt_limited[:] = 0  # forces of stops are no part of the model
    data.qpos[:], data.qvel[:], data.qacc[:] = rng.uniform(-1, 1, (3, model.nv))
    mujoco.mj_inverse(model, data)
    np.testing.assert_allclose(
        torques(tree, data.qpos, data.qvel, data.qacc), data.qfrc_inverse, rtol=1e-9, atol=1e-9
    )


def test_rotors_friction_and_ranges(arm) -> None:
    _, tree, model = arm
    assert tuple(terms["armature"] for terms in tree.terms) == tuple(model.dof_armature)
    assert [terms["viscous"] for terms in tree.terms] == [0.4] * 5
    assert tree.limits[0].upper == pytest.approx(np.radians(120))
    assert (tree.limits[2].lower, tree.limits[2].upper) == (-0.1, 0.6)
    assert sum(body.inertia.m for body in tree.bodies) == pytest.approx(model.body_mass.sum() - 5)


def test_a_joint_equality_becomes_a_mimic(tmp_path: Path, rng: np.random.Generator) -> None:
    (tmp_path / "gripper.mjcf").write_text(COUPLED)
    mechanism = load(tmp_path / "gripper.mjcf")
    tree = reduce(mechanism)
    assert tree.coordinates == ("roll", "left")
    q, qd, qdd = rng.uniform(-1, 1, (3, 2))
    model = mujoco.MjModel.from_xml_string(COUPLED)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    data, k, remaining = mujoco.MjData(model), -1.5, q[1]
    data.qpos[:] = [q[0], remaining, -0.1 + 0.05 + k * (remaining - 0.4)]
    data.qvel[:], data.qacc[:] = [qd[0], qd[1], k * qd[1]], [qdd[0], qdd[1], k * qdd[1]]
    mujoco.mj_inverse(model, data)
    both = [data.qfrc_inverse[0], data.qfrc_inverse[1] + k * data.qfrc_inverse[2]]
    np.testing.assert_allclose(torques(tree, q, qd, qdd), both, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["elbow_6r", "planar_rp"])
def test_mujoco_reads_our_urdf_and_agrees(name: str, rng: np.random.Generator) -> None:
    """The element of our own in the file is passed over, and the numbers are the same."""
    tree = reduce(load(name))
    text = urdf(load(name))
    assert "<steelyard" in text
    spec = mujoco.MjSpec.from_string(text)
    spec.compiler.balanceinertia = spec.compiler.fusestatic = False
    spec.compiler.boundmass = spec.compiler.boundinertia = 0
    model = spec.compile()
    data = mujoco.MjData(model)
    data.qpos[:] = rng.uniform(-1, 1, model.nq)
    mujoco.mj_kinematics(model, data)
    X = frame_pose(tree, data.qpos, tree.bodies[-1].name)
    np.testing.assert_allclose(X[:3, 3], data.body(tree.bodies[-1].name).xpos, atol=1e-12)
    data.qvel[:], data.qacc[:] = rng.uniform(-1, 1, (2, model.nv))
    model.jnt_limited[:] = 0
    model.dof_frictionloss[:] = 0
    model.opt.gravity[:] = tree.gravity
    mujoco.mj_inverse(model, data)
    # URDF has no rotors; MuJoCo's dry friction is a constraint
    smooth = reduce(with_friction(with_rotors(load(name), 0.0), coulomb=0.0))
    np.testing.assert_allclose(
        torques(smooth, data.qpos, data.qvel, data.qacc), data.qfrc_inverse, rtol=1e-9, atol=1e-9
    )


PART = (
    '<body name="{0}" pos="0 0 1"><inertial pos="0.1 0 0" mass="2" diaginertia="0.1 0.1'
    ' 0.1"/><joint name="{0}" {1}/>{2}</body>'
)
BALL = '<geom size="0.1" mass="0"/>'
LEFT_OUT = {
    "spring": (
        'stiffness="5" springref="0.2" range="-1 2"',
        "",
        r"joint 'j' has a spring of 5 N m/rad about 0.2 rad .* up to 9 N m over its range",
    ),
    "unlimited spring": (
        'stiffness="5"',
        "",
        r"joint 'j' has a spring of 5 N m/rad about 0 rad .* up to 5 N m 1 rad from rest",
    ),
    "sliding spring": (
        'type="slide" stiffness="50" range="-0.1 0.2"',
        "",
        r"spring of 50 N/m about 0 m .* up to 10 N over its range",
    ),
    "tendon": (
        "",
        '<tendon><fixed name="t" stiffness="3"><joint joint="j" coef="1"/></fixed></tendon>',
        r"tendon 't' is left out: .* \(stiffness 3\)",
    ),
    "fluid": (
        "",
        '<option density="1000" viscosity="0.1"/>',
        (
            r"the fluid \(density 1000 kg/m3, viscosity 0.1 Pa s\) is left out: torques differ by"
            r" up to"
        ),
    ),
    "contacts": (
        "",
        f"<worldbody>{BALL}<body name='lump'>{BALL}</body></worldbody>",
        r"contacts are left out: torques differ where bodies touch \(world, lump\)",
    ),
}


@pytest.mark.parametrize("case", LEFT_OUT)
def test_what_is_left_out_is_one_warning_with_its_size(case: str, tmp_path: Path) -> None:
    attributes, more, sentence = LEFT_OUT[case]
    body = PART.format("j", attributes, PART.format("k", "", ""))
    (tmp_path / "arm.xml").write_text(
        f'<mujoco><compiler angle="radian"/><worldbody>{body}</worldbody>{more}</mujoco>'
    )
    with pytest.warns(SteelyardWarning, match=f"arm.xml: .*{sentence}") as caught:
        mechanism = load(tmp_path / "arm.xml")
    assert len(caught) == 1
    assert re.search(sentence, mechanism.remarks[0])


def test_gravity_compensation_and_nonlinear_damping(tmp_path: Path) -> None:
    body = PART.format("j", 'damping="1 2 0"', "").replace("<body", '<body gravcomp="0.5"')
    (tmp_path / "arm.xml").write_text(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    with pytest.warns(
        SteelyardWarning,
        match=(
            r"damping of joint 'j' is not linear: .* differ by 2 N m at 1 rad/s; gravity .* of body"
            r" 'j' .* 9.81 N"
        ),
    ):
        load(tmp_path / "arm.xml")


def test_bodies_that_cannot_touch_are_no_contact(tmp_path: Path) -> None:
    quiet = BALL.replace("/>", ' contype="0" conaffinity="0"/>')
    body = PART.format("j", "", BALL + PART.format("k", "", BALL + PART.format("l", "", quiet)))
    (tmp_path / "arm.xml").write_text(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    load(tmp_path / "arm.xml")


def test_the_difference_of_a_spring_and_of_a_fluid_is_mujocos(tmp_path: Path) -> None:
    body = PART.format("j", 'stiffness="7" springref="20"', "")
    text = f'<mujoco><option density="800"/><worldbody>{body}</worldbody></mujoco>'
    (tmp_path / "arm.xml").write_text(text)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qvel[:] = 1.0
    mujoco.mj_forward(model, data)
    with pytest.warns(
        SteelyardWarning,
        match=rf"up to 7 N m 1 rad from rest; .* up to {abs(data.qfrc_fluid[0]):.3g} N m or N",
    ):
        load(tmp_path / "arm.xml")


def test_what_motors_add_through_their_gears_is_part_of_the_joint(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    motor = '<actuator><motor joint="j" gear="10" armature="0.02" damping="0.003"/></actuator>'
    body = PART.format("j", 'armature="0.1" damping="0.2"', "")
    text = f"<mujoco><worldbody>{body}</worldbody>{motor}</mujoco>"
    (tmp_path / "arm.xml").write_text(text)
    tree, model = reduce(load(tmp_path / "arm.xml")), mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.qacc[:] = rng.uniform(-1, 1, (3, 1))
    mujoco.mj_inverse(model, data)
    np.testing.assert_allclose(
        torques(tree, data.qpos, data.qvel, data.qacc), data.qfrc_inverse, rtol=1e-12
    )


def test_unnamed_bodies_touch_too(tmp_path: Path) -> None:
    inner = f"<body>{BALL}<joint/><body>{BALL}<joint/><body>{BALL}</body></body></body>".replace(
        ' mass="0"', ""
    )
    (tmp_path / "arm.xml").write_text(f"<mujoco><worldbody>{inner}</worldbody></mujoco>")
    with pytest.warns(SteelyardWarning, match=r"bodies touch \(an unnamed body, an unnamed body\)"):
        load(tmp_path / "arm.xml")
