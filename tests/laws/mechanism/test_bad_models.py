"""A model that cannot be used is reported in a sentence that names file, place and offender.

# ruff: noqa: E501 - one case, one line
Never a traceback, never a silent wrong number.
"""

from __future__ import annotations

import math
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from steelyard.errors import CallError, MissingExtra, ModelError, SteelyardError, SteelyardWarning
from steelyard.mechanism import load, reduce, robots
from steelyard.mechanism.check import present_remarks
from steelyard.mechanism.formats.toml.read_toml import read_toml
from steelyard.mechanism.formats.urdf.read_urdf import read_urdf

LINK = (
    '<link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>'
)
JOINT = (
    '<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/><limit'
    ' lower="-1" upper="1"/></joint>'
)


def robot(*parts: str) -> str:
    return '<robot name="r">\n<link name="a"/>\n' + "\n".join(parts) + "\n</robot>"


def arm(old: str, new: str) -> str:
    text = robot(LINK, JOINT)
    assert old in text
    return text.replace(old, new, 1)


URDF = {
    "unknown joint type": (
        arm("revolute", "revolut"),
        (
            r"r.urdf, line 4: joint 'j': unknown joint type 'revolut'; did you mean 'revolute'\?"
            r" Known: rev"
        ),
    ),
    "floating joint": (
        arm("revolute", "floating"),
        "line 4: joint 'j': a floating joint is not supported: hold the base still",
    ),
    "planar joint": (
        arm("revolute", "planar"),
        "a planar joint is not supported: write it as two prismatic joints and a revolute one",
    ),
    "negative mass": (
        arm('mass value="1"', 'mass value="-2"'),
        "line 3, link 'b': its mass is -2 kg; a mass cannot be negative",
    ),
    "nan mass": (
        arm('mass value="1"', 'mass value="nan"'),
        "line 3: <mass> has value='nan'; expected a number",
    ),
    "infinite inertia": (arm('ixx="1"', 'ixx="inf"'), "<inertia> has ixx='inf'; expected a number"),
    "enormous number": (
        arm('ixx="1"', 'ixx="1e99"'),
        "<inertia> has ixx='1e99'; expected a number",
    ),
    "number with junk": (
        arm('mass value="1"', 'mass value="1kg"'),
        "<mass> has value='1kg'; expected a number",
    ),
    "number with underscore": (arm('mass value="1"', 'mass value="1_0"'), "expected a number"),
    "no mass value": (arm('mass value="1"', "mass"), "line 3: <mass> has no value"),
    "no mass": (
        arm('<mass value="1"/>', ""),
        "line 3: the <inertial> of link 'b' has no <mass value=...>",
    ),
    "no inertia": (arm('<inertia ixx="1" iyy="1" izz="1"/>', ""), "has no <inertia ixx=...>"),
    "no ixx": (arm('ixx="1"', ""), "<inertia> has no ixx"),
    "two numbers for an axis": (
        arm("0 0 1", "0 1"),
        "line 4: <axis> has xyz='0 1'; expected three numbers",
    ),
    "zero axis": (
        arm("0 0 1", "0 0 0"),
        "line 4: the axis of joint 'j' is zero; it must be a direction",
    ),
    "limits crossed": (
        arm('lower="-1"', 'lower="3"'),
        "line 4, joint 'j': its lower limit 3 is above its upper limit 1",
    ),
    "limit no number": (arm('lower="-1"', 'lower="low"'), "joint 'j': lower='low' is not a number"),
    "unknown parent": (
        arm('parent link="a"', 'parent link="aa"'),
        r"line 4, joint 'j': its parent 'aa' is not a link of this robot; did you mean 'a'\?",
    ),
    "no child": (arm('<child link="b"/>', ""), "joint 'j' has no <child link=...>"),
    "no joint name": (arm('joint name="j"', "joint"), "line 4: <joint> has no name"),
    "no joint type": (arm(' type="revolute"', ""), "line 4: <joint> has no type"),
    "no link name": (robot("<link/>"), "line 3: <link> has no name"),
    "mimic of nothing": (
        arm("<axis", '<mimic joint="jj"/><axis'),
        r"joint 'j': it mimics 'jj', which is not a joint; did you mean 'j'",
    ),
    "mimic of itself": (
        arm("<axis", '<mimic joint="j"/><axis'),
        "line 4, joint 'j': mimics go in a circle \\(j -> j\\): one must lead",
    ),
    "duplicate link": (
        robot(LINK, LINK, JOINT),
        "line 4, link 'b': 2 links are called 'b'; every link needs its own name",
    ),
    "duplicate joint": (robot(LINK, JOINT, JOINT), "2 joints are called 'j'"),
    "two parents": (
        robot(LINK, JOINT, JOINT.replace('"j"', '"k"')),
        "line 3, link 'b': it has 2 parents (joints 'j' and 'k'); a tree allows one",
    ),
    "several roots": (
        robot(LINK, LINK.replace('"b"', '"c"'), JOINT),
        r"link 'c': 2 links have no parent \(a, c\); exactly one may be the base",
    ),
    "own parent": (
        robot(LINK, JOINT.replace('parent link="a"', 'parent link="b"')),
        "links b -> b form a loop",
    ),
    "loop": (
        robot(
            LINK,
            LINK.replace('"b"', '"c"'),
            JOINT.replace('"a"', '"c"'),
            JOINT.replace('"j"', '"k"').replace('"b"', '"c"').replace('"a"', '"b"'),
        ),
        (
            "line 3, link 'b': links c -> b -> c form a loop; a tree has none|links b -> c -> b"
            " form a loop"
        ),
    ),
    "no links": ('<robot name="r"/>', "r.urdf, line 1: it has no links"),
    "not a robot": (
        "<sdf/>",
        "r.urdf, line 1: the outermost element is <sdf>; a URDF file has <robot>",
    ),
    "not closed": (
        '<robot name="r">\n<link name="a">\n</robot>',
        r"r.urdf, line 3: not well-formed XML \(mismatched tag\)",
    ),
    "no XML": ("hello", r"line 1: not well-formed XML \(syntax error\)"),
    "bomb": (
        '<!DOCTYPE r [<!ENTITY a "b"><!ENTITY c "&a;&a;">]>\n<robot name="&c;"/>',
        "line 1: a DOCTYPE is not accepted",
    ),
    "external entity": (
        '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="r">&x;</robot>',
        "a DOCTYPE is not accepted",
    ),
    "external dtd": (
        '<!DOCTYPE robot SYSTEM "http://example.org/x.dtd"><robot/>',
        "a DOCTYPE is not accepted",
    ),
    "undefined entity": ('<robot name="&x;"/>', r"not well-formed XML \(undefined entity\)"),
    "bad rotor": (
        arm("<axis", '<steelyard armature="big"/><axis'),
        "<steelyard> has armature='big'; expected a number",
    ),
}


