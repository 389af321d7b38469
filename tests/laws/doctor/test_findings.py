"""`check` says the right thing about a description with a planted defect of each kind."""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy

ARM = """<robot name="arm">
  <link name="base"/>
  <link name="upper">{upper}</link>
  <link name="lower">{lower}</link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
  <axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="50" velocity="3"/>{dynamics}</joint>
  <joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/>
  <origin xyz="0.4 0 0"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="50" velocity="3"/><dynamics damping="0.1" friction="0.2"/>
    </joint>
</robot>"""
BODY = (
    '<inertial><origin xyz="0.2 0 0"/><mass value="{m}"/><inertia ixx="{a}" ixy="0" ixz="0"'
    ' iyy="{b}" iyz="0" izz="{c}"/></inertial>'
)
GOOD = BODY.format(m=2, a=0.01, b=0.03, c=0.03)
RUBS = '<dynamics damping="0.1" friction="0.2"/>'


def robot(tmp_path, upper=GOOD, lower=GOOD, dynamics=RUBS) -> sy.Robot:
    path = tmp_path / "arm.urdf"
    path.write_text(ARM.format(upper=upper, lower=lower, dynamics=dynamics))
    return sy.load(path)


def test_a_good_arm_has_no_findings(tmp_path):
    result = sy.check(robot(tmp_path))
    assert result.ok
    assert not result.remarks


@pytest.mark.filterwarnings("ignore::steelyard.errors.SteelyardWarning")
def test_an_inertia_that_no_body_has(tmp_path):
    result = sy.check(robot(tmp_path, lower=BODY.format(m=2, a=0.01, b=0.01, c=0.1)))
    assert any("lower" in remark and "no real body" in remark for remark in result.remarks)


def test_a_moving_link_without_inertial(tmp_path):
    result = sy.check(robot(tmp_path, upper=""))
    assert any("upper" in remark and "without mass" in remark for remark in result.remarks)


def test_a_joint_that_moves_no_mass(tmp_path):
    """Which quantities fail, and where: forward dynamics is refused by name, the rest works."""
    arm = robot(tmp_path, lower="")
    result = sy.check(arm)
    assert not result.ok
    assert any("elbow" in remark and "singular" in remark for remark in result.remarks)
    q = np.zeros(2)
    assert np.isfinite(arm.inverse_dynamics(q, q, q)).all()
    for method in (arm.forward_dynamics, arm.forward_dynamics_derivatives, arm.forward_reactions):
        with pytest.raises(sy.ModelError, match="elbow"):
            method(q, q, q)


def test_a_joint_without_friction(tmp_path):
    result = sy.check(robot(tmp_path, dynamics=""))
    assert any("shoulder" in remark and "friction" in remark for remark in result.remarks)


def test_a_disagreement_with_pinocchio_is_named():
    good = sy.load("planar_2r")

    class Skewed:
        def __getattr__(self, name):
            return getattr(good, name)

        def inverse_dynamics(self, *state):
            return good.inverse_dynamics(*state) * (1 + 1e-6)

    assert "agreement" in sy.check(Skewed()).verdict  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore::steelyard.errors.SteelyardWarning")
def test_remarks_are_about_the_robot_as_it_is(tmp_path):
    """An edit takes a remark away or brings one; what loading changed stays."""
    arm = robot(tmp_path, upper="", lower=BODY.format(m=2, a=0.01, b=0.01, c=0.1), dynamics="")
    flaws = (
        "link 'lower': its principal moments",
        "without mass: upper",
        "1 of 2 joints have no friction: shoulder",
    )
    assert all(any(flaw in remark for remark in arm.remarks) for flaw in flaws)
    whole = np.tile([2.0, 0, 0, 0, 0.1, 0, 0, 0.1, 0, 0.1], 2)
    mended = arm.with_friction(viscous=1.0).with_parameters(
        np.concatenate([whole, arm.with_friction(viscous=1.0).parameters[20:]])
    )
    assert not mended.remarks
    assert not sy.check(mended).remarks
    assert any(
        "2 of 2 joints have no friction" in remark for remark in mended.without_friction().remarks
    )
