"""Xacro files are expanded by xacrodoc, then read as URDF; what cannot be expanded is reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.errors import ModelError
from steelyard.mechanism import load, reduce
from steelyard.mechanism.edit import with_friction
from steelyard.mechanism.formats.urdf.read_urdf import read_urdf
from steelyard.mechanism.formats.urdf.write_urdf import urdf

ARM = """<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:property name="m" value="3"/>
<xacro:macro name="rod" params="name mass">
  <link name="${name}"><inertial><mass value="${mass}"/><origin xyz="0 0 ${mass/10}"/>
  <inertia ixx="1" iyy="1" izz="1"/></inertial></link>
</xacro:macro>
<link name="base"/>
<xacro:rod name="rod1" mass="${m * 2}"/>
<joint name="j" type="continuous"><parent link="base"/><child link="rod1"/><axis xyz="0 1 0"/>
</joint>
</robot>"""


def test_macros_and_expressions(tmp_path: Path) -> None:
    (tmp_path / "arm.urdf.xacro").write_text(ARM)
    mechanism = load(tmp_path / "arm.urdf.xacro")
    body = reduce(mechanism).bodies[0]
    assert (body.name, body.inertia.m) == ("rod1", 6.0)
    assert body.inertia.h == (0.0, 0.0, pytest.approx(3.6))
    rubbing = with_friction(mechanism, viscous=0.2)
    assert read_urdf(urdf(rubbing)) == rubbing, "an edited one is written as the expanded URDF"


def test_what_cannot_be_expanded(tmp_path: Path) -> None:
    (tmp_path / "bad.xacro").write_text(ARM.replace("m * 2", "m / 0"))
    with pytest.raises(
        ModelError, match=r"bad.xacro: xacro could not expand it \(.*division by zero"
    ):
        load(tmp_path / "bad.xacro")