@pytest.mark.parametrize("case", URDF)
def test_bad_urdf(case: str) -> None:
    text, sentence = URDF[case]
    with pytest.raises(
        ModelError, match=sentence.replace("(joints", r"\(joints").replace("'k')", r"'k'\)")
    ):
        read_urdf(text, "r.urdf")


def test_all_problems_of_a_urdf_are_told_at_once() -> None:
    text = (
        arm("0 0 1", "0 0 0")
        .replace("revolute", "screw")
        .replace('mass value="1"', 'mass value="x"')
    )
    with pytest.raises(ModelError) as caught:
        read_urdf(text, "r.urdf")
    assert len(str(caught.value).splitlines()) == 3 or "screw" in str(caught.value)
    assert "value='x'" in str(caught.value)


FILES = {
    "absent.urdf": (None, "there is no file .*absent.urdf"),
    "empty.urdf": (b"  \n", "empty.urdf is empty"),
    "binary.urdf": (bytes(range(256)), "binary.urdf is not utf-8 text: is it a robot description"),
    "binary.toml": (b"\xff\x00\xfe", "binary.toml is not utf-8 text"),
    "zeros.xml": (b"\0" * 100, "it has no XML element"),
    "model.sdf": (b"<sdf/>", r"files that end in '.sdf' are not known"),
    "noend": (b"x", "files that end in 'nothing' are not known"),
    "other.xml": (b"<!-- <robot> --><sdf/>", "its outermost element is <sdf>; expected <robot>"),
    "odd.urdf": (b'<?xml version="1.0" encoding="klingon"?><robot/>', "is not klingon text"),
    "ball.xml": (
        (
            b'<mujoco><worldbody><body name="b"><joint name="j" type="ball"/><geom'
            b' size="1"/></body></worldbody></mujoco>'
        ),
        r"ball.xml: joint 'j' of body 'b': a ball joint is not supported: write it as three hinges",
    ),
    "free.xml": (
        (
            b'<mujoco><worldbody><body name="b"><freejoint/><geom'
            b' size="1"/></body></worldbody></mujoco>'
        ),
        "a free joint is not supported: take it",
    ),
    "wrong.xml": (b"<mujoco><worldbody><bdy/></worldbody></mujoco>", "wrong.xml: .*bdy"),
    "torn.xml": (b"<mujoco><worldbody>", "torn.xml: "),
    "mesh.xml": (
        (
            b'<mujoco><asset><mesh name="m" file="no.stl"/></asset><worldbody><body'
            b' name="b"><joint/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>'
        ),
        r"no.stl.*the inertia of 'b' is computed from meshes: give them an <inertial>",
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_bad_files(name: str, tmp_path: Path) -> None:
    content, sentence = FILES[name]
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ModelError, match=sentence):
        load(tmp_path / name)


def test_a_folder_and_an_unknown_name(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"is a folder; expected a file that ends in .urdf"):
        load(tmp_path)
    with pytest.raises(
        ModelError,
        match=(
            r"'puma561' is neither a file nor a known robot; did you mean 'puma560'\? Known:"
            r" delta, elbow_6r"
        ),
    ):
        load("puma561")
    (tmp_path / "arm.urdf").write_text("x")
    with pytest.raises(ModelError, match=r"there is no file .*arn.urdf; did you mean 'arm.urdf'"):
        load(tmp_path / "arn.urdf")


def test_names_of_built_in_robots_in_any_case() -> None:
    assert load("PUMA560") == load("puma560")
    assert robots(installed=False) == [
        "delta",
        "elbow_6r",
        "five_bar",
        "four_bar",
        "fr3",
        "gen3",
        "iiwa14",
        "panda",
        "planar_2r",
        "planar_3rrr",
        "planar_rp",
        "puma560",
        "so101",
        "spatial_3r",
        "stewart",
        "ur10e",
        "ur3e",
        "ur5e",
        "xarm6",
        "xarm7",
    ]


def test_an_absent_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import sys

    (tmp_path / "arm.mjcf").write_text("<mujoco/>")
    (tmp_path / "arm.xacro").write_text("<robot/>")
    monkeypatch.setitem(sys.modules, "mujoco", None)
    monkeypatch.setitem(sys.modules, "xacrodoc", None)
    for name, extra in (("arm.mjcf", "mujoco"), ("arm.xacro", "xacro")):
        with pytest.raises(MissingExtra, match=rf"pip install 'steelyard\[{extra}\]'"):
            load(tmp_path / name)


IMPOSSIBLE = [
    (
        '<mass value="1"/><inertia ixx="1" iyy="1" izz="3"/>',
        "principal moments about the centre of mass are 1, 1 and 3 kg m2",
    ),
    (
        '<mass value="1"/><inertia ixx="-1" iyy="1" izz="1"/>',
        "smallest principal moment about the centre of mass is -1 kg m2",
    ),
    (
        '<mass value="0"/><inertia ixx="1" iyy="1" izz="1"/>',
        "its mass is 0 kg but it has a first moment or an inertia",
    ),
]


@pytest.mark.parametrize(("inertial", "sentence"), IMPOSSIBLE)
def test_an_inertia_that_no_body_has_is_told_and_used(inertial: str, sentence: str) -> None:
    text = robot(f'<link name="b"><inertial>{inertial}</inertial></link>', JOINT)
    with pytest.warns(
        SteelyardWarning, match=f"line 3, link 'b': its.*{sentence.removeprefix('its ')}"
    ):
        mechanism = read_urdf(text, "r.urdf")
    assert any(sentence in remark for remark in present_remarks(mechanism))
    assert reduce(mechanism).n == 1


def test_a_rod_a_plate_and_a_point_are_real_bodies() -> None:
    for moments in (
        'ixx="0" iyy="1" izz="1"',
        'ixx="0.1" iyy="0.2" izz="0.3"',
        'ixx="0" iyy="0" izz="0"',
    ):
        text = robot(
            '<link name="b"><inertial><origin xyz="9 8 7"/><mass value="3"/><inertia'
            f" {moments}/></inertial></link>",
            JOINT,
        )
        assert not any("no real body" in remark for remark in present_remarks(read_urdf(text)))


def test_what_is_missing_is_remarked() -> None:
    bare = read_urdf(robot('<link name="b"/>', JOINT.replace('<limit lower="-1" upper="1"/>', "")))
    message = "\n".join([*bare.remarks, *present_remarks(bare)])
    assert "moving bodies without mass: b" in message
    assert "1 of 1 joints have no friction: j" in message
    assert "revolute joint 'j' has no <limit>: it is taken as unlimited" in message


def test_odd_but_legal_urdf() -> None:
    text = """<robot><link name="a"/><link name="b"><inertial><mass value="+1.5e0"/><origin/>
    <inertia ixx=".5" iyy="5.E-1" izz="0.5"/></inertial></link>
    <joint name="j" type="prismatic"><origin xyz=""/><parent link="a"/><child link="b"/>
    <axis xyz="\t0  3\n4 "/>
    <limit lower="-inf" upper="1.7976931348623157e308" velocity="0" effort="-1"/>
    <dynamics damping="0" friction="2"/></joint></robot>"""
    joint = read_urdf(text).joints[0]
    np.testing.assert_allclose(joint.axis, (0, 0.6, 0.8), atol=1e-16)
    assert joint.limits.lower == float("-inf")
    assert joint.limits.velocity == joint.limits.effort == float("inf")
    assert dict(joint.terms) == {"coulomb": 2.0}


@pytest.mark.parametrize("seed", range(60))
def test_garbled_models_end_in_a_sentence_or_a_robot(seed: int, root: Path) -> None:
    """Bytes cut, doubled, swapped or replaced: a SteelyardError or a mechanism, nothing else."""
    rng = np.random.default_rng(seed)
    urdf = (root / "tests/golden/mechanism/arm.urdf").read_bytes()
    toml = (root / "src/steelyard/mechanism/robots/puma560.toml").read_bytes()
    for source, read in ((urdf, read_urdf), (toml, read_toml)):
        for _ in range(5):
            text = garbled(rng, source).decode("utf-8", "replace")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SteelyardWarning)
                message = outcome(read, text)
            assert message is None or message.startswith("garbled"), message


