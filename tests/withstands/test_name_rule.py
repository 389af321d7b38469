"""The one rule for names.

No control, format or line-break characters, in any format and in objects built in Python.
"""

from __future__ import annotations

import sys
import tempfile
import unicodedata
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import steelyard as sy
from steelyard.mechanism.loops import Loop
from steelyard.mechanism.model import Coupling, Joint, Link, Mechanism, Mimic, Rotor
from steelyard.motion import spline
from steelyard.names import (
    REFUSED,
    check_names,
    comment_text,
    escape_name,
    program_identifier,
    quoted_text,
    refused_characters,
)

refused = st.characters(categories=REFUSED)
allowed = st.text(st.characters(exclude_categories=REFUSED), min_size=1, max_size=12)
wrong = st.tuples(st.text(max_size=6), refused, st.text(max_size=6)).map("".join)


def test_the_rule_is_that_of_the_categories() -> None:
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        assert bool(refused_characters(character)) == (unicodedata.category(character) in REFUSED)
    for (
        character
    ) in "\n\r\t\x00\x1b\x7f\x85\u061c\u200b\u200e\u2028\u2029\u202a\u202e\u2066\u2069\ufeff\ud800":
        assert refused_characters(f"a{character}b") == character


@given(name=st.text())
def test_an_escaped_name_is_allowed(name: str) -> None:
    for text in (escape_name(name), comment_text(name), program_identifier(name, 24)):
        assert not refused_characters(text)
    assert "\n" not in quoted_text(name)
    assert escape_name(name) == name or refused_characters(name)


# descriptions ------------------------------------------------------------------------------------

KINDS = ("robot", "link", "joint")


def names_of(kind: str, name: str) -> dict[str, str]:
    return {"robot": "r", "link": "b", "joint": "j"} | {kind: name}


def reference(name: str) -> str:
    """An attribute's value as references to characters, which XML does not normalise."""
    return '"' + "".join(f"&#{ord(c)};" for c in name) + '"'


def urdf(kind: str, name: str, quote: Callable[[str], str] = reference, head: str = "") -> str:
    robot, link, joint = map(quote, names_of(kind, name).values())
    return (
        f"<robot name={robot}{head}><link name='a'/><link name={link}/><joint name={joint}"
        f" type='continuous'><parent link='a'/><child link={link}/></joint></robot>"
    )


def xacro(kind: str, name: str) -> str:
    return urdf(kind, name, head=" xmlns:xacro='http://www.ros.org/wiki/xacro'")


def mjcf(kind: str, name: str) -> str:
    robot, link, joint = map(
        quoteattr if name.isascii() and "\n" not in name else reference,
        names_of(kind, name).values(),
    )
    body = (
        f"<body name={link}><inertial mass='1' pos='0 0 0' diaginertia='1 1 1'/><joint"
        f" name={joint}/></body>"
    )
    return f"<mujoco model={robot}><worldbody>{body}</worldbody></mujoco>"


def toml_text(name: str) -> str:
    return '"' + "".join(f"\\U{ord(c):08X}" for c in name) + '"'


def toml(kind: str, name: str) -> str:
    robot, link, joint = map(toml_text, names_of(kind, name).values())
    return (
        f'name = {robot}\n[[links]]\nname = "a"\n[[links]]\nname = {link}\n[[joints]]\nname ='
        f' {joint}\nparent = "a"\nchild = {link}\n'
    )


def dh(kind: str, name: str) -> str:
    robot, _, joint = map(toml_text, names_of(kind, name).values())
    return f'name = {robot}\nconvention = "standard"\n[[joints]]\nname = {joint}\na = 1.0\n'


TEXTS = {"a.urdf": urdf, "a.xml": urdf, "a.toml": toml, "dh.toml": dh}


def is_xml(name: str) -> bool:
    return all(c in "\t\n\r" or c >= " " for c in name) and not any(
        "\ud800" <= c <= "\udfff" or c in "\ufffe\uffff" for c in name
    )


def load_text(file: str, text: str) -> sy.Robot:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (Path(folder) / file).write_bytes(text.encode("utf-8", "surrogatepass"))
        return sy.load(Path(folder) / file)


