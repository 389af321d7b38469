"""Generated programs and tables.

Whatever the joints are called, a program has only statements that its generator wrote.
"""

from __future__ import annotations

import csv
import io
import re
import tempfile
import unicodedata
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

import steelyard as sy
from steelyard.apps.motion_csv import read_motion, run_text, torque_text
from steelyard.c_export.c_module import header, module, source
from steelyard.closed_form.latex import escape, unbalanced
from steelyard.csv_text import csv_text
from steelyard.experiments.payload_identification.static_poses import StaticPoses
from steelyard.mechanism.model import Joint, Link, Mechanism
from steelyard.motion import spline
from steelyard.motion.trajectories.motion_check import MotionCheck
from steelyard.motion.trajectory_files.formats import points
from steelyard.motion.trajectory_files.krl import KEYWORDS, krl
from steelyard.motion.trajectory_files.ros import yaml as ros_yaml
from steelyard.motion.trajectory_files.urscript import urscript
from steelyard.names import REFUSED
from steelyard.signals import to_csv, to_npz, to_parquet

EVIL = [
    "a,b", "=cmd|' /C calc'!A0", "x\nset_digital_out(0, True)", "x\r\n$OUT[1] = TRUE",
    "*/ system(); /*", "end", "# a", "; b", '"', "a\\", "\u202eb", "\u2028halt()", "x [deg]", "q_1",
    "tau", "é 関節", "$(rm -rf ~)", "{{7*7}}", "%s", "\\input{x}", "a b", "-1", "1e5", "nan", "😀",
    "??/", "joint_pos_deg", "a.b", "q.a", "+1", "@a", "ﬁ",
]  # fmt: skip
text = st.one_of(
    st.sampled_from(EVIL), st.text(max_size=20), st.text("a\n\r\t;#=,\"'/*\\{}()", max_size=12)
)
usable = st.one_of(st.sampled_from(EVIL), st.text(max_size=12)).map(
    lambda name: "".join(c for c in name if unicodedata.category(c) not in REFUSED)
)


class Motion:
    """Samples with any names, also those that a Trajectory refuses."""

    def __init__(self, names: tuple[str, ...]) -> None:
        t = np.linspace(0, 1, 4)
        q = np.sin(t)[:, None] * np.linspace(0.1, 1, len(names))
        plain = spline(t, q, 3.0)
        self.t, self.q, self.qd, self.qdd = plain.t, plain.q, plain.qd, plain.qdd
        self.n, self.duration, self.labels, self.sliding = len(names), plain.duration, names, ()
        self.safety = MotionCheck(unchecked=names)  # such as links without geometry

    def sample(self, rate: float) -> Motion:
        return self


# programs ----------------------------------------------------------------------------------------

NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
WORD = r"[A-Za-z][A-Za-z0-9_]*"
LIST = rf"\[{NUMBER}(?:, {NUMBER}){{5}}\]"
URSCRIPT = [
    rf"def play_{WORD}\(\):", r" *#[ -~]*", rf"  movej\({LIST}, a={NUMBER}, v={NUMBER}\)",
    rf"  sleep\({NUMBER}\)", rf"  servoj\({LIST}, 0, 0, {NUMBER}, {NUMBER}, \d+\)",
    rf"  stopj\({NUMBER}\)", "end", rf"play_{WORD}\(\)",
]  # fmt: skip
AXES = rf"\{{A1 {NUMBER}(?:, A[2-6] {NUMBER})*\}}"
KRL = [
    r"&COMMENT [ -~]*", "&ACCESS RVP", rf"DEF {WORD}\(\)", r" *;[ -~]*", r"BAS\(#INITMOV, 0\)",
    r"BAS\(#VEL_PTP, \d+\)", rf"PTP {AXES}", "PTP_SPLINE", rf"  SPTP {AXES}", "  TIME_BLOCK START",
    rf"  TIME_BLOCK PART = {NUMBER}", rf"  TIME_BLOCK END = {NUMBER}", "ENDSPLINE", "END",
]  # fmt: skip