def outcome(read, text: str) -> str | None:
    """What the error says, None where the model can be used after all."""
    try:
        reduce(read(text, "garbled"))
    except SteelyardError as error:
        return str(error)
    return None


def garbled(rng: np.random.Generator, data: bytes) -> bytes:
    for _ in range(int(rng.integers(1, 4))):
        i, j = sorted(int(x) for x in rng.integers(0, len(data), 2))
        j = min(j, i + int(rng.integers(1, 30)))
        piece = [
            b"",
            data[i:j] * 2,
            bytes(rng.integers(32, 127, j - i, dtype=np.uint8)),
            b"-",
            b"9" * 400,
            b"nan",
            b"1e999",
            b"\0",
        ]
        data = data[:i] + piece[int(rng.integers(len(piece)))] + data[j:]
    return data


FIXED = (
    '<link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>'
)
NEEDS_JOINTS = {
    "to_c": lambda arm, folder: arm.to_c(folder),
    "base_parameters": lambda arm, folder: sy.base_parameters(arm),
    "check": lambda arm, folder: sy.check(arm),
    "excite": lambda arm, folder: sy.excite(arm),
    "identify": lambda arm, folder: sy.identify(
        arm, sy.Log(t=np.arange(20.0), q=np.zeros((20, 0)), tau=np.zeros((20, 0)))
    ),
    "forward_dynamics": lambda arm, folder: arm.forward_dynamics([], [], []),
    "inverse_dynamics": lambda arm, folder: arm.inverse_dynamics([], [], []),
    "energy_regressor": lambda arm, folder: arm.energy_regressor([], []),
}