def check_refused(file: str, text: str, name: str) -> None:
    """The description is refused by a sentence with the file and the escaped name."""
    with pytest.raises(sy.ModelError) as caught:
        load_text(file, text)
    sentence = str(caught.value)
    assert not refused_characters(sentence)
    assert file in sentence
    assert f"'{escape_name(name)}'" in sentence
    assert "control characters" in sentence


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("file", TEXTS)
def test_a_description_with_such_a_name_is_refused(file: str, kind: str) -> None:
    @settings(max_examples=40)
    @given(name=wrong.filter(is_xml))
    def refuses(name: str) -> None:
        if file != "dh.toml" or kind != "link":
            check_refused(file, TEXTS[file](kind, name), name)

    refuses()


@pytest.mark.parametrize("name", ["a\nstop()", "a\u202eb", "a\u2028b", "a\x85b"])
@pytest.mark.parametrize("kind", KINDS)
def test_mjcf_and_xacro_with_such_a_name_are_refused(kind: str, name: str) -> None:
    check_refused("b.xml", mjcf(kind, name), name)
    if "\n" not in name:
        check_refused("a.xacro", xacro(kind, name), name)


def test_xacro_writes_a_line_break_as_a_space() -> None:
    assert load_text("a.xacro", xacro("joint", "a\nstop()")).joint_names in (
        ("a stop()",),
        ("a\\nstop()",),
    )


def test_names_of_loops_sites_and_mimics_are_refused() -> None:
    loop = '[[loops]]\nname = "l\\n"\nkind = "gear"\na = "j"\nb = "k"\n'
    second = '[[links]]\nname = "c"\n[[joints]]\nname = "k"\nparent = "b"\nchild = "c"\n'
    check_refused("a.toml", toml("robot", "r") + second + loop, "l\n")
    site = mjcf("robot", "r").replace("<joint", "<site name='s&#10;'/><joint")
    check_refused("s.xml", site, "s\n")


@pytest.mark.parametrize("file", TEXTS)
@settings(max_examples=20)
@given(name=allowed.filter(is_xml))
def test_other_names_are_kept(file: str, name: str) -> None:
    robot = load_text(file, TEXTS[file]("joint", name))
    assert robot.joint_names == (name,)


# objects -----------------------------------------------------------------------------------------

BASE, ARM = Link("a"), Link("b")
HINGE, SECOND = Joint("j", "revolute", "a", "b"), Joint("k", "revolute", "b", "c")
PLAIN = Mechanism("r", (BASE, ARM, Link("c")), (HINGE, SECOND))

EDITS: dict[str, Callable[[str], object]] = {
    "robot": lambda name: replace(PLAIN, name=name),
    "link": lambda name: replace(PLAIN, links=(*PLAIN.links, Link(name))),
    "joint": lambda name: replace(PLAIN, joints=(replace(HINGE, name=name), SECOND)),
    "parent": lambda name: replace(PLAIN, joints=(replace(HINGE, parent=name), SECOND)),
    "mimic": lambda name: replace(PLAIN, joints=(replace(HINGE, mimic=Mimic(name)), SECOND)),
    "rotor": lambda name: replace(
        PLAIN, joints=(replace(HINGE, rotor=Rotor(1.0, (0.0, 0.0, 1.0), name)), SECOND)
    ),
    "coupling": lambda name: replace(PLAIN, couplings=(Coupling("j", name),)),
    "loop": lambda name: replace(PLAIN, loops=(Loop(name, "gear", "j", "k"),)),
    "frame": lambda name: replace(PLAIN, loops=(Loop("l", "point", "a", name),)),
    "driven": lambda name: replace(PLAIN, driven=(name,)),
    "new mechanism": lambda name: Mechanism(name, (BASE,), ()),
    "log": lambda name: sy.Log(t=[0.0, 1.0], q=[[0.0], [1.0]], joint_names=(name,)),
    "trajectory": lambda name: spline(np.arange(4.0), np.ones((4, 1)), 10.0, (name,)),
}


@pytest.mark.parametrize("edit", EDITS)
@settings(max_examples=30)
@given(name=wrong)
def test_no_object_has_such_a_name(edit: str, name: str) -> None:
    with pytest.raises(sy.SteelyardError, match="control characters") as caught:
        EDITS[edit](name)
    assert not refused_characters(str(caught.value))
    assert escape_name(name) in str(caught.value)


@pytest.mark.parametrize("edit", EDITS)
@settings(max_examples=10)
@given(name=allowed)
def test_objects_take_other_names(edit: str, name: str) -> None:
    EDITS[edit](name)


def test_a_long_name_is_shortened_in_the_sentence() -> None:
    with pytest.raises(sy.ModelError) as caught:
        check_names("joint", ["a" * 10_000 + "\n"], "a.urdf", sy.ModelError)
    assert len(str(caught.value)) < 400
