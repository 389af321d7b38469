"""The text of a robot description loads like the file with that text."""

from __future__ import annotations

from pathlib import Path

import pytest

import steelyard as sy

URDF = """<robot name="arm">
  <link name="base"/>
  <link name="arm">
    <inertial>
      <origin xyz="0.1 0 0"/><mass value="2"/>
      <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/>
    </inertial>
  </link>
  <joint name="turn" type="revolute">
    <parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="10" velocity="1"/>
  </joint>
</robot>
"""
MJCF = """<mujoco model="arm"><worldbody><body name="arm">
  <inertial pos="0.1 0 0" mass="2" diaginertia="0.1 0.1 0.1"/>
  <joint name="turn" axis="0 1 0"/>
</body></worldbody></mujoco>
"""
DECLARATION = '<?xml version="1.0" encoding="{}"?>\n'


@pytest.mark.parametrize(
    "before",
    [
        "",
        "\n    ",
        "\ufeff",
        DECLARATION.format("utf-8"),
        "\n" + DECLARATION.format("utf-8"),
        "<!-- <mujoco> -->\n",
        DECLARATION.format("latin-1") + "<!-- arm -->",
    ],
)
@pytest.mark.parametrize(("text", "ending"), [(URDF, ".urdf"), (MJCF, ".xml")])
def test_a_text_is_the_robot_of_its_file(
    before: str, text: str, ending: str, tmp_path: Path
) -> None:
    if text is MJCF:
        pytest.importorskip("mujoco")
    (tmp_path / f"arm{ending}").write_text(text)
    from_file, from_text = sy.load(tmp_path / f"arm{ending}"), sy.load(before + text)
    assert from_text == from_file
    assert from_text.fingerprint == from_file.fingerprint
    assert from_text.mechanism.source is not None
    assert from_text.mechanism.source.path is None


def test_an_edited_text_is_written_as_it_was_with_its_encoding(tmp_path: Path) -> None:
    text = DECLARATION.format("latin-1") + "<!-- Größe -->\n" + URDF
    sy.load(text).to_urdf(tmp_path / "out.urdf")
    assert (tmp_path / "out.urdf").read_bytes() == text.encode("latin-1")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (URDF.replace('value="2"', 'value="two"'), "URDF, line 5: <mass> has value='two'"),
        (URDF.replace("</robot>", ""), "URDF, line 14: not well-formed XML"),
        ("<sdf version='1.9'/>", "outermost element is <sdf>; expected <robot>"),
        ("<!-- nothing -->", "it has no XML element; expected <robot>"),
        ("<", "it has no XML element"),
        ("", "'' is not a robot description; expected a file that ends in .urdf"),
        ("  ", "is not a robot description"),
        ('name = "arm"\n[[links]]\n' + "x = 1\n" * 1000, "is not a robot description; expected"),
        ('<!DOCTYPE a [<!ENTITY b "c">]>' + URDF, "DOCTYPE is not accepted"),
        (DECLARATION.format("klingon") + URDF, "its text cannot be encoded as klingon"),
        (DECLARATION.format("ascii") + "<!-- Größe -->" + URDF, "cannot be encoded as ascii"),
    ],
)
def test_a_text_that_is_no_description_is_refused_in_a_short_sentence(
    text: str, message: str
) -> None:
    with pytest.raises(sy.ModelError, match=message) as refused:
        sy.load(text)
    assert len(str(refused.value)) < 400


def test_an_mjcf_text_includes_nothing_from_outside_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("mujoco")
    (tmp_path / "work").mkdir()
    (tmp_path / "part.xml").write_text(MJCF)
    (tmp_path / "work" / "part.xml").write_text(MJCF)
    monkeypatch.chdir(tmp_path / "work")
    assert sy.load('<mujoco><include file="part.xml"/></mujoco>').n == 1
    with pytest.raises(sy.ModelError, match=r"\.\./part\.xml"):
        sy.load('<mujoco><include file="../part.xml"/></mujoco>')


def test_a_file_of_an_odd_name_is_loaded_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "<arm.urdf").write_text(URDF)
    assert sy.load(tmp_path / "<arm.urdf").joint_names == ("turn",)
