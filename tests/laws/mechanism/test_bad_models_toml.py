"""An invalid TOML model gives all errors at once, with file, table and key."""

from __future__ import annotations

import pytest

from steelyard.errors import ModelError
from steelyard.mechanism.formats.toml.read_toml import read_toml

GENERAL = """
name = "g"
[[links]]
name = "a"
[[links]]
name = "b"
mass = 1.0
com = [0, 0, 0.1]
inertia = [0.1, 0.1, 0.1]
[[joints]]
name = "j"
kind = "revolute"
parent = "a"
child = "b"
axis = [0, 0, 1]
"""
TABLE = """
convention = "standard"
[[joints]]
a = 0.3
link = { mass = 1.0, com = [0, 0, 0.1], inertia = [0.1, 0.1, 0.1] }
"""
TOML = {
    "unknown key": (
        GENERAL.replace("mass", "mas"),
        (
            r"g.toml, links\[1\] \(b\): unknown key 'mas'; did you mean 'mass'\? Known: name,"
            r" mass, com"
        ),
    ),
    "unknown key at the top": (
        'colour = "red"\n' + GENERAL,
        "g.toml: unknown key 'colour'; known: convention, degrees, name, links, joints",
    ),
    "unknown key in a row": (
        TABLE.replace("a = 0.3", "aa = 0.3"),
        r"g.toml, joints\[0\]: unknown key 'aa'",
    ),
    "unknown key in a link": (
        TABLE.replace("com =", "centre ="),
        r"joints\[0\], link: unknown key 'centre'",
    ),
    "unknown convention": (
        TABLE.replace("standard", "classic"),
        "convention = 'classic'; known: standard, modified",
    ),
    "unknown kind": (
        GENERAL.replace('"revolute"', '"hinge"'),
        r"joints\[0\] \(j\): kind = 'hinge'; known: revolute, continuous, prismatic, fixed",
    ),
    "fixed in a DH table": (
        TABLE + 'kind = "fixed"\n',
        "kind = 'fixed'; known: revolute, continuous, prismatic",
    ),
    "text for a number": (
        GENERAL.replace("mass = 1.0", 'mass = "1"'),
        r"\(b\): mass = '1'; expected a number",
    ),
    "truth for a number": (
        GENERAL.replace("mass = 1.0", "mass = true"),
        "mass = True; expected a number",
    ),
    "nan": (GENERAL.replace("mass = 1.0", "mass = nan"), "mass = nan; expected a number"),
    "infinite": (GENERAL.replace("mass = 1.0", "mass = inf"), "expected a number"),
    "enormous exponent": (GENERAL.replace("mass = 1.0", "mass = 1e999999999"), "expected a number"),
    "two numbers": (
        GENERAL.replace("[0, 0, 0.1]", "[0, 0.1]"),
        r"com = \[0, 0.1\]; expected a list of 3 numbers",
    ),
    "four moments": (
        GENERAL.replace("[0.1, 0.1, 0.1]", "[1, 2, 3, 4]"),
        "expected a list of 3 or 6 numbers",
    ),
    "negative mass": (
        GENERAL.replace("mass = 1.0", "mass = -1.0"),
        "g.toml, link 'b': its mass is -1 kg",
    ),
    "inertia without mass": (GENERAL.replace("mass = 1.0\n", ""), r"\(b\): mass is missing"),
    "zero axis": (
        GENERAL.replace("[0, 0, 1]", "[0, 0, 0]"),
        r"axis = \[0, 0, 0\]; it must be a direction",
    ),
    "unknown link": (
        GENERAL.replace('parent = "a"', 'parent = "x"'),
        "joint 'j': its parent 'x' is not a link of this robot",
    ),
    "no joints": (
        'convention = "standard"',
        "g.toml: joints is missing; expected an array of tables",
    ),
    "joints as a table": (
        'convention = "standard"\n[joints]\na = 1',
        "joints = .*; expected an array of tables",
    ),
    "numbers as joints": (
        'convention = "standard"\njoints = [1]',
        r"joints must be an array of tables: \[\[joints\]\]",
    ),
    "armature twice": (
        TABLE + "armature = 1\nmotor = { rotor_inertia = 1 }\n",
        "armature and motor both state the rotor's inertia",
    ),
    "motor without inertia": (
        TABLE + "motor = { gear_ratio = 100 }\n",
        r"joints\[0\], motor: rotor_inertia is missing",
    ),
    "limits of a continuous joint": (
        TABLE + 'kind = "continuous"\nlimits = [0, 1]\n',
        "a continuous joint has no lower and upper limit",
    ),
    "limits crossed": (
        TABLE + "limits = [1, 0]\n",
        "joint 'joint1': its lower limit 1 is above its upper limit 0",
    ),
    "velocity of zero": (
        TABLE + "limits = { velocity = 0 }\n",
        "its limits of velocity 0 and effort inf must be positive",
    ),
    "no rotation": (
        GENERAL + "origin = { rotation = [1, 0, 0, 0, 1, 0, 0, 0, -1] }\n",
        "rotation must be the nine entries of a rotation matrix",
    ),
    "not TOML": ("name = ", r"g.toml: not a TOML file \(end of document: "),
    "twice the same key": ('name = "a"\nname = "b"\n[x]', r"g.toml: not a TOML file \(line 2"),
    "wrong gravity": (
        "gravity = [0, -9.81]\n" + TABLE,
        "gravity = .*; expected a list of 3 numbers",
    ),
    "friction of a fixed joint": (
        GENERAL.replace('"revolute"', '"fixed"') + "friction = { viscous = 1 }\n",
        "unknown key 'friction'",
    ),
}


