"""Line breaks and control characters in names of files.

Every command shows them escaped, so that no name forges a line of output.
"""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from steelyard.drawing.visible import visible_line
from steelyard.names import shell_word
from tests.withstands.test_names import acts, run

FORGED = "TRUSTED by nobody"
# a terminal would show it as their own lines
BREAK = f"\n{FORGED}\r{FORGED}\x1b[31m\u2028{FORGED}"
ROBOT, LOG, OTHER, DAMAGED = (
    f"arm{BREAK}.toml",
    f"log{BREAK}.csv",
    f"other{BREAK}.csv",
    f"damaged{BREAK}.csv",
)


@cache
def log_text(shift: float = 0.0) -> str:
    """A log of the planar arm."""
    robot, t = sy.load("planar_2r"), np.arange(400) / 50
    q, qd, qdd = (
        f[:, None] * [1.0, 0.8]
        for f in (np.sin(3 * t + shift), 3 * np.cos(3 * t + shift), -9 * np.sin(3 * t + shift))
    )
    rows = np.column_stack([t, q, qd, qdd, robot.inverse_dynamics(q, qd, qdd)])
    head = [
        "t",
        *(f"{kind}.{joint}" for kind in ("q", "qd", "qdd", "tau") for joint in robot.joint_names),
    ]
    return (
        "\n".join([",".join(head), *(",".join(map(repr, map(float, row))) for row in rows)]) + "\n"
    )


def lay_out(folder: Path) -> None:
    sy.load("planar_2r").to_toml(folder / ROBOT)
    (folder / LOG).write_text(log_text(), encoding="utf-8")
    (folder / OTHER).write_text(log_text(1.0), encoding="utf-8")
    (folder / DAMAGED).write_text("t,q.a\n0,1\n", encoding="utf-8")
    (folder / f"logs{BREAK}").mkdir()
    for name in (LOG, OTHER):
        (folder / f"logs{BREAK}" / name).write_text(log_text(2.0), encoding="utf-8")


LINES: dict[str, list[tuple[str, ...]]] = {
    "describe": [
        ("info", ROBOT),
        ("check", ROBOT, "--samples", "2"),
        ("torque", ROBOT, "--motion", LOG, "--out", f"tau{BREAK}.csv"),
        ("export", ROBOT, "--urdf", f"a{BREAK}.urdf", "--c", f"c{BREAK}"),
        ("export", ROBOT, "--urdf", f"b{BREAK}.urdf", "--quiet"),
        ("export", ROBOT, "--urdf", f"a{BREAK}.urdf"),
        ("info", f"missing{BREAK}.urdf"),
        ("new", f"project{BREAK}", "--robot", ROBOT, "--log", LOG),
    ],
    "move": [
        ("simulate", ROBOT, "--seconds", "0.1", "--out", f"run{BREAK}.csv"),
        (
            "excite",
            ROBOT,
            "--seconds",
            "5",
            "--starts",
            "1",
            "-o",
            f"m{BREAK}.csv",
            "-o",
            f"m{BREAK}.yaml",
        ),
        ("payload", ROBOT, "--poses", "4", "-o", f"p{BREAK}.csv"),
    ],
    "identify": [
        ("doctor", ROBOT, LOG, "--verbose"),
        ("doctor", ROBOT, DAMAGED),
        ("identify", ROBOT, LOG, "--validate", OTHER, "-o", f"out{BREAK}", "--verbose"),
        ("identify", ROBOT, LOG, OTHER, "-o", f"out2{BREAK}", "--quiet"),
        ("identify", ROBOT, LOG, "-o", f"out{BREAK}"),
        ("identify", ROBOT, f"logs{BREAK}", "-o", f"out3{BREAK}"),
        ("identify", ROBOT, DAMAGED),
        ("validate", f"out{BREAK}", OTHER),
        ("validate", ROBOT, OTHER, "--against", f"out{BREAK}"),
        ("payload", f"out{BREAK}", LOG, "--empty", OTHER, "-o", f"load{BREAK}.toml"),
        ("fleet", ROBOT, f"logs{BREAK}", LOG, "-o", f"fleet{BREAK}"),
    ],
}


@pytest.mark.parametrize("kind", LINES)
def test_no_file_name_forges_a_line_of_output(kind: str, tmp_path: Path, root: Path) -> None:
    lay_out(tmp_path)
    for words, text in zip(LINES[kind], run(tmp_path, root, LINES[kind]), strict=True):
        assert "Traceback" not in text, words
        assert not acts(text), words
        for line in text.splitlines():
            assert not line.lstrip(" •|│").startswith(FORGED), (words, text)


@pytest.mark.parametrize(
    "name", ["a b", "it's", "a\nb", "\x1b[31m'\\n", "日\u2028本\t", "$(stop)\n`x`"]
)
def test_a_shell_reads_the_words_of_a_line_as_they_are(name: str) -> None:
    word = shell_word(name)
    assert len(word.splitlines()) == 1
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("needs bash")
    environment = {"LC_ALL": "C.UTF-8"}
    assert (
        subprocess.run(
            [bash, "-c", f"printf %s {word}"], capture_output=True, env=environment, check=True
        ).stdout.decode()
        == name
    )


def test_a_line_is_one_line() -> None:
    assert visible_line("a\tb\n\r\x1b\u2028\u202e") == r"a\tb\n\r\x1b\u2028\u202e"
    assert visible_line("joint é 関節 π ≤") == "joint é 関節 π ≤"
    assert len(visible_line(BREAK).splitlines()) == 1