def check_program(program: Any, grammar: list[str], comment: str, plain: Any) -> None:
    """Every line is a statement of the grammar, and the statements are those of the same motion
    with plain names.
    """
    assert isinstance(program, str)
    for line in program.split("\n")[:-1]:
        assert any(re.fullmatch(statement, line) for statement in grammar), line
    assert program.isascii()
    comments = (comment, "&COMMENT ")
    statements = [
        [line for line in text.split("\n") if not line.lstrip().startswith(comments)]
        for text in (program, plain)
    ]
    assert statements[0] == statements[1]


PLAIN = Motion(tuple(f"joint{k}" for k in range(1, 7)))


@given(names=st.tuples(*[text] * 6))
@example(names=tuple(EVIL[:6]))
def test_programs_have_only_statements_of_their_generator(names: tuple[str, ...]) -> None:
    check_program(urscript(Motion(names), "m"), URSCRIPT, "#", urscript(PLAIN, "m"))
    check_program(krl(Motion(names), "m"), KRL, ";", krl(PLAIN, "m"))


@given(
    stem=st.one_of(
        text,
        st.sampled_from(sorted(KEYWORDS)),
        st.sampled_from(["1st try", "é", "", "_", "Ünïcode name of a file ñ"]),
    )
)
def test_names_of_programs_are_identifiers(stem: str) -> None:
    program = krl(PLAIN, stem)
    assert isinstance(program, str)
    title = re.search(r"^DEF (\w+)\(\)$", program, re.MULTILINE)
    assert title is not None
    assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,23}", title[1])
    assert title[1].upper() not in KEYWORDS
    check_program(program, KRL, ";", program)
    script = urscript(PLAIN, stem)
    check_program(script, URSCRIPT, "#", script)


@given(names=st.tuples(*[text] * 3))
def test_a_list_of_points_has_two_comments(names: tuple[str, ...]) -> None:
    lines = points(Motion(names), "m").splitlines()  # type: ignore[union-attr]
    assert [line.startswith("#") for line in lines] == [True, True] + [False] * (len(lines) - 2)
    assert all(re.fullmatch(rf"{NUMBER}(?: {NUMBER})*", line) for line in lines[2:])


@given(names=st.tuples(*[text.filter(lambda name: not re.search("[\ud800-\udfff]", name))] * 3))
def test_a_ros_message_keeps_the_names(names: tuple[str, ...]) -> None:
    message = yaml.safe_load(ros_yaml(Motion(names), "m"))  # type: ignore[arg-type]
    assert message["joint_names"] == list(names)
    assert set(message) == {"header", "joint_names", "points"}


def chain(names: tuple[str, ...], robot: str = "r") -> sy.Robot:
    links = tuple(Link(f"l{k}") for k in range(len(names) + 1))
    joints = tuple(Joint(name, "revolute", f"l{k}", f"l{k + 1}") for k, name in enumerate(names))
    return sy.Robot(Mechanism(robot, links, joints))


def without_comments(code: str) -> str:
    return re.sub(r"/\*.*?\*/", "", code, flags=re.DOTALL)


@settings(max_examples=30)
@given(
    names=st.tuples(usable, usable).filter(lambda names: len(set(names)) == 2 and all(names)),
    robot=usable,
)
def test_c_code_has_names_in_comments_alone(names: tuple[str, ...], robot: str) -> None:
    plain, named = (
        module(chain(each, "r").tree, "r", None, functions=["gravity_torque"])
        for each in (("a", "b"), names)
    )
    named = replace(named, name=robot)
    for write in (header, source):
        code = write(named)
        assert code.isascii()
        assert without_comments(code) == without_comments(write(plain))
        assert "\\\n" not in code


@given(name=text)
def test_latex_shows_names(name: str) -> None:
    shown = escape(name)
    assert not unbalanced(shown)
    assert "\n" not in shown
    assert not re.search(
        r"\\(?!textbackslash\{\}|textasciitilde\{\}|textasciicircum\{\}|[&%$#_{}])", shown
    )