@pytest.mark.parametrize("use", NEEDS_JOINTS)
def test_a_robot_without_a_joint_that_moves_is_told(use: str, tmp_path: Path) -> None:
    fixed = sy.Robot(read_urdf(robot(FIXED, JOINT.replace("revolute", "fixed"))))
    assert fixed.n == 0
    with pytest.raises(
        CallError,
        match=(
            f"{'inverse_dynamics' if use == 'to_c' else use}: this robot has no joint that moves on"
            " its own"
        ),
    ):
        NEEDS_JOINTS[use](fixed, tmp_path)


@pytest.mark.parametrize(
    "given",
    [{"axis": (0, 0, 1)}, {"mount": "link1"}, {"armature": 0.1, "axis": {"joint2": (0, 0, 1)}}],
)
def test_a_rotor_axis_without_a_gear_ratio_is_refused(given: dict[str, object]) -> None:
    arm = sy.load("spatial_3r")
    with pytest.raises(
        CallError, match="axis and mount say where a rotor spins; give its gear ratio= too"
    ):
        arm.with_rotors(**given)


def test_a_rotor_that_spins_keeps_what_is_not_given() -> None:
    arm = sy.load("spatial_3r").with_rotors(0.2, ratio=50.0)
    moved = arm.with_rotors(axis={"joint3": (1, 0, 0)}, mount={"joint3": "link1"})
    before, after = (each.mechanism.joint("joint3").rotor for each in (arm, moved))
    assert (after.ratio, after.axis, after.mount) == (before.ratio, (1.0, 0.0, 0.0), "link1")
    assert moved.mechanism.joint("joint2").rotor == arm.mechanism.joint("joint2").rotor
    assert moved.with_rotors(ratio=60.0).mechanism.joint("joint3").rotor.axis == (1.0, 0.0, 0.0)


