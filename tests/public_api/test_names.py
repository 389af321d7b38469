"""Names through public functions: control characters are refused, all others survive files."""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import steelyard as sy
from steelyard.signals import to_csv
from tests.apps.test_cli import Run, run

__all__ = ["run"]  # the fixture

CONTROLS = ["\n", "\r", "\t", "\x7f", "\x85", "\u2028", "\u2029", "\u202e"]
KINDS = ("robot", "link", "joint", "frame")


def describe(**names: str) -> str:
    """Return a URDF of six joints; `names` are those of robot, link, joint or frame."""
    name = {"robot": "arm", "link": "link1", "joint": "joint1", "frame": "tool"} | names
    entities = {c: f"&#{ord(c)};" for c in CONTROLS}
    quoted = {kind: quoteattr(text, entities) for kind, text in name.items()}
    links = ['"base"', quoted["link"], *(f'"link{k}"' for k in range(2, 7)), quoted["frame"]]
    joints = [quoted["joint"], *(f'"joint{k}"' for k in range(2, 7)), '"fixed"']
    inertia = '<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/>'
    body = f'<inertial><origin xyz="0.1 0 0"/><mass value="1"/>{inertia}</inertial>'
    limit = '<limit lower="-1" upper="1" velocity="2" effort="50"/>'
    text = [f"<robot name={quoted['robot']}>"]
    bodies = ["", *[body] * 6, ""]
    text += [f"<link name={link}>{each}</link>" for link, each in zip(links, bodies, strict=True)]
    for k, joint in enumerate(joints):
        kind = "revolute" if k < 6 else "fixed"
        text.append(
            f'<joint name={joint} type="{kind}">'
            f"<parent link={links[k]}/><child link={links[k + 1]}/>"
            f'<origin xyz="0 0 0.2"/><axis xyz="0 {k % 2} {1 - k % 2}"/>{limit}</joint>'
        )
    return "\n".join([*text, "</robot>"])


def load_arm(folder: Path, **names: str) -> sy.Robot:
    """Load the description from a file."""
    path = folder / "arm.urdf"
    path.write_text(describe(**names), encoding="utf-8")
    return sy.load(path)


def test_the_description_is_valid(tmp_path: Path) -> None:
    assert load_arm(tmp_path).joint_names == tuple(f"joint{k}" for k in range(1, 7))


@pytest.mark.parametrize("control", CONTROLS, ids=ascii)
@pytest.mark.parametrize("kind", KINDS)
def test_control_characters_in_names_are_refused(kind: str, control: str, tmp_path: Path) -> None:
    with pytest.raises(sy.ModelError, match="set_digital_out") as caught:
        load_arm(tmp_path, **{kind: f"a{control}set_digital_out(0, True)"})
    assert f"a{control}set" not in str(caught.value)


def test_a_joint_name_writes_no_statement(run: Run, tmp_path: Path) -> None:
    text = describe(joint="a\nset_digital_out(0, True)\n")
    (tmp_path / "arm.urdf").write_text(text, encoding="utf-8")
    program = tmp_path / "motion.script"
    few = ("--seconds", 4, "--harmonics", 3, "--starts", 1)
    ran = run("excite", tmp_path / "arm.urdf", *few, "-o", program)
    assert "\nset_digital_out" not in ran.out + ran.err
    text = program.read_text(encoding="utf-8") if program.exists() else ""
    assert not any(line.startswith("set_digital_out") for line in text.splitlines())


usable = st.characters(exclude_categories=("Cc", "Cf", "Cs", "Zl", "Zp"))
name = st.text(usable, min_size=1, max_size=8)


@settings(max_examples=30)
@given(first=name, second=name)
@example(first="a,b", second="=cmd|' /C calc'!A0")
@example(first='"', second="a;b")
@example(first="=cmd|' /C calc'!A0", second="b")
def test_names_survive_a_csv_file(first: str, second: str) -> None:
    names = (first, f"{second}2")
    if names[0] == names[1]:
        return
    t = np.arange(20) / 100.0
    q = np.column_stack([np.sin(t), np.cos(t)])
    with tempfile.TemporaryDirectory() as folder:
        path = to_csv(sy.Log(t=t, q=q, tau=3.0 * q, joint_names=names), Path(folder) / "log.csv")
        with path.open(encoding="utf-8", newline="") as file:
            lengths = {len(row) for row in csv.reader(file) if not row[0].startswith("#")}
        log = sy.read_log(path)
    assert len(lengths) == 1
    assert log.joint_names == names
    np.testing.assert_allclose(log.q, q, atol=1e-12)
    np.testing.assert_allclose(log.tau, 3.0 * q, atol=1e-12)


@pytest.mark.parametrize("stem", ["1st try", "end", "a-b", "é", "my motion (2)"])
def test_module_names_of_krl_programs_are_identifiers(stem: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(describe(), encoding="utf-8")
    program = tmp_path / f"{stem}.src"
    few = ("--seconds", 4, "--harmonics", 3, "--starts", 1)
    ran = run("excite", tmp_path / "arm.urdf", *few, "-o", program)
    assert ran.code == 0, ran.err
    text = program.read_text(encoding="utf-8")
    (module,) = (line[4:-2] for line in text.splitlines() if line.startswith("DEF "))
    assert module.isascii()
    assert module.isidentifier()
    assert module.upper() not in ("END", "DEF", "IF", "LOOP")
