"""Names that act on a terminal or a browser.

Refused in descriptions; of files shown, never obeyed, on the terminal and in the report.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import steelyard as sy
from steelyard.drawing.figure import Axis, Curve, Figure, Panel
from steelyard.drawing.plotly_axes import plain_text
from steelyard.drawing.svg_renderer import to_svg
from steelyard.drawing.visible import escape_control_chars
from steelyard.reporting.page import plotting_library
from tests.packed_figures import unpacked

RED, TURN, TITLE = "\x1b[31mred", "\u202egnp.exe", "\x1b]0;title\x07"
EVIL = f"j{RED}{TURN}{TITLE}"
SHOWN = r"j\x1b[31mred\u202egnp.exe\x1b]0;title\x07"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (EVIL, SHOWN),
        ("joint é 関節 π ≤", "joint é 関節 π ≤"),
        ("a\tb\n", "a\tb\n"),
        ("\x9b31m\r\ud800\ufeff\u2066", r"\x9b31m\r\ud800\ufeff\u2066"),
    ],
)
def test_what_acts_is_written_out(text: str, shown: str) -> None:
    assert escape_control_chars(text) == shown
    assert escape_control_chars(shown) == shown


TAG = "<img src=x onerror=alert(1)>"


def arm(folder: Path, name: str = TAG) -> Path:
    """A robot of these names, in a file whose name acts."""
    quoted = name.encode("unicode_escape").decode().replace("\\x", "\\u00")
    path = folder / f"arm{RED}{TURN}{len(name)}.toml"
    path.write_text(
        f'name = "{quoted}"\n[[links]]\nname = "base"\n[[links]]\nname = "{quoted}"\nmass ='
        f' 1.0\ncom = [0.1, 0, 0]\n[[joints]]\nname = "{quoted}"\nparent = "base"\nchild ='
        f' "{quoted}"\n'
    )
    return path


SCRIPT = """
import json, sys
from steelyard.apps.cli import main
for words in json.loads(sys.argv[1]):
    sys.argv = ["steelyard", *words]
    try:
        main()
    except SystemExit:
        print("-- next --", flush=True)
"""


def run(folder: Path, root: Path, lines: list[tuple[str, ...]]) -> list[str]:
    """What each of some commands prints on both streams, one after the other in one process."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(root / "src"),
        "PYTHONIOENCODING": "utf-8",
        "PYTHONUNBUFFERED": "1",
    }
    command = [sys.executable, "-c", SCRIPT, json.dumps(lines)]
    finished_run = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=True,
    )
    return finished_run.stdout.decode().split("-- next --\n")[:-1]


def acts(text: str) -> bool:
    return escape_control_chars(text.replace("\r\n", "\n")) != text


def test_commands_show_them(tmp_path: Path, root: Path) -> None:
    name = arm(tmp_path).name
    (tmp_path / f"log{TURN}.csv").write_text(f"t,q_{RED}\n0,1\n1,2\n")
    evil = arm(tmp_path, EVIL).name
    good = [("info", name), ("torque", name, "--q", "0.1"), ("check", name, "--samples", "2")]
    wrong = [
        ("info", evil),
        ("info", EVIL),
        (EVIL,),
        ("info", "--" + EVIL),
        ("doctor", name, f"log{TURN}.csv"),
        ("torque", name, "--q", EVIL),
    ]
    finished_run = run(tmp_path, root, [*good, *wrong])
    assert len(finished_run) == len(good) + len(wrong)
    for words, text in zip([*good, *wrong], finished_run, strict=True):
        assert not acts(text), words
        assert "Traceback" not in text
    assert all("img src" in text for text in finished_run[: len(good)])
    assert SHOWN in finished_run[len(good)]


def test_the_report_shows_them(tmp_path: Path) -> None:
    robot = sy.load(arm(tmp_path))
    t = np.arange(300) / 50
    q, qd, qdd = np.sin(3 * t)[:, None], 3 * np.cos(3 * t)[:, None], -9 * np.sin(3 * t)[:, None]
    log = sy.Log(
        t=t,
        q=q,
        qd=qd,
        qdd=qdd,
        tau=robot.inverse_dynamics(q, qd, qdd),
        joint_names=robot.joint_names,
        source=f"log{TURN}.csv",
    )
    fit = sy.identify(robot, log, "ols", smoothing=None, delay=0.0, decimate=1, diagnose=False)
    sy.report(fit, tmp_path / "report.html")
    own = (tmp_path / "report.html").read_text().replace(plotting_library().letters, "")
    assert r"log\u202egnp.exe.csv" in own
    assert TAG not in own
    assert not acts(own)
    figures = unpacked(own.partition('id="packed-figures"')[2].partition(">")[2].partition("<")[0])
    assert "&lt;img src" in figures["torques"]["layout"]["annotations"][0]["text"]
    assert not any(acts(text) for text in texts(figures))


def texts(part: Any) -> Iterator[str]:
    """Every text of plain data."""
    if isinstance(part, dict):
        part = [*part, *part.values()]
    if isinstance(part, str):
        yield part
    elif isinstance(part, list):
        for each in part:
            yield from texts(each)


def test_pictures_show_them() -> None:
    x = np.arange(3.0)
    panel = Panel(marks=(Curve(x=x, y=x, name=EVIL),), y=Axis(title=EVIL), title=EVIL)
    assert not acts(to_svg(Figure(name="f", rows=((panel,),), title=EVIL)))
    assert plain_text(f"<b>{RED}") == r"&lt;b&gt;\x1b[31mred"


def test_names_that_act_are_refused_and_others_kept(tmp_path: Path) -> None:
    assert sy.load(arm(tmp_path)).joint_names == (TAG,)
    with pytest.raises(sy.ModelError) as caught:
        sy.load(arm(tmp_path, EVIL))
    assert SHOWN in str(caught.value)
    assert not acts(str(caught.value))