@pytest.mark.parametrize("case", TOML)
def test_bad_toml(case: str) -> None:
    text, sentence = TOML[case]
    with pytest.raises(ModelError, match=sentence):
        read_toml(text, "g.toml")


def test_all_problems_of_a_toml_file_are_told_at_once() -> None:
    text = (
        GENERAL.replace("mass", "mas")
        .replace("[0, 0, 0.1]", "[0]")
        .replace('"revolute"', '"hinge"')
    )
    with pytest.raises(ModelError) as caught:
        read_toml(text, "g.toml")
    message = str(caught.value)
    assert all(word in message for word in ("'mas'", "mass is missing", "com = [0]", "'hinge'"))


LINKAGE = """
[[links]]
name = "ground"
[[links]]
name = "arm"
mass = 1.0
[[joints]]
name = "hinge"
parent = "ground"
child = "arm"
"""


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "[[loops]]\nname = 'pin'\nkind = 'pint'",
            "loops[0] (pin): kind = 'pint'; did you mean 'point'",
        ),
        (
            "[[loops]]\nname = 'pin'\nkind = 'point'\na = { link = 'arm' }",
            "loops[0] (pin), b: link is missing",
        ),
        (
            "[[loops]]\nname = 'pin'\nkind = 'point'\na = { link = 'arm' }\nb = { link = 'grund' }",
            "loop 'pin': b = 'grund' is not a link",
        ),
        (
            "[[loops]]\nname = 'pin'\nkind = 'point'\na = { link = 'arm' }\nb = { link = 'arm' }",
            "it joins 'arm' to itself",
        ),
        (
            (
                "[[loops]]\nname = 'rod'\nkind = 'distance'\na = { link = 'arm' }\nb = { link ="
                " 'ground' }"
            ),
            "length is missing",
        ),
        (
            (
                "[[loops]]\nname = 'wheels'\nkind = 'gear'\njoint_a = 'hinge'\njoint_b ="
                " 'hinge'\nratio = 0"
            ),
            "its ratio is 0",
        ),
        (
            "[[loops]]\nname = 'cam'\nkind = 'residual'\nexpressions = ['q[1]']",
            "expected q['joint']",
        ),
        (
            "[[loops]]\nname = 'cam'\nkind = 'residual'\nexpressions = 'x'",
            "expected a list of strings",
        ),
        (
            "[[loops]]\nname = 'cam'\nkind = 'residual'\nexpressions = ['1.0']",
            "its expressions read no joint",
        ),
    ],
)
def test_loops_that_make_no_sense(text: str, sentence: str) -> None:
    with pytest.raises(ModelError) as caught:
        read_toml(f"{LINKAGE}\n{text}\n", "linkage.toml")
    assert sentence in str(caught.value)


def test_drives_that_do_not_exist() -> None:
    with pytest.raises(
        ModelError, match="driven names 'hing', which is not a moving joint; did you mean 'hinge'"
    ):
        read_toml(f"driven = ['hing']\n{LINKAGE}", "linkage.toml")
