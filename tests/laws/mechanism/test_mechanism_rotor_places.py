"""Rotor inertia in a URDF.

Read from the <transmission> that states it, written back to it, and else kept in an element of
steelyard.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mujoco
import pytest

from steelyard.mechanism import edit, load
from steelyard.mechanism.formats.urdf.read_urdf import read_urdf
from steelyard.mechanism.formats.urdf.write_urdf import urdf, write_urdf
from steelyard.mechanism.joint_terms import Terms

ARM = """<robot name="arm" xmlns:drake="https://drake.mit.edu">
  <link name="base"/>
  <link name="upper"><inertial><mass value="1"/>
  <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <joint name="j" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/>
  </joint>
  <transmission name="t">
    <type>transmission_interface/SimpleTransmission</type>
    <joint name="j"><hardwareInterface>EffortJointInterface</hardwareInterface></joint>
    <actuator name="m">%s</actuator> <!-- geared -->
  </transmission>
</robot>
"""
DRAKE = (
    '<drake:rotor_inertia value="2e-4"/><drake:gear_ratio'
    ' value="-50"/><mechanicalReduction>7</mechanicalReduction>'
)
PLAIN = '<mechanicalReduction> 100 </mechanicalReduction><rotor_inertia value="2e-4"/>'
# Drake reads no reduction
UNGEARED = '<drake:rotor_inertia value="0.3"/><mechanicalReduction>7</mechanicalReduction>'
REDUCTION = "<mechanicalReduction>100</mechanicalReduction>"


@pytest.mark.parametrize(
    ("actuator", "armature"),
    [
        (DRAKE, 0.5),
        (PLAIN, 2.0),
        ('<rotor_inertia value="0.3"/>', 0.3),
        (UNGEARED, 0.3),
        (REDUCTION, None),
    ],
)
def test_rotor_inertia_of_an_actuator_is_seen_through_its_gear(
    actuator: str, armature: float | None
) -> None:
    assert terms(ARM % actuator).get("armature") == (
        armature if armature is None else pytest.approx(armature, rel=1e-15)
    )


def terms(text: str) -> dict[str, float]:
    return dict(read_urdf(text).joints[0].terms)


@pytest.mark.parametrize(
    ("actuator", "old", "new"), [(DRAKE, "2e-4", "0.00048"), (PLAIN, "2e-4", "0.00012")]
)
def test_it_is_written_back_where_it_stood(
    actuator: str, old: str, new: str, tmp_path: Path
) -> None:
    arm = edit.with_rotors(read_urdf(ARM % actuator), 1.2)
    assert urdf(arm) == (ARM % actuator).replace(old, new)
    assert write_urdf(arm, tmp_path / "arm.urdf") == ()
    assert dict(load(tmp_path / "arm.urdf").joints[0].terms) == pytest.approx(
        {"armature": 1.2}, rel=1e-12
    )


def test_a_rotor_inertia_of_zero_and_one_that_is_taken_away() -> None:
    arm = read_urdf(ARM % DRAKE)
    none = replace(arm, joints=(replace(arm.joints[0], terms=Terms()),))
    for new in (edit.with_rotors(arm, 0.0), none):
        assert read_urdf(urdf(new)) == new


def test_where_no_actuator_states_it_only_steelyard_reads_it(tmp_path: Path) -> None:
    arm = edit.with_friction(
        edit.with_rotors(read_urdf(ARM % REDUCTION), 1.2), viscous=0.3, coulomb=0.4, offset=-0.1
    )
    assert write_urdf(arm, tmp_path / "arm.urdf") == (("j", "armature", 1.2), ("j", "offset", -0.1))
    assert load(tmp_path / "arm.urdf") == arm
    geared = edit.with_rotors(arm, ratio=30.0, axis=(1.0, 0.0, 0.0))
    assert write_urdf(geared, tmp_path / "geared.urdf")[2:] == (("j", "ratio", 30.0),)


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("<axis", '<dynamics damping="0.1" friction="0.2" armature="0.5"/><axis'),
        ('name="j" type', 'name="j" armature="0.5" type'),
        ("<axis", '<mujoco><joint armature="0.5"/></mujoco><axis'),
        (
            '<link name="base"/>',
            '<mujoco><default><joint armature="0.5"/></default></mujoco><link name="base"/>',
        ),
    ],
)
def test_mujoco_reads_no_armature_from_a_urdf(place: str, text: str) -> None:
    """Why armature is kept in an element of steelyard.

    Should MuJoCo begin to read one of these, write that one.
    """
    assert place in ARM
    assert mujoco.MjModel.from_xml_string((ARM % "").replace(place, text, 1)).dof_armature[0] == 0.0
