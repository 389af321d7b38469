"""Names of robots: which robot a name means; and answers to objects that do not describe one."""

from __future__ import annotations

import sys
from pathlib import Path

import mujoco
import pinocchio as pin
import pytest

import steelyard as sy
from steelyard.mechanism import known_robots, load

NAMES = ("built-in", "example-robot-data")
TWO_LINKS = """<robot name="mine"><link name="a"/><link name="b"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>"""


def test_every_known_robot_has_a_source() -> None:
    known = sy.robots()
    assert list(known.sources) == list(known)
    assert set(known.sources.values()) == set(NAMES)
    assert known.sources["panda"] == "built-in"
    assert known.sources["talos_full_v2"] == "example-robot-data"
    assert "ur5e" in repr(known)
    assert list(sy.robots(installed=False)) == [
        name for name, package in known.sources.items() if package == "built-in"
    ]


def test_a_built_in_robot_comes_before_an_installed_one() -> None:
    assert load("panda") == load("built-in/panda")
    assert load("Panda").source.format == "builtin"
    installed = load("example-robot-data/panda")
    assert installed.source.format == "urdf"
    assert installed != load("panda")
    assert load("talos_left_arm") == load("example-robot-data/talos_left_arm")


def test_files_that_share_a_name_are_called_like_their_folder() -> None:
    files = known_robots.example_files()
    assert {"anymal_b_simple", "anymal_c_simple"} <= files.keys()
    assert "anymal" not in files
    assert len(set(files.values())) == len(files)


def test_without_the_package_the_built_in_robots_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_robots, "EXAMPLES", "no-such-package")
    known_robots.example_files.cache_clear()
    try:
        assert sy.robots() == sy.robots(installed=False)
    finally:
        known_robots.example_files.cache_clear()


def test_a_file_of_a_known_name_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load("ur10e").remarks == ()
    Path("ur10e.urdf").write_text(TWO_LINKS)
    named = load("ur10e")
    assert named.name == "ur10e"
    assert named.remarks == (
        "'ur10e' is the built-in robot; the file in this folder is sy.load('ur10e.urdf')",
    )
    assert load("built-in/ur10e").remarks == ()
    assert load("ur10e.urdf").name == "mine"
    assert any("sy.load('ur10e.urdf')" in each for each in sy.load("ur10e").remarks)


def test_a_name_without_its_ending(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.urdf").write_text(TWO_LINKS)
    with pytest.raises(sy.ModelError, match=r"'mine' has no ending; write sy.load\('mine.urdf'\)"):
        load("mine")
    Path("talos_left_arm.urdf").write_text(TWO_LINKS)
    with pytest.raises(sy.ModelError, match=r"write sy.load\('talos_left_arm.urdf'\)"):
        load("talos_left_arm")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("built-in/pandas", "steelyard has no robot 'pandas'; did you mean 'panda'"),
        ("example-robot-data/pandas", "example-robot-data has no robot 'pandas'; did you mean"),
        ("robot_descriptions/no_such", "robot_descriptions has no robot 'no_such'"),
        ("robot_descriptions/_cache", "robot_descriptions has no robot '_cache'"),
        ("robot_descriptions/os.path", "robot_descriptions has no robot 'os.path'"),
    ],
)
def test_unknown_names_of_a_package(name: str, sentence: str) -> None:
    with pytest.raises(sy.ModelError, match=sentence):
        load(name)


@pytest.fixture
def descriptions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package like robot_descriptions, whose modules download nothing."""
    package = tmp_path / "robot_descriptions"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (tmp_path / "mine.urdf").write_text(TWO_LINKS)
    (package / "mine_description.py").write_text(f"URDF_PATH = {str(tmp_path / 'mine.urdf')!r}")
    (package / "offline_description.py").write_text("raise OSError('no network')")
    (package / "empty_description.py").write_text("")
    for name in [each for each in sys.modules if each.split(".")[0] == "robot_descriptions"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(tmp_path)
    yield package
    for name in [each for each in sys.modules if each.split(".")[0] == "robot_descriptions"]:
        del sys.modules[name]


def test_robots_of_robot_descriptions(descriptions: Path) -> None:
    assert load("robot_descriptions/mine").name == "mine"
    assert load("robot_descriptions/mine_description").name == "mine"
    with pytest.raises(sy.ModelError, match=r"could not be downloaded \(OSError: no network\)"):
        load("robot_descriptions/offline")
    with pytest.raises(sy.ModelError, match="neither a URDF nor an MJCF file"):
        load("robot_descriptions/empty")


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (pin.Model(), r"sy.load\('robot.urdf'\)"),
        (mujoco.MjModel.from_xml_string("<mujoco/>"), r"mujoco.mj_saveLastXML\('robot.xml', model"),
        (mujoco.MjSpec(), r"sy.load\(spec.to_xml\(\)\)"),
        (sy.load("planar_2r"), "this is a Robot already"),
        (5, "load takes the name of a robot, a file or the text of a URDF or MJCF file, not 5"),
        (None, "not None"),
        (b"panda", "not b'panda'"),
    ],
)
def test_objects_that_are_no_descriptions(source: object, line: str) -> None:
    with pytest.raises(sy.CallError, match=line) as caught:
        sy.load(source)
    assert caught.value.argument == "source"


def test_a_robot_in_the_place_of_a_file() -> None:
    robot = sy.load("planar_2r")
    with pytest.raises(sy.CallError, match=r"sy.read_log\('run.csv', robot\)") as caught:
        sy.read_log(robot, "run.csv")
    assert caught.value.argument == "path"