# tables ------------------------------------------------------------------------------------------

several = st.lists(
    usable.filter(lambda name: name.strip() != ""), min_size=1, max_size=4, unique_by=str.strip
).map(tuple)


row = st.lists(st.text(st.characters(exclude_characters="\r\0")), min_size=1).filter(
    lambda cells: cells != [""]
)


@given(header_=row, rows=st.lists(row, max_size=3))
def test_csv_text_is_read_back(header_: list[str], rows: list[list[str]]) -> None:
    assert list(csv.reader(io.StringIO(csv_text(header_, rows), newline=""))) == [header_, *rows]


@cache
def numbers(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    return np.arange(8) / 8, rng.normal(size=(8, n)), rng.normal(size=(8, n))


@pytest.mark.parametrize(
    ("write", "ending"), [(to_csv, "csv"), (to_npz, "npz"), (to_parquet, "parquet")]
)
@settings(max_examples=60)
@given(names=several)
@example(names=("a,b", "=cmd|' /C calc'!A0"))
@example(names=("x [deg]", "joint_pos_deg"))
def test_a_log_keeps_its_names_and_numbers(write: Any, ending: str, names: tuple[str, ...]) -> None:
    t, q, tau = numbers(len(names))
    log = sy.Log(t=t, q=q, tau=tau, joint_names=names)
    with tempfile.TemporaryDirectory() as folder:
        path = write(log, Path(folder) / f"a.{ending}")
        for joints in (None, names, names[::-1]):
            again = sy.read_log(path, joints)
            order = [names.index(name) for name in joints or names]
            assert again.joint_names == (joints or names)
            assert again.tau is not None
            np.testing.assert_array_equal(again.q, q[:, order])
            np.testing.assert_array_equal(again.tau, tau[:, order])


@settings(max_examples=60)
@given(names=several)
@example(names=("a,b", "=cmd|' /C calc'!A0"))
def test_a_motion_keeps_its_names_and_numbers(names: tuple[str, ...]) -> None:
    t = np.linspace(0, 1, 4)
    motion = spline(t, np.sin(t)[:, None] * np.arange(1, len(names) + 1), 10.0, names)
    with tempfile.TemporaryDirectory() as folder:
        motion.to_csv(Path(folder) / "m.csv")
        again = read_motion(Path(folder) / "m.csv", names)
        for quantity in ("t", "q", "qd", "qdd"):
            np.testing.assert_array_equal(getattr(again, quantity), getattr(motion, quantity))
        log = sy.read_log(Path(folder) / "m.csv", names)
        np.testing.assert_array_equal(log.q, motion.q)


class Run:
    """What `run_text` needs of a simulated motion."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.t, self.q, self.tau = numbers(len(names))
        self.qd, self.robot = self.q, type("Named", (), {"joint_names": names})


@given(names=several)
def test_tables_of_commands_keep_the_names(names: tuple[str, ...]) -> None:
    t, q, tau = numbers(len(names))
    poses = StaticPoses.__new__(StaticPoses)
    for field, value in {
        "joint_names": names,
        "q": q,
        "approach": 0.1,
        "home": q[0],
        "detours": (1,),
        "safety": MotionCheck(unchecked=names),
    }.items():
        object.__setattr__(poses, field, value)
    tables = {
        torque_text(t, tau, names): ["t", *(f"tau.{name}" for name in names)],
        run_text(Run(names)): [
            "t",
            *(f"{word}.{name}" for word in ("q", "qd", "tau") for name in names),
        ],  # type: ignore[arg-type]
        poses.csv(): ["pose", *(f"{word}.{name}" for word in ("from", "q") for name in names)],
    }
    for table, expected in tables.items():
        _, _, text = table.partition("\n") if table.startswith("# NOT CHECKED") else ("", "", table)
        first, *rows = csv.reader(io.StringIO(text, newline=""))
        assert first == expected
        assert all(len(row) == len(first) for row in rows)
