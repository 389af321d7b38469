"""What the writers make of a hand-written URDF and of built-in robots, kept as text.

`pytest --update` rewrites it.
"""

from __future__ import annotations

import difflib
from dataclasses import replace
from pathlib import Path

import pytest

from steelyard.mechanism import edit, load
from steelyard.mechanism.formats.toml.read_toml import read_toml
from steelyard.mechanism.formats.toml.write_toml import toml
from steelyard.mechanism.formats.urdf.read_urdf import read_urdf
from steelyard.mechanism.formats.urdf.write_urdf import urdf, write_urdf

GOLDEN = Path(__file__).parent / "mechanism"


def identified():
    """The hand-written arm with new inertias, friction, rotors and gravity."""
    arm = load(GOLDEN / "arm.urdf")
    arm = edit.with_payload(arm, 1.5, (0.0, 0.0, 0.25), 0.004, "fore")
    arm = edit.with_payload(arm, 0.25, (0.5, 0.0, 0.0), 0.001, "upper")
    arm = edit.with_friction(
        arm, viscous=[0.625, 0.3, 4.0], coulomb={"elbow": 0.2}, offset={"shoulder": -0.05}
    )
    return edit.with_gravity(edit.with_rotors(arm, {"wrist": 1.25}), (0.0, -9.81, 0.0))


MADE = {
    "arm_identified.urdf": lambda: urdf(identified()),
    "arm_held.urdf": lambda: urdf(
        edit.freeze(load(GOLDEN / "arm.urdf"), {"shoulder": 0.5, "wrist": 0.1})
    ),
    "arm_fresh.urdf": lambda: urdf(replace(identified(), source=None)),
    "arm.toml": lambda: toml(identified()),
    "spatial_3r.urdf": lambda: urdf(load("spatial_3r")),
    "puma560_loaded.toml": lambda: toml(
        edit.with_friction(
            edit.with_payload(load("puma560"), 1.0, frame="link6"), viscous={"joint1": 5}
        )
    ),
}


@pytest.mark.parametrize("name", MADE)
def test_what_is_written(name: str, update: bool) -> None:
    path, result = GOLDEN / name, MADE[name]()
    if update:
        path.write_bytes(result.encode("utf-8"))
    assert result == path.read_bytes().decode("utf-8")


def test_only_lines_that_changed_are_touched() -> None:
    """Comments, white space, quotes, unknown elements and the order of attributes stay."""
    before, after = (
        text.splitlines() for text in ((GOLDEN / "arm.urdf").read_text("utf-8"), urdf(identified()))
    )
    gone = [line[2:].strip() for line in difflib.ndiff(before, after) if line.startswith("- ")]
    meant = (
        "<mass",
        "<origin rpy",
        "<inertia izz",
        '<link name="fore"',
        "<dynamics",
        '<joint name="elbow"',
    )
    assert [next(start for start in meant if line.startswith(start)) for line in gone] == list(
        meant
    )


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "iso-8859-1", "utf-16"])
def test_line_ends_and_encodings_are_kept(newline: str, encoding: str, tmp_path: Path) -> None:
    text = (
        (GOLDEN / "arm.urdf")
        .read_text("utf-8")
        .replace('encoding="utf-8"', f'encoding="{encoding.removesuffix("-sig")}"')
    )
    source = text.replace("\n", newline).encode(encoding)
    (tmp_path / "in.urdf").write_bytes(source)
    write_urdf(load(tmp_path / "in.urdf"), tmp_path / "same.urdf")
    assert (tmp_path / "same.urdf").read_bytes() == source
    write_urdf(edit.with_friction(load(tmp_path / "in.urdf"), coulomb=0.5), tmp_path / "out.urdf")
    written = (tmp_path / "out.urdf").read_bytes().decode(encoding)
    assert written.count("\n") == written.count(newline) > text.count("\n")
    assert "grün" in written
    assert read_urdf(written).joints[0].terms["coulomb"] == 0.5


COMMENTED = """# calibrated in May
name = "two"          # of them
gravity = [0, -9.81, 0]

[[joints]]            # the shoulder
name = "shoulder"
friction = { viscous = 0.1, coulomb = 0.2 }   # at 20 degC
parent = "base"
child = "upper"
motor = { rotor_inertia = 1e-4, gear_ratio = 100 }

[[links]]
name = "base"

[[links]]
inertia = [0.1, 0.2, 0.3]     # from CAD
mass = 2.0                    # weighed
name = "upper"
com = [0.5, 0.0, 0.0]
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_comments_and_order_of_a_toml_file_stay(newline: str, tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_bytes(COMMENTED.replace("\n", newline).encode())
    arm = load(tmp_path / "two.toml")
    assert toml(arm) == COMMENTED.replace("\n", newline)
    arm = edit.with_rotors(
        edit.with_friction(edit.with_payload(arm, 0.5, (1.0, 0.0, 0.0)), viscous=0.3, offset=0.05),
        1.5,
    )
    changed = (
        COMMENTED.replace(
            "viscous = 0.1, coulomb = 0.2 }", "viscous = 0.3, coulomb = 0.2, offset = 0.05}"
        )
        .replace("rotor_inertia = 1e-4,", "rotor_inertia = 0.00015,")
        .replace("[0.1, 0.2, 0.3] ", "[0.1, 0.3, 0.4] ")
        .replace("mass = 2.0 ", "mass = 2.5 ")
        .replace("com = [0.5,", "com = [0.6,")
    )
    assert toml(arm) == changed.replace("\n", newline)


def test_an_inertia_about_the_frame_stays_one_and_is_exact() -> None:
    text = COMMENTED.replace("com =", 'inertia_at = "frame"\nfirst_moment =')
    arm = edit.with_payload(read_toml(text), 0.1, (1 / 3, 1 / 7, 0.0))
    assert 'inertia_at = "frame"' in toml(arm)
    assert read_toml(toml(arm)) == arm


def test_only_what_changed_is_added_to_a_toml_file() -> None:
    text = (
        'convention = "modified"\n\n[[joints]]\na = 0.5 # long\n\n# the fore arm\n[[joints]]\na ='
        " 0.3\n\n# the end\n"
    )
    arm = read_toml(text)
    assert toml(edit.with_payload(arm, 2.0)) == text.replace(
        "a = 0.3\n", "a = 0.3\nlink = {mass = 2.0, inertia = [0.0, 0.0, 0.0]}\n"
    )
    geared = edit.with_rotors(arm, {"joint1": 0.5})
    assert toml(geared) == text.replace("# long\n", "# long\narmature = 0.5\n")
    tilted = edit.with_gravity(replace(arm, name="new"), (0.0, 9.81, 0.0))
    assert toml(tilted) == text.replace("\n", '\nname = "new"\ngravity = [0.0, 9.81, 0.0]\n', 1)