RATED = """
convention = "modified"
source = "a data sheet"
[[joints]]
ratings = { acceleration = 90, jerk = 180, effort_rate = 7, torque_constant = 2.5 }
limits = [-1, 1]
[[joints]]
kind = "prismatic"
ratings = { acceleration = 3 }
"""


def test_ratings_are_read_in_the_units_of_the_file() -> None:
    first, second = read_toml("degrees = true" + RATED).data_sheet.ratings
    assert first.acceleration == pytest.approx(math.pi / 2)
    assert first.jerk == pytest.approx(math.pi)
    assert (first.joint, first.effort_rate, first.torque_constant) == ("joint1", 7.0, 2.5)
    assert (second.acceleration, second.jerk) == (3.0, math.inf)
    sheet = read_toml(RATED).data_sheet
    assert sheet.source == "a data sheet"
    assert sheet.torque_constants(("joint1",)) == (2.5,)
    assert sheet.torque_constants(("joint1", "joint2")) is None
    assert sheet.torque_constants(()) is None


@pytest.mark.parametrize(
    ("ratings", "sentence"),
    [
        ("{ acceleration = 0 }", "acceleration = 0; expected a number above 0"),
        ("{ torque_constant = -2 }", "torque_constant = -2; expected a number above 0"),
        ("{ jerk = 'much' }", "jerk = 'much'; expected a number"),
        ("{ speed = 2 }", "unknown key 'speed'"),
        ("3", "ratings = 3; expected a table"),
    ],
)
def test_wrong_ratings_are_named(ratings: str, sentence: str) -> None:
    text = f"convention = 'modified'\n[[joints]]\nname = 'hip'\nratings = {ratings}\n"
    with pytest.raises(ModelError, match=re.escape(sentence)) as caught:
        read_toml(text, "arm.toml")
    assert "(hip)" in str(caught.value)
